import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "toggle",
  summary: "Flip a checkbox, switch or toggle button",
  group: "act",
  input: actInput,
  examples: ["agent-desktop toggle @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "toggle" }),
})
