import { actOnRef } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { actInput, text } from "../inputs.ts"

export default defineCommand({
  name: "select",
  summary: "Choose an option of a combobox, list or tab list by its name",
  group: "act",
  input: { ...actInput, value: text("Name of the option", { position: 1, value: "VALUE", freeText: true }) },
  examples: ['agent-desktop select @e6 "Landscape"'],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "select", value: args.value }),
})
