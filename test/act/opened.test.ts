import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { BUTTON, holding } from "./holding.ts"

/** Dialogs and popups that count as opened by a click, and those that do not. */

afterAll(clearDesks)

const DIALOG: Spec = { role: "dialog", name: "Sure?", children: [{ ...BUTTON, name: "Yes" }] }

/** A click after which the app reports a dialog. `where`: the window that the dialog is in. */
async function reporting(where: "own" | "other", isNew = true) {
  const it = await holding({ ...BUTTON, does: () => {} }, DIALOG)
  const other = it.app.window("Other", [DIALOG], { id: "w-2" })
  it.world.focused = it.window
  const dialog = where === "own" ? it.window.root.children[1]! : other.root.children[0]!
  it.world.appeared = () => (it.sent().length > 0 ? [{ address: dialog.address, isNew }] : [])
  it.world.openedAmong = (addresses) => (addresses.includes(dialog.address) ? dialog : undefined)
  return it.act("click")
}

describe.concurrent("a click", () => {
  test("is proved by a new dialog in its window", async () => {
    expect((await reporting("own")).data).toMatchObject({
      disposition: { delivery: "delivered_verified" },
      popup: { role: "dialog", name: "Sure?" },
    })
  })

  test("is not proved by a dialog in another window", async () => {
    const { data } = await reporting("other")
    expect(data.disposition.delivery).toBe("delivered_unverified")
    expect(data.popup).toBeUndefined()
  })

  test("is not proved by a dialog that only became active", async () => {
    const { data } = await reporting("own", false)
    expect(data.disposition.delivery).toBe("delivered_unverified")
  })

  test("is not proved by a dialog that was reported before it", async () => {
    const it = await holding({ ...BUTTON, does: () => {} }, DIALOG)
    const dialog = it.window.root.children[1]!
    const reported = [{ address: dialog.address, isNew: true }]
    it.world.appeared = () => reported.splice(0)
    it.world.openedAmong = (addresses) => (addresses.includes(dialog.address) ? dialog : undefined)
    const { data } = await it.act("click")
    expect(data.disposition.delivery).toBe("delivered_unverified")
    expect(data.popup).toBeUndefined()
  })

  test("is not proved by the dialog that its element is in", async () => {
    const it = await holding({ ...DIALOG, children: [{ ...BUTTON, does: () => {} }] })
    const [dialog] = it.window.root.children
    it.world.appeared = () => (it.sent().length > 0 ? [{ address: dialog!.address, isNew: true }] : [])
    it.world.openedAmong = () => (it.sent().length > 0 ? dialog : undefined)
    const { data } = await it.act("click")
    expect(it.sent()).toHaveLength(1)
    expect(data.disposition.delivery).toBe("delivered_unverified")
    expect(data.popup).toBeUndefined()
  })

  test.each([
    ["was open before", false, "delivered_unverified"],
    ["has opened", true, "delivered_verified"],
  ])("that makes a window active that %s", async (_, isNew, delivery) => {
    const it = await holding({ ...BUTTON, does: () => {} })
    const { root } = it.app.window("Sure?", [{ ...BUTTON, name: "Yes" }], { id: "w-2" })
    it.world.focused = it.window
    it.world.watchPopups = () => ({
      look: async () => undefined,
      forget: () => {},
      hasAppeared: (id) => isNew && id === "w-2",
      [Symbol.dispose]: () => {},
    })
    it.world.appeared = () => (it.sent().length > 0 ? [{ address: root.address, isNew: false }] : [])
    it.world.openedAmong = (addresses) => (addresses.includes(root.address) ? root : undefined)
    const { data } = await it.act("click")
    expect(data.disposition.delivery).toBe(delivery)
    expect(data.popup === undefined).toBe(!isNew)
  })

  test.each([
    ["before", "delivered_unverified"],
    ["after", "delivered_verified"],
  ])("and a popup that opened %s it: %s", async (when, delivery) => {
    const it = await holding({ ...BUTTON, does: () => {} })
    it.app.show("menu", { role: "menu", name: "Menu", children: [{ ...BUTTON, role: "menuitem" }] })
    let isForgotten = false
    it.world.watchPopups = () => ({
      look: async () => (when === "after" || !isForgotten ? "opened" : undefined),
      forget: () => {
        isForgotten = true
      },
      hasAppeared: () => false,
      [Symbol.dispose]: () => {},
    })
    const { data } = await it.act("click")
    expect(data.disposition.delivery).toBe(delivery)
    expect(data.popup === undefined).toBe(when === "before")
  })
})
