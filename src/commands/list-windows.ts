import { defineCommand } from "../command.ts"
import { app } from "../inputs.ts"
import { publicWindow, windowsOfApp } from "../look/windows.ts"

export default defineCommand({
  name: "list-windows",
  summary: "List the open windows, the frontmost first",
  group: "observe",
  readOnly: true,
  input: { app },
  examples: ["agent-desktop list-windows --app Finder"],
  async run(args, ctx) {
    const windows = await ctx.adapter.windows()
    return { windows: (args.app === undefined ? windows : windowsOfApp(windows, args.app)).map(publicWindow) }
  },
})
