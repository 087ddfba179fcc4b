import { defineCommand } from "../command.ts"
import { text } from "../inputs.ts"

export default defineCommand({
  name: "trace-export",
  summary: "Write a trace as one web page: a timeline, with its pictures in it",
  group: "integrate",
  readOnly: true,
  timeoutMs: 60_000,
  input: {
    directory: text("Directory that --trace or AGENT_DESKTOP_TRACE named", { position: 0, value: "DIR" }),
    output: text("File to write", { value: "FILE" }),
  },
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
