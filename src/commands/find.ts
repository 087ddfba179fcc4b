import * as v from "valibot"
import { MAX_LEVELS } from "../adapter.ts"
import { defineCommand } from "../command.ts"
import { app, choice, flag, oneOf, whole, windowId, words } from "../inputs.ts"
import { toMatches } from "../look/find.ts"
import { requireContent } from "../look/surface.ts"
import { chooseWindow } from "../look/windows.ts"
import { canonicalRole, matches } from "../match.ts"
import { STATES } from "../node.ts"
import { walk } from "../tree.ts"

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
  examples: [
    'agent-desktop find --role button --name "Submit" --app Safari',
    "agent-desktop find --text total --count",
  ],
  check(args) {
    oneOf(args, ["count", "first", "last", "nth"], 0)
    if (args.role !== undefined) canonicalRole(args.role)
  },
  async run(args, ctx) {
    const query = { ...args, role: args.role === undefined ? undefined : canonicalRole(args.role) }
    const window = await chooseWindow(ctx.adapter, args)
    requireContent(window)
    const tree = await ctx.adapter.tree(
      { kind: "surface", window, surface: "window" },
      {
        maxDepth: MAX_LEVELS,
        bounds: "interactive",
        includeHidden: args.include_hidden,
        interactiveOnly: false,
      },
    )
    const places = [...walk(tree.root)]
    const found = places.filter((place) => matches(place, query))
    const cut = tree.complete ? {} : { complete: false }
    if (args.count) return { count: found.length, ...cut }
    const isSingle = args.first || args.last || args.nth !== undefined
    const shown = isSingle ? found.slice(...rangeOf(args)) : found.slice(0, args.limit)
    const matched = await toMatches(ctx, tree, shown, places)
    return isSingle
      ? { match: matched[0] ?? null, ...cut }
      : { matches: matched, total_matches: found.length, ...cut }
  },
})

function rangeOf(args: { readonly last: boolean; readonly nth?: number }): [number, number?] {
  const at = args.nth ?? 0
  return args.last ? [-1] : [at, at + 1]
}
