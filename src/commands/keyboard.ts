import { type Command, defineCommand } from "../command.ts"
import { app, changes, flag, text } from "../inputs.ts"
import { guardCombo, parseCombo } from "../keys.ts"
import { acted, changes as changed } from "../outputs.ts"

/** Keys, in whatever window has the focus. */

export const press = defineCommand({
  name: "press",
  summary: "Press a key or a combination of keys, in the focused window or in an app's",
  group: "input",
  effect: "changes",
  tool: "core",
  trace: "pictures",
  input: {
    combo: combo("Keys joined by +, such as cmd+shift+s or return"),
    app,
    ...modifierInput(),
    changes,
  },
  output: () => acted("press", { changes: changed() }),
  print: async (data: object) => (await import("../look/outline.ts")).actedText(data),
  sample: [{ combo: "ctrl+s" }, { combo: "ctrl+a", app: "$app" }],
  examples: ["agent-desktop press cmd+s", "agent-desktop press escape --app TextEdit"],
  check(args) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
    if (!args.force) guardCombo(combo, args.app)
  },
  async run(args, ctx) {
    const { changing } = await import("../act/act.ts")
    return changing(ctx, args, async () => {
      const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
      await ctx.adapter.takeTurn()
      // Keys go to whatever window has the focus, so the app's must have it first.
      if (args.app !== undefined) {
        const { chooseWindow, operate } = await import("../look/windows.ts")
        const window = await chooseWindow(ctx.adapter, args)
        if (!window.is_focused) await operate(ctx, args, { kind: "focus" })
      }
      await ctx.adapter.input({ kind: "key", combo, phase: "press" })
      return { action: "press" }
    })
  },
})

export const keyDown = holding("key-down", "down", {
  summary: "Hold keys down until key-up",
  effect: "changes",
})

export const keyUp = holding("key-up", "up", {
  summary: "Release keys that key-down holds",
  effect: "harmless",
  repeatable: true,
})

function holding(
  name: string,
  phase: "down" | "up",
  own: Pick<Command, "summary" | "effect" | "repeatable">,
): Command {
  return defineCommand({
    name,
    ...own,
    group: "input",
    tool: "all",
    trace: "pictures",
    input: { combo: combo("Keys joined by +, such as shift or ctrl+a"), ...modifierInput() },
    output: () => acted(name, {}),
    print: "json",
    sample: { combo: "shift" },
    examples: [`agent-desktop ${name} shift`],
    check(args) {
      const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl, modifiersAlone: true })
      if (!args.force) guardCombo(combo)
    },
    async run(args, ctx) {
      const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl, modifiersAlone: true })
      await ctx.adapter.input({ kind: "key", combo, phase })
      return { action: name }
    },
  })
}

function combo(description: string) {
  return text(description, { position: 0, value: "COMBO", traced: "keys" })
}

function modifierInput() {
  return {
    cmd_as_ctrl: flag("On Linux, take cmd as ctrl; otherwise it is Super"),
    force: flag("Also combinations that end the user's session"),
  }
}
