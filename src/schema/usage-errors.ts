import { AppError } from "../errors.ts"
import { nearest } from "../nearest.ts"
import type { Field } from "./fields.ts"

export type UsageProblem =
  | "no_command"
  | "unknown_command"
  | "unknown_flag"
  | "extra_argument"
  | "missing_argument"
  | "missing_value"
  | "repeated"
  | "bad_value"

/** A command line that cannot be parsed. */
export class UsageError extends AppError {
  /** The command that was recognized before the mistake, or "unknown". */
  readonly command: string

  constructor(command: string, kind: UsageProblem, message: string, facts: UsageFacts = {}) {
    const { suggestion = `Run '${helpOn(command)}' to see what it takes`, argument, ...others } = facts
    super("INVALID_ARGS", message, {
      suggestion,
      details: { kind, argument: argument?.slice(0, 200), ...others },
    })
    this.name = "UsageError"
    this.command = command
  }
}

export interface UsageFacts {
  readonly suggestion?: string
  /** The part of the line that is wrong, or the member that is missing. */
  readonly argument?: string
  readonly nearest?: string
  readonly choices?: readonly string[]
}

export function noCommand(): UsageError {
  return new UsageError("unknown", "no_command", "No command was given", { suggestion: LIST_COMMANDS })
}

export function unknownCommand(name: string, known: Iterable<string>): UsageError {
  const near = nearest(name, known)
  return new UsageError("unknown", "unknown_command", `Unknown command ${shown(name)}${didYouMean(near)}`, {
    argument: name,
    nearest: near,
    suggestion: near === undefined ? LIST_COMMANDS : `Run '${helpOn(near)}' to see what it takes`,
  })
}

export function unknownFlag(command: string, token: string, known: Iterable<string>): UsageError {
  // The text after `=` is a value and not part of the mistake.
  const flag = token.split("=", 1)[0]!
  const flags = [...known].filter((spelling) => spelling.startsWith("--"))
  const near = nearest(flag, flags)
  const hint =
    near === undefined && command === "unknown"
      ? " before the command; a command's own options come after its name"
      : didYouMean(near)
  return new UsageError(command, "unknown_flag", `Unknown option ${shown(flag)}${hint}`, {
    argument: flag,
    nearest: near,
    suggestion: near === undefined && flags.includes("--arg") ? forTheApp(command) : undefined,
  })
}

const forTheApp = (command: string): string =>
  `Pass each argument of the app as --arg=ARG; see 'agent-desktop help ${command}'`

/** `open`: positionals that no flag has filled. `hasArg`: the command passes arguments to an app. */
export function extraArgument(
  command: string,
  word: string,
  places: readonly Field[] = [],
  open: readonly Field[] = [],
  hasArg = false,
): UsageError {
  const taken = places
    .filter((field) => !open.includes(field))
    .map((field) => `; ${field.placeholder} was given as ${field.flag}`)
    .join("")
  const hint = places.some((field) => field.freeText) ? "; text with blanks must be one quoted argument" : ""
  return new UsageError(command, "extra_argument", `Unexpected argument ${shown(word)}${taken || hint}`, {
    argument: word,
    suggestion: hasArg ? forTheApp(command) : undefined,
  })
}

export function missingArguments(command: string, missing: readonly Field[]): UsageError {
  const text = missing.find((field) => field.freeText)
  return new UsageError(command, "missing_argument", `Missing ${missing.map(labelOf).join(", ")}`, {
    argument: missing[0]?.name,
    suggestion:
      text && `Run '${helpOn(command)}'; ${text.placeholder} that looks like an option goes after '--'`,
  })
}

export function missingValue(command: string, field: Field, spelled: string, next?: string): UsageError {
  const hint = next === undefined ? "" : `; to give it ${shown(next)}, write ${shown(`${spelled}=${next}`)}`
  return new UsageError(command, "missing_value", `${spelled} needs a value (${field.placeholder})${hint}`, {
    argument: spelled,
  })
}

const LIST_COMMANDS = "Run 'agent-desktop help' for the list of commands"

const didYouMean = (near: string | undefined) => (near === undefined ? "" : `; did you mean '${near}'?`)

const helpOn = (command: string) =>
  command === "unknown" || command === "help" ? "agent-desktop help" : `agent-desktop help ${command}`

/** The argument as the command line spells it: the placeholder of a positional, otherwise its flag. */
export function labelOf(field: Field): string {
  return field.position === undefined ? field.flag : `${field.placeholder} (${field.flag})`
}

/** The message for a word that is not one of the field's choices. */
export function notAChoice(field: Field, word: unknown): string {
  const choices = field.choices ?? []
  const near = typeof word === "string" ? nearest(word, choices) : undefined
  const hint = near === undefined ? "" : `, did you mean '${near}'?`
  return `must be one of ${choices.join(", ")}; got ${shown(word)}${hint}`
}

/** A value in a message: short, on one line, text in quotes. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    const short = value.length > 60 ? `${value.slice(0, 57)}...` : value
    const code = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`
    return `'${short.replace(/[\x00-\x1f\x7f-\x9f]/g, code)}'`
  }
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}
