import { statSync } from "node:fs"
import { formatTsv } from "../../src/look/tsv.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"
import { Dice } from "./bytes.ts"

/**
 * Writes random blocks into a LibreOffice sheet, reads them back, and compares both with the saved workbook, which
 * saved.py reads. Every cell that the answer does not name must contain the written text. Every other cell must be
 * unchanged.
 */

export interface CellsOptions {
  readonly seed: number
  readonly blocks: number
  readonly locale: Locale
}

export interface CellsReport {
  /** Cells with the written text, cells that the answer reported as different, and refused blocks. */
  readonly figures: { written: number; differences: number; refused: number }
  readonly faults: readonly string[]
}

export const LOCALES = ["en-US", "de-DE", "fr-FR"] as const
export type Locale = (typeof LOCALES)[number]

/** A cell of the saved workbook. */
interface Held {
  readonly text?: string
  readonly number?: number
  readonly boolean?: number
  readonly formula?: string
  readonly error?: string
}
type Saved = Readonly<Record<string, Held>>

export async function fuzzCells({ seed, blocks, locale }: CellsOptions): Promise<CellsReport> {
  await using desktop = await openDesktop({ name: `cells-${seed}` })
  const sheet = await openSheet(desktop, locale)
  const dice = new Dice(seed)
  const figures = { written: 0, differences: 0, refused: 0 }
  const faults: string[] = []
  let before: Saved = {}
  for (let block = 0; block < blocks; block++) {
    const [row, column] = [dice.roll(12), dice.roll(6)]
    const [height, width] = [1 + dice.roll(3), 1 + dice.roll(4)]
    const texts = Array.from({ length: height }, () =>
      Array.from({ length: width }, () => textFor(dice, locale)),
    )
    const about = (line: string): string => `seed ${seed} block ${block} ${locale}: ${line}`
    const answer = await sheet.set(nameOf(row, column), texts)
    if (!answer.ok) {
      const isExpected = texts.flat().some(isUnwritable)
      if (!isExpected || answer.error.disposition?.delivery === "delivered_verified")
        faults.push(about(`refused: ${JSON.stringify(answer.error)} for ${JSON.stringify(texts)}`))
      figures.refused++
      if (answer.error.disposition?.delivery !== "not_delivered") before = await sheet.save()
      continue
    }
    const range = `${nameOf(row, column)}:${nameOf(row + height - 1, column + width - 1)}`
    const shown = await sheet.read(range)
    const saved = await sheet.save()
    const different = new Map<string, Difference>(
      (answer.data.differences ?? []).map((one: Difference) => [one.cell, one]),
    )
    const own = new Set<string>()
    texts.forEach((cells, down) => {
      cells.forEach((wanted, right) => {
        const name = nameOf(row + down, column + right)
        own.add(name)
        const shows = shown[down]?.[right] ?? ""
        const difference = different.get(name)
        const fault =
          disagreement(shows, saved[name], locale) ??
          (difference
            ? !wanted.startsWith("=") && difference.shows !== shows
              ? `the answer says ${JSON.stringify(difference)}`
              : undefined
            : wrong(wanted, shows, saved[name], locale))
        if (fault)
          faults.push(
            about(
              `${name} ${JSON.stringify(wanted)} shows ${JSON.stringify(shows)}, holds ${JSON.stringify(saved[name])}: ${fault}`,
            ),
          )
        if (difference) figures.differences++
        else figures.written++
      })
    })
    for (const name of new Set([...Object.keys(before), ...Object.keys(saved)]))
      if (!own.has(name) && contentOf(before[name]) !== contentOf(saved[name]))
        faults.push(
          about(
            `${name} beside ${range} changed from ${JSON.stringify(before[name])} to ${JSON.stringify(saved[name])}`,
          ),
        )
    before = saved
  }
  return { figures, faults }
}

interface Difference {
  readonly cell: string
  readonly shows: string
}

async function openSheet(desktop: TestDesktop, locale: Locale) {
  const file = `${desktop.directory}/cells.xlsx`
  await python("new", file)
  const window = await openInOffice(desktop, { part: "calc", file, locale })
  const ref: string = await until(async () => {
    const { json } = await desktop.run("table", "--window-id", window, "--range", "A1")
    return json?.data?.ref_id
  }, 60_000)
  return {
    set: async (at: string, rows: readonly (readonly string[])[]): Promise<Json> =>
      (await desktop.run("set-cells", ref, at, formatTsv(rows), "--timeout-ms", "120000")).json,
    read: async (range: string): Promise<readonly (readonly string[])[]> => {
      const { json, stdout } = await desktop.run("table", ref, "--range", range, "--timeout-ms", "60000")
      if (!json?.ok) throw new Error(stdout)
      return json.data.rows
    },
    save: async (): Promise<Saved> => {
      const changed = statSync(file).mtimeMs
      const { json, stdout } = await desktop.run("press", "ctrl+s", "--window-id", window)
      if (!json?.ok) throw new Error(stdout)
      await until(() => statSync(file, { throwIfNoEntry: false })?.mtimeMs !== changed, 60_000)
      return until(() => python("read", file), 60_000)
    },
  }
}

/** Runs saved.py. undefined: the file is incomplete. */
export async function python(verb: "new" | "read", file: string, paragraphs = ""): Promise<Json | undefined> {
  const script = new URL("saved.py", import.meta.url).pathname
  const child = Bun.spawn(["/usr/bin/python3", script, verb, file], {
    stdin: new Blob([paragraphs]),
    stdout: "pipe",
    stderr: "ignore",
  })
  const output = await new Response(child.stdout).text()
  return (await child.exited) === 0 && output !== "" ? JSON.parse(output) : undefined
}

const nameOf = (row: number, column: number): string => `${String.fromCharCode(65 + column)}${row + 1}`

// Texts

const WORDS = [
  "kelp",
  "Ärger",
  "naïve",
  "日本語",
  "Привет",
  "😀 face",
  "e\u0301a",
  "x\u00a0y",
  "שלום",
  "ﬁ",
  "ß",
  "\\n",
  "\\",
]
const QUOTED = ['"q"', "it's", '""', "'", "«so»", '5" disk', "`tick`", '"open', "a,b;c", "<b>&amp;</b>"]
const NUMBERS = ["12", "-3", "0", "1000000", "-0", "+7", "42 ", " 9"]
const DECIMALS = ["1.5", "1,5", "1.234,56", "1,234.56", "1 234", ".5", ",5", "1e5", "2.50", "12.3.4", "0.1"]
const ALIKE = [
  "007",
  "12345678901234567890",
  "true",
  "FALSE",
  "1/2",
  "3-4",
  "12:30",
  "10%",
  "5 €",
  "2024-02-30",
  "2024-02-29",
]
const ODD = [
  "'007",
  "'=1+1",
  "  two  ",
  "-x",
  "+x",
  "@x",
  "#N/A",
  "(c)",
  "teh",
  "TWo capitals",
  "1st",
  "--",
  "http://x.org",
  "…",
]

function textFor(dice: Dice, locale: Locale): string {
  const word = (): string => dice.pick([...WORDS, ...QUOTED])
  switch (dice.roll(12)) {
    case 0:
      return ""
    case 1:
      return `${word()}\n${word()}`
    case 2:
      return formulaFor(dice, locale)
    case 3:
      return dice.pick(QUOTED)
    case 4:
      return dice.pick(ALIKE)
    case 5:
      return dice.pick(ODD)
    case 6:
      return dice.pick(DECIMALS)
    case 7:
    case 8:
      return String((dice.roll(2_000_000) - 1_000_000) / dice.pick([1, 10, 100])).replace(
        ".",
        pointOf(locale),
      )
    case 9:
      return dice.roll(6) === 0 ? `${word()}\t${word()}` : word()
    case 10:
      return dice.pick(NUMBERS)
    default:
      return `${word()} ${word()}`
  }
}

const pointOf = (locale: Locale): string => (locale === "en-US" ? "." : ",")

function formulaFor(dice: Dice, locale: Locale): string {
  const next = locale === "en-US" ? "," : ";"
  const cell = (): string => nameOf(dice.roll(14), 10 + dice.roll(3))
  return dice.pick([
    `=${cell()}+${dice.roll(9)}`,
    `=SUM(${cell()}:${cell()})`,
    `=IF(${cell()}>1${next}"a b"${next}"ü")`,
    `=${dice.roll(90)}/4`,
    `=LEN("x${dice.pick(WORDS).replaceAll(/["\\]/g, "")}")`,
    `= 2 * ( 3 + ${dice.roll(5)} )`,
    "=1/0",
    "=NOSUCH(1)",
    `=MAX(1${next}2${next}${cell()})`,
  ])
}

/** True for a text with a tab, or a line break that would end the cell. It is refused before anything is written. */
const isUnwritable = (text: string): boolean => /\t|^\n/.test(text)

// Checks of the results

/** The reason why a text that `table` reads differs from the workbook. */
function disagreement(shows: string, held: Held | undefined, locale: Locale): string | undefined {
  if (!held) return shows === "" ? undefined : "the file has nothing there"
  if (held.text !== undefined) return held.text === shows ? undefined : "the file has another text"
  if (held.number === undefined) return undefined
  const number = numberIn(shows, locale)
  // Dates, times, fractions and amounts are shown in formats of their own.
  return number === undefined || isNear(number, held.number) ? undefined : "the file has another number"
}

/** The reason why a cell that the answer does not name does not contain the written text. */
function wrong(wanted: string, shows: string, held: Held | undefined, locale: Locale): string | undefined {
  if (wanted === "") return held === undefined || held.text === "" ? undefined : "it is not empty"
  if (wanted.startsWith("=") && wanted.length > 1)
    return held?.formula !== undefined && inEnglish(held.formula) === inEnglish(wanted)
      ? undefined
      : "it is not the formula"
  if (held?.formula !== undefined) return "it became a formula"
  if (shows === wanted || (wanted.startsWith("'") && shows === wanted.slice(1))) return undefined
  const [meant, got] = [numberIn(wanted, "en-US"), numberIn(shows, locale)]
  return meant !== undefined && got !== undefined && isNear(meant, got) ? undefined : "it is another text"
}

/** Workbooks contain formulas in English: commas between arguments, and no blanks. */
const inEnglish = (formula: string): string =>
  formula.replaceAll(/\s+/g, "").replaceAll(";", ",").toUpperCase()

function numberIn(text: string, locale: Locale): number | undefined {
  const plain = locale === "en-US" ? text : text.replace(",", ".")
  return /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(plain) ? Number(plain) : undefined
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a))

/** The text of a formula, not its result, which may change with other cells. */
const contentOf = (held: Held | undefined): string => JSON.stringify(held?.formula ?? held ?? "")
