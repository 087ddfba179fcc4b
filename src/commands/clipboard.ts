import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { text } from "../schema/inputs.ts"
import { acted } from "../schema/outputs.ts"

export const clipboardGet = defineCommand({
  name: "clipboard-get",
  summary: "Read the clipboard as text",
  group: "clipboard",
  effect: "reads",
  tool: "core",
  trace: "line",
  input: {},
  output: () => v.object({ text: v.string() }),
  print: "facts",
  sample: {},
  run: async (_, ctx) => ({ text: (await ctx.adapter.clipboard({ kind: "get" })) ?? "" }),
})

export const clipboardSet = defineCommand({
  name: "clipboard-set",
  summary: "Put text on the clipboard",
  group: "clipboard",
  effect: "changes",
  repeatable: true,
  tool: "core",
  trace: "line",
  input: {
    text: text("Text to put there, or - to read it from standard input", {
      position: 0,
      value: "TEXT",
      freeText: true,
      stdin: "-",
    }),
  },
  output: () => acted("clipboard-set", {}),
  print: "facts",
  sample: { text: "copied" },
  examples: ['agent-desktop clipboard-set "Hello world"'],
  async run(args, ctx) {
    await ctx.adapter.clipboard({ kind: "set", text: args.text === "-" ? await ctx.stdin() : args.text })
    return { action: "clipboard-set" }
  },
})

export const clipboardClear = defineCommand({
  name: "clipboard-clear",
  summary: "Empty the clipboard",
  group: "clipboard",
  effect: "changes",
  repeatable: true,
  tool: "all",
  trace: "line",
  input: {},
  output: () => acted("clipboard-clear", {}),
  print: "facts",
  sample: {},
  async run(_, ctx) {
    await ctx.adapter.clipboard({ kind: "clear" })
    return { action: "clipboard-clear" }
  },
})
