import { defineCommand } from "../command.ts"
import { flag } from "../inputs.ts"

export default defineCommand({
  name: "doctor",
  summary: "Probe every link between here and the apps, and say what is missing",
  group: "system",
  readOnly: true,
  input: { ffi: flag("On macOS, also resolve every native symbol") },
  async run(args, ctx) {
    const checks = await ctx.adapter.diagnose({ ffi: args.ffi })
    return { healthy: checks.every((check) => check.ok), checks }
  },
})
