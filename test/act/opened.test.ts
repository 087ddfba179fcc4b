import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { BUTTON, holding } from "./holding.ts"

/** What counts as opened by a click. */

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
