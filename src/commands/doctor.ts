import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { flag } from "../inputs.ts"

export default defineCommand({
  name: "doctor",
  summary: "Probe every link between here and the apps, and say what is missing",
  group: "system",
  readOnly: true,
  input: {
    ffi: flag("On macOS, also resolve every native symbol"),
    strict: flag("Fail where something is missing: an exit code for probes"),
  },
  examples: ["agent-desktop doctor", "agent-desktop --desktop main doctor --strict"],
  async run(args, ctx) {
    const checks = await ctx.adapter.diagnose({ ffi: args.ffi })
    const missing = checks.filter((check) => !check.ok)
    if (args.strict && missing.length > 0) {
      throw new AppError(
        "PLATFORM_NOT_SUPPORTED",
        `Not healthy: ${missing.map(({ name }) => name).join(", ")}`,
        { suggestion: missing.find((check) => check.suggestion)?.suggestion, details: { checks: missing } },
      )
    }
    return { healthy: missing.length === 0, checks }
  },
})
