import * as v from "valibot"
import type { Combo } from "../action.ts"
import { type Command, defineCommand } from "../command.ts"
import type { Disposition } from "../errors.ts"
import { guardCombo, parseCombo, parseCombos } from "../keys.ts"
import { REF_SYNTAX } from "../refmap.ts"
import { app, changes, flag, oneOf, optionalTarget, text, whole, windowId } from "../schema/inputs.ts"
import { acted, changes as changed, described, disposition, optionalString } from "../schema/outputs.ts"

/** Keys: for the focused window, or for a window that gets the focus for them. */

const KEYS =
  "cmd ctrl alt shift; characters, return escape tab space backspace delete forwarddelete insert home end pageup pagedown left right up down f1-f24"

export const press = defineCommand({
  name: "press",
  summary: "Press keys or key combinations in the focused window, another window or an element",
  group: "input",
  effect: "changes",
  tool: "core",
  trace: "pictures",
  input: {
    combo: combo(`Keys joined by +, or several such combos with blanks between them; ${KEYS}`),
    count: v.optional(whole("How often", 1, 100, { value: "N" }), 1),
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
  sample: [
    { combo: "ctrl+s" },
    { combo: "ctrl+a delete", count: 2 },
    { combo: "ctrl+a", app: "$app" },
    { combo: "end", to: "$field" },
  ],
  examples: [
    "agent-desktop press cmd+s",
    "agent-desktop press escape --app TextEdit",
    "agent-desktop press return --to @e5",
    'agent-desktop press "ctrl+a delete"',
    "agent-desktop press down --count 4",
  ],
  check(args) {
    for (const combo of combosOf(args)) if (!args.force) guardCombo(combo, args.app)
    const isDescribed = args.to !== undefined && !REF_SYNTAX.test(args.to)
    // A ref names its window already; a description is searched there.
    if (!isDescribed) for (const other of ["app", "window_id"]) oneOf(args, ["to", other], 0)
  },
  async run(args, ctx) {
    const { changing } = await import("../act/act.ts")
    const { pressKeys, provenKeys } = await import("../act/press.ts")
    const choice = { ...args, ref_id: args.to }
    return provenKeys(await changing(ctx, choice, () => pressKeys(ctx, args, combosOf(args))))
  },
})

const combosOf = (args: {
  readonly combo: string
  readonly count: number
  readonly cmd_as_ctrl: boolean
}): readonly Combo[] => {
  const combos = parseCombos(args.combo, { cmdAsCtrl: args.cmd_as_ctrl })
  return Array.from({ length: args.count }, () => combos).flat()
}

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
    print: "facts",
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
    force: flag("Also allow combinations that end the user's session"),
  }
}
