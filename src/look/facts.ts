import { quoted } from "../escape.ts"

/** A result without a text of its own: one fact a line, `name: value`, with the parts of a value below it. */
export const factsText = (data: object): string => `${factLines(data, "").join("\n")}\n`

function factLines(data: object, indent: string): readonly string[] {
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : factOf(`${indent}${name}:`, value, `${indent}  `),
  )
}

function factOf(start: string, value: unknown, below: string): readonly string[] {
  if (start.endsWith("env:") && typeof value === "object")
    return [`${start} ${Object.keys(value ?? {}).length} variables, which --format json shows`]
  if (typeof value !== "object" || value === null) return [`${start} ${wordOf(value)}`]
  if (!Array.isArray(value)) {
    const rect = rectOf(value)
    return rect === undefined ? [start, ...factLines(value, below)] : [`${start} ${rect}`]
  }
  if (value.every((one) => typeof one !== "object" || one === null))
    return [`${start} ${value.length ? value.map(wordOf).join(", ") : "none"}`]
  return [
    start,
    ...value.flatMap((one: unknown) => {
      const [first = "", ...more] =
        typeof one === "object" && one !== null ? factLines(one, `${below}  `) : [`${below}  ${wordOf(one)}`]
      return [`${below}- ${first.trimStart()}`, ...more]
    }),
  ]
}

/** A text is quoted if it could be taken for something else. */
function wordOf(value: unknown): string {
  if (typeof value !== "string") return value === null ? "none" : String(value)
  return /^[\p{L}\p{N}@/._~+:-][\p{L}\p{N}@/._~+: -]*$/u.test(value) && value === value.trim()
    ? value
    : quoted(value)
}

function rectOf(value: object): string | undefined {
  const facts = new Map<string, unknown>(Object.entries(value))
  const isRect = facts.size === 4 && RECT.every((name) => typeof facts.get(name) === "number")
  const [x, y, width, height] = RECT.map((name) => facts.get(name))
  return isRect ? `${x},${y} ${width}x${height}` : undefined
}

const RECT = ["x", "y", "width", "height"]
