import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { temporaryForFile } from "../support/temporary.ts"
import { appWith, type Desk, onDesk } from "./adapter-desk.ts"
import { outline } from "./adapter-outline.ts"

/** Apps whose web contents sleep until a client asks for them, each in its own way. */

/** The folder of an app bundle with a browser framework inside. */
const folder = temporaryForFile()
const path = join(folder, "Browser.app")
mkdirSync(join(path, "Contents/Frameworks/Browser Framework.framework"), { recursive: true })

const at = { frame: [110, 120, 60, 20] }
const button = (name: string, more: object = {}) => ({ AXRole: "AXButton", AXTitle: name, ...at, ...more })
const group = (...children: readonly object[]) => ({ AXRole: "AXGroup", children, ...at })
const page = { AXRole: "AXWebArea", id: "page", children: [button("Web")], ...at }
const toolbar = { AXRole: "AXToolbar", children: [button("Reload")], ...at }
const reveal = { do: "reveal", node: "page", after_ms: 100 }
const written = ({ mac }: Desk) => mac.record("write").map(({ attribute }) => attribute)

test("an Electron app is asked for its web contents once, and the walk waits for them", () =>
  onDesk(
    appWith([group({ AXRole: "AXWebArea", late: [button("Web", { id: "web" })] })], {
      settable: ["AXManualAccessibility"],
      on: { AXManualAccessibility: [{ do: "reveal", node: "web", after_ms: 100 }] },
    }),
    async ({ mac, tree }) => {
      expect(outline((await tree()).root)).toContain('      button "Web" enabled')
      await tree()
      expect(mac.report().calls.AXUIElementSetAttributeValue).toBe(1)
    },
  ))

test("an app whose window has contents is not asked for web contents", () =>
  onDesk(
    appWith([group(button("Native"))], { settable: ["AXManualAccessibility"] }),
    async ({ mac, tree }) => {
      await tree()
      expect(mac.report().calls.AXUIElementSetAttributeValue).toBeUndefined()
    },
  ))

test("an older Electron refuses the attribute, and shows its contents nevertheless", () =>
  onDesk(
    appWith([group({ AXRole: "AXGroup", late: [page], ...at })], {
      path,
      settable: ["AXManualAccessibility"],
      lies: { AXManualAccessibility: -25205 },
      on: { AXManualAccessibility: [reveal] },
    }),
    async (desk) => {
      expect(outline((await desk.tree()).root)).toContain('        button "Web" enabled')
      expect(written(desk)).toEqual(["AXManualAccessibility"])
    },
  ))

test("a browser that wakes up when it is read is waited for, and asked for nothing else", () =>
  onDesk(
    appWith(
      [toolbar, { AXRole: "AXScrollArea", late: [page], ...at }],
      { path, AXEnhancedUserInterface: false },
      { meanwhile: [reveal] },
    ),
    async (desk) => {
      expect(outline((await desk.tree()).root)).toContain('      button "Web" enabled')
      expect(written(desk)).not.toContain("AXEnhancedUserInterface")
    },
  ))

test("a browser that shows its page only to screen readers is switched to that mode", () =>
  onDesk(
    appWith([toolbar, { AXRole: "AXScrollArea", late: [page], ...at }], {
      path,
      AXEnhancedUserInterface: false,
      lies: { AXEnhancedUserInterface: -25208 },
      on: { AXEnhancedUserInterface: [reveal] },
    }),
    async (desk) => {
      expect(outline((await desk.tree()).root)).toContain('      button "Web" enabled')
      await desk.tree()
      expect(written(desk)).toEqual(["AXManualAccessibility", "AXEnhancedUserInterface"])
    },
  ))

test("a browser window without a place for a page is not waited for", () =>
  onDesk(appWith([toolbar], { path, AXEnhancedUserInterface: false }), async (desk) => {
    await desk.tree()
    expect(written(desk)).toEqual([])
  }))

test("a page that stays empty is waited for once, and is not an error", () =>
  onDesk(appWith([toolbar, { AXRole: "AXWebArea", ...at }], { path }), async (desk) => {
    const { root, complete } = await desk.tree()
    expect(complete).toBe(true)
    expect(outline(root)).toContain("  webarea")
    // AXEnhancedUserInterface does not read as off.
    expect(written(desk)).toEqual(["AXManualAccessibility"])
  }))
