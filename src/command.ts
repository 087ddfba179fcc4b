import type { CommandDef } from "citty"
import * as v from "valibot"
import type { Adapter } from "./adapter.ts"
import type { Deadline } from "./deadline.ts"
import type { SeenNotification } from "./desktop.ts"
import type { AppError } from "./errors.ts"
import type { Numbering } from "./node.ts"
import type { BusHint, RefEntry, RefMap } from "./refmap.ts"
import { argsOf, type CliHints, fieldsOf, type Input } from "./schema/fields.ts"

export const GROUPS = [
  "observe",
  "act",
  "input",
  "window",
  "clipboard",
  "notification",
  "desktop",
  "system",
  "integrate",
] as const
export type Group = (typeof GROUPS)[number]

/** How an answer is printed. */
export const FORMATS = ["json", "text"] as const
export type Format = (typeof FORMATS)[number]

export const NUMBERINGS = ["fresh", "stable"] as const satisfies readonly Numbering[]

/** The widest change that a command can make. Policy, `--read-only` and MCP's hints go by it. */
export type Effect =
  /** Changes nothing on the desktop: `--read-only` lets it run. */
  | "reads"
  /** Acts, but cannot lose work: moving a window, scrolling a list. */
  | "harmless"
  | "changes"

/** The smallest set of MCP tools that holds a command. */
export type ToolSet =
  /** Offered by default. Every tool of this set costs tokens in every conversation. */
  | "core"
  /** Offered with `--tools all`, or by its name. */
  | "all"
  /** Never offered: it is a door itself, or serves one. */
  | "never"

/** The part of a command that `--trace` keeps. */
export type Traced =
  /** A line; with `--trace-screenshots` also the screen after it, and before it if the command acts. */
  | "pictures"
  | "line"
  /** Nothing: shells and clients run it all the time, or it reads traces itself. */
  | "nothing"

/**
 * The state of an element after a command that succeeded. "toggled": checked or unchecked. "value": the value that it
 * reports.
 */
export type Left = "checked" | "unchecked" | "toggled" | "expanded" | "collapsed" | "value"

/**
 * A result as text. "facts": one fact a line on the command line, JSON over MCP. "json": always JSON. undefined: as
 * "facts". `commands`: for a result that contains results of other commands.
 */
export type Print<Data> =
  | "json"
  | "facts"
  | ((data: Data, commands: Registry) => string | undefined | Promise<string | undefined>)

/**
 * One command, and everything that the program knows about it: help, the command line, batch, MCP, JSON
 * Schema, docs, completions, the manual, traces and the tests over all commands read it here. Its name is
 * its verb on the command line and, with `desktop_` in front, its MCP tool.
 *
 * It is a command of citty, too: `meta`, `args` and `run` are for citty's parseArgs and runCommand. Their
 * `args` arrive in `data`, typed by cli/args.ts, since citty has no numbers, lists or JSON.
 */
export interface Command<S extends Input = Input> extends CommandDef {
  run(context: { readonly data?: Run }): Promise<unknown>
  readonly name: string
  readonly summary: string
  /** The heading that lists it in help and docs, and nothing else. */
  readonly group: Group
  readonly effect: Effect
  /** True if these arguments make a command that reads act. */
  acts?(args: v.InferOutput<S>): boolean
  /** Running it twice does no more than running it once: MCP's idempotent hint. */
  readonly repeatable?: boolean
  /** It runs other commands: the policy judges each of them, and none of them delegates again. */
  readonly delegates?: boolean
  /** It acts outside the desktop, e.g. starts another one. It also runs while a person has paused the agents. */
  readonly aside?: boolean
  readonly tool: ToolSet
  readonly trace: Traced
  /**
   * "state": its line in a flow expects the state that it has read. "condition": its line waits for the same condition.
   * "never": it has no line, since a flow runs inside a desktop.
   */
  readonly flow?: "state" | "condition" | "never"
  /** True if these arguments wait for a notification that comes after the start of the batch. */
  awaitsNotification?(args: Item["args"]): boolean
  /** It serves a client until the client leaves. */
  readonly serves?: boolean
  /** A recorded flow expects it in the line after the command. */
  readonly leaves?: Left
  /** The only description of its arguments. */
  readonly input: S
  /** Default of `timeout_ms`, which every command takes. */
  readonly timeoutMs: number
  /** The schema of its result, built when a schema is asked for. Later versions may add members. */
  output(): v.GenericSchema
  readonly print: Print<never>
  /**
   * Arguments that the tests over all commands run it with. Words such as `$button` stand for things on the
   * desktop of a test; test/support/every-command.ts lists them.
   */
  readonly sample: readonly Readonly<Record<string, unknown>>[]
  readonly examples?: readonly string[]
  /** Rules that a schema cannot express, such as members that exclude each other. Throws INVALID_ARGS. */
  check?(args: v.InferOutput<S>): void
  /** Does the work; `run` of the command's definition. */
  handle(args: v.InferOutput<S>, ctx: Context): Promise<object>
}

/** Parsed arguments. */
export type Args = Parameters<Command["handle"]>[0]

/** Runs a command with its parsed arguments, and returns the exit code. */
export type Run = (command: Command) => Promise<number>

/** Every command by name, each loaded when it is called: the form of citty's `subCommands`. */
export type Registry = Readonly<Record<string, () => Promise<Command>>>

/** The loader of a command. undefined: the registry has no such name. */
export const findCommand = (registry: Registry, name: string): Registry[string] | undefined =>
  Object.hasOwn(registry, name) ? registry[name] : undefined

/** Loads all commands, in the order of the registry. */
export const loadAll = (registry: Registry): Promise<readonly Command[]> =>
  Promise.all(Object.values(registry).map((load) => load()))

export interface Context {
  readonly adapter: Adapter
  /** The end of this command. Native calls are bounded by it; conditions are waited for until then. */
  readonly deadline: Deadline
  /** false with `--timeout-ms 0`: look once, wait for nothing. */
  readonly patient: boolean
  /** True if the caller chose the timeout. Then an element that cannot take the action yet is waited for to the end. */
  readonly isTimed: boolean
  readonly refs: RefStore
  /** No command may act, and files are written only where the caller named a new one. */
  readonly readOnly: boolean
  readonly session?: string
  readonly desktop?: string
  /** True for the lines of a flow: a description must match exactly one element in all windows of its app. */
  readonly isFlow?: boolean
  /** How the answer will be printed. */
  readonly format?: Format
  /** Notifications at the start of the batch. A wait for a new one may come after the item that causes it. */
  readonly baseline?: readonly SeenNotification[]
  /** Throws for the first item with invalid arguments, which `at` names. For batch and replay. */
  validateItems(items: readonly Item[], at?: (error: AppError, index: number) => AppError): Promise<void>
  /** Notes which notifications there are, if one of these items waits for a new one. */
  rememberNotifications(items: readonly Item[]): Promise<void>
  /** Runs another command through the same path; for batch and replay. */
  runItem(name: string, args: unknown): Promise<ItemResult>
  /**
   * Works with refs that no other run shares. `isolated`: on a desktop that is started for this and stopped afterwards.
   */
  apart<T>(options: { readonly isolated?: Size }, work: (ctx: Context) => Promise<T>): Promise<T>
  /** A variable of the caller's environment. */
  variable(name: string): string | undefined
  /** The registry, for commands that describe others. */
  readonly commands: Registry
  /** Serves a client on standard input and output until it leaves. Only the command line has it. */
  readonly serve?: (options: ServeOptions) => Promise<void>
  /** Serves the page of desktop-view, even after the answer is printed. Only the command line has it. */
  readonly view?: (options: ViewOptions) => Promise<ViewAddress>
  /** Standard input as text, for commands that read `-`. The second call fails. */
  stdin(): Promise<string>
  /** The text that `env:NAME` or `stdin` stands for. Answers and errors never contain it. */
  secret(source: string): Promise<string>
  /** Writes a file that the user named. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>
}

export interface Size {
  readonly width: number
  readonly height: number
}

export interface ServeOptions {
  /** A set of tools, or the names of single ones. */
  readonly tools: string
  /** Ends after this long without a request; 0: never. */
  readonly idleMs: number
}

export interface ViewOptions {
  /** The isolated desktop to show; absent: the one that the command runs in. */
  readonly name?: string
  /** 0: a free one. */
  readonly port: number
  /** Opens the page in the user's browser. */
  readonly open: boolean
}

export interface ViewAddress {
  readonly url: string
  readonly desktop?: string
}

export interface Item {
  readonly command: string
  readonly args: Readonly<Record<string, unknown>>
}

export type ItemResult =
  | { readonly command: string; readonly ok: true; readonly data: object }
  | { readonly command: string; readonly ok: false; readonly error: object }

/** The maps of refs of one session; see refs/store.ts. */
export interface RefStore {
  readonly numbering: Numbering
  /** Loads the modules that `save` needs, while the command waits for answers anyway. */
  prepare(): Promise<void>
  /** The current map, or the one kept under an id. Throws SNAPSHOT_NOT_FOUND for an unknown id. */
  load(snapshotId?: string): Promise<RefMap>
  /**
   * The refs for a snapshot that is about to be saved: @e1, @e2 and so on, after `after`. With stable numbers: the ref
   * that an element already has in the session, or an unused one.
   */
  number(entries: readonly RefEntry[], after?: number): Promise<readonly string[]>
  /**
   * Replaces the current map, keeps a copy under its new id, and returns that id. With stable numbers, refs of the
   * current map stay valid beside the new ones.
   */
  save(entries: readonly RefEntry[], options?: SaveOptions): Promise<string>
  /** The tree that `save` kept with a snapshot; undefined if it kept none. */
  tree(snapshotId: string): Promise<string | undefined>
  /** Adds to the current map (or to a kept one); an element that has a ref keeps it. Returns the refs in order. */
  append(entries: readonly RefEntry[], snapshotId?: string, reachedBy?: BusHint): Promise<readonly string[]>
  /** The notifications that were listed last, in the order of their indexes; undefined if none were. Keeps new ones. */
  notifications(listed?: readonly string[]): Promise<readonly string[] | undefined>
}

export interface SaveOptions {
  /** The ref of each entry; @e1, @e2 and so on if left out. */
  readonly refs?: readonly string[]
  /** The highest number given so far; the last ref's if left out. */
  readonly counter?: number
  /** Kept together with the map, unless it is too large. */
  readonly tree?: string
  /** Keeps the map under its id only; the current map stays current. */
  readonly aside?: boolean
  readonly reachedBy?: BusHint
}

/** A command as its file writes it. */
export interface Definition<E extends v.ObjectEntries, O extends v.GenericSchema>
  extends Pick<
    Command,
    | "name"
    | "summary"
    | "group"
    | "effect"
    | "repeatable"
    | "delegates"
    | "aside"
    | "tool"
    | "trace"
    | "flow"
    | "awaitsNotification"
    | "serves"
    | "leaves"
    | "examples"
  > {
  /** 5000 if left out. */
  readonly timeoutMs?: number
  readonly input: E
  output(): O
  readonly print: Print<v.InferOutput<O>>
  readonly sample: SampleOf<E> | readonly SampleOf<E>[]
  acts?(args: ArgsOf<E>): boolean
  check?(args: ArgsOf<E>): void
  run(args: ArgsOf<E>, ctx: Context): Promise<object>
}

/** Declares a command. */
export function defineCommand<E extends v.ObjectEntries, O extends v.GenericSchema>(
  definition: Definition<E, O>,
): Command {
  const { timeoutMs = 5000, input, sample, run, ...rest } = definition
  const schema = v.strictObject({ ...input, timeout_ms: timeoutField(timeoutMs) })
  const command = {
    ...rest,
    meta: { name: rest.name, description: rest.summary },
    args: () => argsOf(fieldsOf(schema)),
    run: async ({ data }: { readonly data?: Run }) => data?.(command),
    handle: run,
    sample: Array.isArray(sample) ? sample : [sample],
    input: schema,
    timeoutMs,
  } as unknown as Command
  return command
}

type SampleOf<E extends v.ObjectEntries> = v.InferInput<v.StrictObjectSchema<E, undefined>>

type ArgsOf<E extends v.ObjectEntries> = v.InferOutput<
  v.StrictObjectSchema<E & { timeout_ms: TimeoutField }, undefined>
>

type TimeoutField = ReturnType<typeof timeoutField>

const timeoutField = (ms: number) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(86_400_000),
      v.description("Give up after this many milliseconds; 0 tries once"),
      v.metadata({ cli: { aliases: ["timeout"], value: "MS" } satisfies CliHints }),
    ),
    ms,
  )
