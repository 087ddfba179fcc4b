import { type Command, findCommand, type ItemResult, type Registry } from "../command.ts"
import { type Envelope, type ErrorObject, success, toLine } from "../envelope.ts"
import { quoted } from "../escape.ts"
import type { Role } from "../node.ts"
import { factsText } from "./facts.ts"
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
  // Candidates have these members, as far as they have any.
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
