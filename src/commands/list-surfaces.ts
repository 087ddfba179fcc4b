import { defineCommand } from "../command.ts"
import { app } from "../inputs.ts"
import { chooseWindow } from "../look/windows.ts"

export default defineCommand({
  name: "list-surfaces",
  summary: "List what --surface can name for an app right now: windows, menus, dialogs",
  group: "observe",
  readOnly: true,
  input: { app },
  examples: ["agent-desktop list-surfaces --app TextEdit"],
  async run(args, ctx) {
    const { pid } = await chooseWindow(ctx.adapter, args)
    return { pid, surfaces: await ctx.adapter.surfaces(pid) }
  },
})
