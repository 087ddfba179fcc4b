import type { JsonSchema } from "@valibot/to-json-schema"
import { type Command, loadAll, type Registry } from "../command.ts"
import { AppError } from "../errors.ts"
import { nearest } from "../usage-errors.ts"
import { argumentsSchema } from "./json-schema.ts"

/** A command as an MCP client sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

export const toolName = (command: string): string => `desktop_${command.replaceAll("-", "_")}`

export function toolOf(command: Command): Tool {
  const isReading = command.effect === "reads"
  return {
    name: toolName(command.name),
    title: command.name,
    description: command.summary,
    inputSchema: objectRooted(lean(withLists(argumentsSchema(command)))),
    annotations: {
      readOnlyHint: isReading,
      destructiveHint: command.effect === "changes",
      idempotentHint: isReading || (command.repeatable ?? false),
      openWorldHint: false,
    },
  }
}

/**
 * The commands that are offered: `core` (enough for nearly everything), `all`, `read-only`, or names separated by
 * commas, mixed at will. `desktop_batch` reaches the same and no more.
 */
export async function chooseCommands(
  registry: Registry,
  wanted: string,
  readOnly: boolean,
): Promise<readonly Command[]> {
  const all = (await loadAll(registry)).filter(({ tool }) => tool !== "never")
  const chosen = new Set(wanted.split(",").flatMap((word) => namesOf(word.trim(), all)))
  // A batch is judged item by item.
  return all.filter(
    ({ name, effect, delegates }) =>
      chosen.has(name) && (!readOnly || effect === "reads" || delegates === true),
  )
}

function namesOf(word: string, all: readonly Command[]): readonly string[] {
  const names = (commands: readonly Command[]) => commands.map(({ name }) => name)
  if (word === "core") return names(all.filter(({ tool }) => tool === "core"))
  if (word === "all") return names(all)
  if (word === "read-only") return names(all.filter(({ effect }) => effect === "reads"))
  const known = all.find(({ name }) => name === word || toolName(name) === word)
  if (known) return [known.name]
  const near = nearest(word, ["core", "all", "read-only", ...names(all)])
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
 * A model reads every word of a tool's schema in every conversation. Types are kept. Keywords that only
 * validation needs are dropped, and the schema of results, which 'agent-desktop schema' prints.
 */
const UNSAID: ReadonlySet<string> = new Set(["pattern"])

/** Keywords that say nothing when they are empty. */
const OFTEN_EMPTY: ReadonlySet<string> = new Set(["required", "additionalProperties"])
const isEmpty = (value: object): boolean => Object.keys(value).length === 0

function lean<T>(schema: T, isNames?: boolean): T
function lean(schema: unknown, isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => lean(one))
  if (typeof schema !== "object" || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      isNames || !(UNSAID.has(key) || value === false || (OFTEN_EMPTY.has(key) && isEmpty(value))),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [key, lean(value, !isNames && (key === "properties" || key === "$defs"))]),
  )
}

/** Offers only the list for arguments that may also be text: the text is for shells. */
function withLists(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    if (typeof property !== "object" || !property.anyOf) return [name, property]
    const { anyOf, ...rest } = property
    const list = anyOf.find((one) => typeof one === "object" && one.type === "array")
    return [name, typeof list === "object" ? { ...list, ...rest } : property]
  })
  return { ...schema, properties: Object.fromEntries(entries) }
}
