import { defineCommand } from "../command.ts"
import { publicApp } from "../look/windows.ts"

export default defineCommand({
  name: "list-apps",
  summary: "List the running apps",
  group: "observe",
  readOnly: true,
  input: {},
  examples: ["agent-desktop list-apps"],
  run: async (_, ctx) => ({ apps: (await ctx.adapter.apps()).map(publicApp) }),
})
