import { outline } from "../look/outline.ts"
import type { Node } from "../node.ts"

/**
 * What a trace may hold. Texts that were typed, put on the clipboard or read from fields are not for
 * it: only how long they are. So an argument is shown if its name is known to be harmless, and a value
 * if the element's role is one into which nobody writes.
 */

/** Arguments that name things; every other text is hidden, also those that a later version may add. */
const SHOWN: ReadonlySet<string> = new Set([
  "action",
  "app",
  "button",
  "client",
  "command",
  "diff",
  "direction",
  "element",
  "from",
  "from_xy",
  "input",
  "name",
  "path",
  "predicate",
  "property",
  "ref",
  "ref_id",
  "role",
  "root",
  "shell",
  "size",
  "snapshot",
  "state",
  "surface",
  "title",
  "to",
  "to_xy",
  "tools",
  "window",
  "window_id",
  "xy",
])

/** Roles whose values are settings. */
const PLAIN_VALUES: ReadonlySet<string> = new Set([
  "checkbox",
  "progressbar",
  "radiobutton",
  "scrollbar",
  "slider",
  "switch",
])

/** What `get` reads that is no text of anybody's. */
const TEXT_PROPERTIES: ReadonlySet<string> = new Set(["text", "value"])

/** More of a tree, and more of anything else, is not kept. */
const MOST_OUTLINE = 12_000
const MOST_RESULT = 8000

export function shownArguments(args: unknown): unknown {
  if (!isObject(args)) return hidden(args)
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, shownArgument(name, value)]))
}

/** Every text that `shownArguments` hides, to be looked for in what the command says. */
export function hiddenTexts(args: unknown): readonly string[] {
  if (!isObject(args)) return textsIn(args)
  return Object.entries(args).flatMap(([name, value]) =>
    name === "commands"
      ? itemsOf(value).flatMap((item) => hiddenTexts(item.args))
      : shownArgument(name, value) === value
        ? []
        : textsIn(value),
  )
}

/** `data` or `error` without what is hidden, none of `texts` in it, and not too long. */
export function shownResult(command: string, result: object, texts: Iterable<string>): unknown {
  // Items of a batch have lines of their own.
  if (command === "batch" && "results" in result && Array.isArray(result.results))
    return { results: `(${result.results.length} items)` }
  const secrets = [...texts].filter((text) => text.length >= SHORTEST_SECRET)
  const shown = withoutTexts(shownMembers(toJson(result)), secrets)
  return isObject(shown) ? cutToSize(shown) : shown
}

/** What is shorter stands in too many words that are none. */
const SHORTEST_SECRET = 3

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const toJson = (value: object): unknown => JSON.parse(JSON.stringify(value))

function shownArgument(name: string, value: unknown): unknown {
  if (typeof value === "number" || typeof value === "boolean") return value
  if (typeof value !== "string") return hidden(value)
  if (name === "combo") return isTyping(value) ? "(a character)" : value
  return SHOWN.has(name) ? value : hidden(value)
}

function hidden(value: unknown): string {
  if (typeof value === "string") return `(${value.length} characters)`
  return Array.isArray(value) ? `(${value.length} values)` : `(${value === null ? "null" : typeof value})`
}

/** A key that writes a character: passwords can be typed key by key. */
function isTyping(combo: string): boolean {
  const key = combo.endsWith("+") ? "+" : (combo.split("+").at(-1) ?? "")
  const modifiers = combo.slice(0, combo.length - key.length).toLowerCase()
  return [...key].length === 1 && /^(shift\+)*$/.test(modifiers)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The items of a batch, which may come as JSON; of what is none, nothing. */
function itemsOf(commands: unknown): readonly Members[] {
  if (typeof commands !== "string") return Array.isArray(commands) ? commands.filter(isObject) : []
  try {
    const parsed: unknown = JSON.parse(commands)
    return Array.isArray(parsed) ? parsed.filter(isObject) : []
  } catch {
    // It will be refused for that.
    return []
  }
}

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

/** As it is, and as it stands in quotes. */
const withoutText = (all: string, text: string): string =>
  all.replaceAll(text, hidden(text)).replaceAll(JSON.stringify(text).slice(1, -1), hidden(text))

/** Without its largest members, if it is too large with them. Outlines are short enough already. */
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
