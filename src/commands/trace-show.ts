import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { flag, text, whole } from "../inputs.ts"

export default defineCommand({
  name: "trace-show",
  summary: "Print what a trace has written down; typed texts are never in it",
  group: "integrate",
  readOnly: true,
  input: {
    directory: text("Directory that --trace or AGENT_DESKTOP_TRACE named", { position: 0, value: "DIR" }),
    limit: v.optional(whole("Only the newest", 1, 100_000, { value: "N" }), 50),
    failed: flag("Only what failed"),
  },
  examples: ["agent-desktop trace-show traces", "agent-desktop trace-show traces --failed --format text"],
  async run(args) {
    const { readTrace } = await import("../trace/read.ts")
    const { entries, unreadable } = readTrace(args.directory)
    const wanted = args.failed ? entries.filter((one) => !one.ok) : entries
    return {
      total: wanted.length,
      ...(unreadable > 0 ? { unreadable } : {}),
      entries: wanted.slice(-args.limit),
    }
  },
})
