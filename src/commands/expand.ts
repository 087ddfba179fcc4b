import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "expand",
  summary: "Open a tree item, combobox, menu button or disclosure",
  group: "act",
  input: actInput,
  examples: ["agent-desktop expand @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "expand" }),
})
