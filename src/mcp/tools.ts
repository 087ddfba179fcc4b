import type { JsonSchema } from "@valibot/to-json-schema"
import { type Command, loadAll, type Registry } from "../command.ts"
import { AppError } from "../errors.ts"
import { nearest } from "../nearest.ts"
import { fieldsOf } from "../schema/fields.ts"
import { argumentsSchema } from "./json-schema.ts"
import { inMcp, toolName } from "./translate.ts"

/** A command as an MCP client sees it. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  /** Without hints whose value clients assume anyway. Apps may reach anything, so the world stays open. */
  readonly annotations?: {
    readonly readOnlyHint?: true
    readonly destructiveHint?: false
    readonly idempotentHint?: true
  }
}

/** The tools for these commands, and the arguments that several of them take, which are described once. */
export function toolsOf(commands: readonly Command[]): {
  readonly tools: readonly Tool[]
  readonly shared: readonly string[]
} {
  const shared = sharedBy(commands)
  return {
    tools: commands.map((command) => toolOf(command, commands, shared)),
    shared: [...shared].map(([name, description]) => `${name}: ${inMcp(description, commands)}`),
  }
}

function toolOf(command: Command, offered: readonly Command[], shared: Shared): Tool {
  const { properties = {}, ...schema } = withLists(argumentsSchema(command))
  const isShared = (name: string, { description }: JsonSchema): boolean =>
    description !== undefined && shared.get(name) === description
  const shown = Object.entries(properties).map(([name, property]) => [
    name,
    typeof property === "object" && isShared(name, property) ? bare(property) : property,
  ])
  const lists = fieldsOf(command.input).filter(({ holdsCommands }) => holdsCommands)
  const items = Object.fromEntries(lists.map(({ name }) => [name, itemsOf(offered)]))
  const whole = { ...schema, properties: { ...Object.fromEntries(shown), ...items } }
  const annotations: Tool["annotations"] = {
    ...(command.effect === "reads" ? { readOnlyHint: true } : {}),
    ...(command.effect === "harmless" ? { destructiveHint: false } : {}),
    ...(command.effect !== "reads" && command.repeatable ? { idempotentHint: true } : {}),
  }
  return {
    name: toolName(command.name),
    description: inMcp(command.summary, offered),
    inputSchema: objectRooted(trimmed(inTheirWords(whole, offered))),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  }
}

/** Names of arguments that several tools take, with the description that is the same in all of them. */
type Shared = ReadonlyMap<string, string>

/** From this many tools on, an argument is described once for all of them. */
const SEVERAL = 3

function sharedBy(commands: readonly Command[]): Shared {
  const described = commands.flatMap(({ input }) =>
    fieldsOf(input).map(({ name, description = "" }) => ({ name, description })),
  )
  const alike = [...Map.groupBy(described, ({ name, description }) => `${name} ${description}`).values()]
  const often = alike.filter((all) => all.length >= SEVERAL && all[0]?.description)
  return new Map(often.map(([first]) => [first!.name, first!.description]))
}

/** The schema with descriptions that name tools and arguments in place of commands and flags. */
function inTheirWords(schema: JsonSchema, offered: readonly Command[]): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "description" && typeof value === "string" ? inMcp(value, offered) : value,
  )
}

/** An argument that is described elsewhere: its type, and the values that it can have. */
function bare({ type, enum: values }: JsonSchema): JsonSchema {
  return values ? { enum: values } : { type }
}

/** A list of commands by name; their arguments are those of the tools. */
const itemsOf = (offered: readonly Command[]) => ({
  type: "array",
  description: "Commands to run, in order. args: the arguments of the tool with that name",
  items: {
    type: "object",
    properties: {
      command: { enum: offered.filter(({ delegates }) => !delegates).map(({ name }) => name) },
      args: { type: "object" },
    },
    required: ["command"],
  },
})

/**
 * The offered commands: `core` (enough for nearly everything), `all`, `read-only`, or names, separated by commas in any
 * mix. `desktop_batch` can use the same commands and no others.
 */
export async function chooseCommands(
  registry: Registry,
  wanted: string,
  readOnly: boolean,
): Promise<readonly Command[]> {
  const all = (await loadAll(registry)).filter(({ tool }) => tool !== "never")
  const chosen = new Set(wanted.split(",").flatMap((word) => namesOf(word.trim(), all)))
  // A batch is not left out: each of its items is checked.
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
 * Keywords that only validation needs are dropped, and so is the schema of results, which 'agent-desktop schema'
 * prints: a model reads every word of a tool's schema in every conversation. Types are kept.
 */
const DROPPED: ReadonlySet<string> = new Set(["pattern", "minimum", "maximum", "minLength", "maxLength"])

/** Keywords that say nothing when they are empty. */
const OFTEN_EMPTY: ReadonlySet<string> = new Set(["required", "additionalProperties"])
const isEmpty = (value: object): boolean => Object.keys(value).length === 0

function trimmed<T>(schema: T, isNames?: boolean): T
function trimmed(schema: unknown, isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => trimmed(one))
  if (typeof schema !== "object" || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      isNames || !(DROPPED.has(key) || value === false || (OFTEN_EMPTY.has(key) && isEmpty(value))),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [key, trimmed(value, !isNames && (key === "properties" || key === "$defs"))]),
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
