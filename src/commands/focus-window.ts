import { defineCommand } from "../command.ts"
import { app, optionalText } from "../inputs.ts"
import { needsWindow, operate, targetWindow } from "../look/windows.ts"

export default defineCommand({
  name: "focus-window",
  summary: "Bring a window to the front and give it the keyboard focus",
  group: "window",
  input: {
    window_id: targetWindow,
    app,
    title: optionalText("Window by its whole title", { value: "TITLE" }),
  },
  examples: [
    "agent-desktop focus-window w-4521",
    'agent-desktop focus-window --app TextEdit --title "notes.txt"',
  ],
  check: needsWindow,
  run: async (args, ctx) => ({
    focused: await operate(ctx, args, { kind: "focus" }),
  }),
})
