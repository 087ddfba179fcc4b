import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { TextAccess, TextRange, TextRun } from "../content/text.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { withArticle } from "../node.ts"

/** Parts of a text: by offsets, by the text itself, by words and by paragraphs. */

/** Opens the text of an element. Throws if it has none, or is secure. */
export async function textAccess(ctx: Context, ref: string, seen: Seen): Promise<TextAccess> {
  if (seen.states.includes("secure"))
    throw new AppError("ACTION_NOT_SUPPORTED", `${ref} is a secure field: its text is never read`)
  const text = await ctx.adapter.text(seen.handle)
  if (!("missing" in text)) return text
  const code = text.everywhere ? "PLATFORM_NOT_SUPPORTED" : "ACTION_NOT_SUPPORTED"
  throw new AppError(code, `${ref} is ${withArticle(seen.role)} without readable text`, {
    suggestion: `Use a text inside it: agent-desktop snapshot --root ${ref}; or read its name: agent-desktop get ${ref} text`,
    platformDetail: `it lacks ${text.missing}`,
    details: { kind: "no_text_interface", interface: text.missing },
    disposition: NOTHING_DELIVERED,
  })
}

/** `S:E`, `S:` up to the end, `:E` from the start. */
export function rangeNamed(text: string): { readonly start: number; readonly end?: number } {
  const [, start, end] = /^\s*(\d{0,10})\s*:\s*(\d{0,10})\s*$/.exec(text) ?? []
  if (start === undefined || (end && Number(end) < Number(start || 0)))
    throw new AppError("INVALID_ARGS", `--range: '${text}' is not a range of characters such as 0:500`, {
      details: { argument: "range" },
    })
  return { start: Number(start || 0), ...(end ? { end: Number(end) } : {}) }
}

/** The named part of an existing text. Throws if it starts after the end of the text. */
export function rangeWithin(ref: string, text: TextAccess, range: string | undefined): TextRange {
  const { start, end = text.length } = range === undefined ? { start: 0 } : rangeNamed(range)
  if (start > text.length) throw outside(ref, text.length, start)
  return { start, end: Math.min(end, text.length) }
}

export function outside(ref: string, length: number, offset: number): AppError {
  return new AppError("INVALID_ARGS", `${ref} has ${length} characters, and ${offset} is past the end`, {
    suggestion: `Count from 0 to ${length}: agent-desktop get ${ref} text --range 0:${length}`,
    details: { argument: "range", length },
  })
}

/** Most characters of one answer, and most runs. */
const MOST_CHARACTERS = 1_000_000
const MOST_RUNS = 500

export interface TextPart {
  readonly value: unknown
  readonly length: number
  readonly start?: number
  readonly end?: number
  readonly complete?: false
}

export async function readText(ref: string, text: TextAccess, range: string | undefined): Promise<TextPart> {
  const { start, end } = rangeWithin(ref, text, range)
  const last = Math.min(end, start + MOST_CHARACTERS)
  const value = last > start ? await text.read({ start, end: last }) : ""
  return { value, length: text.length, start, end: last, ...(last < end ? { complete: false } : {}) }
}

export async function readSelection(text: TextAccess): Promise<TextPart> {
  const selection = await text.selection()
  const value = selection && { ...selection, text: await text.read(selection) }
  return { value: value ?? null, length: text.length }
}

export async function readRuns(ref: string, text: TextAccess, range: string | undefined): Promise<TextPart> {
  const wanted = rangeWithin(ref, text, range)
  const runs = merged(await text.runs(wanted, MOST_RUNS))
  const isWhole = wanted.end === wanted.start || (runs.at(-1)?.end ?? wanted.start) >= wanted.end
  return { value: runs, length: text.length, ...(isWhole ? {} : { complete: false }) }
}

/** Neighbours that look the same are one run. */
function merged(runs: readonly TextRun[]): readonly TextRun[] {
  return runs.reduce<TextRun[]>((all, run) => {
    const last = all.at(-1)
    if (last && looks(last) === looks(run)) all[all.length - 1] = { ...last, end: run.end }
    else all.push(run)
    return all
  }, [])
}

const looks = ({ start: _, end: __, ...rest }: TextRun): string => JSON.stringify(rest)

export interface TextWanted {
  readonly match?: string
  readonly nth: number
  readonly range?: string
  readonly word?: number
  readonly paragraph?: number
}

/** The range of the wanted part. Throws ELEMENT_NOT_FOUND if the text has no such part. */
export async function findRange(ref: string, text: TextAccess, wanted: TextWanted): Promise<TextRange> {
  if (wanted.range !== undefined) return rangeWithin(ref, text, wanted.range)
  const whole = await text.read({ start: 0, end: text.length })
  const parts = partsOf(whole, wanted)
  const number = wanted.match === undefined ? (wanted.word ?? wanted.paragraph ?? 1) : wanted.nth
  const part = parts[number - 1]
  if (!part) throw noPart(ref, wanted, parts.length)
  // Offsets in the string count UTF-16 units.
  const offset = (at: number): number => (text.unit === "utf-16" ? at : charactersIn(whole, at))
  return { start: offset(part.start), end: offset(part.end) }
}

function partsOf(text: string, { match, word }: TextWanted): readonly TextRange[] {
  const pattern =
    match !== undefined
      ? new RegExp(RegExp.escape(match), "gu")
      : word !== undefined
        ? /[\p{L}\p{N}\p{M}_]+(?:['’.-][\p{L}\p{N}\p{M}_]+)*/gu
        : /[^\n\u2029]+/gu
  return [...text.matchAll(pattern)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
  }))
}

function charactersIn(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count++
  return count
}

function noPart(ref: string, { match, word }: TextWanted, count: number): AppError {
  const what = match !== undefined ? "matches" : word !== undefined ? "words" : "paragraphs"
  return new AppError("ELEMENT_NOT_FOUND", `${ref} has ${count} such ${what}`, {
    suggestion: `Read the text: agent-desktop get ${ref} text`,
    details: { kind: "no_such_text", count },
  })
}
