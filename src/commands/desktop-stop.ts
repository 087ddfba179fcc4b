import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { flag, oneOf, optionalText } from "../inputs.ts"

export default defineCommand({
  name: "desktop-stop",
  summary: "Linux: end an isolated desktop and everything that runs in it",
  group: "desktop",
  timeoutMs: 15_000,
  input: {
    name: optionalText("Name of the desktop", { position: 0, value: "NAME" }),
    all: flag("Every desktop that was started here"),
  },
  examples: ["agent-desktop desktop-stop test"],
  check: (args) => oneOf(args, ["name", "all"]),
  async run(args, ctx) {
    const stopped = await ctx.adapter.desktops({ kind: "stop", name: args.name })
    if (args.name !== undefined && stopped.length === 0) {
      throw new AppError("ELEMENT_NOT_FOUND", `No desktop is named '${args.name}'`, {
        suggestion: "Use 'list-desktops' to see which there are",
      })
    }
    return { stopped: stopped.map((desktop) => desktop.name) }
  },
})
