import type { Arguments } from "../../src/cli/args.ts"
import type { Command } from "../../src/command.ts"
import { type Field, fieldsOf, positionalsOf } from "../../src/fields.ts"

/** A command line that parses to these arguments. */
export function toArgv(command: Pick<Command, "name" | "input">, args: Arguments): string[] {
  const fields = fieldsOf(command.input).filter((field) => args[field.name] !== undefined)
  const gap = positionalsOf(fields).findIndex((field, index) => field.position !== index)
  const placed = positionalsOf(fields).slice(0, gap < 0 ? undefined : gap)
  const words = placed.flatMap((field) => textsOf(field, args[field.name]))
  const flags = fields
    .filter((field) => !placed.includes(field))
    .flatMap((field) => textsOf(field, args[field.name]).map((text) => flagWith(field, text)))
  return words.some((word) => word.startsWith("-"))
    ? [command.name, ...flags, "--", ...words]
    : [command.name, ...words, ...flags]
}

function flagWith(field: Field, text: string): string {
  return field.kind === "boolean" && text === "true" ? field.flag : `${field.flag}=${text}`
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
