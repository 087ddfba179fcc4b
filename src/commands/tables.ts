import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { PlainText } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { spansOf } from "../look/spans.ts"
import { readTable, type TableRows } from "../look/table.ts"
import { formatCsv, formatTsv, parseTsv } from "../look/tsv.ts"
import {
  app,
  choice,
  flag,
  oneOf,
  optionalTarget,
  optionalText,
  snapshotId,
  targetInput,
  text,
  windowId,
} from "../schema/inputs.ts"
import {
  acted,
  complete,
  count,
  described,
  disposition,
  element,
  optionalString,
  place,
  refId,
} from "../schema/outputs.ts"

/** Tables, sheets, lists and trees as rows of text. */

const TABLE_FORMATS = ["text", "tsv", "csv", "json"] as const

export const table = defineCommand({
  name: "table",
  summary: "Read a table, sheet, list or tree as rows of text: those in view, or a range",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  timeoutMs: 10_000,
  input: {
    ref_id: optionalTarget("The table or anything in it; else the window's only table", {
      position: 0,
      aliases: ["ref"],
    }),
    snapshot: snapshotId,
    app,
    window_id: windowId,
    range: optionalText("Cells, such as A1:F40", {
      value: "A1:F40",
      traced: true,
    }),
    rows: optionalText("Rows, such as 1-50", { value: "FIRST-LAST", traced: true }),
    columns: optionalText("Columns by number, letter or title: 1-3,7 or Name,Price", {
      value: "LIST",
    }),
    header: flag("Also the titles; in a sheet, its first row here"),
    formulas: flag("Formulas instead of results"),
    cells: flag("A ref per cell in view, not per row"),
    format: v.optional(choice(TABLE_FORMATS, "tsv, csv: only the rows")),
  },
  output: () =>
    v.object({
      text: described(optionalString(), "With format tsv or csv, in place of rows"),
      ref_id: v.optional(refId()),
      name: optionalString(),
      rows: v.optional(v.array(v.array(v.string()))),
      row_count: described(v.optional(count()), "Absent if the app does not report it"),
      column_count: v.optional(count()),
      first_row: described(v.optional(count()), "Number of the first row here, from 1; absent if unknown"),
      first_column: v.optional(count()),
      columns: described(
        v.optional(v.array(count())),
        "Numbers of the columns, if some between are left out",
      ),
      header: v.optional(v.array(v.string())),
      refs: described(v.optional(v.array(v.nullable(v.string()))), "A ref for each row; null: not in view"),
      cell_refs: v.optional(v.array(v.array(v.nullable(v.string())))),
      complete: complete(),
      ...place(),
      doubt: described(optionalString(), "Why the texts may belong to other rows"),
    }),
  print: tableText,
  sample: [
    { ref_id: "$cell" },
    { app: "$app", rows: "1-2", header: true },
    { app: "$app", columns: "1", format: "tsv" },
    { app: "$app", cells: true, format: "json" },
  ],
  examples: [
    "agent-desktop table --app soffice --range A1:F40 --format tsv",
    "agent-desktop table @e12 --rows 100-150 --columns Name,Size --header",
  ],
  check(args) {
    oneOf(args, ["range", "rows"], 0)
    oneOf(args, ["range", "columns"], 0)
    spansOf(args)
  },
  async run({ format, ...args }, ctx) {
    const read = await readTable(ctx, args, args)
    const all = read.header ? [read.header, ...read.rows] : read.rows
    const { rows: _, header: __, ...rest } = read
    const isAsked = args.range !== undefined || args.rows !== undefined
    // Rows alone cannot say that some are missing.
    if ((format === "tsv" || format === "csv") && isAsked && read.complete === false) throw cutShort(read)
    if (format === "tsv") return Object.assign(new PlainText(formatTsv(all)), rest)
    if (format === "csv") return Object.assign(new PlainText(formatCsv(all)), rest)
    return format === "text" ? new PlainText(tableText(read)) : read
  },
})

export const setCells = defineCommand({
  name: "set-cells",
  summary: "Write a block of cells into a sheet or an editable table, read it back, and report differences",
  group: "act",
  effect: "changes",
  repeatable: true,
  tool: "all",
  trace: "pictures",
  timeoutMs: 60_000,
  input: {
    ...targetInput,
    at: text("The first cell, such as A1", { position: 1, value: "A1", traced: true }),
    tsv: text("Rows of cells as TSV, or - to read them from standard input; = begins a formula", {
      position: 2,
      value: "TSV|-",
      freeText: true,
      stdin: "-",
    }),
  },
  output: () =>
    acted("set-cells", {
      ref_id: refId(),
      element: element(),
      range: described(v.string(), "The block that was written, such as B2:D9"),
      cells: count(),
      differences: described(
        v.optional(
          v.array(
            v.object({
              cell: v.string(),
              wanted: v.string(),
              shows: v.string(),
              is: v.optional(v.literal("text")),
            }),
          ),
        ),
        "Cells that show or hold something else; is text: the sheet writes numbers in another way, such as 1,5",
      ),
      method: v.string(),
      disposition: disposition(),
      doubt: described(optionalString(), "Why it is not known what the cells show"),
      ...place(),
    }),
  print: "facts",
  sample: { ref_id: "$cell", at: "A1", tsv: "abc" },
  examples: ['agent-desktop set-cells @e22 H1 "=D2*E2"', "agent-desktop set-cells @e22 A2 -"],
  run: async ({ at, tsv, ...args }, ctx) => {
    const { setCells: write } = await import("../act/sheet.ts")
    return write(ctx, args, at, parseTsv(tsv === "-" ? await ctx.stdin() : tsv))
  },
})

interface TableAnswer extends Partial<Omit<TableRows, "complete">> {
  readonly text?: string
  readonly complete?: boolean
}

const cutShort = ({ ref_id, rows }: TableRows): AppError =>
  new AppError("TIMEOUT", `Only ${rows.length} of the rows could be read`, {
    suggestion: `Retry with a longer --timeout-ms, or with fewer rows; a list that creates its rows when they are scrolled to: agent-desktop scroll ${ref_id} --until TEXT`,
    details: { kind: "deadline", rows_read: rows.length },
  })

/** A heading, and one line per row: its number and ref, then its cells as TSV, with their refs if they have some. */
function tableText(data: TableAnswer): string {
  if (data.text !== undefined || !data.rows) return data.text ?? ""
  const { ref_id, name, rows, header, refs, cell_refs, first_row, row_count, column_count, doubt } = data
  const last = first_row === undefined ? undefined : first_row + rows.length - 1
  const span =
    rows.length === 0
      ? "no rows"
      : first_row === undefined
        ? `${rows.length} rows`
        : `rows ${first_row}-${last}`
  const heading = [
    ref_id,
    name === undefined ? undefined : JSON.stringify(name),
    `${span}${row_count === undefined ? "" : ` of ${row_count}`},`,
    `${column_count} columns`,
    data.complete === false ? "incomplete" : undefined,
  ]
  const lines = rows.map((row, at) => {
    const number = first_row === undefined ? undefined : String(first_row + at)
    const ref = refs?.[at] ?? undefined
    const cells = row.map((text, column) =>
      [text, shownRef(cell_refs?.[at]?.[column])].filter(Boolean).join(" "),
    )
    return [[number, ref].filter(Boolean).join(" "), ...cells]
  })
  const titles = header ? [["#", ...header]] : []
  const note = doubt === undefined ? "" : `doubt: ${doubt}\n`
  return `${heading.filter(Boolean).join(" ")}\n${formatTsv([...titles, ...lines])}${note}`
}

const shownRef = (ref: string | null | undefined): string => (ref ? `[${ref}]` : "")
