import { afterAll, describe, expect, test } from "bun:test"
import { VERIFIED } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { within } from "../support/pace.ts"
import { BUTTON, bounds, holding, SHORT } from "./holding.ts"

afterAll(clearDesks)

describe.concurrent("right-click", () => {
  const menu: Spec = {
    role: "menu",
    name: "Context",
    children: [
      { role: "menuitem", name: "Copy", states: ["enabled"], bounds },
      { role: "separator" },
      { role: "menuitem", name: "Paste", states: ["disabled"], bounds },
    ],
  }

  test("returns the menu it opened, with refs that are added to the map", async () => {
    const opener: Spec = { ...BUTTON, does: ({ app }) => app.show("menu", menu) }
    const { act, run, world, sent, refs } = await holding(opener)
    const before = await refs.load()
    expect((await act("right-click")).data).toEqual({
      action: "right-click",
      ref_id: "@e1",
      element: { role: "button", name: "It" },
      method: "fake:right-click",
      disposition: VERIFIED,
      menu: {
        role: "menu",
        name: "Context",
        children: [
          { ref_id: "@e2", role: "menuitem", name: "Copy", states: ["enabled"] },
          { role: "separator" },
          { ref_id: "@e3", role: "menuitem", name: "Paste", states: ["disabled"] },
        ],
      },
    })
    expect(sent()).toEqual(["semantic right-click"])
    const after = await refs.load()
    expect(after.inner.get("@e1")).toEqual(before.inner.get("@e1")!)
    expect(after.snapshot_id).toBe(before.snapshot_id)
    expect((await run("click", { ref_id: "@e2" })).ok).toBe(true)
    expect(world.sent("Copy")).toEqual(["semantic click"])
  })

  test("a menu that opens late is waited for", async () => {
    const { act } = await holding({ ...BUTTON, delay: 30, does: ({ app }) => app.show("menu", menu) })
    expect((await act("right-click")).data.menu.name).toBe("Context")
  })

  test("reports only delivery if no menu opens", async () => {
    const { act } = await holding(BUTTON)
    const { data } = await act("right-click")
    expect(data.menu).toBeUndefined()
    expect(data.disposition.delivery).toBe("delivered_unverified")
  })

  test("does not wait long for a menu once the app has handled the click and the screen shows no popup", async () => {
    const { act, world } = await holding(BUTTON)
    world.popups = () => 0
    const { data } = await within(300, () => act("right-click"))
    expect(data.disposition.delivery).toBe("delivered_unverified")
  })

  test("waits for a menu that the screen shows, or whose app is still busy", async () => {
    for (const [popups, isBusy] of [
      [1, false],
      [0, true],
    ] as const) {
      const { act, world } = await holding({
        ...BUTTON,
        delay: 400,
        does: ({ app }) => app.show("menu", menu),
      })
      world.popups = () => popups
      world.isBusy = isBusy
      expect((await act("right-click")).data.menu?.name).toBe("Context")
    }
  })

  test("reports the click as delivered even if reading the menu fails", async () => {
    const { act, world, sent } = await holding(BUTTON)
    world.hang("tree")
    expect((await act("right-click", { timeout_ms: SHORT })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    expect(sent()).toEqual(["semantic right-click"])
  })

  test("gives the menu's refs the snapshot id if the ref had one", async () => {
    const { ok, refs } = await holding({ ...BUTTON, does: ({ app }) => app.show("menu", menu) })
    const id = (await refs.load()).snapshot_id
    await ok("snapshot")
    const { menu: opened } = await ok("right-click", { ref_id: `@${id}:e1` })
    expect(opened.children[0].ref_id).toBe(`@${id}:e2`)
    expect((await ok("get", { ref_id: `@${id}:e2`, property: "name" })).value).toBe("Copy")
  })
})
