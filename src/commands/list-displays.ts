import { defineCommand } from "../command.ts"

export default defineCommand({
  name: "list-displays",
  summary: "List the displays and their places",
  group: "observe",
  readOnly: true,
  input: {},
  run: async (_, ctx) => ({ displays: await ctx.adapter.displays() }),
})
