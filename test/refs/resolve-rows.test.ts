import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"
import { at, PLATFORMS, save, shown } from "./shown.ts"

afterAll(clearDesks)

describe("cards", () => {
  /** A row for the user but not for the platform: a text with its buttons. */
  const card = (text: string): Spec => ({
    role: "group",
    children: [
      { role: "statictext", name: text },
      { role: "group", children: [{ role: "button", name: "Open", bounds: at(200, 0) }] },
    ],
  })
  const cards = (...texts: string[]): Spec[] => [{ role: "list", children: texts.map(card) }]
  const opening = (window: { root: { children: FakeElement[] } }) => {
    const received: string[] = []
    for (const one of window.root.children[0]!.children)
      one.children[1]!.children[0]!.does = () => received.push(one.children[0]!.name ?? "")
    return received
  }

  test("an object that now belongs to another card is stale", async () => {
    const { error, window, world } = await shown(cards("a", "b"))
    window.root.children[0]!.children[1]!.children[0]!.name = "c"
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test.each(PLATFORMS)("a card is identified by its text, in any object, %s", async (_, platform) => {
    const { ok, window } = await shown(cards("a", "b", "c"), platform)
    const received = opening(window)
    const [first, second] = window.root.children[0]!.children
    first!.children[0]!.name = "b"
    second!.children[0]!.name = "a"
    await ok("click", { ref_id: "@e1" })
    await ok("click", { ref_id: "@e2" })
    expect(received).toEqual(["a", "b"])
  })

  test("buttons that swapped their cards are not confused", async () => {
    const { error, window, world } = await shown(cards("a", "b"))
    const [first, second] = window.root.children[0]!.children
    const [one, other] = [first!.children[1]!, second!.children[1]!]
    one.moveTo(second!, 1)
    other.moveTo(first!, 1)
    for (const ref_id of ["@e1", "@e2"]) expect((await error("click", { ref_id })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("a removed card is not replaced by a new one", async () => {
    const { error, window, world } = await shown(cards("a", "b"))
    window.root.children[0]!.children[1]!.remove()
    window.root.children[0]!.add(card("b"))
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("after one of two equal cards was removed, the other is not mistaken for it", async () => {
    const { error, window, world } = await shown(cards("a", "a"))
    window.root.children[0]!.children[0]!.remove()
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })
})

describe("groups that look like rows", () => {
  const text = (name: string): Spec => ({ role: "statictext", name })
  const button = (name: string): Spec => ({ role: "button", name, bounds: at(200, 0) })
  const group = (...children: Spec[]): Spec => ({ role: "group", children })
  /** Changes texts of a window, then clicks an element by an older ref. */
  const clicked = async (children: readonly Spec[], name: string, changes: Record<string, string>) => {
    const it = await shown(children)
    const ref_id = await it.ref(name)
    for (const [before, after] of Object.entries(changes)) it.world.at(before).name = after
    const { error } = await it.run("click", { ref_id })
    expect(it.world.sent(name)).toEqual(error ? [] : ["semantic click"])
    return error?.code ?? "ok"
  }

  test.each<[shape: string, children: Spec[]]>([
    ["the only row", [group(group(text("Alice"), button("Delete"))), save]],
    ["the only row of a list", [{ role: "list", children: [group(text("Alice"), button("Delete"))] }, save]],
    ["a row with the button further in", [group(group(text("Alice"), group(button("Delete")))), save]],
    ["a row with the text further in", [group(group(group(text("Alice")), button("Delete"))), save]],
    [
      "a row with its own button",
      [group(group(text("Alice"), button("Delete")), group(text("Carol"), button("Restore"))), save],
    ],
  ])("%s is identified by its text: an object with another text is another row", async (_, children) => {
    expect(await clicked(children, "Delete", {})).toBe("ok")
    expect(await clicked(children, "Delete", { Alice: "Bob" })).toBe("STALE_REF")
  })

  test("a number in the first text identifies the row", async () => {
    const row = group(text("Invoice 12"), button("Pay"))
    expect(await clicked([group(row), save], "Pay", { "Invoice 12": "Invoice 13" })).toBe("STALE_REF")
  })

  test("other numbers do not", async () => {
    const row = group(text("Alice"), text("12:00"), button("Pay"))
    expect(await clicked([group(row), save], "Pay", { "12:00": "12:01" })).toBe("ok")
  })

  const keys = ["1", "2", "3", "4", "5", "6"].map(button)
  test.each([
    [
      "the only content of a window",
      [group(group(text("Count: 3"), button("Add")))],
      "Add",
      "Count: 3",
      "Count: 4",
    ],
    [
      "the only content of a tab",
      [{ role: "tablist" }, group(group(text("Ready"), button("Start"))), save],
      "Start",
      "Ready",
      "Done",
    ],
    [
      "one group among other elements",
      [group(group(text("Ready"), button("Start")), save)],
      "Start",
      "Ready",
      "Done",
    ],
    [
      "a value between its buttons",
      [group(group(button("Less"), text("3 h"), button("More"))), save],
      "More",
      "3 h",
      "4 h",
    ],
    ["a value and its buttons", [group(group(text("35 %"), button("More"))), save], "More", "35 %", "36 %"],
    ["a display and its keys", [group(group(text("Zero"), ...keys)), save], "2", "Zero", "Two"],
    [
      "a section with a title",
      [group({ ...group(text("Ready"), button("Go")), name: "State" }), save],
      "Go",
      "Ready",
      "Done",
    ],
    ["a part of the title", [group(group(text("box"), button("Close"))), save], "Close", "box", "basket"],
    [
      "tabs beside their buttons",
      [group(group({ role: "tab", name: "First" }, button("Close"))), save],
      "Close",
      "First",
      "1st",
    ],
    [
      "a button that names its own subject",
      [group(group(text("Alice"), button("Delete Alice"))), save],
      "Delete Alice",
      "Alice",
      "Alice!",
    ],
  ] as const)("%s may change its text", async (_, children, name, before, after) => {
    expect(await clicked(children, name, { [before]: after })).toBe("ok")
  })
})

describe("rows", () => {
  const row = (text: string, more = "12:00"): Spec => ({
    role: "row",
    children: [
      { role: "cell", name: text },
      { role: "cell", name: more },
      { role: "cell", children: [{ role: "button", name: "Delete", bounds: at(200, 0) }] },
    ],
  })
  const table = (...rows: Spec[]): Spec[] => [{ role: "table", name: "Files", children: rows }]
  /** Refs: each row has two named cells, a nameless one, and the button. */
  const deleteOf = (index: number) => `@e${index * 4 + 4}`

  test.each(PLATFORMS)("the button of an unchanged row is acted on %s", async (_, platform) => {
    const { ok, window } = await shown(table(row("a"), row("b")), platform)
    const received: number[] = []
    for (const [i, one] of window.root.children[0]!.children.entries())
      one.children[2]!.children[0]!.does = () => received.push(i)
    await ok("click", { ref_id: deleteOf(1) })
    expect(received).toEqual([1])
  })

  test.each(PLATFORMS)("a row that now shows another file is stale %s", async (_, platform) => {
    const { error, window, world } = await shown(table(row("a"), row("b")), platform)
    // The same objects in the same places with other contents, as in a list that scrolls.
    window.root.children[0]!.children[1]!.children[0]!.name = "c"
    expect((await error("click", { ref_id: deleteOf(1) })).message).toContain("row")
    expect(world.deliveries).toEqual([])
  })

  test.each(PLATFORMS)("a clock or a percentage in the row does not matter %s", async (_, platform) => {
    const { ok, window, world } = await shown(table(row("a"), row("b")), platform)
    window.root.children[0]!.children[1]!.children[1]!.name = "12:01"
    await ok("click", { ref_id: deleteOf(1) })
    expect(world.sent("Delete")).toEqual(["semantic click"])
  })

  test.each(PLATFORMS)(
    "a row whose cells were not read is identified by the part that was read %s",
    async (_, platform) => {
      const cut = (text: string): Spec => ({
        role: "row",
        children: [
          { role: "statictext", name: text },
          { role: "cell", children: [{ role: "statictext", name: `details of ${text}` }] },
          { role: "button", name: "Delete", bounds: at(200, 0) },
        ],
      })
      const { ok, error, window, world } = await shown(table(cut("a"), cut("b")), platform)
      await ok("snapshot", { max_depth: 3 })
      const ref_id = (await ok("find", { name: "Delete", last: true })).match.ref_id
      expect(ref_id).toBe("@e4")
      await ok("click", { ref_id })
      expect(world.deliveries.length).toBe(1)
      window.root.children[0]!.children[1]!.children[0]!.name = "c"
      expect((await error("click", { ref_id })).code).toBe("STALE_REF")
      expect(world.deliveries.length).toBe(1)
    },
  )

  test("a ref is stale if the number in the first text of its row has changed", async () => {
    const { error, window } = await shown(table(row("Invoice 12"), row("Invoice 13")))
    window.root.children[0]!.children[1]!.children[0]!.name = "Invoice 14"
    expect((await error("click", { ref_id: deleteOf(1) })).code).toBe("STALE_REF")
  })

  test("rows that changed places are found by their address, with everything in them", async () => {
    const { ok, window } = await shown(table(row("a"), row("b")))
    const [a, b] = window.root.children[0]!.children
    const received: string[] = []
    a!.children[2]!.children[0]!.does = () => received.push("a")
    b!.children[2]!.children[0]!.does = () => received.push("b")
    b!.moveTo(window.root.children[0]!, 0)
    await ok("click", { ref_id: deleteOf(1) })
    expect(received).toEqual(["b"])
  })

  test("in a list that reuses its objects, a row is identified by its content", async () => {
    const { ok, window } = await shown(table(row("a"), row("b")))
    const [first, second] = window.root.children[0]!.children
    // Each place keeps its content, but gets the other place's objects.
    second!.moveTo(window.root.children[0]!, 0)
    first!.children[0]!.name = "b"
    second!.children[0]!.name = "a"
    const received: string[] = []
    first!.children[2]!.children[0]!.does = () => received.push("b")
    second!.children[2]!.children[0]!.does = () => received.push("a")
    await ok("click", { ref_id: deleteOf(0) })
    await ok("click", { ref_id: deleteOf(1) })
    expect(received).toEqual(["a", "b"])
  })

  test("a new row with the same content is another one", async () => {
    const { error, window, world } = await shown(table(row("a"), row("b")))
    window.root.children[0]!.add(row("b"))
    window.root.children[0]!.children[1]!.children[0]!.name = "c"
    expect((await error("click", { ref_id: deleteOf(1) })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("without addresses, a row that changed places is identified by its content", async () => {
    const { ok, window } = await shown(table(row("a"), row("b")), { addresses: false })
    const received: string[] = []
    for (const one of window.root.children[0]!.children)
      one.children[2]!.children[0]!.does = () => received.push(one.children[0]!.name ?? "")
    window.root.children[0]!.children[1]!.moveTo(window.root.children[0]!, 0)
    await ok("click", { ref_id: deleteOf(0) })
    await ok("click", { ref_id: deleteOf(1) })
    expect(received).toEqual(["a", "b"])
  })

  test.each(PLATFORMS)(
    "rows with the same content are distinguished only while the list is unchanged %s",
    async (_, platform) => {
      const { ok, error, window, world } = await shown(table(row("a"), row("a"), row("b")), platform)
      await ok("click", { ref_id: deleteOf(1) })
      expect(world.deliveries.length).toBe(1)
      window.root.children[0]!.children[0]!.remove()
      expect((await error("click", { ref_id: deleteOf(0) })).code).toBe("STALE_REF")
      expect((await error("click", { ref_id: deleteOf(1) })).code).toBe("STALE_REF")
      expect(world.deliveries.length).toBe(1)
    },
  )

  test("a nested tree item is identified by its own name, not by its neighbours", async () => {
    const { ok, world } = await shown(
      [
        {
          role: "outline",
          children: [{ role: "treeitem", name: "src", children: [{ role: "treeitem", name: "main" }] }],
        },
      ],
      { addresses: false },
    )
    world.at("src").add({ role: "treeitem", name: "other" })
    await ok("click", { ref_id: "@e2" })
    expect(world.sent("main")).toEqual(["semantic click"])
  })
})

describe("a ref that was just given", () => {
  const text = (name: string, hidden = false): Spec => ({ role: "statictext", name, hidden })
  const item = (...children: Spec[]): Spec => ({ role: "group", isRecycled: true, children })
  const buy = (y: number, hidden = false): Spec => ({
    role: "button",
    name: "Buy",
    bounds: at(200, y),
    hidden,
  })
  const every = async (children: readonly Spec[], options = {}) => {
    const it = await shown(children)
    const { ref_count } = await it.ok("snapshot", options)
    const refs = Array.from({ length: ref_count }, (_, i) => `@e${i + 1}`)
    return { ...it, refs }
  }

  test("answers, although its list continues below the fold", async () => {
    const articles = Array.from({ length: 9 }, (_, i) => {
      const isBelow = i > 4
      return { ...item(text("•", isBelow), text("Article", isBelow), buy(i * 20, isBelow)), hidden: isBelow }
    })
    const { refs, ok } = await every([{ role: "list", children: articles }], { include_hidden: true })
    expect(refs).toHaveLength(9)
    for (const ref_id of refs) await ok("get", { ref_id, property: "role" })
  })

  test("answers after its row was scrolled out of view, and after one came into view", async () => {
    const rows = [item(text("Ada"), buy(0)), { ...item(text("Alan", true), buy(20, true)), hidden: true }]
    const { refs, ok, window } = await every([{ role: "list", children: rows }], { include_hidden: true })
    for (const row of window.root.children[0]!.children)
      for (const one of [row, ...row.children]) one.hidden = !one.hidden
    for (const ref_id of refs) await ok("get", { ref_id, property: "role" })
  })

  test("is distinguished from its neighbours by the text after the bullet", async () => {
    const rows = [1, 2].map((n) => item(text("•"), text(`Article ${n}`), buy(n * 20)))
    const { ok, window } = await every([{ role: "list", children: rows }])
    const received: string[] = []
    window.root.children[0]!.add(item(text("•"), text("Article 3"), buy(60)))
    for (const row of window.root.children[0]!.children)
      row.children[2]!.does = () => received.push(row.children[1]!.name ?? "")
    await ok("click", { ref_id: "@e2" })
    expect(received).toEqual(["Article 2"])
  })

  test("is stale once the number in an ordered list belongs to another row", async () => {
    const rows = [1, 2].map((n) => item(text(`${n}.`), text(`Article ${n}`), buy(n * 20)))
    const { error, window, world } = await every([{ role: "list", children: rows }])
    window.root.children[0]!.children[0]!.children[1]!.name = "Article 2"
    window.root.children[0]!.children[1]!.remove()
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("answers while texts far away change", async () => {
    const cells = Array.from({ length: 80 }, (_, i): Spec => ({ role: "group", name: `Cell ${i}` }))
    const bar = (name: string): Spec => ({ role: "group", children: [text(name)] })
    const menu: Spec = { role: "group", children: [{ role: "button", bounds: at(0, 0) }] }
    const { ok, world } = await every([
      {
        role: "group",
        children: [{ role: "group", children: [menu] }, bar("Welcome"), { role: "table", children: cells }],
      },
      { role: "group", children: [{ role: "button", bounds: at(0, 300) }] },
    ])
    world.at("Welcome").name = "Saved"
    await ok("get", { ref_id: "@e1", property: "role" })
  })
})
