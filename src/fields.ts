import type { CliHints, Input } from "./command.ts"
import { AppError } from "./errors.ts"

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
  /** What stands for the value in usage lines, e.g. `MS`. */
  readonly placeholder: string
  readonly description?: string
  /** `list` is a flag that may be repeated; `json` is a value written as JSON. */
  readonly kind: Scalar | "list" | "json"
  /** What the elements of a list are. */
  readonly item?: Scalar
  readonly choices?: readonly string[]
  readonly required: boolean
  readonly default?: unknown
  readonly integer: boolean
  readonly min?: number
  readonly max?: number
  readonly freeText: boolean
  /** What the flag means when it stands without a value. */
  readonly optionalValue?: string
}

/** The members of a command's input, in the order of its schema. A pipe around the object changes nothing. */
export function fieldsOf(input: Input): readonly Field[] {
  return Object.entries(input.entries).map(([name, schema]) => fieldOf(name, schema))
}

/** The fields that have a place on the command line, in the order of their places. */
export function positionalsOf(fields: readonly Field[]): readonly Field[] {
  return fields
    .filter((field) => field.position !== undefined)
    .sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
}

/** Every spelling of the field as a flag: the flag itself, then its aliases, then the letter. */
export function spellingsOf(field: Field): readonly string[] {
  return [field.flag, ...field.aliases.map(flagOf), ...(field.short ? [`-${field.short}`] : [])]
}

/** The same arguments with every member under its own name; a name and its alias at once are refused. */
export function applyAliases(input: Input, raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null) return raw
  // An array without members would otherwise pass for an object without members.
  if (Array.isArray(raw)) throw new AppError("INVALID_ARGS", "Arguments must be an object, got an array")
  const names = new Map(fieldsOf(input).flatMap((field) => field.aliases.map((alias) => [alias, field.name])))
  const taken = new Map<string, string>()
  return Object.fromEntries(
    Object.entries(raw).map(([key, value]) => {
      const name = names.get(key) ?? key
      const other = taken.get(name)
      if (other !== undefined)
        throw new AppError("INVALID_ARGS", `'${other}' and '${key}' mean the same; give only '${name}'`, {
          details: { kind: "repeated", argument: key },
        })
      taken.set(name, key)
      return [name, value]
    }),
  )
}

/** The part of a valibot schema or action that tells what it is; all of them fit it. */
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

function fieldOf(name: string, schema: Layer): Field {
  const layers = layersOf(schema)
  const at = layers.findIndex((layer) => layer.kind === "schema" && !layer.wrapped)
  const around = layers.slice(0, at).filter((layer) => layer.wrapped)
  const shape = shapeOf(layers[at]!)
  const hints: CliHints = Object.assign({}, ...layers.map((layer) => layer.metadata?.cli))
  const changed = layers.findIndex((layer) => layer.kind === "transformation")
  // What follows a transformation limits its result, not what is given on the command line.
  const limits = changed < 0 ? layers : layers.slice(0, changed)
  const byDefault = around.find((layer) => layer.default !== undefined)?.default
  return {
    name,
    flag: flagOf(name),
    aliases: hints.aliases ?? [],
    short: hints.short,
    position: hints.position,
    placeholder: hints.value ?? placeholderOf(name, shape, hints.position !== undefined),
    description: layers.findLast((layer) => layer.type === "description")?.description,
    ...shape,
    required: !around.some((layer) => OPTIONAL.has(layer.type)),
    default: typeof byDefault === "function" ? byDefault() : byDefault,
    integer: limits.some((layer) => layer.type === "integer" || layer.type === "safe_integer"),
    min: limitOf(limits, "min_value"),
    max: limitOf(limits, "max_value"),
    freeText: hints.freeText ?? false,
    optionalValue: hints.optionalValue,
  }
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

/** A schema without its nesting: wrappers first, then the schema proper, then the actions on it. */
function layersOf(layer: Layer): readonly Layer[] {
  if (layer.pipe) return layer.pipe.flatMap(layersOf)
  return layer.wrapped ? [layer, ...layersOf(layer.wrapped)] : [layer]
}

function limitOf(layers: readonly Layer[], type: string): number | undefined {
  const limit = layers.find((layer) => layer.type === type)?.requirement
  return typeof limit === "number" ? limit : undefined
}

function shapeOf(layer: Layer): Pick<Field, "kind" | "item" | "choices"> {
  switch (layer.type) {
    case "boolean":
    case "number":
    case "string":
      return { kind: layer.type }
    case "picklist":
      return layer.options?.every((option) => typeof option === "string")
        ? { kind: "choice", choices: layer.options }
        : { kind: "json" }
    // Text on the command line; which of the alternatives it is, validation says.
    case "custom":
    case "union":
      return { kind: "string" }
    case "array":
      return listOf(layersOf(layer.item!).find((item) => item.kind === "schema" && !item.wrapped)!)
    default:
      return { kind: "json" }
  }
}

function listOf(item: Layer): Pick<Field, "kind" | "item" | "choices"> {
  const { kind, choices } = shapeOf(item)
  return kind === "json" || kind === "list" ? { kind: "json" } : { kind: "list", item: kind, choices }
}
