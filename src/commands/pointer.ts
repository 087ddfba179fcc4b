import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { AppError, type Disposition } from "../errors.ts"
import {
  button,
  changes,
  durationMs,
  fitInto,
  modifiers,
  oneOf,
  optionalTarget,
  optionalTargetId,
  optionalXy,
  scopeInput,
  snapshotId,
  whole,
  xy,
} from "../schema/inputs.ts"
import { acted, changes as changed, disposition, element, place, point, refId } from "../schema/outputs.ts"

/** The pointer: on elements and at screen points. */

export const hover = defineCommand({
  ...pointing("hover"),
  summary: "Move the pointer over an element or a point, and optionally stay there for a while",
  effect: "harmless",
  repeatable: true,
  tool: "all",
  input: {
    ref_id: optionalTargetId,
    snapshot: snapshotId,
    ...scopeInput,
    xy: optionalXy("Point of the screen"),
    duration_ms: durationMs("Stay this long before answering", 0),
    changes,
  },
  output: () => acted("hover", { ...pointed(), ...pointedAt(), ...place(), changes: changed() }),
  sample: [{ ref_id: "$button" }, { xy: "20,20" }],
  examples: ["agent-desktop hover @e3", "agent-desktop hover --xy 400,300 --duration 500"],
  check(args) {
    oneOf(args, ["ref_id", "xy"])
    fitInto(args.timeout_ms, args.duration_ms, "--duration")
  },
  run: async (args, ctx) =>
    (await acting()).changing(ctx, args, async () => {
      const [{ aim }, { pause }] = await Promise.all([import("../act/pointer.ts"), import("../until.ts")])
      const { at, element, target } = await aim(ctx, {
        xy: args.xy,
        ref: args.ref_id,
        snapshot: args.snapshot,
      })
      await ctx.adapter.input({ kind: "move", at, target })
      await pause(args.duration_ms, ctx.deadline)
      return { action: "hover", ...at, ref_id: args.ref_id, element, disposition: sent("safe") }
    }),
})

export const drag = defineCommand({
  ...pointing("drag"),
  summary: "Drag from an element or point to another",
  effect: "changes",
  tool: "core",
  input: {
    from: optionalTarget("Element to drag", { position: 0, aliases: ["ref_id", "ref"] }),
    from_xy: optionalXy("Point to drag from", { aliases: ["xy"] }),
    to: optionalTarget("Element to drop on"),
    to_xy: optionalXy("Point to drop on"),
    snapshot: snapshotId,
    ...scopeInput,
    duration_ms: durationMs("How long the movement takes", 300),
    modifiers,
    changes,
  },
  output: () =>
    acted("drag", { from: end(), to: end(), disposition: disposition(), ...place(), changes: changed() }),
  sample: [
    { from: "$button", to: "$field" },
    { from_xy: "5,5", to_xy: "9,9", duration_ms: 100 },
  ],
  examples: ["agent-desktop drag @e3 --to @e7", "agent-desktop drag --from-xy 100,100 --to-xy 300,100"],
  check(args) {
    oneOf(args, ["from", "from_xy"])
    oneOf(args, ["to", "to_xy"])
    fitInto(args.timeout_ms, args.duration_ms, "--duration")
  },
  run: async (args, ctx) =>
    (await acting()).changing(ctx, { ...args, ref_id: args.from }, async () => {
      const { aim, refuseCovered, refuseOtherDrop } = await import("../act/pointer.ts")
      const to = await aim(ctx, { xy: args.to_xy, ref: args.to, snapshot: args.snapshot })
      const from = await aim(ctx, { xy: args.from_xy, ref: args.from, snapshot: args.snapshot })
      // Raising the window of one end may have covered the other end.
      await refuseCovered(ctx, to)
      await ctx.adapter.input({
        kind: "drag",
        from: from.at,
        to: to.at,
        fromTarget: from.target,
        toTarget: to.target,
        prove: from.prove,
        proveDrop: () => refuseOtherDrop(ctx, to, from.element),
        durationMs: args.duration_ms,
        modifiers: await modifiersIn(args.modifiers),
      })
      return {
        action: "drag",
        from: { ...from.at, ref_id: args.from, element: from.element },
        to: { ...to.at, ref_id: args.to, element: to.element },
        disposition: sent("unsafe"),
      }
    }),
})

export const mouseMove = defineCommand({
  ...pointing("mouse-move"),
  summary: "Move the pointer to a screen point",
  effect: "harmless",
  repeatable: true,
  tool: "all",
  input: { xy },
  sample: { xy: "5,5" },
  examples: ["agent-desktop mouse-move --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "move", at: args.xy })
    return { action: "mouse-move", ...args.xy, disposition: sent("safe") }
  },
})

export const mouseClick = defineCommand({
  ...pointing("mouse-click"),
  summary: "Click at a screen point",
  effect: "changes",
  tool: "core",
  input: {
    xy,
    button,
    count: v.optional(whole("How many clicks in quick succession", 1, 3, { value: "N" }), 1),
    changes,
  },
  output: () => acted("mouse-click", { ...pointed(), changes: changed() }),
  sample: { xy: "600,900" },
  examples: ["agent-desktop mouse-click --xy 400,300 --button right"],
  run: async (args, ctx) =>
    (await acting()).changing(ctx, args, async () => {
      await ctx.adapter.input({ kind: "click", at: args.xy, button: args.button, count: args.count })
      return { action: "mouse-click", ...args.xy, disposition: sent("unsafe") }
    }),
})

export const mouseDown = defineCommand({
  ...pointing("mouse-down"),
  summary: "Hold a mouse button down at a point until mouse-up",
  effect: "changes",
  tool: "all",
  input: { xy, button },
  sample: { xy: "600,900" },
  examples: ["agent-desktop mouse-down --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "button", at: args.xy, button: args.button, phase: "down" })
    return { action: "mouse-down", ...args.xy, disposition: sent("unsafe") }
  },
})

export const mouseUp = defineCommand({
  ...pointing("mouse-up"),
  summary: "Release a mouse button at a point",
  effect: "changes",
  repeatable: true,
  tool: "all",
  input: { xy, button },
  sample: { xy: "600,900" },
  examples: ["agent-desktop mouse-up --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "button", at: args.xy, button: args.button, phase: "up" })
    return { action: "mouse-up", ...args.xy, disposition: sent("safe") }
  },
})

export const mouseWheel = defineCommand({
  ...pointing("mouse-wheel"),
  summary: "Turn the wheel at a screen point; positive is down and right",
  effect: "harmless",
  tool: "all",
  input: {
    xy,
    dx: v.optional(whole("Steps to the right", -100, 100, { value: "N" }), 0),
    dy: v.optional(whole("Steps down", -100, 100, { value: "N" }), 0),
    changes,
  },
  output: () => acted("mouse-wheel", { ...pointed(), dx: v.number(), dy: v.number(), changes: changed() }),
  sample: { xy: "600,900", dy: 1 },
  examples: ["agent-desktop mouse-wheel --xy 400,300 --dy 3"],
  check(args) {
    if (args.dx === 0 && args.dy === 0) {
      throw new AppError("INVALID_ARGS", "One of --dx, --dy must not be 0", {
        suggestion: `agent-desktop mouse-wheel --xy ${args.xy.x},${args.xy.y} --dy 3`,
      })
    }
  },
  run: async (args, ctx) =>
    (await acting()).changing(ctx, args, async () => {
      await ctx.adapter.input({ kind: "wheel", at: args.xy, dx: args.dx, dy: args.dy })
      return { action: "mouse-wheel", ...args.xy, dx: args.dx, dy: args.dy, disposition: sent("unsafe") }
    }),
})

/** One end of a drag. */
const end = () => v.object({ ...point().entries, ...pointedAt() })

const pointedAt = () => ({ ref_id: v.optional(refId()), element: v.optional(element()) })

const modifiersIn = async (given: string | undefined) =>
  given === undefined ? undefined : (await import("../keys.ts")).parseModifiers(given)

/** Loaded by the verbs that need it only: the others are a single input event. */
function acting() {
  return import("../act/act.ts")
}

/** The X server and macOS do not report the effect of input. `retry`: whether doing it twice is harmless. */
const sent = (retry: Disposition["retry"]): Disposition => ({ delivery: "delivered_unverified", retry })

const pointed = () => ({ ...point().entries, disposition: disposition() })

/** Members that all verbs of this file share. */
function pointing(name: string) {
  return {
    name,
    group: "input",
    trace: "pictures",
    output: () => acted(name, pointed()),
    print: async (data: object) => (await import("../look/outline.ts")).actedText(data),
  } as const
}
