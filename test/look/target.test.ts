import { afterAll, describe, expect, test } from "bun:test"
import { AppError, failedOn } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { shortTimeout } from "../support/pace.ts"

/** Commands that get a description instead of a ref. */

afterAll(clearDesks)

const bounds = { x: 10, y: 10, width: 100, height: 20 }
const button = (name: string, more: Partial<Spec> = {}): Spec => ({
  role: "button",
  name,
  states: ["enabled"],
  bounds,
  ...more,
})
const text = (name: string): Spec => ({ role: "statictext", name })
const group = (...children: Spec[]): Spec => ({ role: "group", children })
const row = (...children: Spec[]): Spec => ({ role: "row", children })

function holding(...children: Spec[]) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  const window = app.window("Window", children, { id: "w-1" })
  it.world.popups = (pid) => (pid === 10 ? app.surfaces.size : 0)
  return { ...it, app, window }
}

const SHORT = { timeout_ms: shortTimeout(300) }
const WINDOW = { id: "w-1", title: "Window", app_name: "App" }

describe.concurrent("a description", () => {
  test("that could not be searched for is in the message as it was given", () => {
    const failed = new AppError("ACTION_FAILED", "The list has stopped moving")
    expect(failedOn('"Save" in "A"', "click", failed)).toMatchObject({
      message: 'Click action failed on "Save" in "A": the list has stopped moving',
    })
    expect(failedOn("e5", "click", failed)).toMatchObject({
      message: "Click action failed on @e5: the list has stopped moving",
    })
  })

  test("acts on the only element that matches, gives it a ref and names the window", async () => {
    const it = holding(button("Save"), button("Save as"))
    expect(await it.ok("click", { ref_id: 'button "save"' })).toMatchObject({
      action: "click",
      ref_id: "@e1",
      element: { role: "button", name: "Save" },
      window: WINDOW,
    })
    expect(it.world.deliveries).toEqual([{ name: "Save", by: "semantic", kind: "click" }])
    expect((await it.ok("get", { ref_id: "@e1", property: "name" })).value).toBe("Save")
    // The same element keeps its ref, and --app says which window already.
    const again = await it.ok("click", { ref_id: '"SAVE…"', app: "App" })
    expect(again).toMatchObject({ ref_id: "@e1" })
    expect(again.window).toBeUndefined()
  })

  test("keeps the refs of the snapshot before it", async () => {
    const it = holding(button("One"), { role: "statictext", name: "Total" })
    await it.ok("snapshot")
    expect((await it.ok("get", { ref_id: 'statictext "Total"', property: "role" })).ref_id).toBe("@e2")
    expect((await it.ok("get", { ref_id: "@e1", property: "name" })).value).toBe("One")
  })

  test("without a role prefers elements that can be acted on", async () => {
    const it = holding(text("City"), {
      role: "textfield",
      name: "City",
      value: "",
      states: ["enabled"],
      bounds,
    })
    expect((await it.ok("type", { ref_id: '"City"', text: "Rome" })).element.role).toBe("textfield")
    expect((await it.ok("get", { ref_id: 'statictext "City"', property: "role" })).value).toBe("statictext")
  })

  test("prefers a name with exactly the same spelling", async () => {
    const it = holding(button("Open"), button("Open…"))
    expect((await it.ok("click", { ref_id: '"Open…"' })).element.name).toBe("Open…")
    expect((await it.ok("click", { ref_id: '"Open"' })).element.name).toBe("Open")
    expect((await it.error("click", { ref_id: '"open"' })).code).toBe("AMBIGUOUS_TARGET")
  })

  test("that matches several elements lists them, each with a ref and its container", async () => {
    const it = holding({
      role: "table",
      children: [row(text("Ada"), button("Delete")), row(text("Bob"), button("Delete"))],
    })
    const error = await it.error("click", { ref_id: 'button "Delete"' })
    expect(error).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      details: {
        count: 2,
        candidates: [
          { ref_id: "@e1", role: "button", name: "Delete", in: "Ada" },
          { ref_id: "@e2", role: "button", name: "Delete", in: "Bob" },
        ],
      },
      disposition: { delivery: "not_delivered" },
    })
    expect(it.world.deliveries).toEqual([])
    expect((await it.ok("click", { ref_id: 'button "Delete" in "bob"' })).ref_id).toBe("@e2")
    expect((await it.ok("click", { ref_id: 'button "Delete" nth 1' })).ref_id).toBe("@e1")
    expect((await it.error("click", { ref_id: 'button "Delete" nth 3', ...SHORT })).code).toBe(
      "ELEMENT_NOT_FOUND",
    )
  })

  test("that matches nothing is waited for", async () => {
    const it = holding(button("Open"))
    setTimeout(() => it.window.root.add(button("Save")), 50)
    expect((await it.ok("click", { ref_id: '"Save"' })).element.name).toBe("Save")
  })

  test("that never matches fails with the closest names and their refs", async () => {
    const it = holding(button("Save as…"), button("Close"), {
      role: "menuitem",
      name: "Sav",
      states: ["enabled"],
    })
    const error = await it.error("click", { ref_id: 'button "Save"', ...SHORT })
    expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { window: WINDOW } })
    expect(error.details.candidates.map((one: { name: string }) => one.name)).toEqual(["Save as…", "Sav"])
    expect((await it.ok("click", { ref_id: error.details.candidates[0].ref_id })).element.name).toBe(
      "Save as…",
    )
  })

  test("is waited for equally long in every command, even in one that may run for a minute", async () => {
    const it = desk()
    it.world.app("App", { pid: 10 }).window("Window", [{ role: "button", name: "Open" }], { id: "w-1" })
    const { code } = await it.error("set-cells", { ref_id: "table", at: "A1", tsv: "1" })
    expect(code).toBe("ELEMENT_NOT_FOUND")
  }, 30_000)

  test("is looked for once with --timeout-ms 0", async () => {
    const it = holding(button("Open"))
    const before = it.world.calls.length
    expect((await it.error("click", { ref_id: '"Save"', timeout_ms: 0 })).code).toBe("ELEMENT_NOT_FOUND")
    expect(it.world.calls.slice(before).filter((call) => call === "tree")).toHaveLength(1)
  })

  test("does not act if the window could not be read completely", async () => {
    const it = holding(button("Save"), group(button("Other")), group(button("Save")))
    it.world.nodeLimit = 3
    const error = await it.error("click", { ref_id: '"Save"', ...SHORT })
    expect(error).toMatchObject({ code: "TIMEOUT", details: { kind: "search" } })
    expect(it.world.deliveries).toEqual([])
  })

  test("says that rows out of view were not searched", async () => {
    const it = holding(
      { role: "table", name: "Log", total: 900, children: [row({ role: "cell", name: "A", bounds })] },
      button("Close"),
    )
    expect((await it.ok("click", { ref_id: 'cell "A"' })).unsearched).toMatchObject({ count: 899 })
    expect((await it.ok("click", { ref_id: '"Close"' })).unsearched).toBeUndefined()
  })

  test("must be readable before anything happens, in a batch too", async () => {
    const it = holding(button("Save"))
    expect(await it.error("click", { ref_id: "button Save" })).toMatchObject({
      code: "INVALID_ARGS",
      message: expect.stringContaining("at character 8"),
    })
    const commands = [
      { command: "click", args: { ref_id: '"Save"' } },
      { command: "click", args: { ref_id: '"Save' } },
    ]
    expect(await it.error("batch", { commands })).toMatchObject({
      code: "INVALID_ARGS",
      message: expect.stringMatching(/^Item 1 \(click\): .*: the quote that ends this name is missing/),
    })
    expect(it.world.deliveries).toEqual([])
  })

  test("takes --app and --window-id, a ref must be there, and --snapshot goes with refs", async () => {
    const it = holding(button("Save"))
    const other = it.world.app("Other", { pid: 20 }).window("Second", [button("Save")], { id: "w-2" })
    expect((await it.ok("click", { ref_id: '"Save"', app: "Other" })).ref_id).toBe("@e1")
    expect(other.root.app.name).toBe("Other")
    expect((await it.refs.load()).inner.get("@e1")?.window_id).toBe("w-2")
    expect((await it.ok("click", { ref_id: '"Save"', window_id: "w-1" })).ref_id).toBe("@e2")
    expect((await it.ok("click", { ref_id: "@e1", app: "Other" })).ref_id).toBe("@e1")
    expect((await it.ok("click", { ref_id: "@e1", window_id: "w-2" })).ref_id).toBe("@e1")
    const done = it.world.deliveries.length
    const elsewhere = await it.error("click", { ref_id: "@e1", window_id: "w-1" })
    expect(elsewhere).toMatchObject({ code: "INVALID_ARGS", details: { argument: "window_id" } })
    expect(elsewhere.message).toContain("w-2")
    expect((await it.error("click", { ref_id: "@e2", app: "Other" })).code).toBe("INVALID_ARGS")
    expect(it.world.deliveries.length).toBe(done)
    expect((await it.error("click", { ref_id: '"Save"', snapshot: "s2b3c4d5f" })).code).toBe("INVALID_ARGS")
    expect((await it.error("click", { ref_id: '"Save"', app: "Nowhere" })).code).toBe("APP_NOT_FOUND")
  })

  test("in a section does not match an element beside the section, even if it is the only one of its name", async () => {
    const section = (name: string, ...children: Spec[]): Spec => ({ role: "group", name, children })
    const label = (value: string): Spec => ({ role: "label", value })
    const low = (name: string): Spec => button(name, { bounds: { ...bounds, y: 60 } })
    for (const window of [
      [section("Alpha", button("One")), section("Beta", low("Two"))],
      [label("Alpha"), button("One"), label("Beta"), low("Two")],
      [label("Alpha"), { role: "group", children: [button("One")] }, label("Beta"), section("", low("Two"))],
    ] as const satisfies readonly (readonly Spec[])[]) {
      const it = holding(...window)
      const lost = await it.error("click", { ref_id: 'button "Two" in "Alpha"', timeout_ms: 0 })
      expect(lost.code).toBe("ELEMENT_NOT_FOUND")
      expect(it.world.deliveries).toEqual([])
      expect((await it.ok("click", { ref_id: 'button "Two" in "Beta"' })).element.name).toBe("Two")
      expect((await it.ok("click", { ref_id: 'button "One" in "Alpha"' })).element.name).toBe("One")
    }
  })

  test("is checked again when the command acts", async () => {
    const it = holding(button("Save"))
    const { calls } = it.world
    calls.push = (call) => {
      // The element becomes another one between the search and the act.
      if (call === "open address") it.window.root.children[0]!.set({ name: "Delete all" })
      return Array.prototype.push.call(calls, call)
    }
    expect((await it.error("click", { ref_id: '"Save"' })).code).toBe("STALE_REF")
    expect(it.world.deliveries).toEqual([])
  })

  test("works in every argument that names an element", async () => {
    const it = holding(
      button("A", { actions: ["Click", "RightClick"] }),
      button("B", { bounds: { ...bounds, y: 60 } }),
      { role: "textfield", name: "F", value: "x", states: ["enabled"], bounds: { ...bounds, y: 100 } },
      { role: "group", name: "G", children: [button("C", { bounds: { ...bounds, y: 140 } })] },
    )
    expect((await it.ok("is", { ref_id: '"A"', property: "enabled" })).result).toBe(true)
    expect(await it.ok("hover", { ref_id: '"A"' })).toMatchObject({ ref_id: "@e1", window: WINDOW })
    expect(await it.ok("drag", { from: '"A"', to: '"B"', duration_ms: 0 })).toMatchObject({
      from: { ref_id: "@e1" },
      to: { ref_id: "@e2" },
    })
    expect((await it.ok("press", { combo: "end", to: '"F"', app: "App" })).element.name).toBe("F")
    expect((await it.ok("snapshot", { root: 'group "G"', app: "App" })).tree.name).toBe("G")
    expect((await it.ok("set-value", { ref_id: '"F"', value: "y", changes: true })).post_state.value).toBe(
      "y",
    )
    expect((await it.ok("wait", { element: '"F"', predicate: "value", value: "y" })).element).toBe("@e3")
    expect(await it.ok("wait", { element: '"Z"', gone: true })).toMatchObject({ element: '"Z"', found: true })
    expect((await it.error("wait", { element: '"Z"', timeout_ms: 50 })).code).toBe("TIMEOUT")
    expect((await it.error("wait", { element: "button", timeout_ms: 50 })).code).toBe("AMBIGUOUS_TARGET")
    expect((await it.error("wait", { element: "button", gone: true, timeout_ms: 50 })).code).toBe("TIMEOUT")
    setTimeout(() => it.window.root.children[0]!.remove(), 30)
    expect((await it.ok("wait", { element: '"A"', gone: true })).found).toBe(true)
  })

  test("a secret goes into a secure field only", async () => {
    const it = desk({ env: () => "hunter2" })
    it.world.app("App").window("Window", [
      { role: "textfield", name: "User", value: "", states: ["enabled"], bounds },
      { role: "textfield", name: "Password", states: ["enabled", "secure"], bounds: { ...bounds, y: 60 } },
    ])
    const typed = await it.ok("type", { ref_id: 'textfield "Password"', secret: "env:X" })
    expect(JSON.stringify(typed)).not.toContain("hunter2")
    expect((await it.error("type", { ref_id: '"User"', secret: "env:X" })).details.kind).toBe("not_secure")
  })
})

describe.concurrent("what is searched", () => {
  test("an open menu, and nothing behind it", async () => {
    const it = holding(button("Save"), button("Close"))
    it.app.show("menu", { role: "menu", children: [{ role: "menuitem", name: "Save", states: ["enabled"] }] })
    expect((await it.ok("click", { ref_id: '"Save"' })).element.role).toBe("menuitem")
    const error = await it.error("click", { ref_id: '"Close"', ...SHORT })
    expect(error).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      suggestion: expect.stringContaining("press escape"),
    })
    expect(error.message).toContain("the open menu")
    setTimeout(() => it.app.hide("menu"), 50)
    expect((await it.ok("click", { ref_id: '"Close"' })).element.role).toBe("button")
  })

  test("a popup first, then the window around it", async () => {
    const it = holding(button("Save"), button("Close"))
    it.app.show("popover", { role: "popover", children: [button("Save", { value: "popup" })] })
    expect((await it.ok("get", { ref_id: '"Save"', property: "value" })).value).toBe("popup")
    expect((await it.ok("click", { ref_id: '"Close"' })).element.name).toBe("Close")
  })

  test("the modal dialog over the window, unless the window is named", async () => {
    const it = holding(button("OK"), button("Save"))
    it.app.window("Sure?", [button("OK")], { id: "w-2" })
    it.world.dialogs.set("w-1", { id: "w-2" })
    expect((await it.ok("click", { ref_id: '"OK"' })).window.id).toBe("w-2")
    expect((await it.error("click", { ref_id: '"Save"', ...SHORT })).code).toBe("ELEMENT_NOT_FOUND")
    expect((await it.ok("get", { ref_id: '"Save"', property: "name", window_id: "w-1" })).value).toBe("Save")
    expect((await it.error("click", { ref_id: '"Save"', window_id: "w-1" })).code).toBe("ACTION_FAILED")
  })

  test("the modal dialog inside a page", async () => {
    const it = holding(button("OK"), {
      role: "dialog",
      name: "Sure?",
      states: ["modal"],
      children: [button("OK", { value: "inner" })],
    })
    expect((await it.ok("get", { ref_id: '"OK"', property: "value" })).value).toBe("inner")
  })

  test("the window that gets the focus a moment later", async () => {
    const it = holding(button("Save"))
    const { window } = it
    it.world.focused = undefined
    setTimeout(() => {
      it.world.focused = window
      it.world.emit()
    }, 50)
    expect((await it.ok("click", { ref_id: '"Save"' })).element.name).toBe("Save")
    it.world.focused = undefined
    expect((await it.error("click", { ref_id: '"Save"', ...SHORT })).code).toBe("WINDOW_NOT_FOUND")
  })
})

describe.concurrent("in", () => {
  const pick = async (target: string, ...children: Spec[]): Promise<string> => {
    const it = holding(...children)
    const { ok, data, error } = await it.run("get", { ref_id: target, property: "value", timeout_ms: 0 })
    return ok ? String(data.value) : error.code
  }
  const del = (value: string): Spec => button("Delete", { value })

  test("a row of a page, although the browser creates new objects for its cells", async () => {
    const cell = (...children: Spec[]): Spec => ({ role: "cell", isRecycled: true, children })
    const row = (name: string, value: string): Spec => ({
      role: "row",
      children: [
        { ...cell(), name },
        { ...cell(del(value)), name: "Delete" },
      ],
    })
    const table: Spec = { role: "table", children: [row("Ada", "a"), row("Bob", "b")] }
    expect(await pick('button "Delete" in "Bob"', table)).toBe("b")
    expect(await pick('button "Delete" in "Ada"', table)).toBe("a")
  })

  test.each([
    ["the row of a table", 'button "Delete" in "Bob"', "b"],
    ["a row by its role", 'button "Delete" in row "Bob"', "b"],
    ["a row and the table around it", 'button "Delete" in "Bob" in table "People"', "b"],
    ["another container than it is in", 'button "Delete" in "Bob" in toolbar', "ELEMENT_NOT_FOUND"],
    ["a row without such an element", 'button "Delete" in "Cid"', "ELEMENT_NOT_FOUND"],
    ["the table itself", 'button "Delete" in "People"', "AMBIGUOUS_TARGET"],
    ["the second of the table", 'button "Delete" in table "People" nth 2', "b"],
  ])("%s", async (_, target, expected) => {
    const table: Spec = {
      role: "table",
      name: "People",
      children: [
        row({ role: "cell", name: "Ada" }, { role: "cell", children: [del("a")] }),
        row({ role: "cell", name: "Bob" }, { role: "cell", children: [del("b")] }),
        row({ role: "cell", name: "Cid" }, { role: "cell" }),
      ],
    }
    expect(await pick(target, text("People"), table)).toBe(expected)
  })

  test("the row of the cell's own text", async () => {
    const cell = (name: string, ...children: Spec[]): Spec => ({ role: "cell", name, value: name, children })
    const table: Spec = {
      role: "table",
      name: "Ada",
      children: [
        row(cell("Ada"), cell("12")),
        row(cell("Bob", text("Bob")), cell("12")),
        row(cell("Twice"), cell("Twice")),
      ],
    }
    expect(await pick('cell "Ada" in "Ada"', table)).toBe("Ada")
    expect(await pick('cell "Bob" in "Bob"', table)).toBe("Bob")
    expect(await pick('cell "12" in "Bob"', table)).toBe("12")
    expect(await pick('cell "Ada" in "Bob"', table)).toBe("ELEMENT_NOT_FOUND")
    expect(await pick('cell "Twice" in "Twice"', table)).toBe("AMBIGUOUS_TARGET")
    expect(await pick('button "Delete" in "Delete"', row(text("Ada"), del("a")))).toBe("ELEMENT_NOT_FOUND")
  })

  test("a row that the platform calls a group, and never the next one", async () => {
    const rows = (...names: (readonly [string, boolean])[]): Spec =>
      group(...names.map(([name, has]) => group(group(text(name)), group(...(has ? [del(name)] : [])))))
    expect(await pick('"Delete" in "Bob"', rows(["Ada", true], ["Bob", true]))).toBe("Bob")
    expect(await pick('"Delete" in "Ada"', rows(["Ada", false], ["Bob", true]))).toBe("ELEMENT_NOT_FOUND")
    expect(await pick('"Delete" in "Bob"', rows(["Ada", true], ["Bob", false]))).toBe("ELEMENT_NOT_FOUND")
    const flat = (name: string, ...more: Spec[]): Spec => group(text(name), ...more)
    expect(await pick('"Delete" in "Ada"', group(flat("Ada"), flat("Bob", del("b"))))).toBe(
      "ELEMENT_NOT_FOUND",
    )
    expect(await pick('"Delete" in "Bob"', group(flat("Ada", del("a")), flat("Bob", del("b"))))).toBe("b")
    const list: Spec = { role: "list", children: [group(text("Ada")), group(text("Bob"), del("b"))] }
    expect(await pick('"Delete" in "Ada"', list)).toBe("ELEMENT_NOT_FOUND")
  })

  test("a section by its heading, a group by its name, a dialog by its question", async () => {
    const field = (value: string): Spec => ({ role: "textfield", name: "Street", value, states: ["enabled"] })
    const section = (title: string, value: string): Spec =>
      group({ role: "heading", name: title }, group(group(text("Street"), field(value)), group(text("City"))))
    const page = group(section("Billing", "b"), section("Shipping", "s"))
    expect(await pick('textfield "Street" in "Shipping"', page)).toBe("s")
    expect(await pick('textfield "Street" in heading "Shipping"', page)).toBe("ELEMENT_NOT_FOUND")
    const named = (name: string): Spec => ({ role: "group", name, children: [text("x"), field(name)] })
    expect(await pick('"Street" in group "Two"', named("One"), named("Two"))).toBe("Two")
    const dialog: Spec = {
      role: "dialog",
      children: [group(text("Really?")), group(button("OK", { value: "1" }), button("Cancel"))],
    }
    expect(await pick('"OK" in "Really?"', dialog, button("OK"))).toBe("1")
  })

  test("the nearest of that name, not the window of the same name", async () => {
    const it = holding()
    const app = it.world.app("Two")
    it.world.focused = app.window("Bob", [
      { role: "table", children: [row(text("Ada"), del("a")), row(text("Bob"), del("b"))] },
    ])
    expect((await it.ok("get", { ref_id: '"Delete" in "Bob"', property: "value" })).value).toBe("b")
  })
})

describe.concurrent("@focused", () => {
  const field = (name: string, states: Spec["states"], more: Partial<Spec> = {}): Spec => ({
    role: "textfield",
    name,
    value: "",
    states,
    bounds,
    ...more,
  })

  test("is the element that has the keyboard focus", async () => {
    const it = holding(field("A", ["enabled"]), field("B", ["enabled", "focused"]))
    expect(await it.ok("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      value: "B",
      window: WINDOW,
    })
    expect(await it.ok("type", { ref_id: "@focused", text: "hi" })).toMatchObject({
      element: { name: "B" },
      window: WINDOW,
    })
    expect(it.window.root.children[1]!.value).toBe("hi")
  })

  test("is the only one that still reports the focus after a moment, or else ambiguous", async () => {
    const it = holding(field("Address", ["enabled", "focused"]), field("Page", ["enabled", "focused"]))
    expect(await it.error("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      details: { candidates: [{ name: "Address" }, { name: "Page" }] },
    })
    const page = it.window.root.children[1]!
    setTimeout(() => page.set({ states: ["enabled"] }), 50)
    expect((await it.ok("get", { ref_id: "@focused", property: "name" })).value).toBe("Address")
  })

  test("is missing if several elements have reported the focus, and none does any more", async () => {
    const it = holding(field("Address", ["enabled", "focused"]), field("Page", ["enabled", "focused"]))
    setTimeout(() => {
      for (const one of it.window.root.children) one.set({ states: ["enabled"] })
    }, 50)
    expect(await it.error("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
    })
  })

  test("is the field, not the nameless part of it that also reports the focus", async () => {
    const inner = field("", ["enabled", "focused"], { name: undefined })
    const it = holding(field("B", ["enabled", "focused"], { children: [inner] }))
    expect((await it.ok("get", { ref_id: "@focused", property: "name" })).value).toBe("B")
  })

  test("without a focus in the tree, only type continues: its keys go to the focused window", async () => {
    const it = holding(button("A"))
    expect(await it.error("click", { ref_id: "@focused" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { kind: "no_focus", window: WINDOW },
    })
    expect(await it.ok("type", { ref_id: "@focused", text: "hi" })).toEqual({
      action: "type",
      window: WINDOW,
      method: "keyboard",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    const hidden = await it.error("type", { ref_id: "@focused", secret: "env:PATH" })
    expect(hidden.code).toBe("INVALID_ARGS")
    const semantic = await it.error("type", { ref_id: "@focused", text: "hi", input: "semantic" })
    expect(semantic.code).toBe("ELEMENT_NOT_FOUND")
    const second = it.world.app("Two").window("Behind", [button("A")], { id: "w-9" })
    expect(second.id).toBe("w-9")
    expect(await it.error("type", { ref_id: "@focused", text: "hi", window_id: "w-9" })).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_focused" },
    })
  })

  test("types into a window that shows no elements at all", async () => {
    const it = desk()
    it.world.app("xterm", { pid: 7 }).window("Terminal", [], { id: "w-7", accessible: false })
    expect((await it.ok("type", { ref_id: "@focused", text: "ls\n" })).window.title).toBe("Terminal")
  })
})
