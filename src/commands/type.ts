import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput, oneOf, optionalText, secret } from "../inputs.ts"

export default defineCommand({
  name: "type",
  summary: "Insert text at the caret of a text field; any Unicode, newlines included",
  group: "act",
  input: {
    ...actInput,
    text: optionalText("Text to insert, taken as it is", { position: 1, value: "TEXT", freeText: true }),
    secret,
  },
  examples: [
    'agent-desktop type @e5 "quarterly report"',
    "agent-desktop type @e5 -- --not-a-flag",
    "agent-desktop type @e2 --secret env:PASSWORD",
  ],
  check: (args) => oneOf(args, ["text", "secret"]),
  run: async ({ text = "", ...args }, ctx) =>
    actOnRef(
      ctx,
      args,
      args.secret === undefined
        ? { kind: "type", text }
        : { kind: "type", text: await ctx.secret(args.secret), secret: true },
    ),
})
