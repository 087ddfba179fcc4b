import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../src/errors.ts"
import { readFlow } from "../../src/flow/read.ts"

const VARIABLES: Readonly<Record<string, string>> = { X: "a b", EMPTY: "" }
const words = (text: string): readonly (readonly string[])[] =>
  readFlow(text, (name) => VARIABLES[name]).map((line) => line.words)

function failureOf(text: string): AppError {
  try {
    words(text)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("The flow was read")
}

describe("a line of a flow is split into words as in a shell", () => {
  test.each([
    ["click @e1", [["click", "@e1"]]],
    [`click 'button "Save" in "Save As"'`, [["click", 'button "Save" in "Save As"']]],
    ['type "a \\"b\\" \\\\ \\n"', [["type", 'a "b" \\ \\n']]],
    ["a\\ b c\\#d", [["a b", "c#d"]]],
    ["a # a comment\n# another\n\n  b", [["a"], ["b"]]],
    ["a#b '#c'", [["a#b", "#c"]]],
    ["a \\\n  b", [["a", "b"]]],
    ["'two\nlines' b", [["two\nlines", "b"]]],
    ["''", [[""]]],
    ["a''b\"c\"", [["abc"]]],
    ["\uFEFFa\r\nb\r\n", [["a"], ["b"]]],
    ["* ~ ! {a,b} %", [["*", "~", "!", "{a,b}", "%"]]],
    ["", []],
  ])("%j", (text, expected) => {
    expect<unknown>(words(text)).toEqual(expected)
  })
})

describe("a variable", () => {
  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    ["a ${X} b", [["a", "a b", "b"]]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    ['"<${X}>"', [["<a b>"]]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    ["'${X}' \\${X}", [["${X}", "${X}"]]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    ["a ${EMPTY} b", [["a", "", "b"]]],
    ["$X $(touch) $5 $", undefined],
    ["$X $5 $", [["$X", "$5", "$"]]],
  ])("%j", (text, expected) => {
    if (expected) expect<unknown>(words(text)).toEqual(expected)
    else expect(failureOf(text).message).toBe("Line 1: '(' has a meaning in a shell, but not in a flow")
  })

  test("that is not set is an error that says how to set it", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    const { message, suggestion, details } = failureOf("a\nb ${NAME}")
    expect({ message, suggestion, details }).toEqual({
      message: "Line 2: The variable NAME is not set",
      suggestion: "Pass --set NAME=VALUE, or export NAME",
      details: { line: 2 },
    })
  })
})

test.each([
  ["a\n'b\nc", 2, "The quote ' is not closed"],
  ['a\n\n"b', 3, 'The quote " is not closed'],
  ["a | b", 1, "'|' has a meaning in a shell, but not in a flow"],
  ["a\nb > c", 2, "'>' has a meaning in a shell, but not in a flow"],
  ["a\\", 1, "A backslash ends the flow"],
  ["a $" + "{1}", 1, "'$" + "{' must be followed by a name and '}'"],
  ["a \0", 1, "The flow contains a NUL character"],
])("%j cannot be read, and the error names the line", (text, line, message) => {
  const error = failureOf(text)
  expect([error.code, error.message, error.details]).toEqual([
    "INVALID_ARGS",
    `Line ${line}: ${message}`,
    { line },
  ])
})

test("a line keeps its number and its text, without the values of variables", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
  const flow = "# form\n\ntype @focused ${X}   # secret\n'a\nb' c\nd\n"
  expect(readFlow(flow, () => "hidden").map(({ number, text }) => [number, text])).toEqual([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
    [3, "type @focused ${X}   # secret"],
    [4, "'a\nb' c"],
    [6, "d"],
  ])
})

test("random lines have the same words as in sh", () => {
  const piece = fc.constantFrom(
    "a",
    "b ",
    " ",
    "'x y'",
    '"p q"',
    "\\",
    '\\"',
    "\\\\",
    "#",
    '"',
    "'",
    "-",
    "é",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("")
      let ours: readonly string[] | undefined
      try {
        ours = words(text)[0] ?? []
      } catch {
        ours = undefined
      }
      // A backslash at the end, and a quote that is not closed, are mistakes here and unfinished input to a shell.
      if (ours === undefined) return
      const shell = Bun.spawnSync(["/bin/sh", "-c", `for w in ${text}\ndo printf '%s\\0' "$w"; done`])
      expect(ours).toEqual(shell.stdout.toString().split("\0").slice(0, -1))
    }),
    { numRuns: 150 },
  )
})
