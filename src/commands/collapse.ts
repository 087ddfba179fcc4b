import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput } from "../inputs.ts"

export default defineCommand({
  name: "collapse",
  summary: "Close a tree item, combobox, menu button or disclosure",
  group: "act",
  input: actInput,
  examples: ["agent-desktop collapse @e3"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "collapse" }),
})
