import * as v from "valibot"
import { type Context, defineCommand } from "../command.ts"
import { toMatches } from "../look/find.ts"
import { lineOf, within } from "../look/outline.ts"
import { type Gaps, gapsOf, gapsText, search } from "../look/search.ts"
import { waitForContent } from "../look/surface.ts"
import { windowInFront } from "../look/windows.ts"
import { canonicalRole, matches } from "../match.ts"
import { STATES } from "../node.ts"
import { app, choice, flag, oneOf, whole, windowId, words } from "../schema/inputs.ts"
import { count, described, gaps, match, optionalString, type PrintedNode } from "../schema/outputs.ts"
import type { Position } from "../tree.ts"

export const find = defineCommand({
  name: "find",
  summary: "Search a window for elements by role, name, value, text or state",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: {
    app,
    window_id: windowId,
    role: words("Role, such as button", { value: "ROLE", traced: true }),
    name: words("Part of the name, in any case", { value: "TEXT", traced: true }),
    value: words("Part of the value", { value: "TEXT" }),
    text: words("Part of the name, value or description", { value: "TEXT" }),
    in_row: words('Only in rows that show this text. It does not scroll: a target with in "…" does', {
      value: "TEXT",
    }),
    state: v.optional(choice(STATES, "Must have this state", { value: "STATE" })),
    exact: flag("Match whole strings and their case"),
    include_hidden: flag("Also hidden elements"),
    count: flag("Only how many there are"),
    first: flag("Only the first match"),
    last: flag("Only the last match"),
    nth: v.optional(whole("Only the match with this number, from 0", 0, 1_000_000, { value: "N" })),
    limit: v.optional(whole("At most this many matches", 1, 10_000, { value: "N" }), 50),
  },
  output: () =>
    v.object({
      count: v.optional(count()),
      match: described(v.optional(v.nullable(match())), "null: nothing matched"),
      matches: v.optional(v.array(match())),
      total_matches: v.optional(count()),
      note: described(optionalString(), "If rows may be in another order: how to see them"),
      ...gaps(),
    }),
  print: foundText,
  sample: [
    { app: "$app", role: "button" },
    { app: "$app", role: "textfield", first: true },
    { app: "$app", last: true },
    { app: "$app", text: "nowhere", first: true },
    { app: "$app", count: true },
    { app: "$app", in_row: "a1", first: true },
  ],
  examples: [
    'agent-desktop find --role button --name "Submit" --app Safari',
    "agent-desktop find --text total --count",
    'agent-desktop find --role button --in-row "Gina Moser"',
  ],
  check(args) {
    oneOf(args, ["count", "first", "last", "nth"], 0)
    if (args.role !== undefined) canonicalRole(args.role)
  },
  async run(args, ctx) {
    const query = { ...args, role: args.role === undefined ? undefined : canonicalRole(args.role) }
    const window = await waitForContent(ctx, await windowInFront(ctx, args))
    const searched = await search(ctx, window, {
      includeHidden: args.include_hidden,
      fits: (place) => matches(place, query),
      narrow: args.in_row === undefined ? undefined : await rowFilter(ctx, args.in_row, args.exact),
      enough: (args.nth ?? 0) + 1,
    })
    const { tree, places, found } = searched
    const isSingle = args.first || args.last || args.nth !== undefined
    const shown = isSingle ? found.slice(...rangeOf(args)) : found.slice(0, args.limit)
    // One match is the whole answer; a list, a count and "none" are true only of what was searched.
    const isAnswered = (args.first || args.nth !== undefined) && shown.length > 0
    const missed = isAnswered ? undefined : await gapsOf(ctx, searched, args.in_row ?? args.text ?? args.name)
    if (args.count) return { count: found.length, ...missed }
    const matched = await toMatches(ctx, tree, shown, places)
    const note = shown.some(isInTable) ? await tree.doubt?.() : undefined
    const rest = { ...(note === undefined ? {} : { note }), ...missed }
    return isSingle
      ? { match: matched[0] ?? null, ...rest }
      : { matches: matched, total_matches: found.length, ...rest }
  },
})

const isInTable = ({ ancestors }: Position): boolean => ancestors.some(({ role }) => role === "table")

async function rowFilter(ctx: Context, text: string, isExact: boolean) {
  const { inRowWith } = await import("../look/places-in-rows.ts")
  return (found: readonly Position[], places: readonly Position[]) =>
    inRowWith(ctx, { found, places }, text, isExact)
}

function rangeOf(args: { readonly last: boolean; readonly nth?: number }): [number, number?] {
  const at = args.nth ?? 0
  return args.last ? [-1] : [at, at + 1]
}

interface Match extends Omit<PrintedNode, "children"> {
  readonly path: readonly string[]
}

interface FindAnswer {
  readonly complete?: boolean
  readonly unsearched?: object
  readonly count?: number
  readonly match?: Match | null
  readonly matches?: readonly Match[]
  readonly total_matches?: number
  readonly note?: string
}

function foundText({ count, match, matches, total_matches, note, unsearched }: FindAnswer): string {
  // The schema does not spell out its members: every MCP client would pay for them.
  const gaps = gapsText({ unsearched: unsearched as Gaps["unsearched"] | undefined })
  const cut = note === undefined ? gaps : `${note}\n${gaps}`
  if (count !== undefined) return `${count} matches\n${cut}`
  if (match !== undefined) return match ? `${matchLine(match)}\n${cut}` : `no match\n${cut}`
  const rest = (total_matches ?? 0) - (matches?.length ?? 0)
  const more = rest > 0 ? `… ${rest} more\n` : ""
  return matches?.length ? `${matches.map(matchLine).join("\n")}\n${more}${cut}` : `no match\n${cut}`
}

const matchLine = (match: Match): string => `${lineOf(match)}${within(match.path)}`
