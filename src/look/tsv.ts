import { escapeHidden } from "../shown-text.ts"

/** Rows of texts as TSV and CSV. */

type Rows = readonly (readonly string[])[]

/**
 * One row per line. A tab, a line break or a backslash inside a cell is written `\t`, `\n`, `\r` or `\\`, and a character
 * that hides or reorders text by its code, such as `\u202e`.
 */
export const formatTsv = (rows: Rows): string =>
  rows.map((row) => `${row.map((cell) => escapeHidden(escapeCell(cell))).join("\t")}\n`).join("")

/** The rows of a TSV. A last line break ends the last row. */
export function parseTsv(text: string): string[][] {
  const whole = text.replace(/\r?\n$/, "")
  return whole.split(/\r?\n/).map((line) => line.split("\t").map(unescapeCell))
}

const escapeCell = (cell: string): string => cell.replaceAll(/[\\\t\n\r]/g, (one) => ESCAPES[one] ?? one)

const unescapeCell = (cell: string): string =>
  cell.replaceAll(/\\(?:([tnr\\])|u([\da-f]{4}))/gi, (whole, letter?: string, code?: string) =>
    code === undefined ? (UNESCAPED[letter ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  )

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" }
const UNESCAPED: Readonly<Record<string, string>> = { "\\": "\\", t: "\t", n: "\n", r: "\r" }

/** RFC 4180: a cell with a comma, a quote or a line break is quoted. */
export const formatCsv = (rows: Rows): string =>
  rows.map((row) => `${row.map((cell) => escapeHidden(quoteCell(cell))).join(",")}\r\n`).join("")

const quoteCell = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
