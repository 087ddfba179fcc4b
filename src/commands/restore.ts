import { defineCommand } from "../command.ts"
import { app } from "../inputs.ts"
import { needsWindow, operate, targetWindow } from "../look/windows.ts"

export default defineCommand({
  name: "restore",
  summary: "Bring a window back from minimised or maximised",
  group: "window",
  input: { window_id: targetWindow, app },
  examples: ["agent-desktop restore w-4521"],
  check: needsWindow,
  run: async (args, ctx) => ({
    window: await operate(ctx, args, { kind: "restore" }),
  }),
})
