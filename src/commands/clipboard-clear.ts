import { defineCommand } from "../command.ts"

export default defineCommand({
  name: "clipboard-clear",
  summary: "Empty the clipboard",
  group: "clipboard",
  input: {},
  async run(_, ctx) {
    await ctx.adapter.clipboard({ kind: "clear" })
    return { action: "clipboard-clear" }
  },
})
