import { defineCommand } from "../command.ts"
import { flag } from "../inputs.ts"

export default defineCommand({
  name: "permissions",
  summary: "Tell which permissions are granted; asks for them only with --request",
  group: "system",
  readOnly: true,
  acts: (args) => args.request,
  input: { request: flag("Ask the system, and so the user, for what is missing") },
  run: async (args, ctx) => ({ ...(await ctx.adapter.permissions(args.request)) }),
})
