import { expect, test } from "bun:test"
import fc from "fast-check"
import { readFlow } from "../../src/flow/read.ts"
import { lineOf } from "../../src/flow/words.ts"

const HARD = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
  "${HOME}",
  "$(id)",
  "`id`",
  "it's",
  'a "b"',
  "\\",
  "a\r\nb",
  "\n",
  "",
  "#",
  "~",
  "*",
  "\u202egpj",
]

const word = fc.oneof(fc.constantFrom(...HARD), fc.string({ unit: "grapheme" }))

test("a line is read back as the same words", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      const line = lineOf(words)
      if (words.some((one) => one.includes("\0"))) expect(line).toBeUndefined()
      else expect(readFlow(`${line}\n`, () => "expanded").map((one) => one.words)).toEqual([words])
    }),
    { numRuns: 2000 },
  )
})

test("a shell reads the same words", () => {
  const line = lineOf(["printf", "%s\\0", ...HARD])
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", line ?? ""])
  expect(stdout.toString().split("\0").slice(0, -1)).toEqual(HARD)
})
