import { defineCommand } from "../command.ts"
import { app, whole } from "../inputs.ts"
import { needsWindow, operate, targetWindow } from "../look/windows.ts"

export default defineCommand({
  name: "resize-window",
  summary: "Resize a window and report its size then",
  group: "window",
  input: {
    window_id: targetWindow,
    app,
    width: whole("Width in pixels", 1, 32_767, { position: 1, value: "W" }),
    height: whole("Height in pixels", 1, 32_767, { position: 2, value: "H" }),
  },
  examples: ["agent-desktop resize-window w-4521 800 600"],
  check: needsWindow,
  run: async (args, ctx) => ({
    window: await operate(ctx, args, { kind: "resize", width: args.width, height: args.height }),
  }),
})
