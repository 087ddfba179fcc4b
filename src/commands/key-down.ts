import { defineCommand } from "../command.ts"
import { flag, text } from "../inputs.ts"
import { guardCombo, parseCombo } from "../keys.ts"

export default defineCommand({
  name: "key-down",
  summary: "Hold keys down until key-up",
  group: "input",
  input: {
    combo: text("Keys joined by +, such as shift or ctrl+a", { position: 0, value: "COMBO" }),
    cmd_as_ctrl: flag("On Linux, take cmd as ctrl; otherwise it is Super"),
    force: flag("Also combinations that end the user's session"),
  },
  examples: ["agent-desktop key-down shift"],
  check(args) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl, modifiersAlone: true })
    if (!args.force) guardCombo(combo)
  },
  async run(args, ctx) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl, modifiersAlone: true })
    await ctx.adapter.input({ kind: "key", combo, phase: "down" })
    return { action: "key-down" }
  },
})
