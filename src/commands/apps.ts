import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { firstWindow } from "../look/launch.ts"
import { closeApp as endApp, publicWindow } from "../look/windows.ts"
import { flag, text } from "../schema/inputs.ts"
import { described, optionalString, windowInfo } from "../schema/outputs.ts"

/** Starting and closing apps. */

export const launch = defineCommand({
  name: "launch",
  summary: "Start an app and wait for its first window",
  group: "window",
  effect: "harmless",
  tool: "core",
  trace: "pictures",
  timeoutMs: 30_000,
  input: {
    app: text("App by name, by bundle or desktop-file id, or an executable", {
      position: 0,
      value: "APP",
      traced: true,
    }),
    arg: v.optional(
      v.pipe(
        v.array(v.string()),
        v.description("Argument for the app"),
        v.metadata({ cli: { aliases: ["args"], value: "ARG" } }),
      ),
      [],
    ),
  },
  output: windowInfo,
  print: async (window) => `${(await import("../look/outline.ts")).windowLine(window)}\n`,
  sample: { app: "$other" },
  examples: ["agent-desktop launch TextEdit", "agent-desktop launch mousepad --arg notes.txt"],
  run: async (args, ctx) => publicWindow(await firstWindow(ctx, args.app, args.arg)),
})

export const closeApp = defineCommand({
  name: "close-app",
  summary: "Ask an app to quit, or end it by force",
  group: "window",
  effect: "changes",
  tool: "core",
  trace: "pictures",
  input: {
    app: text("App by name, by bundle or desktop-file id, or by process id", {
      position: 0,
      value: "APP",
      traced: true,
    }),
    force: flag("End the process without asking; unsaved work is lost"),
  },
  output: () =>
    v.object({
      app: v.string(),
      closed: described(v.boolean(), "true: the process is gone"),
      method: v.string(),
      window: described(optionalString(), "Window that is still open, perhaps with a question"),
      title: optionalString(),
    }),
  print: "facts",
  sample: { app: "$app" },
  examples: ["agent-desktop close-app TextEdit"],
  run: (args, ctx) => endApp(ctx, args.app, args.force),
})
