import { defineCommand } from "../command.ts"

export default defineCommand({
  name: "clipboard-get",
  summary: "Read the clipboard as text",
  group: "clipboard",
  readOnly: true,
  input: {},
  run: async (_, ctx) => ({ text: (await ctx.adapter.clipboard({ kind: "get" })) ?? "" }),
})
