import { defineCommand } from "../command.ts"

export default defineCommand({
  name: "list-desktops",
  summary: "Linux: list the isolated desktops that are running",
  group: "desktop",
  readOnly: true,
  input: {},
  run: async (_, ctx) => ({ desktops: await ctx.adapter.desktops({ kind: "list" }) }),
})
