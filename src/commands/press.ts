import { changing } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { app, changes, flag, text } from "../inputs.ts"
import { guardCombo, parseCombo } from "../keys.ts"
import { chooseWindow, operate } from "../look/windows.ts"

export default defineCommand({
  name: "press",
  summary: "Press a key or a combination of keys, in the focused window or in an app's",
  group: "input",
  input: {
    combo: text("Keys joined by +, such as cmd+shift+s or return", { position: 0, value: "COMBO" }),
    app,
    cmd_as_ctrl: flag("On Linux, take cmd as ctrl; otherwise it is Super"),
    force: flag("Also combinations that end the user's session"),
    changes,
  },
  examples: ["agent-desktop press cmd+s", "agent-desktop press escape --app TextEdit"],
  check(args) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
    if (!args.force) guardCombo(combo, args.app)
  },
  run: (args, ctx) =>
    changing(ctx, args, async () => {
      const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
      await ctx.adapter.takeTurn()
      // Keys go to whatever window has the focus, so the app's must have it first.
      if (args.app !== undefined && !(await chooseWindow(ctx.adapter, args)).is_focused) {
        await operate(ctx, args, { kind: "focus" })
      }
      await ctx.adapter.input({ kind: "key", combo, phase: "press" })
      return { action: "press" }
    }),
})
