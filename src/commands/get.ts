import type { Seen } from "../adapter.ts"
import { defineCommand } from "../command.ts"
import { choice, refInput } from "../inputs.ts"
import { flagValue, isVisible } from "../look/properties.ts"
import { finiteRect } from "../rect.ts"
import { resolve } from "../refs/resolve.ts"

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

export default defineCommand({
  name: "get",
  summary: "Read one property of an element, live",
  group: "observe",
  readOnly: true,
  input: { ...refInput, property: choice(PROPERTIES, "Which property", { position: 1, value: "PROP" }) },
  examples: ["agent-desktop get @e5 value", "agent-desktop get @e5 actions"],
  async run(args, ctx) {
    const { ref, seen } = await resolve(ctx, args)
    return { property: args.property, ref_id: ref, value: read(seen, args.property) ?? null }
  },
})

function read(seen: Seen, property: (typeof PROPERTIES)[number]): unknown {
  switch (property) {
    case "text":
      // A name would pass for the text of a field that keeps its own.
      return seen.states.includes("secure") ? undefined : (seen.value ?? seen.name)
    case "title":
    case "name":
      return seen.name
    case "value":
      return seen.states.includes("secure") ? undefined : seen.value
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
