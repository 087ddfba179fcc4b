import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { text } from "../inputs.ts"
import { firstWindow, publicWindow } from "../look/windows.ts"

export default defineCommand({
  name: "launch",
  summary: "Start an app and wait for its first window",
  group: "window",
  timeoutMs: 30_000,
  input: {
    app: text("App by name, by bundle or desktop-file id, or an executable", { position: 0, value: "APP" }),
    arg: v.optional(
      v.pipe(
        v.array(v.string()),
        v.description("Argument for the app; may be repeated"),
        v.metadata({ cli: { aliases: ["args"], value: "ARG" } }),
      ),
      [],
    ),
  },
  examples: ["agent-desktop launch TextEdit", "agent-desktop launch mousepad --arg notes.txt"],
  run: async (args, ctx) => publicWindow(await firstWindow(ctx, args.app, args.arg)),
})
