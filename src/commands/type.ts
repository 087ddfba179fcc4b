import { actOnRef } from "../act.ts"
import { defineCommand } from "../command.ts"
import { actInput, text } from "../inputs.ts"

export default defineCommand({
  name: "type",
  summary: "Insert text at the caret of a text field; any Unicode, newlines included",
  group: "act",
  input: {
    ...actInput,
    text: text("Text to insert, taken as it is", { position: 1, value: "TEXT", freeText: true }),
  },
  examples: ['agent-desktop type @e5 "quarterly report"', "agent-desktop type @e5 -- --not-a-flag"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "type", text: args.text }),
})
