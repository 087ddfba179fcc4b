import { defineCommand } from "../command.ts"
import { text } from "../inputs.ts"

export default defineCommand({
  name: "clipboard-set",
  summary: "Put text on the clipboard",
  group: "clipboard",
  input: {
    text: text("Text to put there, or - to read it from standard input", {
      position: 0,
      value: "TEXT",
      freeText: true,
    }),
  },
  examples: ['agent-desktop clipboard-set "Hello world"'],
  async run(args, ctx) {
    await ctx.adapter.clipboard({ kind: "set", text: args.text === "-" ? await ctx.stdin() : args.text })
    return { action: "clipboard-set" }
  },
})
