import { type Arguments, dispatch, parseArgv } from "./cli/args.ts"
import { givenOption, globals, type Settings, settingsOf } from "./cli/globals.ts"
import type { Log, Progress } from "./cli/terminal.ts"
import type { Command, Format } from "./command.ts"
import { commands } from "./commands/index.ts"
import { onDemand } from "./door/on-demand.ts"
import { catchSignals } from "./door/signals.ts"
import type { Door, Recording, Trace } from "./door.ts"
import { type Envelope, failure, PlainText, toLine } from "./envelope.ts"
import { runLoaded } from "./run.ts"
import { UsageError } from "./schema/usage-errors.ts"

/** Commands that take longer show their progress. Stands above `main`, which runs before any line below it. */
const LONG_MS = 700

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  let argv = words
  try {
    if (process.platform === "darwin" && process.execPath.includes(".app/Contents/MacOS/"))
      argv = await (await import("./platform.ts")).startInBundle(words)
    const part = argv[0]?.startsWith("__")
      ? await (await import("./platform.ts")).internalPart(argv[0])
      : undefined
    if (part) return await part(process.env)
    const parsed = await parseArgv(argv, commands, globals)
    if (parsed.kind === "version") return print(`${(await import("./version.ts")).VERSION}\n`)
    if (parsed.kind === "help")
      return print(await (await import("./cli/help.ts")).helpFor(parsed.command, commands, globals))
    const settings = settingsOf(parsed.globals, process.env)
    return await dispatch(parsed.command, (command) => runOnce(command, parsed.args, settings))
  } catch (error) {
    return refuse(argv, error)
  }
}

async function runOnce(command: Command, args: Arguments, settings: Settings): Promise<number> {
  if (command.serves) (await import("./door/compiler.ts")).leaveOutLastStage(process.argv.slice(2))
  const start = performance.now()
  const interruption = catchSignals()
  surviveLateFailures(settings)
  const { platform, places, refs, close } = onDemand({ env: process.env, ...settings })
  // The page of desktop-view, which is served after the answer is printed.
  let viewing: Promise<void> | undefined
  const door: Door = {
    name: "cli",
    commands,
    platform,
    places,
    refs,
    ...settings,
    signal: interruption.signal,
    trace: settings.traceTo ? await openTrace(settings.traceTo, settings) : undefined,
    record: settings.recordTo ? await openRecording(settings.recordTo, settings) : undefined,
    serve: async (options) => {
      const [{ serveMcp }, { refsOfServer }] = await Promise.all([
        import("./mcp/server.ts"),
        import("./door/server-refs.ts"),
      ])
      const { session, refs, close } = await refsOfServer({ env: process.env, ...settings })
      try {
        await serveMcp({ ...door, session, refs }, { ...options, format: settings.chosenFormat ?? "text" })
      } finally {
        await close()
      }
    },
    view: async (options) => {
      const { openView } = await import("./door/open-view.ts")
      const view = await openView({ env: process.env, ...settings, signal: interruption.signal }, options)
      viewing = view.ended
      return view.address
    },
    apart: async (desktop) =>
      (await import("./door/server-refs.ts")).openApart({ env: process.env, ...settings }, desktop),
    stdin: async (end) => (await import("./door/standard-input.ts")).readStandardInput(end),
    env: (name) => process.env[name],
    writeFile: async (path, bytes, onlyNew) =>
      (await import("./door/output-file.ts")).writeOutput(path, bytes, onlyNew),
  }
  const progress = showProgress(command, args)
  const envelope = await runLoaded(door, command, args)
  await progress.end()
  await close({ forGood: command.serves === true })
  if (settings.verbose) await logOutcome(envelope, performance.now() - start)
  // A command with formats of its own takes `--format` itself, so the settings have only the variable's format.
  const code = await answer(envelope, args.format === "json" ? "json" : settings.format, command)
  await viewing
  return interruption.exitCode ?? code
}

/** A rejection that no code awaits any more must not end the program before its answer. */
function surviveLateFailures(settings: Settings): void {
  process.on("unhandledRejection", async () =>
    (await openLog(settings)).debug("something failed after the answer"),
  )
}

/** Shows a person at the terminal that a command is running, once it has taken a while. */
function showProgress({ name, input, serves }: Command, args: Arguments): { end(): Promise<void> } {
  const since = performance.now()
  let shown: Promise<Progress> | undefined
  const show = async (): Promise<Progress> => {
    const [{ startProgress }, { fieldsOf }] = await Promise.all([
      import("./cli/terminal.ts"),
      import("./schema/fields.ts"),
    ])
    const usual = fieldsOf(input).find((field) => field.name === "timeout_ms")?.default
    return startProgress(name, { limitMs: Number(args.timeout_ms ?? usual) || undefined, since })
  }
  const timer = setTimeout(() => {
    shown = show()
  }, LONG_MS)
  // A server is idle until its client asks for something.
  if (serves) clearTimeout(timer)
  return {
    async end() {
      clearTimeout(timer)
      ;(await shown)?.end()
    },
  }
}

/** Answers a command line that could not be parsed. Its words still name the format and the trace. */
async function refuse(argv: readonly string[], error: unknown): Promise<number> {
  const envelope = failure(error instanceof UsageError ? error.command : "unknown", error)
  const directory = givenOption(argv, "--trace") || process.env.AGENT_DESKTOP_TRACE
  if (directory && !envelope.ok) {
    const trace = await openTrace(directory, { traceScreenshots: false, verbose: false })
    trace.refused(envelope.command, argv, envelope.error)
  }
  const format = givenOption(argv, "--format") ?? process.env.AGENT_DESKTOP_FORMAT
  return answer(envelope, format === "text" ? "text" : "json", { print: "json" })
}

async function openTrace(
  directory: string,
  settings: Pick<Settings, "traceScreenshots" | "verbose">,
): Promise<Trace> {
  const trace = await import("./trace/record.ts")
  return trace.openTrace({
    directory,
    screenshots: settings.traceScreenshots,
    onFailure: async (message) => (await openLog(settings)).warn(message),
  })
}

async function openRecording(file: string, settings: Pick<Settings, "verbose">): Promise<Recording> {
  const { openRecording } = await import("./flow/record.ts")
  return openRecording({ file, warn: async (message) => (await openLog(settings)).warn(message) })
}

/** Logs names and figures only: arguments and texts of apps may be secret. */
async function logOutcome(envelope: Envelope, ms: number): Promise<void> {
  const log = await openLog({ verbose: true })
  log.debug(`${envelope.command} ${envelope.ok ? "done" : envelope.error.code} in ${ms.toFixed(1)} ms`)
}

async function openLog({ verbose }: Pick<Settings, "verbose">): Promise<Log> {
  return (await import("./cli/terminal.ts")).openLog(verbose)
}

/** Prints the envelope, and returns its exit code. */
async function answer(envelope: Envelope, format: Format, command: Pick<Command, "print">): Promise<number> {
  if (envelope.ok && envelope.data instanceof PlainText) return print(envelope.data.text)
  const code = envelope.ok ? 0 : envelope.error.code === "INVALID_ARGS" ? 2 : 1
  const lost = await print(
    format === "text"
      ? await (await import("./look/text.ts")).toText(envelope, command, commands)
      : toLine(envelope),
  )
  if (lost) return lost
  if (!envelope.ok && format === "json" && (await mayBeWatched()))
    (await import("./cli/terminal.ts")).printFailure(envelope.command, envelope.error)
  return code
}

/**
 * False if standard error is certainly not a terminal. An exact answer would cost more than the rest of a failing
 * command.
 */
async function mayBeWatched(): Promise<boolean> {
  try {
    const [own, nothing] = await Promise.all([Bun.stderr.stat(), Bun.file("/dev/null").stat()])
    return own.isCharacterDevice() && own.rdev !== nothing.rdev
  } catch {
    // Standard error is closed.
    return false
  }
}

/**
 * Prints the whole text, even through a slow pipe, and returns the exit code: 1 if the text is lost, e.g. on a full
 * disk. If the reader has closed the pipe, there is nothing to report.
 */
async function print(text: string): Promise<0 | 1> {
  // Bun.write with an empty text would truncate the file.
  if (text === "") return 0
  try {
    await Bun.write(Bun.stdout, text)
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    if (error.code === "EPIPE") return 0
    const log = await openLog({ verbose: false })
    log.warn(
      `The answer cannot be written to standard output (${error.code}). Effects of the command remain.`,
    )
    return 1
  }
  return 0
}
