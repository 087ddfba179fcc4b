import { expect, test } from "bun:test"
import type { SeenNode } from "../../src/adapter.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { appWith, onDesk } from "./adapter-desk.ts"

const at = { frame: [110, 120, 60, 20] }
const buttons = (count: number, more: object = {}) => ({
  repeat: count,
  node: { AXRole: "AXButton", AXTitle: "Button {n}", ...at, ...more },
})
/** Round trips that find the window, ask the first texts and groups for actions, and look for further children. */
const FINDING = 12
const SAMPLES = 20 + 20 + 20

test("a tree costs one round trip per node, and one more for each node with a value", () =>
  onDesk(
    appWith([
      buttons(60),
      { repeat: 40, node: { AXRole: "AXGroup", AXTitle: "Group", ...at } },
      { repeat: 30, node: { AXRole: "AXStaticText", AXValue: "Text", ...at } },
      { repeat: 20, node: { AXRole: "AXCheckBox", AXTitle: "Box {n}", ...at } },
    ]),
    async ({ mac, adapter, window }) => {
      const main = await window()
      for (const [interactiveOnly, values] of [
        [false, 30 + 20],
        [true, 20],
      ] as const) {
        mac.mark()
        const options = {
          maxDepth: 10,
          bounds: "interactive",
          includeHidden: false,
          interactiveOnly,
        } as const
        await adapter.tree({ kind: "surface", window: main, surface: "window" }, options)
        expect(mac.report().round_trips).toBeLessThanOrEqual(151 + values + FINDING + SAMPLES)
      }
    },
  ))

test("once two controls of a kind offer different actions, every later one is asked", () =>
  onDesk(
    appWith([
      buttons(2),
      buttons(4, { AXTitle: "Menu {n}", actions: { AXPress: [], AXShowMenu: [] } }),
      buttons(4, { AXTitle: "Late {n}" }),
    ]),
    async ({ tree }) => {
      const { root } = await tree()
      const shown = (start: string) => root.children.filter(({ name }) => name?.startsWith(start))
      const offers = (nodes: readonly SeenNode[]) =>
        nodes.map(({ actions }) => actions?.includes("RightClick"))
      expect(offers(shown("Button"))).toEqual([false, false])
      expect(offers(shown("Menu"))).toEqual([true, true, true, true])
      expect(offers(shown("Late"))).toEqual([false, false, false, false])
    },
  ))

test("the actions of a ref come from the element itself, not from similar ones", () =>
  onDesk(
    appWith([buttons(5), buttons(1, { AXTitle: "Odd", actions: { AXPress: [], AXShowMenu: [] } })]),
    async ({ adapter, node }) => {
      const odd = await node("button", "Odd")
      const live = await adapter.read(odd.handle)
      expect(live?.actions).toContain("RightClick")
    },
  ))

test("one image that can be pressed is found among many that cannot", () =>
  onDesk(
    appWith([
      { repeat: 9, node: { AXRole: "AXImage", ...at } },
      { AXRole: "AXImage", AXTitle: "Logo", actions: { AXPress: [] }, ...at },
    ]),
    async ({ node }) => {
      expect((await node("image", "Logo")).actions).toContain("Click")
    },
  ))

test("a click by ref costs the path and one element, however large the tree is", () =>
  onDesk(
    appWith([{ repeat: 30, node: { AXRole: "AXGroup", children: [buttons(30)], ...at } }]),
    async ({ mac, adapter }) => {
      const entry: RefEntry = {
        pid: 501,
        role: "button",
        name: "Button 8",
        states: [],
        available_actions: [],
        window_id: "w-9001",
        path: [20, 7],
      }
      mac.mark()
      const seen = await adapter.open(entry, "path")
      expect(seen?.name).toBe("Button 8")
      if (seen) await adapter.perform(seen.handle, { kind: "click" })
      expect(mac.report().round_trips).toBeLessThanOrEqual(12)
      expect(mac.record("perform")).toHaveLength(1)
    },
  ))

test("the surfaces of a window are found in one search", () =>
  onDesk(
    appWith([{ repeat: 30, node: { AXRole: "AXGroup", children: [buttons(30)], ...at } }]),
    async ({ mac, adapter }) => {
      mac.mark()
      expect((await adapter.surfaces(501)).map(({ type }) => type)).toEqual(["window", "focused"])
      expect(mac.report().round_trips).toBeLessThanOrEqual(931 + 60)
    },
  ))
