import { parseArgs, runCommand } from "citty"
import { type Command, findCommand, type Registry, type Run } from "../command.ts"
import { argsOf, type Field, fieldsOf, type Input, positionalsOf, spellingsOf } from "../schema/fields.ts"
import {
  extraArgument,
  labelOf,
  missingArguments,
  missingValue,
  noCommand,
  notAChoice,
  shown,
  UsageError,
  unknownCommand,
  unknownFlag,
} from "../schema/usage-errors.ts"

/** Members by their snake_case names, typed but not yet validated. Members that were not given are absent. */
export type Arguments = Readonly<Record<string, unknown>>

export type Parsed =
  | { readonly kind: "run"; readonly command: Command; readonly args: Arguments; readonly globals: Arguments }
  | { readonly kind: "help"; readonly command?: Command }
  | { readonly kind: "version" }

/** Parses the words of a command line, without the program's name. */
export async function parseArgv(
  argv: readonly string[],
  registry: Registry,
  globals: Input,
): Promise<Parsed> {
  if (argv.length === 0) return { kind: "help" }
  const ofAll = fieldsOf(globals)
  const line: Line = { argv, at: 0, ended: false, given: new Map(), words: [] }

  const asked = scan(line, scopeOf("unknown", [], ofAll))
  if (asked === "version") return { kind: asked }
  const name = line.words.pop()
  if (name === undefined) {
    if (asked === "help") return { kind: asked }
    throw noCommand()
  }
  if (name === "help" && !findCommand(registry, name)) return parseHelp(line, registry, ofAll)
  const command = await load(name, registry)
  if (asked === "help") return { kind: asked, command }

  const fields = fieldsOf(command.input)
  const scope = scopeOf(command.name, fields, ofAll)
  const askedOfIt = scan(line, scope)
  if (askedOfIt === "version") return { kind: askedOfIt }
  if (askedOfIt === "help") return { kind: askedOfIt, command }
  fill(line, scope)
  const missing: Field[] = []
  for (const field of fields) if (field.required && !line.given.has(field)) missing.push(field)
  if (missing.length > 0) throw missingArguments(command.name, missing)
  return { kind: "run", command, args: collect(fields, line), globals: collect(ofAll, line) }
}

/**
 * Runs a command through citty and returns its exit code. `run` contains the arguments, which parseArgv has read.
 * citty's runMain is not used: it takes `--help` even out of text to be typed, prints, and exits.
 */
export async function dispatch(command: Command, run: Run): Promise<number> {
  const { result } = await runCommand(command, { rawArgs: [], data: run })
  return Number(result)
}

/** The command line and how far it has been read. */
interface Line {
  readonly argv: readonly string[]
  at: number
  /** A `--` has been read: nothing after it is a flag. */
  ended: boolean
  /** The texts that each field was given; only a list has more than one. */
  readonly given: Map<Field, string[]>
  /** The words that are neither flags nor values of flags, in order. */
  readonly words: string[]
}

/** The flags and positionals that may follow on the line. */
interface Scope {
  /** "unknown" until the command's name has been read. */
  readonly command: string
  readonly flags: ReadonlyMap<string, Field>
  readonly places: readonly Field[]
  /** The global flags that ask for help or the version instead of a run. */
  readonly asking: ReadonlyMap<Field, "help" | "version">
}

/** One flag as it was written. */
interface Use {
  readonly field: Field
  readonly spelled: string
  readonly text?: string
  readonly negated?: boolean
}

function scopeOf(command: string, fields: readonly Field[], ofAll: readonly Field[]): Scope {
  // The command's own flags are set last and win over global ones of the same name.
  const flags = new Map<string, Field>()
  for (const field of [...ofAll, ...fields]) for (const flag of spellingsOf(field)) flags.set(flag, field)
  const asking = new Map<Field, "help" | "version">()
  for (const field of ofAll)
    if (field.name === "help" || field.name === "version") asking.set(field, field.name)
  return { command, flags, places: positionalsOf(fields), asking }
}

/**
 * Reads to the end of the line; before the command is known, to its name. Stops at a flag for help or the
 * version, except for a help flag before the name: the name of the command follows.
 */
function scan(line: Line, scope: Scope): "help" | "version" | undefined {
  const isBefore = scope.command === "unknown"
  let asked: "help" | undefined
  while (line.at < line.argv.length) {
    const token = line.argv[line.at++]!
    if (!line.ended && token === "--") {
      line.ended = true
      continue
    }
    const isText = openPlace(line, scope)?.freeText ?? false
    const uses = line.ended ? undefined : usesOf(token, scope)
    if (uses && !(isText && line.words.length > 0 && uses.some((use) => scope.asking.has(use.field)))) {
      for (const use of uses) {
        const wanted = give(line, scope, use) === "true" ? scope.asking.get(use.field) : undefined
        if (wanted === "version" || (wanted && !isBefore)) return wanted
        asked ??= wanted
      }
      continue
    }
    if (!line.ended && !isText && looksLikeFlag(token))
      throw unknownFlag(scope.command, token, scope.flags.keys())
    line.words.push(token)
    if (isBefore) return asked
  }
  return asked
}

/** The flags in a token, such as two in `-iv`; undefined if it is not a known flag. */
function usesOf(token: string, scope: Scope): readonly Use[] | undefined {
  if (!token.startsWith("-")) return undefined
  const equals = token.indexOf("=")
  const spelled = equals < 0 ? token : token.slice(0, equals)
  const field = scope.flags.get(spelled)
  if (field) return [{ field, spelled, text: equals < 0 ? undefined : token.slice(equals + 1) }]
  if (token.startsWith("--no-")) {
    const positive = scope.flags.get(`--${token.slice("--no-".length)}`)
    return positive?.kind === "boolean" ? [{ field: positive, spelled: token, negated: true }] : undefined
  }
  const letters = token.startsWith("--") ? [] : [...token.slice(1)]
  const uses = letters.flatMap((letter) => {
    const known = scope.flags.get(`-${letter}`)
    return known?.kind === "boolean" ? [{ field: known, spelled: `-${letter}` }] : []
  })
  return uses.length > 0 && uses.length === letters.length ? uses : undefined
}

/** `-` is a word (standard input), and so is a token that starts like a negative number. */
const looksLikeFlag = (token: string) => token.startsWith("-") && token !== "-" && !/^-\.?\d/.test(token)

/** The positional that the next word fills; skips those that were given as flags. */
function openPlace(line: Line, scope: Scope): Field | undefined {
  let before = line.words.length
  let last: Field | undefined
  for (const field of scope.places) {
    if (line.given.has(field)) continue
    if (before-- === 0) return field
    last = field
  }
  return last?.kind === "list" ? last : undefined
}

function give(line: Line, scope: Scope, use: Use): string {
  const { field, spelled } = use
  if (line.given.has(field) && field.kind !== "list")
    throw new UsageError(scope.command, "repeated", `${field.flag} was given more than once`, {
      argument: spelled,
    })
  const text = use.text ?? (field.kind === "boolean" ? String(!use.negated) : takeValue(line, scope, use))
  return put(line, field, checked(field, text, spelled, scope.command))
}

/** The token after a flag, if it can be its value. */
function takeValue(line: Line, scope: Scope, { field, spelled }: Use): string {
  const next = line.argv[line.at]
  const isValue =
    next !== undefined && next !== "--" && !usesOf(next, scope) && (field.freeText || !looksLikeFlag(next))
  if (isValue) {
    line.at++
    return next
  }
  if (field.optionalValue === undefined) throw missingValue(scope.command, field, spelled, next)
  return field.optionalValue
}

/** Assigns the words to the positionals that no flag has filled. */
function fill(line: Line, scope: Scope): void {
  const open: Field[] = []
  for (const field of scope.places) if (!line.given.has(field)) open.push(field)
  const last = open[open.length - 1]
  for (const [index, word] of line.words.entries()) {
    const field = open[index] ?? (last?.kind === "list" ? last : undefined)
    if (!field) throw extraArgument(scope.command, word, scope.places, open, scope.flags.has("--arg"))
    put(line, field, checked(field, word, labelOf(field), scope.command))
  }
}

function put(line: Line, field: Field, text: string): string {
  const before = line.given.get(field)
  if (before) before.push(text)
  else line.given.set(field, [text])
  return text
}

/** The text itself. Throws if it is not a valid value of the field. */
function checked(field: Field, text: string, spelled: string, command: string): string {
  const problem = problemOf(field, text)
  if (problem === undefined) return text
  throw new UsageError(command, "bad_value", `${spelled} ${problem}`, {
    argument: spelled,
    choices: field.choices,
  })
}

function problemOf(field: Field, text: string): string | undefined {
  switch (field.item ?? field.kind) {
    case "boolean":
      return text === "true" || text === "false" ? undefined : `must be true or false, got ${shown(text)}`
    case "number":
      // Plain decimal notation only. Number() also accepts hex, exponents and blanks, which are mistakes here.
      if (!/^-?\d+(\.\d+)?$/.test(text))
        return `must be a ${field.integer ? "whole number" : "number"}, got ${shown(text)}`
      return Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER
        ? `is out of range, got ${shown(text)}`
        : undefined
    case "choice":
      return field.choices?.includes(text) ? undefined : notAChoice(field, text)
    case "json":
      try {
        JSON.parse(text)
        return undefined
      } catch {
        return "must be JSON"
      }
    default:
      return undefined
  }
}

/**
 * The values of the fields that were given. citty reads them from a line in the one form that it cannot misread:
 * `--name=value` for everything, with the member's own name. This line has no `--no-`, no `-5` and no repeated flag.
 * citty has no numbers, lists or JSON; `typedValue` makes those.
 */
function collect(fields: readonly Field[], line: Line): Arguments {
  const present: Field[] = []
  for (const field of fields) if (line.given.has(field)) present.push(field)
  const values: Record<string, unknown> = {}
  if (present.length === 0) return values
  const plain: string[] = []
  for (const field of present) {
    const texts = line.given.get(field) ?? []
    plain.push(`--${field.name}=${field.kind === "list" ? JSON.stringify(texts) : texts[0]}`)
  }
  const parsed = parseArgs(plain, argsOf(present))
  for (const field of present) values[field.name] = typedValue(field, parsed[field.name])
  return values
}

function typedValue(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case "number":
      // -0 means 0.
      return Number(value) || 0
    case "json":
      return JSON.parse(String(value))
    case "list": {
      const texts: string[] = JSON.parse(String(value))
      return field.item === "number" ? texts.map((text) => Number(text) || 0) : texts
    }
    default:
      return value
  }
}

/** `help`, `help COMMAND`. */
async function parseHelp(line: Line, registry: Registry, ofAll: readonly Field[]): Promise<Parsed> {
  const scope = scopeOf("help", [], ofAll)
  if (scan(line, scope) === "version") return { kind: "version" }
  const [name, extra] = line.words
  if (extra !== undefined) throw extraArgument("help", extra)
  return name === undefined || name === "help"
    ? { kind: "help" }
    : { kind: "help", command: await load(name, registry) }
}

async function load(name: string, registry: Registry): Promise<Command> {
  const found = findCommand(registry, name)
  if (!found) throw unknownCommand(name, [...Object.keys(registry), "help"])
  return found()
}
