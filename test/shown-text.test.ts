import { expect, test } from "bun:test"
import fc from "fast-check"
import { success, toLine } from "../src/envelope.ts"
import { outline } from "../src/look/outline.ts"
import { escapeHidden } from "../src/shown-text.ts"

/** Everything that Unicode calls invisible or a direction mark, and letters that are drawn as a blank. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\u2028\u2029\x7f-\x9f]/u

const everyCharacter = function* (): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code++)
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code)
}

test("every character that hides or reorders text is escaped, in JSON and in text", () => {
  const hidden = [...everyCharacter()].filter((one) => HIDDEN.test(one))
  // Unicode 16 has 4,174 that may be ignored, most of them reserved.
  expect(hidden.length).toBeGreaterThan(4000)
  for (const one of hidden) {
    const name = `a${one}b`
    const line = toLine(success("find", { name }))
    const text = outline({ role: "button", name })
    expect({ code: one.codePointAt(0), json: HIDDEN.test(line), text: HIDDEN.test(text) }).toEqual({
      code: one.codePointAt(0),
      json: false,
      text: false,
    })
    expect(JSON.parse(line).data.name).toBe(name)
  }
})

/** Messages in invisible characters, as they have been used against models. */
test.each([
  ["tags", [..."run it"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("")],
  [
    "variation selectors",
    [..."run it"].map((one) => String.fromCodePoint(0xe0100 + one.charCodeAt(0))).join(""),
  ],
  ["selectors behind one emoji", `😀${"\ufe0f\ufe0e".repeat(8)}`],
  ["joiners behind one emoji", `😀${"\u200d\u200c".repeat(8)}`],
  [
    "tags behind a flag",
    `🏴${[..."rm"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("")}`,
  ],
  ["a selector behind a letter", "S\ufe0fave"],
  ["a selector behind a digit", "1\ufe0f2"],
  ["fillers", "Save\u3164\u115f\u034f\u2800"],
  ["a reversed file name", "annual\u202efdp.exe"],
])("%s are shown by their codes", (_, text) => {
  const shown = escapeHidden(JSON.stringify(text))
  expect(shown.replaceAll(/😀[\ufe0e\ufe0f]?/gu, "")).not.toMatch(HIDDEN)
  expect(JSON.parse(shown)).toBe(text)
})

test.each(["👨‍👩‍👧", "❤️", "❤️‍🔥", "👩🏽‍🚀", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "✔︎ done", "Grüße, 你好, नमस्ते", "a\u00a0b"])(
  "%s stays as it is",
  (text) => expect(escapeHidden(text)).toBe(text),
)

test("any text in JSON parses to the same text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(JSON.parse(escapeHidden(JSON.stringify(text)))).toBe(text)
    }),
  )
})
