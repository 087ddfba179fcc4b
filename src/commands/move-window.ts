import { defineCommand } from "../command.ts"
import { app, whole } from "../inputs.ts"
import { needsWindow, operate, targetWindow } from "../look/windows.ts"

export default defineCommand({
  name: "move-window",
  summary: "Move a window and report where it is then",
  group: "window",
  input: {
    window_id: targetWindow,
    app,
    x: whole("Left edge, in screen pixels", -32_768, 32_767, { position: 1, value: "X" }),
    y: whole("Top edge, in screen pixels", -32_768, 32_767, { position: 2, value: "Y" }),
  },
  examples: [
    "agent-desktop move-window w-4521 100 50",
    "agent-desktop move-window --app TextEdit --x 100 --y 50",
  ],
  check: needsWindow,
  run: async (args, ctx) => ({
    window: await operate(ctx, args, { kind: "move", x: args.x, y: args.y }),
  }),
})
