import type { JsonSchema } from "@valibot/to-json-schema"
import type { Command, Registry } from "../command.ts"
import { AppError } from "../errors.ts"
import { nearest } from "../usage-errors.ts"
import { argumentsSchema, resultSchema } from "./json-schema.ts"

/** A command as an MCP client sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  readonly outputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** What an agent needs for nearly everything; `desktop_batch` reaches the rest. */
export const CORE = [
  "snapshot",
  "find",
  "get",
  "screenshot",
  "list-apps",
  "list-windows",
  "wait",
  "click",
  "right-click",
  "type",
  "set-value",
  "select",
  "check",
  "scroll",
  "press",
  "drag",
  "launch",
  "focus-window",
  "batch",
] as const

/** These act, but nothing can be lost by them. */
export const HARMLESS: ReadonlySet<string> = new Set([
  "focus",
  "expand",
  "collapse",
  "scroll",
  "scroll-to",
  "hover",
  "mouse-move",
  "mouse-wheel",
  "key-up",
  "launch",
  "focus-window",
  "resize-window",
  "move-window",
  "minimize",
  "maximize",
  "restore",
  "desktop-start",
])

/** Doing it again changes nothing more. */
export const REPEATABLE: ReadonlySet<string> = new Set([
  "check",
  "uncheck",
  "expand",
  "collapse",
  "select",
  "focus",
  "set-value",
  "clear",
  "scroll-to",
  "key-up",
  "mouse-move",
  "mouse-up",
  "hover",
  "focus-window",
  "resize-window",
  "move-window",
  "minimize",
  "maximize",
  "restore",
  "clipboard-set",
  "clipboard-clear",
  "dismiss-all-notifications",
])

export const toolName = (command: string): string => `desktop_${command.replaceAll("-", "_")}`

export function toolOf(command: Command): Tool {
  const readOnly = command.readOnly ?? false
  return {
    name: toolName(command.name),
    title: command.name,
    description: command.summary,
    inputSchema: objectRooted(lean(withLists(argumentsSchema(command)), UNSAID_OF_ARGUMENTS)),
    outputSchema: objectRooted(lean(resultSchema(command.name), UNSAID_OF_RESULTS)),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: !readOnly && !HARMLESS.has(command.name),
      idempotentHint: readOnly || REPEATABLE.has(command.name),
      openWorldHint: false,
    },
  }
}

/**
 * The commands that are offered: `core`, `all`, `read-only`, or names separated by commas, mixed at will.
 * What is itself a door, or feeds one, is no tool.
 */
export async function chooseCommands(
  registry: Registry,
  wanted: string,
  readOnly: boolean,
): Promise<readonly Command[]> {
  const loaded = await Promise.all([...registry.values()].map(async (load) => (await load()).default))
  const all = loaded.filter(({ group }) => group !== "integrate")
  const chosen = new Set(wanted.split(",").flatMap((word) => namesOf(word.trim(), all)))
  // A batch is judged item by item.
  return all.filter((one) => chosen.has(one.name) && (!readOnly || one.readOnly || one.name === "batch"))
}

function namesOf(word: string, all: readonly Command[]): readonly string[] {
  if (word === "core") return CORE
  if (word === "all") return all.map(({ name }) => name)
  if (word === "read-only") return all.filter((one) => one.readOnly).map(({ name }) => name)
  const known = all.find(({ name }) => name === word || toolName(name) === word)
  if (known) return [known.name]
  const near = nearest(word, ["core", "all", "read-only", ...all.map(({ name }) => name)])
  throw new AppError("INVALID_ARGS", `There is no tool '${word}'${near ? `; did you mean '${near}'?` : ""}`, {
    suggestion: "agent-desktop mcp --tools core,clipboard-get,clipboard-set",
    details: { argument: "tools", nearest: near },
  })
}

function objectRooted({ $schema, ...schema }: JsonSchema): Tool["inputSchema"] {
  if (schema.type !== "object") throw new TypeError("The root of a tool's schema must be an object")
  return { ...schema, type: "object" }
}

/**
 * Every word of a tool's schema is read by a model in every conversation. The types stay; what only
 * validation needs, or what the values say themselves, does not.
 */
const UNSAID_OF_ARGUMENTS: ReadonlySet<string> = new Set(["pattern"])
const UNSAID_OF_RESULTS: ReadonlySet<string> = new Set(["description", "enum", "minimum", "propertyNames"])

/** Without anything in them these are what holds anyway. */
const OFTEN_EMPTY: ReadonlySet<string> = new Set(["required", "additionalProperties"])
const isEmpty = (value: object): boolean => Object.keys(value).length === 0

function lean<T>(schema: T, unsaid: ReadonlySet<string>, isNames?: boolean): T
function lean(schema: unknown, unsaid: ReadonlySet<string>, isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => lean(one, unsaid))
  if (typeof schema !== "object" || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      isNames || !(unsaid.has(key) || value === false || (OFTEN_EMPTY.has(key) && isEmpty(value))),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      lean(value, unsaid, !isNames && (key === "properties" || key === "$defs")),
    ]),
  )
}

/** Where a list may be written as text for a shell's sake, a client gives the list. */
function withLists(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    if (typeof property !== "object" || !property.anyOf) return [name, property]
    const { anyOf, ...rest } = property
    const list = anyOf.find((one) => typeof one === "object" && one.type === "array")
    return [name, typeof list === "object" ? { ...list, ...rest } : property]
  })
  return { ...schema, properties: Object.fromEntries(entries) }
}
