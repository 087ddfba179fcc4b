import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "click",
  summary: "Press the element once",
  group: "act",
  input: actInput,
  examples: ["agent-desktop click @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "click" }),
})
