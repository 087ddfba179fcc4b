import * as v from "valibot"
import { type Command, defineCommand } from "../command.ts"
import type { Disposition } from "../errors.ts"
import { app, changes, flag, oneOf, optionalTarget, text, windowId } from "../inputs.ts"
import { guardCombo, parseCombo } from "../keys.ts"
import { acted, changes as changed, described, disposition, optionalString } from "../outputs.ts"
import { REF_SYNTAX } from "../refmap.ts"

/** Keys: in the window that has the focus, or in one that gets it for them. */

export const press = defineCommand({
  name: "press",
  summary: "Press a key or a combination of keys: in the focused window, in another one, or in an element",
  group: "input",
  effect: "changes",
  tool: "core",
  trace: "pictures",
  input: {
    combo: combo("Keys joined by +, such as cmd+shift+s or return"),
    app,
    window_id: windowId,
    to: optionalTarget("Give this element the focus first"),
    ...modifierInput(),
    changes,
  },
  output: () =>
    acted("press", {
      ref_id: v.optional(v.string()),
      window: described(
        v.optional(v.object({ id: v.string(), title: v.string(), app_name: v.string() })),
        "Got the keys",
      ),
      element: v.optional(v.object({ role: v.string(), name: optionalString() })),
      focus_returned: described(v.optional(v.boolean()), "false: the keys moved the focus"),
      disposition: disposition(),
      doubt: described(optionalString(), "Why the keys may have done nothing"),
      changes: changed(),
    }),
  print: async (data: object) => (await import("../look/outline.ts")).actedText(data),
  sample: [{ combo: "ctrl+s" }, { combo: "ctrl+a", app: "$app" }, { combo: "end", to: "$field" }],
  examples: [
    "agent-desktop press cmd+s",
    "agent-desktop press escape --app TextEdit",
    "agent-desktop press return --to @e5",
  ],
  check(args) {
    const combo = parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
    if (!args.force) guardCombo(combo, args.app)
    const isDescribed = args.to !== undefined && !REF_SYNTAX.test(args.to)
    // A ref names its window already; a description is searched there.
    if (!isDescribed) for (const other of ["app", "window_id"]) oneOf(args, ["to", other], 0)
  },
  async run(args, ctx) {
    const { changing } = await import("../act/act.ts")
    return changing(ctx, { ...args, ref_id: args.to }, async () => {
      const { pressKeys } = await import("../act/press.ts")
      return pressKeys(ctx, args, parseCombo(args.combo, { cmdAsCtrl: args.cmd_as_ctrl }))
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
    output: () => acted(name, { disposition: disposition() }),
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
      const sent: Disposition = {
        delivery: "delivered_unverified",
        retry: own.repeatable ? "safe" : "unsafe",
      }
      return { action: name, disposition: sent }
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
