import { desk } from "./fake-desk.ts"
import type { Spec } from "./fake-world.ts"
import type { Json } from "./json.ts"

/** A window with structure, wrappers, hidden parts and every kind of text. */
const FORM: readonly Spec[] = [
  { role: "statictext", name: "Welcome" },
  {
    role: "toolbar",
    children: [
      { role: "button", name: "Back", states: ["enabled"] },
      { role: "button", name: "Forward", states: ["disabled"] },
    ],
  },
  {
    role: "group",
    children: [
      {
        role: "group",
        children: [{ role: "textfield", name: "Search", value: "", states: ["enabled", "focused"] }],
      },
    ],
  },
  { role: "group", name: "Empty", children: [{ role: "separator" }] },
  { role: "menu", name: "Closed", hidden: true, children: [{ role: "menuitem", name: "Hidden item" }] },
  { role: "image", name: "Logo", actions: ["Click"] },
  {
    role: "scrollarea",
    actions: ["SetFocus", "Scroll"],
    children: [{ role: "checkbox", name: "Agree", states: ["enabled", "unchecked"] }],
  },
]

/** A desk with that window. */
export function form() {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  const window = app.window("Order", FORM, { id: "w-1" })
  return { ...it, app, window }
}

/** All nodes of a printed tree, depth first. */
export const nodes = (tree: Json): Json[] => [tree, ...(tree.children ?? []).flatMap(nodes)]
export const refsOf = (tree: Json): Record<string, string> =>
  Object.fromEntries(nodes(tree).flatMap((node) => (node.ref_id ? [[node.name, node.ref_id]] : [])))
