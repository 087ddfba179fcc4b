import type { Arguments } from "../cli/args.ts"
import type { Command } from "../command.ts"
import { type Field, fieldsOf, positionalsOf } from "../schema/fields.ts"

/** A command line that parses to these arguments. */
export function toArgv(command: Pick<Command, "name" | "input">, args: Arguments): string[] {
  const fields = fieldsOf(command.input).filter((field) => args[field.name] !== undefined)
  const gap = positionalsOf(fields).findIndex((field, index) => field.position !== index)
  const placed = positionalsOf(fields).slice(0, gap < 0 ? undefined : gap)
  const words = placed.flatMap((field) => textsOf(field, args[field.name]))
  const flags = fields
    .filter((field) => !placed.includes(field))
    .flatMap((field) => textsOf(field, args[field.name]).flatMap((text) => flagWith(field, text)))
  return words.some((word) => word.startsWith("-"))
    ? [command.name, ...flags, "--", ...words]
    : [command.name, ...words, ...flags]
}

function flagWith({ kind, flag }: Field, text: string): readonly string[] {
  if (kind === "boolean") return text === "true" ? [flag] : [`${flag}=${text}`]
  return text.startsWith("-") ? [`${flag}=${text}`] : [flag, text]
}

function textsOf(field: Field, value: unknown): readonly string[] {
  if (field.kind === "json") return [JSON.stringify(value)]
  return (Array.isArray(value) ? value : [value]).map((item) =>
    typeof item === "number" ? decimal(item) : String(item),
  )
}

/** A number without an exponent. */
function decimal(value: number): string {
  const [, sign, digits, zeros] = /^(-?)([\d.]+)e-(\d+)$/.exec(String(value)) ?? []
  if (digits !== undefined) return `${sign}0.${"0".repeat(Number(zeros) - 1)}${digits.replace(".", "")}`
  return Number.isInteger(value) ? BigInt(value).toString() : String(value)
}

/**
 * Words as a line of a flow. A POSIX shell and `readFlow` split the line into the same words. undefined: a word
 * contains a NUL character, which a line cannot have.
 */
export function lineOf(words: readonly string[]): string | undefined {
  return words.some((word) => word.includes("\0")) ? undefined : words.map(quotedWord).join(" ")
}

/** Single quotes prevent every expansion. CR LF would end the line when read, so a quote separates the two. */
const quotedWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''").replaceAll("\r\n", "\r''\n")}'`
