import type { BaseIssue } from "valibot"
import { AppError } from "./errors.ts"
import type { Field } from "./schema/fields.ts"

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
  /** The command that was recognised before the mistake, or "unknown". */
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
  const near = nearest(
    flag,
    [...known].filter((spelling) => spelling.startsWith("--")),
  )
  const hint =
    near === undefined && command === "unknown"
      ? " before the command; a command's own options come after its name"
      : didYouMean(near)
  return new UsageError(command, "unknown_flag", `Unknown option ${shown(flag)}${hint}`, {
    argument: flag,
    nearest: near,
  })
}

/** `open`: the positionals that no flag has filled. */
export function extraArgument(
  command: string,
  word: string,
  places: readonly Field[] = [],
  open: readonly Field[] = [],
): UsageError {
  const taken = places
    .filter((field) => !open.includes(field))
    .map((field) => `; ${field.placeholder} was given as ${field.flag}`)
    .join("")
  const hint = places.some((field) => field.freeText) ? "; text with blanks must be one quoted argument" : ""
  return new UsageError(command, "extra_argument", `Unexpected argument ${shown(word)}${taken || hint}`, {
    argument: word,
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

/** Describes what is wrong with an argument, spelled as on the command line. */
export function describeIssue(issue: BaseIssue<unknown>, fields: readonly Field[]): string {
  const [first, ...rest] = issue.path ?? []
  if (!first)
    return isOwnWording(issue) ? issue.message : `Arguments must be an object, got ${shown(issue.input)}`
  const name = String(first.key)
  const field = fields.find((candidate) => candidate.name === name)
  if (!field) return unknownMember(name, fields)
  const where = rest.map((step) =>
    typeof step.key === "number" ? ` (item ${step.key + 1})` : `.${step.key}`,
  )
  const subject = labelOf(field) + where.join("")
  if (issue.type === "strict_object" && issue.input === undefined) return `${subject} is missing`
  if (!isOwnWording(issue)) return `${subject} ${problemOf(issue, field)}`
  const got = field.freeText ? "" : `; got ${shown(issue.input)}`
  return `${subject}${issue.message.startsWith("must ") ? "" : ":"} ${issue.message}${got}`
}

/** The argument as the command line spells it: the placeholder of a positional, otherwise its flag. */
export function labelOf(field: Field): string {
  return field.position === undefined ? field.flag : `${field.placeholder} (${field.flag})`
}

/** Says that a word is not one of the field's choices. */
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

/** valibot's default messages begin like this; any other message was written for people. */
const isOwnWording = (issue: BaseIssue<unknown>) =>
  !/^Invalid [a-z ]+: (Expected|Received) /i.test(issue.message)

function unknownMember(name: string, fields: readonly Field[]): string {
  const near = nearest(
    name,
    fields.flatMap((field) => [field.name, ...field.aliases]),
  )
  if (near !== undefined) return `Unknown argument ${shown(name)}; did you mean '${near}'?`
  return `Unknown argument ${shown(name)}; known are ${fields.map((field) => field.name).join(", ")}`
}

function problemOf(issue: BaseIssue<unknown>, field: Field): string {
  const limit = String(issue.requirement)
  // Free text is not repeated: it may be secret, and messages are stored.
  const got = field.freeText ? "" : `, got ${shown(issue.input)}`
  switch (issue.type) {
    case "picklist":
      return notAChoice(field, issue.input)
    case "min_value":
      return `must be at least ${limit}${got}`
    case "max_value":
      return `must be at most ${limit}${got}`
    case "gt_value":
      return `must be more than ${limit}${got}`
    case "lt_value":
      return `must be less than ${limit}${got}`
    case "integer":
    case "safe_integer":
      return `must be a whole number${got}`
    case "finite":
      return `must be a finite number${got}`
    case "number":
    case "string":
    case "boolean":
      return `must be a ${issue.type}${got}`
    case "array":
      return `must be an array${got}`
    case "non_empty":
      return "must not be empty"
    case "min_length":
      return issue.requirement === 1 ? "must not be empty" : `must have at least ${limit} ${unitOf(field)}`
    case "max_length":
      return `must have at most ${limit} ${unitOf(field)}`
    default:
      return `is not valid${got}`
  }
}

const unitOf = (field: Field) => (field.kind === "list" || field.kind === "json" ? "elements" : "characters")

/**
 * The candidate that a mistyped word most likely meant, if one is close enough. Case, leading dashes
 * and the choice between `-` and `_` do not count as mistakes.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return closest(word, candidates, 1)[0]
}

/** The candidates that the word may be a typo of, the nearest first. */
export function closest(word: string, candidates: Iterable<string>, most: number): readonly string[] {
  const wanted = plain(word)
  return [...candidates]
    .map((candidate) => ({ candidate, cost: costOf(wanted, plain(candidate)) }))
    .filter(({ cost }) => cost < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.cost - b.cost)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

const plain = (word: string) => word.replace(/^-+/, "").replaceAll("_", "-").toLowerCase()

const inOrder = (word: string) => word.split("-").sort().join("-")

function costOf(wanted: string, candidate: string): number {
  if (wanted === candidate) return 0
  const most = Math.floor(Math.max(wanted.length, candidate.length, 3) / 3)
  if (wanted.length < 2 || wanted.length > 64) return Number.POSITIVE_INFINITY
  if (wanted.length > 2 && candidate.startsWith(wanted)) return 0.5
  if (wanted.includes("-") && inOrder(wanted) === inOrder(candidate)) return 0.5
  const distance = editDistance(wanted, candidate)
  return distance <= most && distance < wanted.length ? distance : Number.POSITIVE_INFINITY
}

/** Letters put in, left out or changed, and neighbours swapped (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? before[j - 2]! + 1
          : Number.POSITIVE_INFINITY
      row.push(Math.min(changed, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}
