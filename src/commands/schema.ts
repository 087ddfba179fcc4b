import { defineCommand } from "../command.ts"
import { flag, optionalText } from "../inputs.ts"
import { unknownCommand } from "../usage-errors.ts"

export default defineCommand({
  name: "schema",
  summary: "Print JSON Schemas of a command's arguments and result, or of everything",
  group: "integrate",
  readOnly: true,
  input: {
    command: optionalText("Only this command", { position: 0, value: "COMMAND" }),
    result: flag("Leave out the arguments"),
  },
  examples: ["agent-desktop schema click", "agent-desktop schema snapshot --result"],
  async run(args, ctx) {
    const { allSchemas, schemasOf } = await import("../mcp/json-schema.ts")
    if (args.command === undefined) return allSchemas(ctx.commands, args.result)
    const load = ctx.commands.get(args.command)
    if (!load) throw unknownCommand(args.command, ctx.commands.keys())
    return { command: args.command, ...schemasOf((await load()).default, args.result) }
  },
})
