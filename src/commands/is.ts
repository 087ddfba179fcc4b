import { defineCommand } from "../command.ts"
import { choice, refInput } from "../inputs.ts"
import { flagValue, isVisible } from "../look/properties.ts"
import { resolve } from "../refs/resolve.ts"

const PROPERTIES = ["visible", "enabled", "checked", "focused", "expanded", "selected"] as const

export default defineCommand({
  name: "is",
  summary: "Ask whether an element has a state, live",
  group: "observe",
  readOnly: true,
  input: { ...refInput, property: choice(PROPERTIES, "Which state", { position: 1, value: "PROP" }) },
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
