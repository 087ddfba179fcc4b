import { actOnRef } from "../act.ts"
import { defineCommand } from "../command.ts"
import { actInput, text } from "../inputs.ts"

export default defineCommand({
  name: "set-value",
  summary: "Replace the value of a text field, slider or spinner",
  group: "act",
  input: { ...actInput, value: text("The new value", { position: 1, value: "VALUE", freeText: true }) },
  examples: ["agent-desktop set-value @e4 75"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "set-value", value: args.value }),
})
