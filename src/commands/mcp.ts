import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { PlainText } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { text, whole } from "../inputs.ts"

/** A day: a server has no end of its own. */
const LONGEST_IDLE_MS = 86_400_000

export default defineCommand({
  name: "mcp",
  summary: "Serve the commands as MCP tools on standard input and output",
  group: "integrate",
  readOnly: true,
  timeoutMs: 0,
  input: {
    tools: v.optional(
      text("Which tools: core, all, read-only, or names of commands, separated by commas", { value: "LIST" }),
      "core",
    ),
    idle_ms: v.optional(
      whole("End after this long without a call; 0 never", 0, LONGEST_IDLE_MS, { value: "MS" }),
      0,
    ),
  },
  examples: ["agent-desktop mcp", "agent-desktop mcp --tools core,clipboard-get,clipboard-set"],
  async run(args, ctx) {
    if (!ctx.serve) {
      throw new AppError("INVALID_ARGS", "mcp is a connection of its own and cannot run inside another", {
        suggestion: "agent-desktop mcp",
      })
    }
    await ctx.serve({ tools: args.tools, idleMs: args.idle_ms })
    return new PlainText("")
  },
})
