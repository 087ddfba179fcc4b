import { expect, test } from "bun:test"
import fc from "fast-check"
import { formatCsv, formatTsv, parseTsv } from "../../src/look/tsv.ts"

const cell = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "",
    "\t",
    "\n",
    "\r\n",
    "\\",
    "\\n",
    "\\\\t",
    '"',
    "a,b",
    "=A1",
    "é✓日本",
    "\u202e",
    "\\u202e",
  ),
)

test("a TSV has one line per row, with tabs and line breaks inside a cell written as letters", () => {
  expect(formatTsv([["a\tb", "c\nd"], ["", "\\"], ["e"]])).toBe("a\\tb\tc\\nd\n\t\\\\\ne\n")
})

test("any texts written as TSV are read back unchanged", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      (rows) => {
        expect(parseTsv(formatTsv(rows))).toEqual(rows)
      },
    ),
  )
})

test("a TSV from elsewhere may end its lines as Windows does, or not end the last one", () => {
  expect(parseTsv("a\tb\r\nc\t\r\n")).toEqual([
    ["a", "b"],
    ["c", ""],
  ])
  expect(parseTsv("one")).toEqual([["one"]])
  expect(parseTsv("")).toEqual([[""]])
})

test("text that hides or reorders other text is shown by its code", () => {
  expect(formatTsv([["a\u202eb"]])).toBe("a\\u202eb\n")
  expect(formatCsv([["a\u202eb"]])).toBe("a\\u202eb\r\n")
})

test("a CSV quotes cells with commas, quotes and line breaks", () => {
  expect(
    formatCsv([
      ["a,b", 'say "hi"'],
      ["c\nd", "e"],
    ]),
  ).toBe('"a,b","say ""hi"""\r\n"c\nd",e\r\n')
})
