/** Tables by row and column. Rows and columns count from 0 here, and from 1 in answers. */

/** A range of numbers, both ends included. */
export interface Span {
  readonly first: number
  readonly last: number
}

export const lengthOf = ({ first, last }: Span): number => last - first + 1

/** The numbers of a span that are below `count`. */
export const within = ({ first, last }: Span, count: number): readonly number[] =>
  Array.from({ length: Math.max(0, Math.min(last, count - 1) - first + 1) }, (_, at) => first + at)

export type Grid<Handle> = CellGrid<Handle> | TreeGrid<Handle>

/** A table whose cells can all be read by row and column, in view or not. */
export interface CellGrid<Handle> {
  readonly kind: "cells"
  readonly rowCount: number
  readonly columnCount: number
  /** True for a spreadsheet: its columns have letters, and most of its cells are empty. */
  readonly isSheet: boolean
  /** True if the app shows a text that is set in a cell, and does not save it. */
  readonly forgetsTexts?: boolean
  /** The position of a cell among the children of the table. Headers are children, too. */
  indexOf(row: number, column: number): number
  /** The inverse: the cell that is this child of the table. */
  placeOf(index: number): CellPlace
  /** The titles of these columns; undefined if the table has none. */
  titles(columns: readonly number[]): Promise<readonly string[] | undefined>
  /** undefined: unknown. */
  inView(): Promise<{ readonly rows: Span; readonly columns: Span } | undefined>
  /** The texts of a block, row by row; with `formulas`, the formulas of the cells that have one. */
  texts(rows: Span, columns: readonly number[], formulas: boolean): Promise<readonly (readonly string[])[]>
  /** One cell, in view or not; undefined if there is none. */
  cell(place: CellPlace): Promise<Handle | undefined>
  /** The cells among these that no user can edit. */
  unwritable(cells: readonly CellPlace[]): Promise<readonly UnwritableCell[]>
  /** The merged cells that cover these cells of a sheet. undefined: unknown, as for cells out of view. */
  covers?(cells: readonly CellPlace[]): Promise<readonly (Cover | undefined)[]>
  /** The merged cells among these cells of a sheet, and the rows and columns that they cover. */
  merged?(cells: readonly CellPlace[]): Promise<readonly MergedCell[]>
  /** The numbers in these cells of a sheet; 0 for a text, undefined if the app does not report them. */
  numbers?(cells: readonly CellPlace[]): Promise<readonly (number | undefined)[]>
  /** The reason why the texts may be those of other rows; undefined if there is no reason to doubt them. */
  doubt(): Promise<string | undefined>
}

/** A table, list or tree whose rows are objects in its tree. */
export interface TreeGrid<Handle> {
  readonly kind: "tree"
  /** The counts that the app reports if it shows only a part, and the number of the first row in the tree. */
  readonly rowCount?: number
  readonly columnCount?: number
  readonly firstRow?: number
  /** The first column of a cell. undefined: unknown. Needed only for rows with fewer cells than columns. */
  columnOf?(cell: Handle): Promise<number | undefined>
  /** Rows that the tree omits, e.g. those out of view in a long table. The index counts all children. */
  rowsAt?(rows: Span): Promise<readonly RowHandle<Handle>[]>
  /** The texts of rows by number, for a table that knows all its rows but keeps only those in view in its tree. */
  texts?(rows: Span): Promise<readonly (readonly string[])[]>
}

/** True for the merged cell itself, too. */
export const isIn = (merged: MergedCell, { row, column }: CellPlace): boolean =>
  row >= merged.row &&
  row < merged.row + merged.rows &&
  column >= merged.column &&
  column < merged.column + merged.columns

export interface RowHandle<Handle> {
  readonly handle: Handle
  readonly index: number
}

/** Ends a formula that the app reports only in part. */
export const CUT = "…"

/** 0 for `A` and `a`, 26 for `AA`; undefined if the text is not the letters of a column. */
export function columnNamed(letters: string): number | undefined {
  if (!/^[a-z]{1,3}$/i.test(letters)) return undefined
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

export interface CellPlace {
  readonly row: number
  readonly column: number
}

export interface MergedCell extends CellPlace {
  readonly rows: number
  readonly columns: number
}

export interface UnwritableCell extends CellPlace {
  /** "locked": in a protected sheet, for example. "hidden": its row or column is hidden, or filtered out. */
  readonly why: "locked" | "hidden"
}

/** A merged cell shows itself in the place of the cells that it covers. */
export type Cover = { readonly kind: "none" } | { readonly kind: "covered"; readonly by: CellPlace }

/** The place of `D18`, or `$D$18`: row 17, column 3. undefined if the text is not such an address. */
export function placeNamed(address: string): CellPlace | undefined {
  const [, letters = "", number] = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})$/i.exec(address) ?? []
  const column = columnNamed(letters)
  return column === undefined ? undefined : { row: Number(number) - 1, column }
}

/** `D18` */
export const nameOfPlace = ({ row, column }: CellPlace): string => `${letterOf(column)}${row + 1}`

/** `A` for 0, `AA` for 26. */
function letterOf(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest > 0 ? letterOf(rest - 1) : "") + String.fromCharCode(65 + (column % 26))
}
