import { chooseWindow } from "../choose.ts"
import { defineCommand } from "../command.ts"
import { app, flag, text } from "../inputs.ts"
import { guardCombo, parseCombo } from "../keys.ts"

export default defineCommand({
  name: "press",
  summary: "Press a key or a combination of keys, in the focused window or in an app's",
  group: "input",
  input: {
    combo: text("Keys joined by +, such as cmd+shift+s or return", { position: 0, value: "COMBO" }),
    app,
    cmd_as_ctrl: flag("On Linux, take cmd as ctrl; otherwise it is Super"),
    force: flag("Also combinations that end the user's session"),
  },
  examples: ["agent-desktop press cmd+s", "agent-desktop press escape --app TextEdit"],
  check(args) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
    if (!args.force) guardCombo(combo, args.app)
  },
  async run(args, ctx) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
    if (args.app !== undefined) {
      const window = await chooseWindow(ctx.adapter, args)
      if (!window.is_focused) await ctx.adapter.window(window.id, { kind: "focus" })
    }
    await ctx.adapter.input({ kind: "key", combo, phase: "press" })
    return { action: "press" }
  },
})
