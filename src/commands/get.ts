import * as v from "valibot"
import type { Seen } from "../adapter.ts"
import { defineCommand } from "../command.ts"
import { choice, refInput } from "../inputs.ts"
import { flagValue, isVisible } from "../look/properties.ts"
import { ACTION_NAMES } from "../node.ts"
import { described, rect, refId } from "../outputs.ts"
import { finiteRect } from "../rect.ts"
import { resolve } from "../refs/resolve.ts"
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
] as const

export const get = defineCommand({
  name: "get",
  summary: "Read one property of an element, live",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: { ...refInput, property: choice(PROPERTIES, "Which property", { position: 1, value: "PROP" }) },
  output: () =>
    v.object({
      property: v.string(),
      ref_id: refId(),
      value: v.union([
        v.nullable(v.string()),
        v.array(v.union([v.picklist(ACTION_NAMES), v.string()])),
        rect(),
      ]),
    }),
  print: "json",
  sample: [
    { ref_id: "$button", property: "name" },
    { ref_id: "$button", property: "bounds" },
    { ref_id: "$button", property: "actions" },
    { ref_id: "$button", property: "description" },
    { ref_id: "$field", property: "value" },
  ],
  examples: ["agent-desktop get @e5 value", "agent-desktop get @e5 actions"],
  async run(args, ctx) {
    const { ref, seen } = await resolve(ctx, args)
    return { property: args.property, ref_id: ref, value: read(seen, args.property) ?? null }
  },
})

function read(seen: Seen, property: (typeof PROPERTIES)[number]): unknown {
  switch (property) {
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
  input: { ...refInput, property: choice(STATES, "Which state", { position: 1, value: "PROP" }) },
  output: () =>
    v.object({
      property: v.string(),
      ref_id: refId(),
      result: v.boolean(),
      applicable: described(v.boolean(), "false: the element has no such state"),
    }),
  print: "json",
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
