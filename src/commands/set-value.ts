import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput, oneOf, optionalText, secret } from "../inputs.ts"

export default defineCommand({
  name: "set-value",
  summary: "Replace the value of a text field, slider or spinner",
  group: "act",
  input: {
    ...actInput,
    value: optionalText("The new value", { position: 1, value: "VALUE", freeText: true }),
    secret,
  },
  examples: ["agent-desktop set-value @e4 75", "agent-desktop set-value @e2 --secret env:PASSWORD"],
  check: (args) => oneOf(args, ["value", "secret"]),
  run: async ({ value = "", ...args }, ctx) =>
    actOnRef(
      ctx,
      args,
      args.secret === undefined
        ? { kind: "set-value", value }
        : { kind: "set-value", value: await ctx.secret(args.secret), secret: true },
    ),
})
