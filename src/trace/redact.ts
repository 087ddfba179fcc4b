import { findCommand, type Registry } from "../command.ts"
import { typesCharacter } from "../keys.ts"
import { outline } from "../look/outline.ts"
import type { Node } from "../node.ts"
import { type Field, fieldsOf, spelledAs } from "../schema/fields.ts"

/**
 * Decides which texts a trace may contain. Texts that were typed, put on the clipboard or read from fields may be
 * secret, and a trace keeps only their length. An argument is shown if its field is declared `traced`. The value of an
 * element is shown if users do not write text into elements of its role.
 */

/** Roles whose values are settings. */
const PLAIN_VALUES: ReadonlySet<string> = new Set([
  "checkbox",
  "progressbar",
  "radiobutton",
  "scrollbar",
  "slider",
  "switch",
])

/** Properties of `get` that are texts of a user. */
const TEXT_PROPERTIES: ReadonlySet<string> = new Set(["text", "value"])

/** Most characters that are kept of a tree, and of any other result. */
const MOST_OUTLINE = 12_000
const MOST_RESULT = 8000

/** Returns the fields of a command; undefined if the name is not a command. */
export type FieldsOf = (command: string) => readonly Field[] | undefined

/** The fields of a command, and of all commands that its arguments hold. */
export async function fieldsFor(commands: Registry, name: string, args: unknown): Promise<FieldsOf> {
  const known = new Map<string, readonly Field[]>()
  const waiting: Called[] = [{ command: name, args }]
  for (let called = waiting.pop(); called; called = waiting.pop()) {
    const command = await findCommand(commands, called.command)?.()
    if (!command) continue
    const fields = fieldsOf(command.input)
    known.set(called.command, fields)
    waiting.push(...heldBy(called.args, fields))
  }
  return (name) => known.get(name)
}

interface Called {
  readonly command: string
  readonly args: unknown
}

/** The commands that the arguments hold, which may come as JSON; empty if they are invalid. */
function heldBy(args: unknown, fields: readonly Field[]): readonly Called[] {
  if (!isObject(args)) return []
  return Object.entries(args).flatMap(([name, value]) =>
    spelledAs(fields, name)?.holdsCommands ? commandsIn(value) : [],
  )
}

/** The arguments of a command. Each text that may be secret is replaced by its length. */
export function shownArguments(args: unknown, fields: readonly Field[] = []): unknown {
  if (!isObject(args)) return hidden(args)
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, shownArgument(value, spelledAs(fields, name))]),
  )
}

/** Every text that `shownArguments` hides, also in the commands of a batch: results must not repeat them. */
export function hiddenTexts(command: string, args: unknown, fieldsOf: FieldsOf): readonly string[] {
  if (!isObject(args)) return textsIn(args)
  const fields = fieldsOf(command) ?? []
  return Object.entries(args).flatMap(([name, value]) => {
    const field = spelledAs(fields, name)
    if (field?.holdsCommands)
      return commandsIn(value).flatMap((held) => hiddenTexts(held.command, held.args, fieldsOf))
    return shownArgument(value, field) === value ? [] : textsIn(value)
  })
}

/** `data` or `error` without secret values, without any of `texts`, and of limited length. */
export function shownResult(result: object, texts: Iterable<string>, fields: readonly Field[] = []): unknown {
  const secrets = [...texts].filter((text) => text.length >= SHORTEST_SECRET)
  const own = fields.some(({ holdsCommands }) => holdsCommands) ? withoutHeldResults(result) : result
  const shown = withoutTexts(shownMembers(toJson(own)), secrets)
  return isObject(shown) ? cutToSize(shown) : shown
}

/** The commands that a command runs have lines of their own. */
function withoutHeldResults(result: object): object {
  if ("results" in result && Array.isArray(result.results))
    return { results: `(${result.results.length} items)` }
  if (!("details" in result && isObject(result.details))) return result
  return { ...result, details: { ...result.details, results: undefined } }
}

/** Shorter texts occur in too many harmless words. */
const SHORTEST_SECRET = 3

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const toJson = (value: object): unknown => JSON.parse(JSON.stringify(value))

function shownArgument(value: unknown, field: Field | undefined): unknown {
  if (typeof value === "number" || typeof value === "boolean") return value
  if (typeof value !== "string" || !field?.traced) return hidden(value)
  return field.traced === "keys" && value.split(/\s+/).some(typesCharacter) ? "(a character)" : value
}

function hidden(value: unknown): string {
  if (typeof value === "string") return `(${value.length} characters)`
  return Array.isArray(value) ? `(${value.length} values)` : `(${value === null ? "null" : typeof value})`
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** A list of commands, which may come as JSON; empty if it is invalid. */
function commandsIn(list: unknown): readonly Called[] {
  if (typeof list !== "string") return Array.isArray(list) ? list.filter(isObject).map(calledBy) : []
  try {
    const parsed: unknown = JSON.parse(list)
    return Array.isArray(parsed) ? commandsIn(parsed) : []
  } catch {
    // The batch reports this failure.
    return []
  }
}

const calledBy = ({ command, args }: Members): Called => ({ command: String(command), args })

function shownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownMembers)
  if (!isObject(value)) return value
  const kept = Object.entries(value).map(([key, inner]) => [key, shownMember(key, inner, value)])
  return Object.fromEntries(kept)
}

function shownMember(key: string, inner: unknown, owner: Members): unknown {
  if (typeof inner === "string") {
    if (key === "base64" || key === "text") return hidden(inner)
    return key === "value" && !hasPlainValue(owner) ? hidden(inner) : inner
  }
  const shown = shownMembers(inner)
  return (key === "tree" || key === "menu") && isNode(shown) ? outlineOf(shown) : shown
}

const hasPlainValue = ({ role, property }: Members): boolean =>
  typeof property === "string"
    ? !TEXT_PROPERTIES.has(property)
    : typeof role === "string" && PLAIN_VALUES.has(role)

const isNode = (value: unknown): value is Node => isObject(value) && typeof value.role === "string"

function outlineOf(tree: Node): string {
  const text = outline(tree)
  if (text.length <= MOST_OUTLINE) return text
  const end = text.lastIndexOf("\n", MOST_OUTLINE) + 1
  return `${text.slice(0, end)}… ${text.slice(end).split("\n").length - 1} more lines\n`
}

function withoutTexts(value: unknown, texts: readonly string[]): unknown {
  if (typeof value === "string") return texts.reduce(withoutText, value)
  if (Array.isArray(value)) return value.map((one) => withoutTexts(one, texts))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutTexts(inner, texts)]))
}

/** Replaces a text, and its form in JSON. */
const withoutText = (all: string, text: string): string =>
  all.replaceAll(text, hidden(text)).replaceAll(JSON.stringify(text).slice(1, -1), hidden(text))

/** Drops the largest members of a result that is too large. Outlines are short enough already. */
function cutToSize(result: Members): Members {
  const sizes = Object.entries(result).map(
    ([key, value]) => [key, key === "tree" ? 0 : (JSON.stringify(value)?.length ?? 0)] as const,
  )
  let size = sizes.reduce((sum, [, one]) => sum + one, 0)
  const omitted = new Map<string, number>()
  for (const [key, one] of sizes.toSorted((a, b) => b[1] - a[1])) {
    if (size <= MOST_RESULT) break
    omitted.set(key, one)
    size -= one
  }
  return Object.fromEntries(
    Object.entries(result).map(([key, value]) => {
      const bytes = omitted.get(key)
      return [key, bytes === undefined ? value : `(${bytes} characters of JSON)`]
    }),
  )
}
