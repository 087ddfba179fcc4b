import type { ArgDef, ArgsDef } from "citty"
import type * as v from "valibot"
import { AppError } from "../errors.ts"

/** The schema of a command's arguments. */
export type Input = v.StrictObjectSchema<v.ObjectEntries, undefined>

/**
 * Facts about an argument that a schema cannot express. The flag itself is the member's name in kebab case.
 */
export interface CliHints {
  /** Its place among the positionals, from 0; the flag spelling is accepted as well. */
  readonly position?: number
  /** Letter of the short flag. */
  readonly short?: string
  /** Other member names that mean the same, in batch arguments and (kebab case) as flags. */
  readonly aliases?: readonly string[]
  /** Placeholder in usage lines, e.g. `MS`. */
  readonly value?: string
  /** Free text: the word is taken as it is, even if it looks like a flag. */
  readonly freeText?: boolean
  /** The value of the flag if none is given (`--diff [SNAPSHOT_ID]`). */
  readonly optionalValue?: string
  /**
   * A trace may show its text. Every other text may be secret, and a trace keeps only its length.
   * "keys": a combination of keys, shown unless it types a character.
   */
  readonly traced?: boolean | "keys"
  /**
   * Names an element, by a ref, a description or `@focused`. "found": the command gets the ref of the matching element.
   * "descriptions": the same, but the command itself handles `@focused`. "as given": the command finds the element.
   */
  readonly target?: "found" | "descriptions" | "as given"
  /** Limits the search for a description, and the place where the element of a ref must be. */
  readonly narrows?: boolean
  /** The value that stands for standard input. */
  readonly stdin?: string
  /** Its value is a list of commands with their arguments. */
  readonly holdsCommands?: boolean
}

type Scalar = "boolean" | "string" | "number" | "choice"

/** One member of a command's arguments, as the doors see it. */
export interface Field {
  /** The member's name, e.g. `max_depth`. */
  readonly name: string
  /** The flag, e.g. `--max-depth`. */
  readonly flag: string
  /** Other member names that mean the same, e.g. `timeout`. */
  readonly aliases: readonly string[]
  /** Letter of the short flag. */
  readonly short?: string
  /** Its place among the positionals, from 0. */
  readonly position?: number
  /** Placeholder of the value in usage lines, e.g. `MS`. */
  readonly placeholder: string
  readonly description?: string
  /** `list` is a flag that may be repeated; `json` is a value written as JSON. */
  readonly kind: Scalar | "list" | "json"
  /** Kind of the elements of a list. */
  readonly item?: Scalar
  readonly choices?: readonly string[]
  readonly required: boolean
  readonly default?: unknown
  readonly integer: boolean
  readonly min?: number
  readonly max?: number
  readonly freeText: boolean
  /** The value of the flag if it is given without one. */
  readonly optionalValue?: string
  /** A trace may show its text; see CliHints. */
  readonly traced: boolean | "keys"
  readonly target?: CliHints["target"]
  readonly narrows?: boolean
  /** The value that stands for standard input. */
  readonly stdin?: string
  /** Its value is a list of commands with their arguments. */
  readonly holdsCommands?: boolean
}

// Every command reads fields before it runs, so this code uses loops: the first call of an array method such as flatMap
// costs the engine more than all fields of a command.

/** The members of a command's input, in the order of its schema. A pipe around the object does not matter. */
export function fieldsOf(input: Input): readonly Field[] {
  const known = seen.get(input)
  if (known) return known
  const fields: Field[] = []
  for (const name in input.entries) fields.push(fieldOf(name, input.entries[name]!))
  seen.set(input, fields)
  return fields
}

/** The doors ask for the fields of a command several times in one run. */
const seen = new WeakMap<Input, readonly Field[]>()

/** The fields that have a place on the command line, in the order of their places. */
export function positionalsOf(fields: readonly Field[]): readonly Field[] {
  const placed: Field[] = []
  for (const field of fields) if (field.position !== undefined) placed.push(field)
  return placed.length < 2 ? placed : placed.sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
}

/** Every spelling of the field as a flag: the flag itself, then its aliases, then the letter. */
export function spellingsOf(field: Field): readonly string[] {
  const spellings = [field.flag]
  for (const alias of field.aliases) spellings.push(flagOf(alias))
  if (field.short) spellings.push(`-${field.short}`)
  return spellings
}

/** The field with this name or alias. */
export const spelledAs = (fields: readonly Field[], name: string): Field | undefined =>
  fields.find((field) => field.name === name || field.aliases.includes(name))

/** The fields as citty arguments: booleans, choices and texts. */
export function argsOf(fields: readonly Field[]): ArgsDef {
  const args: ArgsDef = {}
  for (const field of fields) args[field.name] = argOf(field)
  return args
}

function argOf({ kind, description, placeholder, choices }: Field): ArgDef {
  if (kind === "boolean") return { type: kind, description }
  if (kind === "choice" && choices) return { type: "enum", description, options: [...choices] }
  return { type: "string", description, valueHint: placeholder }
}

/** The same arguments with every member under its main name. Throws if a name and its alias are both given. */
export function applyAliases(input: Input, raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null) return raw
  // valibot takes an empty array for an empty object.
  if (Array.isArray(raw)) throw new AppError("INVALID_ARGS", "Arguments must be an object, got an array")
  const names = new Map<string, string>()
  for (const field of fieldsOf(input)) for (const alias of field.aliases) names.set(alias, field.name)
  let hasAlias = false
  for (const key in raw) hasAlias ||= names.has(key)
  if (!hasAlias) return raw
  const taken = new Map<string, string>()
  return Object.fromEntries(
    Object.entries(raw).map(([key, value]) => {
      const name = names.get(key) ?? key
      const other = taken.get(name)
      if (other !== undefined)
        throw new AppError("INVALID_ARGS", `'${other}' and '${key}' mean the same: pass only '${name}'`, {
          details: { kind: "repeated", argument: key },
        })
      taken.set(name, key)
      return [name, value]
    }),
  )
}

/** The members of valibot's schemas and actions that this file reads. */
interface Layer {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Layer[]
  readonly wrapped?: Layer
  readonly item?: Layer
  readonly options?: readonly unknown[]
  readonly default?: unknown
  readonly requirement?: unknown
  readonly description?: string
  readonly metadata?: { readonly cli?: CliHints }
}

/** Facts from the layers of a member's schema, from the outside in. */
interface SchemaFacts {
  shape?: Layer
  hints: CliHints
  description?: string
  isOptional: boolean
  default?: unknown
  isTransformed: boolean
  integer: boolean
  min?: number
  max?: number
}

function fieldOf(name: string, schema: Layer): Field {
  const facts: SchemaFacts = { hints: {}, isOptional: false, isTransformed: false, integer: false }
  gather(schema, facts)
  const { hints } = facts
  const shape = shapeOf(facts.shape)
  return {
    name,
    flag: flagOf(name),
    aliases: hints.aliases ?? [],
    short: hints.short,
    position: hints.position,
    placeholder: hints.value ?? placeholderOf(name, shape, hints.position !== undefined),
    description: facts.description,
    kind: shape.kind,
    item: shape.item,
    choices: shape.choices,
    required: !facts.isOptional,
    default: typeof facts.default === "function" ? facts.default() : facts.default,
    integer: facts.integer,
    min: facts.min,
    max: facts.max,
    freeText: hints.freeText ?? false,
    optionalValue: hints.optionalValue,
    traced: hints.traced ?? false,
    target: hints.target,
    narrows: hints.narrows,
    stdin: hints.stdin,
    holdsCommands: hints.holdsCommands,
  }
}

function gather(layer: Layer, facts: SchemaFacts): void {
  if (layer.pipe) {
    for (const part of layer.pipe) gather(part, facts)
    return
  }
  // The first schema describes the given value; a schema after a transformation describes the result.
  const isOfResult = facts.isTransformed || facts.shape !== undefined
  if (layer.wrapped) {
    if (!isOfResult) {
      facts.isOptional ||= OPTIONAL.has(layer.type)
      facts.default ??= layer.default
    }
    gather(layer.wrapped, facts)
    return
  }
  if (layer.kind === "schema") facts.shape ??= layer
  if (layer.kind === "transformation") facts.isTransformed = true
  if (layer.type === "description") facts.description = layer.description
  if (layer.metadata?.cli) facts.hints = { ...facts.hints, ...layer.metadata.cli }
  if (facts.isTransformed) return
  if (layer.type === "integer" || layer.type === "safe_integer") facts.integer = true
  if (layer.type === "min_value" && typeof layer.requirement === "number") facts.min = layer.requirement
  if (layer.type === "max_value" && typeof layer.requirement === "number") facts.max = layer.requirement
}

function placeholderOf(
  name: string,
  { kind, choices }: Pick<Field, "kind" | "choices">,
  isPlaced: boolean,
): string {
  const words = choices?.join("|") ?? ""
  if (!isPlaced && words !== "" && words.length <= 24) return words
  return !isPlaced && kind === "number" ? "N" : name.toUpperCase()
}

const OPTIONAL = new Set(["optional", "exact_optional", "undefinedable", "nullish"])

const flagOf = (name: string) => `--${name.replaceAll("_", "-")}`

function shapeOf(layer: Layer | undefined): Pick<Field, "kind" | "item" | "choices"> {
  switch (layer?.type) {
    case "boolean":
    case "number":
    case "string":
      return { kind: layer.type }
    case "picklist":
      return layer.options?.every((option) => typeof option === "string")
        ? { kind: "choice", choices: layer.options }
        : { kind: "json" }
    // Text on the command line; validation chooses among the alternatives.
    case "custom":
    case "union":
      return { kind: "string" }
    case "array":
      return listOf(layer)
    default:
      return { kind: "json" }
  }
}

function listOf({ item }: Layer): Pick<Field, "kind" | "item" | "choices"> {
  // The elements' schema may be inside a pipe, which has its type, or a wrapper, which holds it.
  const { kind, choices } = shapeOf(item?.wrapped ?? item)
  return kind === "json" || kind === "list" ? { kind: "json" } : { kind: "list", item: kind, choices }
}
