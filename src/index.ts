import { isOn, numberingOf } from "./cli/globals.ts"
import { commands } from "./commands/index.ts"
import { onDemand } from "./door/on-demand.ts"
import { writeOutput } from "./door/output-file.ts"
import type { Door, Recording, Trace } from "./door.ts"
import type { Envelope } from "./envelope.ts"
import { AppError } from "./errors.ts"
import { namesIn } from "./policy.ts"
import { runCommand as runThrough } from "./run.ts"

export type { Envelope, ErrorObject } from "./envelope.ts"
export { AppError, ERROR_CODES, type ErrorCode } from "./errors.ts"
export type { Node, Rect, WindowInfo } from "./node.ts"

export interface Options {
  /** Keeps refs apart from those of other sessions. */
  readonly session?: string
  /**
   * How refs are numbered: "fresh", each snapshot from @e1, or "stable", where an element keeps its number in the
   * session and no number is given twice; by default AGENT_DESKTOP_REFS, or "fresh".
   */
  readonly refs?: "fresh" | "stable"
  /** Linux: an isolated desktop, from desktop-start. */
  readonly desktop?: string
  /** Refuses every command that acts. */
  readonly readOnly?: boolean
  /** The only apps that may be seen and acted on. If AGENT_DESKTOP_APPS is set, only those that it names as well. */
  readonly apps?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Directory for a trace of every command. */
  readonly trace?: string
  /** File of a flow to which commands that succeed are appended. */
  readonly record?: string
  /** Ends the commands that are running. */
  readonly signal?: AbortSignal
}

export interface AgentDesktop extends AsyncDisposable {
  /** Returns the envelope that the command line would print; never throws. Arguments have their snake_case names. */
  run(command: string, args?: object): Promise<Envelope>
  close(): Promise<void>
}

/** Runs one command as the command line would. For more than one, `agentDesktop` keeps the connection open. */
export async function runCommand(
  command: string,
  args: object = {},
  options: Options = {},
): Promise<Envelope> {
  await using desktop = agentDesktop(options)
  return await desktop.run(command, args)
}

/** Runs commands from your own program. They share one connection, which the first command that needs it opens. */
export function agentDesktop(options: Options = {}): AgentDesktop {
  const { env = process.env, session, desktop, signal } = options
  const readOnly = options.readOnly || isOn(env.AGENT_DESKTOP_READ_ONLY)
  const apps = bothOf(options.apps, namesIn(env.AGENT_DESKTOP_APPS))
  const numbering = options.refs ?? numberingOf(env.AGENT_DESKTOP_REFS)
  const opened = onDemand({ env, session, numbering, desktop })
  const { platform, places, refs } = opened
  const close = (): Promise<void> => opened.close({ forGood: true })
  let trace: Promise<Trace> | undefined
  let record: Promise<Recording> | undefined
  const door: Door = {
    name: "library",
    commands,
    platform,
    places,
    refs,
    session,
    desktop,
    readOnly,
    apps,
    signal,
    stdin: noInput,
    env: (name) => env[name],
    secrets: namesIn(env.AGENT_DESKTOP_SECRETS),
    writeFile: writeOutput,
  }
  const run = async (command: string, args: object = {}): Promise<Envelope> => {
    if (options.trace) trace ??= openTrace(options.trace)
    if (options.record) record ??= openRecording(options.record)
    return runThrough({ ...door, trace: await trace, record: await record }, command, args)
  }
  return { run, close, [Symbol.asyncDispose]: close }
}

/** A restriction in the environment adds to one in the program. */
function bothOf(
  own: readonly string[] | undefined,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!own || !given) return own ?? given
  const known = new Set(given.map((name) => name.toLowerCase()))
  return own.filter((name) => known.has(name.toLowerCase()))
}

async function openTrace(directory: string): Promise<Trace> {
  const trace = await import("./trace/record.ts")
  return trace.openTrace({ directory, screenshots: false, onFailure: () => {} })
}

async function openRecording(file: string): Promise<Recording> {
  const { openRecording } = await import("./flow/record.ts")
  return openRecording({ file, warn: () => {} })
}

async function noInput(): Promise<string> {
  throw new AppError("INVALID_ARGS", "Standard input is not read here", {
    suggestion: "Pass the text itself",
  })
}
