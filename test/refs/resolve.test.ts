import { afterAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

const at = (x: number, y: number) => ({ x, y, width: 80, height: 20 })

/** A desk with one window that holds these elements, and a snapshot of it. */
async function shown(children: readonly Spec[], { addresses = true } = {}) {
  const it = desk()
  it.world.hasAddresses = addresses
  const app = it.world.app("Mail", { pid: 10 })
  const window = app.window("Inbox", children, { id: "w-1" })
  await it.ok("snapshot")
  return { ...it, app, window }
}

/** A platform that finds objects by their address, and one that knows only their path. */
const PLATFORMS = [
  ["by address", { addresses: true }],
  ["by path", { addresses: false }],
] as const

const save: Spec = { role: "button", name: "Save", states: ["enabled"], bounds: at(10, 10) }
const cancel: Spec = { role: "button", name: "Cancel", states: ["enabled"], bounds: at(100, 10) }

describe.each(PLATFORMS)("found again %s", (_, platform) => {
  test("an unchanged element is acted on", async () => {
    const { ok, world, ref } = await shown([save, cancel], platform)
    await ok("click", { ref_id: await ref("Cancel") })
    expect(world.sent("Cancel")).toEqual(["semantic click"])
    expect(world.sent("Save")).toEqual([])
  })

  test("e1 and @e1 are the same ref, and answers spell it @e1", async () => {
    const { ok, run } = await shown([save], platform)
    expect((await ok("click", { ref_id: "e1" })).ref_id).toBe("@e1")
    expect((await ok("get", { ref_id: "e1", property: "name" })).ref_id).toBe("@e1")
    expect((await run("click", { ref_id: "e7" })).error.message).toBe("@e7 not found in current RefMap")
  })

  test("values, states and bounds are not part of the identity", async () => {
    const { ok, world } = await shown([{ ...save, role: "textfield", value: "a" }], platform)
    world.at("Save").set({ value: "b", states: ["enabled", "focused"], bounds: at(500, 500) })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("b")
  })

  test("an element that moved among its siblings is found if it is unique", async () => {
    const { ok, world, window } = await shown([save, cancel], platform)
    window.root.add({ role: "button", name: "Help", bounds: at(0, 0) }, 0)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
    expect(world.sent("Help")).toEqual([])
  })

  test("a removed element is stale, and nothing is sent", async () => {
    const { error, world } = await shown([save, cancel], platform)
    world.at("Save").remove()
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("STALE_REF")
    expect(refused.suggestion).toBe("Run 'snapshot' to refresh, then retry with updated ref")
    expect(refused.disposition).toEqual({ delivery: "not_delivered", retry: "safe" })
    expect(world.deliveries).toEqual([])
  })

  test("a renamed element is stale, and the message has both names", async () => {
    const { error, world } = await shown([save], platform)
    world.at("Save").set({ name: "Saved" })
    expect(await error("click", { ref_id: "@e1" })).toMatchObject({
      code: "STALE_REF",
      message: "@e1 is stale: its name was 'Save' and is 'Saved' now",
      details: { evidence: "its name was 'Save' and is 'Saved' now" },
    })
    expect(world.deliveries).toEqual([])
  })

  test("an element with a new role is stale", async () => {
    const { error, world } = await shown([save], platform)
    world.at("Save").set({ role: "link" })
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: it was a button and is a link now",
    )
  })

  test("an element with a new identifier is stale", async () => {
    const { error, world } = await shown([{ ...save, identifier: "save-1" }], platform)
    world.at("Save").identifier = "save-2"
    expect((await error("click", { ref_id: "@e1" })).message).toContain("its identifier was 'save-1'")
  })

  test("all refs of a process are stale once it ended or its pid was reused", async () => {
    const { error, app, world } = await shown([save], platform)
    app.restart()
    app.window("Inbox", [save], { id: "w-1" })
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: process 10 is another one now; Mail was restarted",
    )
    app.end()
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: process 10 of Mail has ended",
    )
    expect(world.deliveries).toEqual([])
  })

  test("elements of a closed window are stale, even if another window shows the same", async () => {
    const { error, app, window, world } = await shown([save], platform)
    window.close()
    app.window("Inbox", [save], { id: "w-2" })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("a failed read does not mean that the element is gone", async () => {
    const { error, world } = await shown([save], platform)
    for (const method of ["processStart", platform.addresses ? "open address" : "open path"]) {
      world.fail(method, new AppError("APP_UNRESPONSIVE", "No answer"))
      expect(await error("click", { ref_id: "@e1" })).toMatchObject({
        code: "APP_UNRESPONSIVE",
        disposition: { delivery: "not_delivered" },
      })
    }
    world.at("Save").remove()
    world.fail("tree", new AppError("APP_UNRESPONSIVE", "No answer"))
    // If objects live as long as their elements, a missing address proves that the element is gone.
    const code = platform.addresses ? "STALE_REF" : "APP_UNRESPONSIVE"
    expect((await error("click", { ref_id: "@e1" })).code).toBe(code)
    expect(world.deliveries).toEqual([])
  })

  test("an element missing in a partly read tree may still exist", async () => {
    const { error, world, window } = await shown([cancel, { ...save, isRecycled: true }], platform)
    window.root.add({ role: "group", name: "New" }, 0)
    world.at("Save").remove()
    world.nodeLimit = 2
    expect(await error("click", { ref_id: "@e2" })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "search" },
    })
  })

  test("a combobox named after its value stays the same if the value changes", async () => {
    const size: Spec = { role: "combobox", name: "10", value: "10", bounds: at(0, 0) }
    const { ok, world, window } = await shown([size, save], platform)
    window.root.children[0]!.set({ name: "12", value: "12" })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("12")
    await ok("select", { ref_id: "@e1", value: "14" })
    expect(world.deliveries.map(({ kind }) => kind)).toEqual(["select"])
  })

  test("a field whose text equals its name stays the same field", async () => {
    const { ok, world } = await shown([{ role: "textfield", name: "Name", value: "" }], platform)
    world.at("Name").set({ value: "Name" })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("Name")
  })

  test("a row whose text is also its value is identified by that text", async () => {
    const file: Spec = { role: "cell", name: "App", value: "App", bounds: at(0, 0) }
    const { error, world } = await shown([file], platform)
    world.at("App").set({ name: "AppDelegate", value: "AppDelegate" })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("a very long name is recognised, and an error about it stays short", async () => {
    const long = "x".repeat(100_000)
    const { ok, error, world } = await shown([{ ...save, name: long }], platform)
    await ok("click", { ref_id: "@e1" })
    world.at(long).set({ name: `${long}y` })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("STALE_REF")
    expect(refused.message.length).toBeLessThan(400)
  })
})

describe("similar elements", () => {
  const twins: Spec[] = [
    { role: "group", children: [{ role: "button", name: "Delete", bounds: at(0, 0) }] },
    { role: "group", children: [{ role: "button", name: "Delete", bounds: at(0, 30) }] },
  ]

  test("by address, each of two twins is itself even after a move", async () => {
    const { ok, window } = await shown(twins)
    const [first, second] = window.root.children.map((group) => group.children[0]!)
    first!.name = "Delete"
    second!.moveTo(window.root.children[0]!, 0)
    const received: string[] = []
    first!.does = () => received.push("first")
    second!.does = () => received.push("second")
    await ok("click", { ref_id: "@e2" })
    expect(received).toEqual(["second"])
  })

  test("by address, a removed twin is not replaced by the remaining one", async () => {
    const { error, window, world } = await shown(twins)
    window.root.children[1]!.remove()
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("by path, a twin is recognised only while its bounds stay the same", async () => {
    const { ok, error, window, world } = await shown(twins, { addresses: false })
    await ok("click", { ref_id: "@e1" })
    window.root.children[0]!.children[0]!.set({ bounds: at(0, 60) })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused).toMatchObject({ code: "STALE_REF", details: { certain: false } })
    expect(world.deliveries.length).toBe(1)
  })

  test("by path, an element without a name is recognised only while it does not move", async () => {
    const { ok, error, window } = await shown([{ role: "button", bounds: at(0, 0) }], { addresses: false })
    await ok("click", { ref_id: "@e1" })
    window.root.children[0]!.set({ bounds: at(9, 9) })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("a name that was unique and is not any more is ambiguous", async () => {
    const { error, window, world } = await shown([save], { addresses: false })
    window.root.add({ ...save, bounds: at(0, 90) }, 0)
    window.root.children[0]!.role = "link"
    window.root.add({ ...save, bounds: at(0, 120) })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("AMBIGUOUS_TARGET")
    expect(refused.details.candidates).toEqual([
      { role: "button", name: "Save", bounds: at(10, 10) },
      { role: "button", name: "Save", bounds: at(0, 120) },
    ])
    expect(world.deliveries).toEqual([])
  })

  test("a similar element elsewhere in the window is another element", async () => {
    const { error, window, world } = await shown(
      [
        { role: "group", name: "Draft", children: [save] },
        { role: "group", name: "Template", children: [] },
      ],
      { addresses: false },
    )
    window.root.children[0]!.children[0]!.remove()
    window.root.children[1]!.add(save)
    expect((await error("click", { ref_id: "@e1" })).message).toContain("look-alike")
    expect(world.deliveries).toEqual([])
  })

  test("numbers in the names above may change, since they are counters", async () => {
    const { ok, window, world } = await shown([{ role: "group", name: "Inbox (3)", children: [save] }], {
      addresses: false,
    })
    window.root.children[0]!.name = "Inbox (4)"
    window.title = "Inbox (4)"
    window.root.name = "Inbox (4)"
    window.root.add({ role: "toolbar" }, 0)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })
})

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

  test("buttons that swapped their cards are not taken for each other", async () => {
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

  test("the remaining one of two equal cards is not taken for the other", async () => {
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

describe("elements that live as long as their objects", () => {
  test("an element that took the place and name of another is another one", async () => {
    const { error, window, world } = await shown([save, cancel])
    window.root.children[0]!.remove()
    window.root.add(save, 0)
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("an element that got another's name is another one", async () => {
    const { error, world } = await shown([save, cancel])
    world.at("Save").name = "Save as"
    world.at("Cancel").name = "Save"
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("an element for which the platform creates new objects is found by its content", async () => {
    const { ok, window, world } = await shown([{ ...save, isRecycled: true }, cancel])
    window.root.children[0]!.remove()
    window.root.add(save)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
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

  test("a number in the row's subject is not a clock", async () => {
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

describe("each verdict of each route has one consequence", () => {
  const recycled: Spec = { ...save, isRecycled: true }
  const nameless: Spec = { role: "button", bounds: at(10, 10) }
  const options = (isRecycled?: boolean): Spec[] =>
    ["a", "b"].map((name) => ({ role: "option", name, isRecycled, bounds: at(10, 10) }))
  const nothing = (): void => {}
  const rename = (root: FakeElement): void => root.children[0]!.set({ name: "Saved" })
  const remove = (root: FakeElement): void => root.children[0]!.remove()
  const replace = (root: FakeElement): void => {
    root.children[0]!.remove()
    root.add(save, 0)
  }
  const pushAside = (root: FakeElement): void => {
    root.children[0]!.set({ name: "Saved" })
    root.add(save, 0)
  }
  const insert = (root: FakeElement): void => void root.add(cancel, 0)
  const exchange = (root: FakeElement): void => {
    root.children[0]!.set({ name: "b" })
    root.children[1]!.set({ name: "a" })
  }
  const LASTING = { addresses: true }
  const PATH = { addresses: false }

  test.each([
    ["lasting address", "same", [save], LASTING, nothing, "address", "ok"],
    ["lasting address", "changed", [save], LASTING, rename, "address", "STALE_REF"],
    ["lasting address", "changed, its name elsewhere", [save], LASTING, pushAside, "address", "STALE_REF"],
    ["lasting address", "recycled", options(), LASTING, exchange, "address, search", "ok"],
    ["lasting address", "gone", [save], LASTING, remove, "address", "STALE_REF"],
    ["lasting address", "gone, another in its place", [save], LASTING, replace, "address", "STALE_REF"],
    ["reused address", "same", [recycled], LASTING, nothing, "address", "ok"],
    ["reused address", "changed", [recycled], LASTING, pushAside, "address, path", "ok"],
    ["reused address", "recycled", options(true), LASTING, exchange, "address, path, search", "ok"],
    ["reused address", "gone", [recycled], LASTING, replace, "address, path", "ok"],
    ["path", "same", [save], PATH, nothing, "path", "ok"],
    ["path", "changed", [save], PATH, insert, "path, search", "ok"],
    ["path", "recycled", options(), PATH, exchange, "path, search", "ok"],
    ["search", "gone", [save], PATH, remove, "path, search", "STALE_REF"],
    ["no search", "changed", [nameless], PATH, insert, "path", "STALE_REF, uncertain"],
    ["no search", "gone", [nameless], PATH, remove, "path", "STALE_REF, uncertain"],
    ["no search", "gone", [{ ...nameless, isRecycled: true }], LASTING, remove, "address, path", "STALE_REF"],
  ] as const)("%s: %s", async (_route, _verdict, children, platform, change, routes, outcome) => {
    const { run, window, world } = await shown(children, platform)
    change(window.root)
    world.calls.length = 0
    const { error } = await run("get", { ref_id: "@e1", property: "name" })
    const words: Record<string, string> = { "open address": "address", "open path": "path", tree: "search" }
    expect(world.calls.flatMap((call) => words[call] ?? []).join(", ")).toBe(routes)
    expect(error ? `${error.code}${error.details.certain === false ? ", uncertain" : ""}` : "ok").toBe(
      outcome,
    )
  })

  test("path: gone", async () => {
    const { ok, window, world } = await shown([cancel, save], PATH)
    window.root.children[0]!.remove()
    world.calls.length = 0
    expect((await ok("get", { ref_id: "@e2", property: "name" })).value).toBe("Save")
    expect(world.calls.filter((call) => call === "open path" || call === "tree")).toEqual([
      "open path",
      "tree",
    ])
  })

  test("search: changed, since the only match is in another place", async () => {
    const draft: Spec = { role: "group", name: "Draft", children: [save] }
    const { error, window } = await shown([draft, { role: "group", name: "Template" }], PATH)
    window.root.children[0]!.children[0]!.remove()
    window.root.children[1]!.add(save)
    expect(await error("get", { ref_id: "@e1", property: "name" })).toMatchObject({
      code: "STALE_REF",
      details: { certain: false },
    })
  })

  test("search: ambiguous", async () => {
    const { error, window } = await shown([save], PATH)
    window.root.add(cancel, 0)
    window.root.add(save)
    expect((await error("get", { ref_id: "@e1", property: "name" })).code).toBe("AMBIGUOUS_TARGET")
  })
})

describe("the ref map", () => {
  test("refs written by an earlier version are unknown, and new numbers follow them", async () => {
    const { ok, error, refs, root } = await shown([save, cancel])
    const { snapshot_id } = await refs.load()
    const old = { pid: 10, role: "button", name: "Save", context: "1x2y.3z.2", twins: true, fleeting: true }
    const text = JSON.stringify({ inner: { "@e1": old, "@e2": old }, counter: 2, snapshot_id })
    writeFileSync(join(root, "last_refmap.json"), text, { mode: 0o600 })
    writeFileSync(join(root, "snapshots", `${snapshot_id}.json`), text, { mode: 0o600 })
    expect(await error("click", { ref_id: "@e1" })).toMatchObject({
      code: "STALE_REF",
      message: "@e1 not found in current RefMap",
      suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
    })
    expect((await error("click", { ref_id: `@${snapshot_id}:e2` })).message).toContain(
      `snapshot ${snapshot_id} has no @e2`,
    )
    expect((await ok("find", { name: "Save", first: true })).match.ref_id).toBe("@e3")
    await ok("click", { ref_id: "@e3" })
  })

  test("an unknown ref is stale, with the contract's message", async () => {
    const { run } = await shown([save])
    expect(await run("click", { ref_id: "@e7" })).toEqual({
      version: "1.0",
      ok: false,
      command: "click",
      error: {
        code: "STALE_REF",
        message: "@e7 not found in current RefMap",
        suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
        disposition: { delivery: "not_delivered", retry: "safe" },
      },
    })
  })

  test("a qualified ref means the element of its own snapshot, even after later ones", async () => {
    const { ok, world, window } = await shown([save, cancel])
    const { snapshot_id } = await ok("snapshot")
    window.root.add({ role: "button", name: "New" }, 0)
    await ok("snapshot")
    expect((await ok("get", { ref_id: `@${snapshot_id}:e1`, property: "name" })).value).toBe("Save")
    expect((await ok("get", { ref_id: "@e1", snapshot: snapshot_id, property: "name" })).value).toBe("Save")
    expect((await ok("get", { ref_id: "@e1", property: "name" })).value).toBe("New")
    expect((await ok("click", { ref_id: `@${snapshot_id}:e2` })).ref_id).toBe(`@${snapshot_id}:e2`)
    expect(world.sent("Cancel")).toEqual(["semantic click"])
  })

  test("an unknown snapshot, two snapshots and an invalid ref are refused", async () => {
    const { error, world } = await shown([save])
    expect((await error("click", { ref_id: "@sabcdefgh:e1" })).code).toBe("SNAPSHOT_NOT_FOUND")
    expect((await error("click", { ref_id: "@e1", snapshot: "nope" })).code).toBe("SNAPSHOT_NOT_FOUND")
    expect((await error("click", { ref_id: "@sabcdefgh:e1", snapshot: "sbcdefghi" })).code).toBe(
      "INVALID_ARGS",
    )
    expect((await error("click", { ref_id: "Save" })).code).toBe("INVALID_ARGS")
    expect(world.deliveries).toEqual([])
  })

  test("a ref that an older snapshot does not have is reported for that snapshot", async () => {
    const { ok, error } = await shown([save])
    const { snapshot_id } = await ok("snapshot")
    expect((await error("click", { ref_id: "@e9", snapshot: snapshot_id })).message).toBe(
      `@e9 is stale: snapshot ${snapshot_id} has no @e9`,
    )
  })

  test("elements of a menu are searched in the menu, and stale once it closes", async () => {
    const { ok, error, app, world } = await shown([save], { addresses: false })
    app.show("menu", { role: "menu", name: "File", children: [{ role: "menuitem", name: "Open…" }] })
    await ok("snapshot", { surface: "menu" })
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Open…")).toEqual(["semantic click"])
    app.hide("menu")
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("elements of a sheet are found in its window", async () => {
    const { ok, app, window, world } = await shown([], { addresses: false })
    const sheet: Spec = { role: "sheet", name: "Save as", children: [save] }
    app.show("sheet", sheet, { id: "w-1" })
    await ok("snapshot", { surface: "sheet" })
    window.root.add(sheet)
    app.hide("sheet")
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })
})
