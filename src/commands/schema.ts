import * as v from "valibot"
import { defineCommand, findCommand } from "../command.ts"
import { flag, optionalText } from "../schema/inputs.ts"
import { optionalString } from "../schema/outputs.ts"
import { unknownCommand } from "../schema/usage-errors.ts"

export const schema = defineCommand({
  name: "schema",
  summary: "Print JSON Schemas of a command's arguments and result, or of everything",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "line",
  input: {
    command: optionalText("Only this command", { position: 0, value: "COMMAND", traced: true }),
    result: flag("Leave out the arguments"),
  },
  output: () =>
    v.object({
      command: optionalString(),
      envelope: v.optional(v.object({})),
      error: v.optional(v.object({})),
      arguments: v.optional(v.object({})),
      result: v.optional(v.object({})),
      commands: v.optional(
        v.record(v.string(), v.object({ arguments: v.optional(v.object({})), result: v.object({}) })),
      ),
    }),
  print: "json",
  sample: [{}, { command: "click" }],
  examples: ["agent-desktop schema click", "agent-desktop schema snapshot --result"],
  async run(args, ctx) {
    const { allSchemas, schemasOf } = await import("../mcp/json-schema.ts")
    if (args.command === undefined) return allSchemas(ctx.commands, args.result)
    const load = findCommand(ctx.commands, args.command)
    if (!load) throw unknownCommand(args.command, Object.keys(ctx.commands))
    return { command: args.command, ...schemasOf(await load(), args.result) }
  },
})
