import { afterAll, describe, expect, test } from "bun:test"
import { AppError, failedOn } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { shortTimeout } from "../support/pace.ts"
import { BOUNDS, button, group, holding, row, text, WINDOW } from "./holding.ts"

/** Commands that get a description instead of a ref. */

afterAll(clearDesks)

const SHORT = { timeout_ms: shortTimeout(300) }

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
      bounds: BOUNDS,
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
      {
        role: "table",
        name: "Log",
        total: 900,
        children: [row({ role: "cell", name: "A", bounds: BOUNDS })],
      },
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
    const low = (name: string): Spec => button(name, { bounds: { ...BOUNDS, y: 60 } })
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
      button("B", { bounds: { ...BOUNDS, y: 60 } }),
      { role: "textfield", name: "F", value: "x", states: ["enabled"], bounds: { ...BOUNDS, y: 100 } },
      { role: "group", name: "G", children: [button("C", { bounds: { ...BOUNDS, y: 140 } })] },
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
      { role: "textfield", name: "User", value: "", states: ["enabled"], bounds: BOUNDS },
      { role: "textfield", name: "Password", states: ["enabled", "secure"], bounds: { ...BOUNDS, y: 60 } },
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
