import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { flag, text, whole } from "../schema/inputs.ts"
import { count, described, optionalString } from "../schema/outputs.ts"

/** Traces that `--trace` wrote. */

const directory = text("Directory that --trace or AGENT_DESKTOP_TRACE named", { position: 0, value: "DIR" })

export const traceShow = defineCommand({
  name: "trace-show",
  summary: "Print the entries of a trace, which never contain typed text",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "nothing",
  input: {
    directory,
    limit: v.optional(whole("Only the newest", 1, 100_000, { value: "N" }), 50),
    failed: flag("Only failed commands"),
  },
  output: () =>
    v.object({
      total: count(),
      unreadable: described(v.optional(count()), "Lines that are not entries"),
      entries: v.array(entry()),
    }),
  async print({ entries }) {
    const [{ lines }, { entryLine }] = await Promise.all([
      import("../look/outline.ts"),
      import("../trace/entry.ts"),
    ])
    return lines(entries, entryLine)
  },
  sample: { directory: "$trace" },
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

const entry = () =>
  v.object({
    time: v.string(),
    duration_ms: v.number(),
    pid: v.optional(count()),
    door: described(optionalString(), "cli, batch, mcp or library"),
    session: optionalString(),
    desktop: optionalString(),
    command: v.string(),
    arguments: described(v.optional(v.unknown()), "Arguments, with the length in place of each text"),
    snapshot_id: optionalString(),
    ok: v.boolean(),
    data: v.optional(v.unknown()),
    error: v.optional(v.unknown()),
    before: described(optionalString(), "Picture, by its path in the directory"),
    after: optionalString(),
  })

export const traceExport = defineCommand({
  name: "trace-export",
  summary: "Write a trace as one web page: a timeline, with its pictures in it",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "nothing",
  timeoutMs: 60_000,
  input: { directory, output: text("File to write", { value: "FILE" }) },
  output: () => v.object({ path: v.string(), entries: count(), pictures: count(), bytes: count() }),
  print: "facts",
  sample: { directory: "$trace", output: "$file" },
  examples: ["agent-desktop trace-export traces --output trace.html"],
  async run(args, ctx) {
    const [{ readPicture, readTrace }, { tracePage }] = await Promise.all([
      import("../trace/read.ts"),
      import("../trace/page.ts"),
    ])
    const { entries, unreadable } = readTrace(args.directory)
    const names = new Set(entries.flatMap(({ before, after }) => [before, after]))
    const pictures = new Map<string, Uint8Array>()
    for (const name of names) {
      const png = name === undefined ? undefined : readPicture(args.directory, name)
      if (name !== undefined && png) pictures.set(name, png)
    }
    const page = Buffer.from(tracePage(entries, pictures, unreadable))
    await ctx.writeFile(args.output, page)
    return { path: args.output, entries: entries.length, pictures: pictures.size, bytes: page.length }
  },
})
