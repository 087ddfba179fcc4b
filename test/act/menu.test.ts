import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

/** Menu items by their paths. */

afterAll(clearDesks)

const item = (name: string, more: Partial<Spec> = {}): Spec => ({
  role: "menuitem",
  name,
  states: ["enabled"],
  bounds: { x: 10, y: 10, width: 80, height: 20 },
  ...more,
})

/** An app with a menu bar whose menus are closed. */
function withMenus(...items: Spec[]) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  app.window("Window", [{ role: "button", name: "Press", states: ["enabled"] }], { id: "w-1" })
  app.show("menubar", { role: "menubar", children: items })
  it.world.popups = () => [...app.surfaces.keys()].filter((type) => type !== "menubar").length
  return { ...it, app }
}

/** Items of a closed menu. */
const closed = (...items: Spec[]): Spec["children"] => items.map((one) => ({ ...one, hidden: true }))

describe("menu", () => {
  test("presses an item of a closed menu without opening it", async () => {
    const it = withMenus(
      item("File", { children: closed(item("New"), item("Export", { children: closed(item("PDF…")) })) }),
    )
    expect(await it.ok("menu", { path: "file > Export>pdf" })).toMatchObject({
      action: "menu",
      path: ["File", "Export", "PDF…"],
      element: { role: "menuitem", name: "PDF…" },
      method: "fake:click",
    })
    expect(it.world.deliveries).toEqual([{ name: "PDF…", by: "semantic", kind: "click" }])
  })

  test("opens a menu that creates its items when it opens, and closes it if the path does not exist", async () => {
    const it = withMenus(
      item("File", {
        does: () =>
          it.app.show("menu", { role: "menu", name: "File", children: [item("New"), item("Quit")] }),
      }),
    )
    it.world.onKey = (combo) => {
      if (combo === "escape") it.app.hide("menu")
    }
    const error = await it.error("menu", { path: "File > Open" })
    expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { candidates: ["New", "Quit"] } })
    expect([...it.app.surfaces.keys()]).toEqual(["menubar"])
    expect((await it.ok("menu", { path: "File > New" })).path).toEqual(["File", "New"])
    expect([...it.app.surfaces.keys()]).toEqual(["menubar"])
    expect(it.world.deliveries.filter(({ name }) => name !== "File")).toEqual([
      { name: "New", by: "semantic", kind: "click" },
    ])
  })

  test("opens the popover of a button that does not report it, and lists buttons of the same name by ref", async () => {
    const it = desk()
    const app = it.world.app("App", { pid: 10 })
    const press = (name: string, opensPopover: boolean): Spec => ({
      ...item(name),
      role: "button",
      opensPopover,
      does: () =>
        app.show("popover", { role: "popover", children: [{ ...item("Save As…"), role: "button" }] }),
    })
    const buttons = [press("Menu", true), press("Tools", true), press("Tools", true), press("Save", false)]
    app.window("Window", buttons, { id: "w-1" })
    it.world.popups = () => app.surfaces.size
    it.world.onKey = () => app.hide("popover")
    expect((await it.ok("menu", { path: "Menu > Save As" })).path).toEqual(["Menu", "Save As…"])
    expect(it.world.deliveries.map(({ name }) => name)).toEqual(["Menu", "Save As…"])
    expect(await it.error("menu", { path: "Tools > Save As" })).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      details: { candidates: [expect.stringMatching(/^@e\d+$/), expect.stringMatching(/^@e\d+$/)] },
    })
    expect(await it.error("menu", { path: "Save > Save As" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { candidates: ["Menu", "Tools"] },
    })
    expect(it.world.deliveries).toHaveLength(2)
  })

  test("keys that close menus reach neither the dialog that the item opens nor a popup that was there before", async () => {
    const opens = { does: () => it.app.show("menu", { role: "menu", name: "File", children: [ask, tip] }) }
    const it = withMenus(item("File", opens))
    const ask = item("Ask", {
      does: () => {
        it.app.hide("menu")
        const content: Spec[] = [{ role: "textfield", name: "Answer", states: ["enabled"] }]
        it.world.focused = it.app.window("Question", content, { id: "w-2" })
      },
    })
    const tip = item("Tip", {
      does: () => {
        it.app.hide("menu")
        it.app.show("popover", { role: "group", children: [item("Close the tip")] })
      },
    })
    const keys: string[] = []
    it.world.onKey = (combo) => keys.push(`${combo} in ${it.world.focused?.id}`)
    // The popup that the item opens is its effect.
    expect((await it.ok("menu", { path: "File > Tip" })).path).toEqual(["File", "Tip"])
    expect([...it.app.surfaces.keys()]).toEqual(["menubar", "popover"])
    // It lasts, and the next choice leaves it alone.
    expect((await it.ok("menu", { path: "File > Ask" })).path).toEqual(["File", "Ask"])
    expect(it.world.focused?.id).toBe("w-2")
    expect(keys).toEqual([])
  })

  test("closes a menu that has moved the focus from a dialog to the window of its bar", async () => {
    const it = withMenus()
    const [main] = it.world.windows
    const opens = () => {
      it.app.show("menu", { role: "menu", name: "File", children: [item("New")] })
      it.world.focused = main
    }
    it.app.show("menubar", { role: "menubar", children: [item("File", { does: opens })] }, { id: "w-1" })
    it.world.focused = it.app.window("Dialog", [], { id: "w-2" })
    it.world.onKey = (combo) => {
      if (combo === "escape") it.app.hide("menu")
    }
    const error = await it.error("menu", { path: "File > Open", window_id: "w-2" })
    expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { candidates: ["New"] } })
    expect([...it.app.surfaces.keys()]).toEqual(["menubar"])
  })

  test.each([false, true])(
    "a window of the app proves the choice, another app's window does not (changes: %p)",
    async (changes) => {
      const other = item("Elsewhere", {
        does: () =>
          it.world
            .app("Other", { pid: 20 })
            .window("Other", [{ role: "button", name: "Hi", states: ["enabled"] }], { id: "w-9" }),
      })
      const ask = item("Ask", {
        does: () =>
          it.app.window("Question", [{ role: "textfield", name: "Answer", states: ["enabled"] }], {
            id: "w-2",
          }),
      })
      const it = withMenus(item("File", { children: closed(other, ask) }))
      const elsewhere = await it.ok("menu", { path: "File > Elsewhere", changes })
      expect(elsewhere.disposition.delivery).toBe("delivered_unverified")
      expect(elsewhere.observed).toBeUndefined()
      expect(await it.ok("menu", { path: "File > Ask", changes })).toMatchObject({
        disposition: { delivery: "delivered_verified", retry: "unsafe" },
        observed: "window w-2 opened",
      })
      expect(it.world.deliveries).toHaveLength(2)
    },
  )

  test("lists the items at the level of a wrong name, and does nothing", async () => {
    const it = withMenus(item("File", { children: closed(item("Open"), item("Open…"), item("open")) }))
    expect(await it.error("menu", { path: "Edit > Undo" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      message: 'There is no "Edit" in the menu bar',
      details: { candidates: ["File"] },
    })
    expect((await it.error("menu", { path: "File > OPEN" })).code).toBe("AMBIGUOUS_TARGET")
    for (const path of ["", "File >", "> Open"])
      expect((await it.error("menu", { path })).code).toBe("INVALID_ARGS")
    expect(it.world.deliveries).toEqual([])
    expect((await it.ok("menu", { path: "File > Open" })).element.name).toBe("Open")
  })
})
