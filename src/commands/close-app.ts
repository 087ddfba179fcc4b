import { defineCommand } from "../command.ts"
import { flag, text } from "../inputs.ts"
import { closeApp } from "../look/windows.ts"

export default defineCommand({
  name: "close-app",
  summary: "Ask an app to quit, or end it by force",
  group: "window",
  input: {
    app: text("App by name, or by bundle or desktop-file id", { position: 0, value: "APP" }),
    force: flag("End the process without asking; unsaved work is lost"),
  },
  examples: ["agent-desktop close-app TextEdit"],
  run: (args, ctx) => closeApp(ctx, args.app, args.force),
})
