import * as v from "valibot"
import { type Context, defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { atLine, readFlow, readSource } from "../flow/read.ts"
import { planFlow, refuseInput, replayIn } from "../flow/replay.ts"
import type { CliHints } from "../schema/fields.ts"
import { flag, optionalText, parseSize, text, whole } from "../schema/inputs.ts"
import { count, described } from "../schema/outputs.ts"

/** Flows: files of command lines that run without a model. */

export const replay = defineCommand({
  name: "replay",
  summary: "Run a flow: a file of command lines, with descriptions in place of refs",
  group: "integrate",
  // The widest effect that a line can have. A read-only policy judges each line.
  effect: "changes",
  delegates: true,
  tool: "never",
  trace: "line",
  timeoutMs: 600_000,
  input: {
    file: text("The flow, or - for standard input", { position: 0, value: "FILE", traced: true }),
    set: v.optional(
      v.pipe(
        v.array(v.string()),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
        v.description("A value for ${NAME} in the flow; overrides the environment"),
        v.metadata({ cli: { value: "NAME=VALUE", freeText: true } satisfies CliHints }),
      ),
      [],
    ),
    from: v.optional(whole("Begin at this line of the file", 1, 1_000_000, { value: "LINE" })),
    dry_run: flag("Check every line of the flow without running any"),
    isolated: flag("Linux: run in a new isolated desktop, which is stopped afterwards"),
    size: v.optional(text("Screen of the isolated desktop", { value: "WxH", traced: true }), "1920x1080"),
    junit: optionalText("Write a JUnit report to this file", { value: "FILE", traced: true }),
    report: optionalText("Directory for the picture and the snapshot of a failure; a new one if left out", {
      value: "DIR",
      traced: true,
    }),
  },
  output: () =>
    v.object({
      file: v.string(),
      lines: count(),
      not_recorded: described(
        v.optional(v.array(count())),
        "Lines whose step could not be recorded and is only a comment",
      ),
      elapsed_ms: v.optional(count()),
    }),
  print: ({ lines, not_recorded = [], elapsed_ms }) => {
    const ran = elapsed_ms === undefined ? "can be run" : `in ${(elapsed_ms / 1000).toFixed(1)} s`
    const holes = not_recorded.map((line) => `Line ${line} is a step that was not recorded\n`)
    return [`${lines} lines ${ran}\n`, ...holes].join("")
  },
  sample: { file: "$flow", dry_run: true },
  examples: [
    "agent-desktop replay save.flow --isolated --junit report.xml",
    "agent-desktop replay form.flow --set NAME=Ada",
  ],
  check(args) {
    valuesOf(args.set)
    parseSize(args.size)
  },
  async run(args, ctx) {
    const values = valuesOf(args.set)
    const { file, from = 1 } = args
    const flow = file === "-" ? await ctx.stdin() : await readSource(file, ctx.deadline)
    // Lines that are left out need no values.
    const variable = (name: string, line: number): string | undefined =>
      values.get(name) ?? ctx.variable(name) ?? (line < from ? "" : undefined)
    const shown = readFlow(flow, variable).filter(({ number }) => number >= from)
    const steps = await planFlow(shown, ctx.commands)
    await ctx.validateItems(steps, (error, index) => atLine(steps[index]!.line.number, error))
    refuseInput(steps, file === "-")
    if (steps.length === 0) throw nothingToRun(args)
    const holes = shown.filter(({ words }) => words.length === 0).map(({ number }) => number)
    const answer = {
      file,
      lines: steps.length,
      ...(holes.length > 0 ? { not_recorded: holes } : {}),
    }
    if (args.dry_run) return answer
    const start = performance.now()
    const run = (inner: Context): Promise<void> => replayIn(inner, steps, shown, args)
    await ctx.apart({ isolated: args.isolated ? parseSize(args.size) : undefined }, run)
    return { ...answer, elapsed_ms: Math.round(performance.now() - start) }
  },
})

/** A test that runs nothing must not pass. */
const nothingToRun = ({ file, from }: { readonly file: string; readonly from?: number }): AppError =>
  new AppError(
    "INVALID_ARGS",
    from === undefined
      ? `The flow '${file}' has no command`
      : `The flow '${file}' has no command at line ${from} or later`,
    {
      suggestion: "Comments are not run: write the commands as lines",
      details: { argument: from === undefined ? "file" : "from" },
    },
  )

/** The variables that `--set` names. Throws INVALID_ARGS for a word that is not NAME=VALUE. */
function valuesOf(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(word) ?? []
      if (name !== undefined && value !== undefined) return [name, value]
      throw new AppError("INVALID_ARGS", "--set takes NAME=VALUE, with a name of letters, digits and _", {
        details: { argument: "set" },
      })
    }),
  )
}
