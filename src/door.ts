import type { Adapter } from "./adapter.ts"
import type {
  Args,
  Command,
  Context,
  Format,
  RefStore,
  Registry,
  ServeOptions,
  ViewAddress,
  ViewOptions,
} from "./command.ts"
import type { Deadline } from "./deadline.ts"
import type { AppError } from "./errors.ts"
import type { Policy } from "./policy.ts"

/** A way into the program (command line, MCP, library), and what it provides to commands. */
export interface Door extends Policy {
  /** The name of the door in a trace. */
  readonly name?: "cli" | "batch" | "mcp" | "library"
  readonly commands: Registry
  platform(): Promise<{ adapter(deadline: Deadline): Adapter }>
  /** Names of the desktop, for its viewers. Absent: commands do not report to viewers. */
  places?(): Promise<readonly string[]>
  readonly refs: RefStore
  readonly session?: string
  readonly desktop?: string
  readonly format?: Format
  /** Ends the command early. */
  readonly signal?: AbortSignal
  /** No model looks at the desktop: a description must match exactly one element in all windows of its app. */
  readonly isFlow?: boolean
  readonly trace?: Trace
  readonly record?: Recording
  readonly serve?: (options: ServeOptions) => Promise<void>
  readonly view?: (options: ViewOptions) => Promise<ViewAddress>
  /** Opens a door with separate refs, on this desktop or another. */
  apart?(
    desktop?: string,
  ): Promise<Pick<Door, "platform" | "places" | "refs" | "session" | "desktop"> & Closing>
  /** `end`: nothing more is read after this signal. */
  stdin(end?: AbortSignal): Promise<string>
  /** A variable of the caller's environment, for secrets. */
  env?(name: string): string | undefined
  /** The only variables that are secrets; absent: all. */
  readonly secrets?: readonly string[]
  /** The error for a command that exists but is not offered through this door. */
  missing?(name: string): AppError | undefined
  /** Writes a file that the caller named. `onlyNew`: never replaces one. */
  writeFile(path: string, bytes: Uint8Array, onlyNew: boolean): Promise<void>
}

/** Records commands and their results. It never throws, and no command depends on it. */
export interface Trace {
  around<T extends Outcome>(door: Door, command: string, args: unknown, run: () => Promise<T>): Promise<T>
  /** Records a command line that could not be parsed: nothing ran. */
  refused(command: string, argv: readonly string[], error: object): void
  /** Milliseconds spent on recording so far. They do not count as time of any command. */
  readonly spentMs: number
}

/** Writes what succeeds into a flow. It never throws, and no command depends on it. */
export interface Recording {
  /** Looks at the elements of a command before it runs. The result is called once the command has succeeded. */
  before(step: RecordedStep): Promise<((data: object) => Promise<void>) | undefined>
  /** Milliseconds spent on recording so far. They do not count as time of any command. */
  readonly spentMs: number
}

export interface RecordedStep {
  readonly command: Command
  readonly args: Args
  /** The same with the refs of elements that were described. */
  readonly named: Args
  /** Reads the desktop under a separate deadline, and leaves no trace. */
  look<T>(ms: number, work: (ctx: Context) => Promise<T>): Promise<T>
  /** The same text without secrets. */
  hide(text: string): string
}

interface Closing {
  close(): Promise<void>
}

export type Outcome =
  | { readonly ok: true; readonly data: object }
  | { readonly ok: false; readonly error: object }
