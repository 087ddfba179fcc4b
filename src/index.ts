import type { Platform, Way } from "./adapter.ts"
import { isOn } from "./cli/globals.ts"
import { commands } from "./commands/index.ts"
import type { Envelope } from "./envelope.ts"
import { AppError } from "./errors.ts"
import { lazily } from "./lazy.ts"
import { appsOf } from "./policy.ts"
import { type Door, runCommand as runThrough, type Trace } from "./run.ts"

export type { Envelope, ErrorObject } from "./envelope.ts"
export { AppError, ERROR_CODES, type ErrorCode } from "./errors.ts"
export type { Node, Rect, WindowInfo } from "./node.ts"

export interface Options {
  /** Keeps refs apart from those of others. */
  readonly session?: string
  /** Linux: an isolated desktop, from desktop-start. */
  readonly desktop?: string
  /** Nothing may act. */
  readonly readOnly?: boolean
  /** The only apps that may be seen and acted on; by default those of AGENT_DESKTOP_APPS. */
  readonly apps?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Directory to write down in what is done. */
  readonly trace?: string
  /** Ends what is running. */
  readonly signal?: AbortSignal
}

export interface AgentDesktop extends AsyncDisposable {
  /** The envelope that the command line would print; never throws. Arguments by their snake_case names. */
  run(command: string, args?: object): Promise<Envelope>
  close(): Promise<void>
}

/** One command, as the command line would run it; for more than one, `agentDesktop` keeps the connection. */
export async function runCommand(
  command: string,
  args: object = {},
  options: Options = {},
): Promise<Envelope> {
  await using desktop = agentDesktop(options)
  return await desktop.run(command, args)
}

/** The commands for a program of one's own: one connection, opened with the first that needs it. */
export function agentDesktop(options: Options = {}): AgentDesktop {
  const { env = process.env, session, desktop, signal } = options
  const readOnly = options.readOnly ?? isOn(env.AGENT_DESKTOP_READ_ONLY)
  const apps = options.apps ?? appsOf(env.AGENT_DESKTOP_APPS)
  let platform: Promise<Platform> | undefined
  const way: Way = {}
  let trace: Promise<Trace> | undefined
  const open = async (): Promise<Platform> => {
    const [{ openPlatform }, { stateRoot }] = await Promise.all([
      import("./platform.ts"),
      import("./private-files.ts"),
    ])
    return openPlatform({ env, root: stateRoot(env), desktop, way })
  }
  const door: Door = {
    name: "library",
    commands,
    platform: () => (platform ??= open()),
    refs: lazily(async () => {
      const { openRefStore, stateRoot } = await import("./refs/store.ts")
      return openRefStore({ root: stateRoot(env), session, way })
    }),
    session,
    desktop,
    readOnly,
    apps,
    signal,
    stdin: noInput,
    env: (name) => env[name],
    writeFile: async (path, bytes) => void (await Bun.write(path, bytes)),
  }
  const close = async (): Promise<void> => {
    const opened = await platform?.catch(() => undefined)
    platform = undefined
    await opened?.close()
  }
  const run = async (command: string, args: object = {}): Promise<Envelope> => {
    if (options.trace) trace ??= openTrace(options.trace)
    return runThrough({ ...door, trace: await trace }, command, args)
  }
  return { run, close, [Symbol.asyncDispose]: close }
}

async function openTrace(directory: string): Promise<Trace> {
  const trace = await import("./trace/record.ts")
  return trace.openTrace({ directory, screenshots: false, onFailure: () => {} })
}

async function noInput(): Promise<string> {
  throw new AppError("INVALID_ARGS", "Standard input is not read here", {
    suggestion: "Pass the text itself",
  })
}
