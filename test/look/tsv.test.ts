import { expect, test } from "bun:test"
import { formatCsv, formatTsv } from "../../src/look/tsv.ts"

test("a TSV has one line per row, with tabs and line breaks inside a cell written as letters", () => {
  expect(formatTsv([["a\tb", "c\nd"], ["", "\\"], ["e"]])).toBe("a\\tb\tc\\nd\n\t\\\\\ne\n")
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
