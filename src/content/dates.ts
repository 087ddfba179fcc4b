/** Dates and times in form fields: their parts, and their text form in ISO 8601. */

/** The kinds of fields, named as in HTML. */
const FIELDS = {
  date: { form: /^(\d{4,6})-(\d\d)-(\d\d)$/, parts: ["year", "month", "day"], example: "2024-05-17" },
  month: { form: /^(\d{4,6})-(\d\d)$/, parts: ["year", "month"], example: "2024-05" },
  week: { form: /^(\d{4,6})-W(\d\d)$/, parts: ["year", "week"], example: "2024-W20" },
  time: {
    form: /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?$/,
    parts: ["hour", "minute", "second", "millisecond"],
    example: "09:30",
  },
  "datetime-local": {
    form: /^(\d{4,6})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?$/,
    parts: ["year", "month", "day", "hour", "minute", "second", "millisecond"],
    example: "2024-05-17T09:30",
  },
} as const

export type DateKind = keyof typeof FIELDS

/** `half`: before or after noon. */
export type DatePart = (typeof FIELDS)[DateKind]["parts"][number] | "half"

export type DateParts = Readonly<Partial<Record<DatePart, number>>>

export const isDateKind = (word: string): word is DateKind => Object.hasOwn(FIELDS, word)

export const exampleOf = (kind: DateKind): string => FIELDS[kind].example

/** The parts that a field of this kind must show, and may show. */
export function partsOf(kind: DateKind): { least: readonly DatePart[]; most: readonly DatePart[] } {
  const parts: readonly DatePart[] = FIELDS[kind].parts
  const least = parts.filter((part) => part !== "second" && part !== "millisecond")
  return { least, most: parts.includes("hour") ? [...parts, "half"] : parts }
}

/** undefined: the text does not have this form, or the date does not exist. */
export function parseDate(kind: DateKind, text: string): DateParts | undefined {
  const { form, parts } = FIELDS[kind]
  const [, ...numbers] = form.exec(text.trim()) ?? []
  if (numbers.length === 0) return undefined
  const read: Partial<Record<DatePart, number>> = {}
  for (const [at, part] of parts.entries()) {
    const number = numbers[at]
    if (number !== undefined) read[part] = Number(number)
  }
  return isInCalendar(read) ? read : undefined
}

/** "" if a part is missing, which is how pages see an incomplete field. `parts.hour` counts from 0 to 23. */
export function formatDate(kind: DateKind, parts: DateParts): string {
  if (partsOf(kind).least.some((part) => parts[part] === undefined)) return ""
  const of = (part: DatePart, width = 2): string => String(parts[part] ?? 0).padStart(width, "0")
  const seconds = parts.second === undefined && parts.millisecond === undefined ? "" : `:${of("second")}`
  const fraction = parts.millisecond === undefined ? "" : `.${of("millisecond", 3)}`
  const time = `${of("hour")}:${of("minute")}${seconds}${fraction}`
  switch (kind) {
    case "date":
      return `${of("year", 4)}-${of("month")}-${of("day")}`
    case "month":
      return `${of("year", 4)}-${of("month")}`
    case "week":
      return `${of("year", 4)}-W${of("week")}`
    case "time":
      return time
    case "datetime-local":
      return `${of("year", 4)}-${of("month")}-${of("day")}T${time}`
    default:
      return kind satisfies never
  }
}

/** Missing seconds are 0. */
export const isSameDate = (a: string, b: string): boolean => inFull(a) === inFull(b)

const inFull = (text: string): string =>
  text
    .trim()
    .replace(" ", "T")
    .replace(/(:\d\d:\d\d)\.000$/, "$1")
    .replace(/((?:^|T)\d\d:\d\d):00$/, "$1")

function isInCalendar({
  year = 2000,
  month = 1,
  day = 1,
  week = 1,
  hour = 0,
  minute = 0,
  second = 0,
}: DateParts) {
  if (year < 1 || month < 1 || month > 12 || day < 1 || week < 1 || week > weeksIn(year)) return false
  // Day 0 of the next month is the last day of this month. Date reads the years 0 to 99 as 1900 to 1999.
  const last = new Date(Date.UTC(year < 100 ? year + 400 : year, month, 0)).getUTCDate()
  return day <= last && hour < 24 && minute < 60 && second < 60
}

/** A year that begins or ends on a Thursday has 53 weeks. */
function weeksIn(year: number): number {
  const weekday = (month: number, day: number) => new Date(Date.UTC(year, month, day)).getUTCDay()
  return weekday(0, 1) === 4 || weekday(11, 31) === 4 ? 53 : 52
}
