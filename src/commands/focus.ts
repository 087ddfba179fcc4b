import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "focus",
  summary: "Give the element the keyboard focus",
  group: "act",
  input: actInput,
  examples: ["agent-desktop focus @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "focus" }),
})
