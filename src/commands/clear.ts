import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "clear",
  summary: "Empty a text field",
  group: "act",
  input: actInput,
  examples: ["agent-desktop clear @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "clear" }),
})
