import { type DateKind, type DatePart, type DateParts, isDateKind, partsOf } from "../../content/dates.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { type Range, readRange } from "./editing.ts"
import { type Expect, readText } from "./names.ts"
import { ROLE } from "./roles.ts"

/** Date and time fields of web pages. A browser shows one as a field for each part, in the order of the locale. */

export interface DateField {
  readonly kind: DateKind
  /** In the order that they are laid out in. */
  readonly parts: readonly {
    readonly part: DatePart
    readonly ref: Ref
    /** As shown: in a 12-hour field, the hour counts to 12. Absent: it is empty. */
    readonly shown: number | undefined
  }[]
  /** The parts that are filled in. Hours count from 0 to 23. */
  readonly filled: DateParts
}

/** undefined: it is not such a field, or not all of its parts are known. */
export async function readDate(atspi: Atspi, ref: Ref, expect: Expect): Promise<DateField | undefined> {
  const kind = (await expect(atspi.attributes(ref)))?.get("text-input-type")
  if (kind === undefined || !isDateKind(kind)) return undefined
  const fields = await Promise.all(
    (await spinsIn(atspi, ref, expect, LEVELS)).map((one) => read(atspi, one, expect)),
  )
  const parts = named(kind, fields.map(byName)) ?? named(kind, byRange(kind, fields))
  if (!parts) return undefined
  const shown = parts.map((part, at) => numberIn(part, fields[at]!))
  return {
    kind,
    parts: parts.map((part, at) => ({ part, ref: fields[at]!.ref, shown: shown[at] })),
    filled: filledIn(parts, shown),
  }
}

/** The levels below a field that its parts may be on. */
const LEVELS = 4
const MOST_CHILDREN = 16

interface PartField {
  readonly ref: Ref
  readonly name: string
  readonly range: Range | undefined
  /** As it shows, "" if it is empty. */
  readonly text: string
}

async function spinsIn(atspi: Atspi, ref: Ref, expect: Expect, levels: number): Promise<readonly Ref[]> {
  const children = ((await expect(atspi.children(ref))) ?? []).slice(0, MOST_CHILDREN)
  const inside = await Promise.all(
    children.map(async (child) => {
      const role = await expect(atspi.role(child))
      if (role !== undefined && PARTS.has(role)) return [child]
      return role !== undefined && BOXES.has(role) && levels > 1
        ? spinsIn(atspi, child, expect, levels - 1)
        : []
    }),
  )
  return inside.flat()
}

/** Firefox has a text field for AM and PM. */
const PARTS: ReadonlySet<number> = new Set([ROLE.SPIN_BUTTON, ROLE.ENTRY, ROLE.TEXT])
const BOXES: ReadonlySet<number> = new Set([ROLE.PANEL, ROLE.SECTION])

async function read(atspi: Atspi, ref: Ref, expect: Expect): Promise<PartField> {
  const [name, attributes, range] = await Promise.all([
    expect(atspi.name(ref)),
    expect(atspi.attributes(ref)),
    expect(readRange(atspi, ref)),
  ])
  const hasRange = range !== undefined && range.least < range.most
  const text = attributes?.get("valuetext") ?? (hasRange ? "" : await expect(readText(atspi, ref)))
  return { ref, name: name ?? "", range: hasRange ? range : undefined, text: text ?? "" }
}

/** The parts, if each of them is known and they match the kind. */
function named(kind: DateKind, parts: readonly (DatePart | undefined)[]): readonly DatePart[] | undefined {
  const { least, most } = partsOf(kind)
  const known = parts.filter((part) => part !== undefined)
  const isWhole =
    known.length === parts.length &&
    new Set(known).size === known.length &&
    known.every((part) => most.includes(part)) &&
    least.every((part) => known.includes(part))
  return isWhole ? known : undefined
}

/** Browsers name the parts in their own language: "Month", or "Month Birthday" with the label. */
function byName({ name }: PartField): DatePart | undefined {
  const [, word = ""] = /^(\S+)/.exec(name) ?? []
  return NAMES[word]
}

const NAMES: Readonly<Record<string, DatePart>> = {
  Year: "year",
  Month: "month",
  Week: "week",
  Day: "day",
  Hours: "hour",
  Minutes: "minute",
  Seconds: "second",
  Milliseconds: "millisecond",
  "AM/PM": "half",
}

/** Without known names, the ranges decide. The hours of a 12-hour field look like months, and come after them. */
function byRange(kind: DateKind, fields: readonly PartField[]): readonly (DatePart | undefined)[] {
  const rest = [...partsOf(kind).most].toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  return fields.map(({ range }) => {
    const at = rest.findIndex((part) => range && RANGES[part].includes(`${range.least}-${range.most}`))
    return at < 0 ? undefined : rest.splice(at, 1)[0]
  })
}

const ORDER: readonly DatePart[] = [
  "year",
  "month",
  "week",
  "day",
  "hour",
  "minute",
  "second",
  "millisecond",
  "half",
]
const RANGES: Readonly<Record<DatePart, readonly string[]>> = {
  year: ["1-275760", "1-9999"],
  month: ["1-12"],
  week: ["1-53"],
  day: ["1-31"],
  hour: ["0-23", "1-12", "0-11", "1-24"],
  minute: ["0-59"],
  second: ["0-59"],
  millisecond: ["0-999"],
  half: ["1-2"],
}

function filledIn(parts: readonly DatePart[], shown: readonly (number | undefined)[]): DateParts {
  const filled: Partial<Record<DatePart, number>> = {}
  for (const [at, part] of parts.entries()) if (shown[at] !== undefined) filled[part] = shown[at]
  const { half, ...rest } = filled
  if (!parts.includes("half") || rest.hour === undefined) return rest
  // Without AM or PM, the hour is unknown.
  return { ...rest, hour: half === undefined ? undefined : (rest.hour % 12) + (half === 2 ? 12 : 0) }
}

/** A number is at least two digits long; an empty part may report "0". Some months are words. */
function numberIn(part: DatePart, { text, range }: PartField): number | undefined {
  if (part === "half") {
    if (range) return range.now > 0 ? range.now : undefined
    return /^a/i.test(text) ? 1 : /^p/i.test(text) ? 2 : undefined
  }
  if (/^[0-9]{2,}$/.test(text)) return Number(text)
  const isWord = part === "month" && /\p{L}/u.test(text)
  return range && (isWord || /^\p{Nd}{2,}$/u.test(text)) && range.now > 0 ? range.now : undefined
}
