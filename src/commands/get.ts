import * as v from "valibot"
import type { Seen } from "../adapter.ts"
import { type Context, defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { flagValue, isVisible } from "../look/properties.ts"
import { ACTION_NAMES } from "../node.ts"
import { finiteRect } from "../rect.ts"
import { resolve } from "../refs/resolve.ts"
import { choice, optionalText, targetInput } from "../schema/inputs.ts"
import { complete, count, described, place, rect, refId } from "../schema/outputs.ts"
import { MAX_TEXT } from "../shown-text.ts"
import { nameAndValue } from "../tree.ts"

/** One property or state of an element, read live. */

const PROPERTIES = [
  "text",
  "value",
  "title",
  "name",
  "role",
  "states",
  "bounds",
  "actions",
  "enabled",
  "checked",
  "focused",
  "selected",
  "expanded",
  "visible",
  "description",
  "selection",
  "caret",
  "attributes",
] as const

/** Properties of a text by character offsets. */
const OF_TEXT: ReadonlySet<string> = new Set(["selection", "caret", "attributes"])

export const get = defineCommand({
  name: "get",
  summary: "Read one property of an element, live",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: {
    ...targetInput,
    property: choice(PROPERTIES, "Which property", { position: 1, value: "PROP" }),
    range: optionalText("Of text and attributes: characters from S up to E", { value: "S:E", traced: true }),
  },
  output: () =>
    v.object({
      property: v.string(),
      ref_id: refId(),
      value: v.union([
        v.nullable(v.string()),
        v.number(),
        v.array(v.union([v.picklist(ACTION_NAMES), v.string(), v.record(v.string(), v.unknown())])),
        rect(),
        v.object({ start: count(), end: count(), text: v.string() }),
      ]),
      length: described(v.optional(count()), "Characters of the whole text"),
      start: v.optional(count()),
      end: v.optional(count()),
      complete: complete(),
      ...place(),
    }),
  print: "facts",
  sample: [
    { ref_id: "$button", property: "name" },
    { ref_id: "$button", property: "bounds" },
    { ref_id: "$button", property: "actions" },
    { ref_id: "$button", property: "description" },
    { ref_id: "$field", property: "value" },
  ],
  examples: ["agent-desktop get @e5 value", "agent-desktop get @e5 text --range 2000:4000"],
  check({ property, range }) {
    if (range !== undefined && property !== "text" && property !== "attributes")
      throw new AppError("INVALID_ARGS", `--range is for text and attributes, not for ${property}`, {
        details: { argument: "range" },
      })
  },
  async run(args, ctx) {
    const { property, range } = args
    const { ref, seen } = await resolve(ctx, args)
    const answer = { property, ref_id: ref }
    if (range !== undefined || OF_TEXT.has(property))
      return { ...answer, ...(await readByCharacters(ctx, ref, seen, property, range)) }
    const value = read(seen, property) ?? null
    // A long text is cut; its length shows how much is missing.
    const isCut = property === "text" && typeof value === "string" && value.length >= MAX_TEXT
    const text = isCut ? await ctx.adapter.text(seen.handle) : undefined
    return { ...answer, value, ...(text && "length" in text ? { length: text.length } : {}) }
  },
})

type Property = (typeof PROPERTIES)[number]

async function readByCharacters(
  ctx: Context,
  ref: string,
  seen: Seen,
  property: Property,
  range: string | undefined,
): Promise<object> {
  const { readRuns, readSelection, readText, textAccess } = await import("../look/text-range.ts")
  const text = await textAccess(ctx, ref, seen)
  if (property === "selection") return readSelection(text)
  if (property === "caret") return { value: (await text.caret()) ?? null, length: text.length }
  return property === "attributes" ? readRuns(ref, text, range) : readText(ref, text, range)
}

function read(seen: Seen, property: Property): unknown {
  switch (property) {
    case "selection":
    case "caret":
    case "attributes":
      return undefined
    case "text":
      // A secure field hides its text, and its name must not look like that text.
      return seen.states.includes("secure") ? undefined : (seen.value ?? seen.name)
    case "title":
    case "name":
      return nameAndValue(seen).name
    case "value":
      return seen.states.includes("secure") ? undefined : nameAndValue(seen).value
    case "description":
    case "role":
    case "states":
      return seen[property]
    case "bounds":
      return seen.bounds && finiteRect(seen.bounds)
    case "actions":
      return seen.actions ?? []
    case "visible":
      return asText(isVisible(seen))
    case "enabled":
    case "checked":
    case "focused":
    case "selected":
    case "expanded":
      return asText(flagValue(seen, property))
    default:
      return property satisfies never
  }
}

const asText = (flag: boolean | undefined): string | undefined =>
  flag === undefined ? undefined : String(flag)

const STATES = ["visible", "enabled", "checked", "focused", "expanded", "selected"] as const

export const is = defineCommand({
  name: "is",
  summary: "Check if an element has a state, read live",
  group: "observe",
  effect: "reads",
  tool: "all",
  trace: "pictures",
  flow: "state",
  input: { ...targetInput, property: choice(STATES, "Which state", { position: 1, value: "PROP" }) },
  output: () =>
    v.object({
      property: v.string(),
      ref_id: refId(),
      result: v.boolean(),
      applicable: described(v.boolean(), "false: the element has no such state"),
      ...place(),
    }),
  print: "facts",
  sample: [
    { ref_id: "$field", property: "enabled" },
    { ref_id: "$button", property: "checked" },
    { ref_id: "$checkbox", property: "checked" },
  ],
  examples: ["agent-desktop is @e5 enabled"],
  async run(args, ctx) {
    const { ref, seen } = await resolve(ctx, args)
    const result = args.property === "visible" ? isVisible(seen) : flagValue(seen, args.property)
    return {
      property: args.property,
      ref_id: ref,
      result: result ?? false,
      applicable: result !== undefined,
    }
  },
})
