import type { Platform, Way } from "./adapter.ts"
import { type Arguments, dispatch, parseArgv } from "./cli/args.ts"
import { globals, type Settings, settingsOf } from "./cli/globals.ts"
import type { Progress } from "./cli/terminal.ts"
import type { Command, Format } from "./command.ts"
import { commands } from "./commands/index.ts"
import { type Envelope, failure, PlainText, toLine } from "./envelope.ts"
import { AppError } from "./errors.ts"
import { lazily } from "./lazy.ts"
import { type Door, runCommand, type Trace } from "./run.ts"
import { UsageError } from "./usage-errors.ts"

/** Work after which a person at the terminal would wonder. Above what runs at once, or it would not be there yet. */
const LONG_MS = 700

process.exitCode = await main(process.argv.slice(2))

async function main(argv: readonly string[]): Promise<number> {
  try {
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
    const envelope = failure(error instanceof UsageError ? error.command : "unknown", error)
    await traceRefusal(argv, envelope)
    return answer(envelope)
  }
}

async function runOnce(command: Command, args: Arguments, settings: Settings): Promise<number> {
  const { name } = command
  const start = performance.now()
  if (settings.verbose) (await import("./cli/terminal.ts")).setVerbose(true)
  const interruption = new AbortController()
  let signalled = 0
  for (const [signal, number] of [
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ] as const) {
    process.once(signal, () => {
      signalled = number
      interruption.abort()
    })
  }
  // A failure that nobody waits for any more must not take the answer with it.
  process.on("unhandledRejection", async () =>
    (await import("./cli/terminal.ts")).debug("something failed too late"),
  )
  let platform: Promise<Platform> | undefined
  const way: Way = {}
  const trace = settings.traceTo ? await openTrace(settings.traceTo, settings.traceScreenshots) : undefined
  const door: Door = {
    name: "cli",
    commands,
    platform: () => (platform ??= open(settings, way)),
    refs: lazily(async () => {
      const { openRefStore, stateRoot } = await import("./refs/store.ts")
      return openRefStore({ root: stateRoot(process.env), session: settings.session, way })
    }),
    ...settings,
    signal: interruption.signal,
    trace,
    serve: async (options) =>
      (await import("./mcp/server.ts")).serveMcp(door, { ...options, format: settings.format }),
    stdin: () => Bun.stdin.text(),
    env: (name) => process.env[name],
    writeFile,
  }
  const progress = awaitLongWork(command, args)
  const envelope = await runCommand(door, name, args)
  await progress.end()
  // One that could not be opened has been reported already.
  await platform?.then(
    (opened) => opened.close(),
    () => {},
  )
  if (settings.verbose) await logOutcome(envelope, performance.now() - start)
  const code = await answer(envelope, settings.format, command)
  return signalled ? 128 + signalled : code
}

/** Shows a person who looks that something goes on, once it has taken a while. */
function awaitLongWork({ name, input }: Command, args: Arguments): { end(): Promise<void> } {
  const since = performance.now()
  let shown: Promise<Progress> | undefined
  const show = async (): Promise<Progress> => {
    const [{ startProgress }, { fieldsOf }] = await Promise.all([
      import("./cli/terminal.ts"),
      import("./fields.ts"),
    ])
    const usual = fieldsOf(input).find((field) => field.name === "timeout_ms")?.default
    return startProgress(name, { limitMs: Number(args.timeout_ms ?? usual) || undefined, since })
  }
  const timer = setTimeout(() => {
    shown = show()
  }, LONG_MS)
  // A server is not long work, but no work until somebody asks.
  if (name === "mcp") clearTimeout(timer)
  return {
    async end() {
      clearTimeout(timer)
      ;(await shown)?.end()
    },
  }
}

async function open({ desktop }: Settings, way: Way): Promise<Platform> {
  const [{ openPlatform }, { stateRoot }] = await Promise.all([
    import("./platform.ts"),
    import("./private-files.ts"),
  ])
  return openPlatform({ env: process.env, root: stateRoot(process.env), desktop, way })
}

/** Where the command line could not be read, the directory is looked for as it stands there. */
async function traceRefusal(argv: readonly string[], { command, ...rest }: Envelope): Promise<void> {
  const at = argv.findIndex((word) => word === "--trace" || word.startsWith("--trace="))
  const given = argv[at]?.startsWith("--trace=") ? argv[at]?.slice("--trace=".length) : argv[at + 1]
  const directory = (at >= 0 ? given : undefined) || process.env.AGENT_DESKTOP_TRACE
  if (directory && !rest.ok) (await openTrace(directory, false)).refused(command, argv, rest.error)
}

async function openTrace(directory: string, screenshots: boolean): Promise<Trace> {
  const [trace, { warn }] = await Promise.all([import("./trace/record.ts"), import("./cli/terminal.ts")])
  return trace.openTrace({ directory, screenshots, onFailure: (message) => void warn(message) })
}

/** Names and figures only: arguments and application text may be secret. */
async function logOutcome(envelope: Envelope, ms: number): Promise<void> {
  const { debug } = await import("./cli/terminal.ts")
  await debug(`${envelope.command} ${envelope.ok ? "done" : envelope.error.code} in ${ms.toFixed(1)} ms`)
}

async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await Bun.write(path, bytes)
  } catch (error) {
    throw new AppError("ACTION_FAILED", `Cannot write '${path}'`, {
      suggestion: "Name a file in a directory that exists and may be written to",
      platformDetail: error instanceof Error ? error.message : String(error),
    })
  }
}

async function answer(envelope: Envelope, format: Format = "json", command?: Command): Promise<number> {
  if (envelope.ok && envelope.data instanceof PlainText) return print(envelope.data.text)
  const code = envelope.ok ? 0 : envelope.error.code === "INVALID_ARGS" ? 2 : 1
  const isText = command && format === "text"
  await print(isText ? await (await import("./look/text.ts")).toText(envelope, command) : toLine(envelope))
  if (!envelope.ok && format === "json" && (await mayBeWatched()))
    (await import("./cli/terminal.ts")).tellFailure(envelope.command, envelope.error)
  return code
}

/** Whether standard error could be a terminal; to be sure costs more than all the rest of a failing command. */
async function mayBeWatched(): Promise<boolean> {
  try {
    const [own, nothing] = await Promise.all([Bun.stderr.stat(), Bun.file("/dev/null").stat()])
    return own.isCharacterDevice() && own.rdev !== nothing.rdev
  } catch {
    // It is closed.
    return false
  }
}

/** Whole, also through a slow pipe; a reader that went away is no failure of ours to report. */
async function print(text: string): Promise<0> {
  try {
    await Bun.write(Bun.stdout, text)
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error
  }
  return 0
}
