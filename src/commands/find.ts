import * as v from "valibot"
import type { SeenTree } from "../adapter.ts"
import { chooseWindow } from "../choose.ts"
import { type Context, defineCommand } from "../command.ts"
import { app, choice, flag, oneOf, whole, windowId, words } from "../inputs.ts"
import { canonicalRole, matches, pathOf } from "../match.ts"
import { STATES } from "../node.ts"
import { entriesFor, isInteractive, type Place, walk } from "../tree.ts"

export default defineCommand({
  name: "find",
  summary: "Search a window for elements by role, name, value, text or state",
  group: "observe",
  readOnly: true,
  input: {
    app,
    window_id: windowId,
    role: words("Role, such as button", { value: "ROLE" }),
    name: words("Part of the name, in any case", { value: "TEXT" }),
    value: words("Part of the value", { value: "TEXT" }),
    text: words("Part of the name, value or description", { value: "TEXT" }),
    state: v.optional(choice(STATES, "Must have this state", { value: "STATE" })),
    exact: flag("Whole strings instead of parts, case and all"),
    include_hidden: flag("Also elements that are not showing"),
    count: flag("Only how many there are"),
    first: flag("Only the first match"),
    last: flag("Only the last match"),
    nth: v.optional(whole("Only the match of this number, from 0", 0, 1_000_000, { value: "N" })),
    limit: v.optional(whole("At most this many matches", 1, 10_000, { value: "N" }), 50),
  },
  examples: ['agent-desktop find --role button --name "Submit" --app Safari', "agent-desktop find --text total --count"],
  check(args) {
    oneOf(args, ["count", "first", "last", "nth"], 0)
    if (args.role !== undefined) canonicalRole(args.role)
  },
  async run(args, ctx) {
    const query = { ...args, role: args.role === undefined ? undefined : canonicalRole(args.role) }
    const window = await chooseWindow(ctx.adapter, args)
    const tree = await ctx.adapter.tree(
      { kind: "surface", window, surface: "window" },
      { maxDepth: 50, bounds: "interactive", includeHidden: args.include_hidden, interactiveOnly: false },
    )
    const places = [...walk(tree.root)]
    const found = places.filter((place) => matches(place, query))
    const cut = tree.complete ? {} : { complete: false }
    if (args.count) return { count: found.length, ...cut }
    const single = args.first ? found.at(0) : args.last ? found.at(-1) : args.nth === undefined ? null : found.at(args.nth)
    if (single !== null) return { match: (await describe(ctx, tree, single ? [single] : [], places))[0] ?? null, ...cut }
    const shown = found.slice(0, args.limit)
    return { matches: await describe(ctx, tree, shown, places), total_matches: found.length, ...cut }
  },
})

/** What is returned gets refs added to the current map, so that it can be acted on at once. */
async function describe(ctx: Context, tree: SeenTree, shown: readonly Place[], places: readonly Place[]) {
  const chosen = shown.filter(({ node }) => isInteractive(node))
  const source = {
    pid: tree.pid,
    app: tree.app,
    windowId: tree.window.id,
    processStart: await ctx.adapter.processStart(tree.pid),
    rootPath: [],
  }
  const refs = chosen.length ? await ctx.refs.append(entriesFor(chosen, places, source)) : []
  const numbers = new Map(chosen.map(({ node }, i) => [node, refs[i]]))
  return shown.map((place) => {
    const { node } = place
    return {
      ref_id: numbers.get(node),
      role: node.role,
      name: node.name,
      value: node.value,
      states: node.states.length ? node.states : undefined,
      interactive: isInteractive(node),
      path: pathOf(place),
    }
  })
}
