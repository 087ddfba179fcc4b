import * as v from "valibot"
import type { Adapter, SeenNotification } from "./adapter.ts"
import type { Deadline } from "./deadline.ts"
import type { RefEntry, RefMap } from "./refmap.ts"

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

export type Input = v.StrictObjectSchema<v.ObjectEntries, undefined>

/**
 * One command: its name is its file's name, its verb on the command line, and (with `desktop_` in
 * front) its MCP tool. `input` is the only description of its arguments; every door reads it.
 */
export interface Command<S extends Input = Input> {
  readonly name: string
  readonly summary: string
  readonly group: Group
  /** Changes nothing on the desktop; a read-only policy lets it through. */
  readonly readOnly?: boolean
  /** With these arguments it does all the same. */
  acts?(args: v.InferOutput<S>): boolean
  readonly input: S
  readonly examples?: readonly string[]
  /** What a schema cannot say, such as members that exclude each other. Throws INVALID_ARGS; looks at nothing else. */
  check?(args: v.InferOutput<S>): void
  run(args: v.InferOutput<S>, ctx: Context): Promise<object>
}

/** Every command by name; only the chosen one is loaded. */
export type Registry = ReadonlyMap<string, () => Promise<{ readonly default: Command }>>

export interface Context {
  readonly adapter: Adapter
  /** The end of this command. Native calls are bounded by it; conditions are waited for until then. */
  readonly deadline: Deadline
  /** false with `--timeout-ms 0`: look once, wait for nothing. */
  readonly patient: boolean
  readonly refs: RefStore
  readonly session?: string
  readonly desktop?: string
  /** How the answer will be printed. */
  readonly format?: Format
  /** Notifications that were there when the batch began, for a wait that comes after what causes one. */
  readonly baseline?: readonly SeenNotification[]
  /** Throws for the first item that could not be run as it stands; for batch. */
  validateItems(items: readonly Item[]): Promise<void>
  /** Runs another command through the same path; for batch. */
  runItem(name: string, args: unknown): Promise<ItemResult>
  /** Every command there is, for those that describe them. */
  readonly commands: Registry
  /** Serves other programs on standard input and output until they leave; only the command line can. */
  readonly serve?: (options: ServeOptions) => Promise<void>
  /** Standard input as text, for commands that read `-`; once. */
  stdin(): Promise<string>
  /** The text that `env:NAME` or `stdin` stands for. It appears in nothing that the command says. */
  secret(source: string): Promise<string>
  /** Writes a file the user named. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>
}

export interface ServeOptions {
  /** A profile of tools, or the names of some. */
  readonly tools: string
  /** Ends after this long without a request; 0: never. */
  readonly idleMs: number
}

export interface Item {
  readonly command: string
  readonly args: Readonly<Record<string, unknown>>
}

export type ItemResult =
  | { readonly command: string; readonly ok: true; readonly data: object }
  | { readonly command: string; readonly ok: false; readonly error: object }

/** The maps of refs of one session; see refstore.ts. */
export interface RefStore {
  /** Loads what `save` needs: for a moment when there is nothing to do but wait. */
  prepare(): Promise<void>
  /** The current map, or the one kept under an id. Throws SNAPSHOT_NOT_FOUND for an unknown id. */
  load(snapshotId?: string): Promise<RefMap>
  /** Replaces the current map, keeps a copy under its new id, and returns that id. */
  save(entries: readonly RefEntry[], options?: SaveOptions): Promise<string>
  /** What was kept with a snapshot by `save`; undefined when nothing was. */
  tree(snapshotId: string): Promise<string | undefined>
  /** Adds to the current map (or to a kept one); an element that has a ref keeps it. Returns the refs in order. */
  append(entries: readonly RefEntry[], snapshotId?: string): Promise<readonly string[]>
}

export interface SaveOptions {
  /** The ref of each entry, where they are not @e1, @e2 and so on. */
  readonly refs?: readonly string[]
  /** The highest number that was ever given, where that is not the last one. */
  readonly counter?: number
  /** Kept with the snapshot for as long as its map is; one that is too large is not. */
  readonly tree?: string
  /** Only kept under its id: the current map stays. */
  readonly aside?: boolean
}

/** Declares a command; every one takes `timeout_ms`, with its own default. */
export function defineCommand<E extends v.ObjectEntries>(
  command: Omit<Command, "input" | "run" | "check" | "acts"> & {
    readonly input: E
    readonly timeoutMs?: number
    check?(args: ArgsOf<E>): void
    acts?(args: ArgsOf<E>): boolean
    run(args: ArgsOf<E>, ctx: Context): Promise<object>
  },
): Command {
  const { timeoutMs = 5000, input, ...rest } = command
  return {
    ...rest,
    input: v.strictObject({ ...input, timeout_ms: timeoutField(timeoutMs) }),
  } as unknown as Command
}

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

/**
 * What a schema cannot say about an argument on the command line. The flag itself is the
 * member's name in kebab case.
 */
export interface CliHints {
  /** Its place among the positionals, from 0; the flag spelling is accepted as well. */
  readonly position?: number
  /** Letter of the short flag. */
  readonly short?: string
  /** Other member names that mean the same, in batch arguments and (kebab case) as flags. */
  readonly aliases?: readonly string[]
  /** Placeholder in usage lines, e.g. `MS`. */
  readonly value?: string
  /** Free text: whatever stands in its place is taken as it is, also when it looks like a flag. */
  readonly freeText?: boolean
  /** The flag may stand without a value (`--diff [SNAPSHOT_ID]`) and then means this one. */
  readonly optionalValue?: string
}
