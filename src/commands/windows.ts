import * as v from "valibot"
import { type Command, defineCommand } from "../command.ts"
import { needsWindow, operate, targetWindow } from "../look/windows.ts"
import { app, optionalText, whole } from "../schema/inputs.ts"
import { windowInfo } from "../schema/outputs.ts"

/** Operations on one window, by its id or its app. */

export const focusWindow = defineCommand({
  ...onWindow("focus-window"),
  summary: "Bring a window to the front and give it the keyboard focus",
  tool: "core",
  input: {
    window_id: targetWindow,
    app,
    title: optionalText("Window by its whole title", { value: "TITLE", traced: true }),
  },
  output: () => v.object({ focused: windowInfo() }),
  sample: [{ window_id: "$window" }, { app: "$app" }],
  examples: [
    "agent-desktop focus-window w-4521",
    'agent-desktop focus-window --app TextEdit --title "notes.txt"',
  ],
  check: needsWindow,
  run: async (args, ctx) => ({ focused: await operate(ctx, args, { kind: "focus" }) }),
})

export const moveWindow = defineCommand({
  ...onWindow("move-window"),
  summary: "Move a window and report its new position",
  tool: "all",
  input: {
    window_id: targetWindow,
    app,
    x: whole("Left edge, in screen pixels", -32_768, 32_767, { position: 1, value: "X" }),
    y: whole("Top edge, in screen pixels", -32_768, 32_767, { position: 2, value: "Y" }),
  },
  sample: { window_id: "$window", x: 30, y: 30 },
  examples: [
    "agent-desktop move-window w-4521 100 50",
    "agent-desktop move-window --app TextEdit --x 100 --y 50",
  ],
  check: needsWindow,
  run: async (args, ctx) => ({ window: await operate(ctx, args, { kind: "move", x: args.x, y: args.y }) }),
})

export const resizeWindow = defineCommand({
  ...onWindow("resize-window"),
  summary: "Resize a window and report its new size",
  tool: "all",
  input: {
    window_id: targetWindow,
    app,
    width: whole("Width in pixels", 1, 32_767, { position: 1, value: "W" }),
    height: whole("Height in pixels", 1, 32_767, { position: 2, value: "H" }),
  },
  sample: { window_id: "$window", width: 300, height: 300 },
  examples: ["agent-desktop resize-window w-4521 800 600"],
  check: needsWindow,
  run: async (args, ctx) => ({
    window: await operate(ctx, args, { kind: "resize", width: args.width, height: args.height }),
  }),
})

export const minimize = verb("minimize", "Minimise a window")
export const maximize = verb("maximize", "Maximise a window")
export const restore = verb("restore", "Restore a minimised or maximised window")

/** A verb whose only argument is the window. */
function verb(name: "minimize" | "maximize" | "restore", summary: string): Command {
  return defineCommand({
    ...onWindow(name),
    summary,
    tool: "all",
    input: { window_id: targetWindow, app },
    sample: { window_id: "$window" },
    examples: [`agent-desktop ${name} w-4521`],
    check: needsWindow,
    run: async (args, ctx) => ({ window: await operate(ctx, args, { kind: name }) }),
  })
}

/** Members that all verbs of this file share. */
function onWindow(name: string) {
  return {
    name,
    group: "window",
    effect: "harmless",
    repeatable: true,
    trace: "pictures",
    output: () => v.object({ window: windowInfo() }),
    print: "facts",
  } as const
}
