import { type Command, findCommand, type ItemResult, type Registry } from "../command.ts"
import { type Envelope, type ErrorObject, success, toLine } from "../envelope.ts"
import type { Role } from "../node.ts"
import { quoted } from "../shown-text.ts"
import { lineOf, oneLine } from "./outline.ts"

/** The answer of a command as `--format text` prints it. */
export async function toText(
  envelope: Envelope,
  { print }: Pick<Command, "print">,
  commands: Registry = {},
): Promise<string> {
  if (!envelope.ok) return errorText(envelope.error)
  const text = await printed({ print }, envelope.data, commands)
  return text ?? (print === "json" ? toLine(envelope) : factsText(envelope.data))
}

/** Data as plain lines; undefined if the command has no text for it. */
export async function printed(
  { print }: Pick<Command, "print">,
  data: object,
  commands: Registry = {},
): Promise<string | undefined> {
  // The data of a command has the shape that its own `print` takes.
  return typeof print === "string" ? undefined : print(data as never, commands)
}

/** The items of a batch, each as its own command would print it, with its number and name above it. */
export async function itemsText(results: readonly ItemResult[], commands: Registry): Promise<string> {
  const texts = results.map(async (result, index) => {
    const command = await findCommand(commands, result.command)?.()
    const envelope: Envelope = result.ok
      ? success(result.command, result.data)
      : // The error of an item is the object that an envelope would hold.
        { version: "1.0", command: result.command, ok: false, error: result.error as ErrorObject }
    return `${index} ${result.command}\n${await toText(envelope, command ?? { print: "json" })}`
  })
  return (await Promise.all(texts)).join("")
}

function errorText({ code, message, suggestion, details, disposition }: ErrorObject): string {
  return [
    `error ${code}: ${oneLine(message)}`,
    ...(suggestion ? [`suggestion: ${oneLine(suggestion)}`] : []),
    ...candidateLines(details?.candidates),
    ...candidateLines(details?.windows, "windows"),
    ...(typeof details?.interface === "string" ? [`missing interface: ${oneLine(details.interface)}`] : []),
    ...(typeof details?.report === "string" ? [`report: ${oneLine(details.report)}`] : []),
    ...(disposition && disposition.delivery !== "not_delivered"
      ? [`${disposition.delivery} (retry ${disposition.retry})`]
      : []),
    "",
  ].join("\n")
}

/** The things that could be meant: names, elements, windows or apps. */
function candidateLines(candidates: unknown, title = "candidates"): readonly string[] {
  if (!Array.isArray(candidates) || candidates.length === 0) return []
  const names = candidates.filter((one) => typeof one === "string")
  if (names.length === candidates.length) return [`${title}: ${names.map(quoted).join(", ")}`]
  return [`${title}:`, ...candidates.map((one) => `  ${candidateLine(one)}`)]
}

function candidateLine(candidate: unknown): string {
  if (typeof candidate !== "object" || candidate === null) return quoted(String(candidate))
  // The members that a candidate can have.
  const { role, name, ref_id, in: around, id, title, app_name, pid } = candidate as Candidate
  if (role !== undefined)
    return `${lineOf({ role, name, ref_id })}${around === undefined ? "" : ` in ${quoted(around)}`}`
  const words = [id, title, app_name ?? name].flatMap((word, i) =>
    word === undefined ? [] : i === 0 ? word : quoted(word),
  )
  return [...words, ...(pid === undefined ? [] : [`pid ${pid}`])].join(" ")
}

/** An element, a window or an app. */
interface Candidate {
  readonly role?: Role
  readonly name?: string
  readonly ref_id?: string
  readonly in?: string
  readonly id?: string
  readonly title?: string
  readonly app_name?: string
  readonly pid?: number
}

/** Prints a result whose command has no text rendering: one `name: value` a line, members of a value indented below it. */
const factsText = (data: object): string => `${factLines(data, "").join("\n")}\n`

function factLines(data: object, indent: string): readonly string[] {
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : factOf(`${indent}${name}:`, value, `${indent}  `),
  )
}

function factOf(start: string, value: unknown, below: string): readonly string[] {
  if (start.endsWith("env:") && typeof value === "object")
    return [`${start} ${Object.keys(value ?? {}).length} variables, which --format json shows`]
  if (typeof value !== "object" || value === null) return [`${start} ${wordOf(value)}`]
  if (!Array.isArray(value)) {
    const rect = rectOf(value)
    return rect === undefined ? [start, ...factLines(value, below)] : [`${start} ${rect}`]
  }
  if (value.every((one) => typeof one !== "object" || one === null))
    return [`${start} ${value.length ? value.map(wordOf).join(", ") : "none"}`]
  return [
    start,
    ...value.flatMap((one: unknown) => {
      const [first = "", ...more] =
        typeof one === "object" && one !== null ? factLines(one, `${below}  `) : [`${below}  ${wordOf(one)}`]
      return [`${below}- ${first.trimStart()}`, ...more]
    }),
  ]
}

/** Quotes a text that could be mistaken for something else. */
function wordOf(value: unknown): string {
  if (typeof value !== "string") return value === null ? "none" : String(value)
  return /^[\p{L}\p{N}@/._~+:-][\p{L}\p{N}@/._~+: -]*$/u.test(value) && value === value.trim()
    ? value
    : quoted(value)
}

function rectOf(value: object): string | undefined {
  const facts = new Map<string, unknown>(Object.entries(value))
  const isRect = facts.size === 4 && RECT.every((name) => typeof facts.get(name) === "number")
  const [x, y, width, height] = RECT.map((name) => facts.get(name))
  return isRect ? `${x},${y} ${width}x${height}` : undefined
}

const RECT = ["x", "y", "width", "height"]
