import { expect, test } from "bun:test"
import type { Adapter } from "../../src/adapter.ts"
import { AppError } from "../../src/errors.ts"
import { appWith, onDesk } from "./adapter-desk.ts"
import { ALL } from "./adapter-outline.ts"

const SCENE = appWith(
  [
    { AXRole: "AXButton", AXTitle: "Save", frame: [110, 120, 80, 24] },
    { AXRole: "AXTextField", AXTitle: "Name", AXValue: "Ann", frame: [110, 160, 80, 24] },
    { AXRole: "AXTextField", AXSubrole: "AXSecureTextField", AXTitle: "Password", AXValue: "hunter2" },
    {
      AXRole: "AXPopUpButton",
      AXTitle: "Colour",
      AXValue: "Red",
      menu: {
        AXRole: "AXMenu",
        frame: [200, 200, 100, 60],
        children: ["Red", "Blue"].map((AXTitle) => ({ AXRole: "AXMenuItem", AXTitle })),
      },
    },
    { AXRole: "AXGroup", children: [{ AXRole: "AXStaticText", AXValue: "Hello" }] },
  ],
  { menubar: { AXRole: "AXMenuBar", children: [{ AXRole: "AXMenuBarItem", AXTitle: "File" }] } },
)

/** Uses one feature of each kind that talks to an app. */
async function use(adapter: Adapter, truthful: boolean): Promise<void> {
  const [window] = await adapter.windows()
  if (!window) return
  const { root, complete } = await adapter.tree({ kind: "surface", window, surface: "window" }, ALL)
  // A tree that claims to be complete has every node, unless the app itself denied one.
  if (complete && truthful) {
    expect(root.children.map(({ role, name }) => `${role} ${name ?? ""}`)).toEqual([
      "button Save",
      "textfield Name",
      "textfield Password",
      "combobox Colour",
      "group ",
    ])
    expect(root.children[1]).toMatchObject({ value: "Ann", actions: expect.arrayContaining(["SetValue"]) })
    expect(root.children[4]?.children[0]?.value).toBe("Hello")
  }
  const colour = root.children.find(({ role }) => role === "combobox")
  if (colour) {
    await adapter.read(colour.handle)
    await adapter.perform(colour.handle, { kind: "select", value: "Blue" })
  }
  await adapter.surfaces(501)
  await adapter.window(window.id, { kind: "move", x: 10, y: 30 })
  const watch = await adapter.watch([501])
  await watch.close()
}

/** Plays each fault at each of the first calls. The virtual clock makes waiting free. */
for (const fault of ["-25204", "-25299", "-25200", "-25205", "-25212", "-25211"]) {
  test(`${fault} at any call: no leaks, no violations, and no false answers`, async () => {
    const seen = new Set<string>()
    for (let call = 1; call <= 150; call++) {
      await onDesk(
        SCENE,
        async ({ mac, within }) => {
          mac.fail(`${call}:${fault}`)
          try {
            await use(within(10_000), fault === "-25204" || fault === "-25299")
            seen.add("ok")
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            seen.add(error.code)
          }
        },
        { virtualClock: true },
      )
    }
    const possible = [
      "ok",
      "ACTION_FAILED",
      "APP_UNRESPONSIVE",
      "ELEMENT_NOT_FOUND",
      "PERM_DENIED",
      "TIMEOUT",
      "WINDOW_NOT_FOUND",
    ]
    expect([...seen].filter((outcome) => !possible.includes(outcome))).toEqual([])
    expect(seen.has("ok")).toBe(true)
    // One "API disabled" does not mean that the permission is missing.
    expect(seen.has("PERM_DENIED")).toBe(false)
  })
}
