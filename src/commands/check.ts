import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "check",
  summary: "Switch a checkbox, radio button or switch on; nothing happens if it is on",
  group: "act",
  input: actInput,
  examples: ["agent-desktop check @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "check" }),
})
