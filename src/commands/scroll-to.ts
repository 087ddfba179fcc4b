import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "scroll-to",
  summary: "Scroll until the element is in view",
  group: "act",
  input: actInput,
  examples: ["agent-desktop scroll-to @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "scroll-to" }),
})
