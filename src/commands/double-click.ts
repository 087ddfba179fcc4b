import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "double-click",
  summary: "Press the element twice in quick succession",
  group: "act",
  input: actInput,
  examples: ["agent-desktop double-click @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "double-click" }),
})
