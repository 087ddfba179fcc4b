import * as v from "valibot"
import { actOnRef } from "../act/act.ts"
import { DIRECTIONS } from "../adapter.ts"
import { defineCommand } from "../command.ts"
import { actInput, choice, whole } from "../inputs.ts"

export default defineCommand({
  name: "scroll",
  summary: "Scroll the element's contents",
  group: "act",
  input: {
    ...actInput,
    direction: v.optional(choice(DIRECTIONS, "Where to", { position: 1 }), "down"),
    amount: v.optional(whole("Wheel steps", 1, 100, { position: 2, value: "N" }), 3),
  },
  examples: ["agent-desktop scroll @e7 down 5"],
  run: (args, ctx) => actOnRef(ctx, args, { kind: "scroll", direction: args.direction, amount: args.amount }),
})
