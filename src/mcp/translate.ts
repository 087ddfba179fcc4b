import type { Command } from "../command.ts"
import type { ErrorObject } from "../envelope.ts"
import { type Field, fieldsOf, positionalsOf, spellingsOf } from "../schema/fields.ts"

/** Translates command lines for an MCP client, which calls tools and has no shell. */

export const toolName = (command: string): string => `desktop_${command.replaceAll("-", "_")}`

/**
 * Translates the suggestion of an error. A message may quote an app, so it stays as it is, unless it is about
 * arguments.
 */
export function errorInMcp(error: ErrorObject, commands: readonly Command[]): ErrorObject {
  const { message, suggestion } = error
  return {
    ...error,
    message: error.code === "INVALID_ARGS" ? withMembers(message) : message,
    ...(suggestion === undefined ? {} : { suggestion: inMcp(suggestion, commands) }),
  }
}

/** Command lines become calls of tools, and flags become arguments. */
export function inMcp(text: string, commands: readonly Command[]): string {
  const byName = new Map(commands.map((command) => [command.name, command]))
  const call = (whole: string, name: string, rest: string): string => {
    const command = byName.get(name)
    return command ? callOf(command, rest) : withMembers(whole)
  }
  return withMembers(
    text
      .replace(/Run '(agent-desktop help [a-z-]+)' to see what it takes/g, "See '$1'")
      .replace(/'agent-desktop help ([a-z-]+)'/g, (_, name: string) => `the schema of ${toolName(name)}`)
      .replace(/'(?:agent-desktop )?([a-z]+(?:-[a-z]+)*)((?: [^']*)?)'/g, call)
      .replace(/agent-desktop ([a-z]+(?:-[a-z]+)*)((?: (?:[^\s;,()]|,(?=\S))+)*)/g, call),
  )
}

/** `wait --element @e1 -i` as `desktop_wait {"element":"@e1","interactive_only":true}`. */
function callOf(command: Command, rest: string): string {
  const fields = fieldsOf(command.input)
  const places = [...positionalsOf(fields)]
  const args: Record<string, unknown> = {}
  const words = rest.match(/"[^"]*"|\S+/g) ?? []
  for (let i = 0; i < words.length; i++) {
    const word = unquoted(words[i]!)
    const field = word.startsWith("-") ? fields.find((one) => spellingsOf(one).includes(word)) : undefined
    if (field?.kind === "boolean") args[field.name] = true
    else if (field) args[field.name] = argumentOf(field, unquoted(words[++i] ?? ""))
    else {
      const place = places.shift()
      if (place) args[place.name] = argumentOf(place, word)
    }
  }
  const name = toolName(command.name)
  return Object.keys(args).length > 0 ? `${name} ${JSON.stringify(args)}` : name
}

const unquoted = (word: string): string => word.replace(/^"(.*)"$/, "$1")

const argumentOf = ({ kind }: Field, word: string): unknown =>
  kind === "number" && Number.isFinite(Number(word)) ? Number(word) : word

/** `--window-id` as `window_id`. */
const withMembers = (text: string): string =>
  text.replace(/(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g, (_, name: string) => name.replaceAll("-", "_"))
