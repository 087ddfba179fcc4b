import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "uncheck",
  summary: "Switch a checkbox or switch off; nothing happens if it is off",
  group: "act",
  input: actInput,
  examples: ["agent-desktop uncheck @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "uncheck" }),
})
