import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "triple-click",
  summary: "Press the element three times, as to select a paragraph",
  group: "act",
  input: actInput,
  examples: ["agent-desktop triple-click @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "triple-click" }),
})
