import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import fc from "fast-check"
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base"
import { outline } from "../../src/look/outline.ts"
import { estimateTokens } from "../../src/look/tokens.ts"
import { allRoles, type Node, STATES } from "../../src/node.ts"

/** The larger count of two vocabularies. */
const realTokens = (text: string): number => Math.max(o200k(text).length, cl100k(text).length)

const forms: readonly [string, (tree: Node) => string][] = [
  ["text", outline],
  ["JSON", (tree) => JSON.stringify(tree)],
]

describe.each(forms)("estimate for %s", (_, print) => {
  test("is high enough for every role and state", () => {
    for (const role of allRoles()) {
      const text = print({ role, children: STATES.map((state) => ({ role, states: [state] })) })
      expect([role, estimateTokens(text) >= realTokens(text)]).toEqual([role, true])
    }
  })

  test.skipIf(!existsSync(LOCALES))("is high enough for the GTK texts of more than fifty languages", () => {
    const low: string[] = []
    const languages = readdirSync(LOCALES).filter((name) => existsSync(catalogue(name)))
    for (const language of languages) {
      const texts = translations(catalogue(language)).filter((text) => text.length < 80)
      for (let at = 0; at < texts.length; at += 700) {
        const names = texts.slice(at, at + 20)
        const text = print({
          role: "window",
          children: names.map((name, i) => ({ ref_id: `@e${at + i}`, role: "button", name })),
        })
        if (names.length === 20 && estimateTokens(text) < realTokens(text)) low.push(`${language} ${at}`)
      }
    }
    expect(low).toEqual([])
    expect(languages.length).toBeGreaterThan(50)
  })

  test("is at most a third too high for English", () => {
    const names =
      "Save|Open recent|Find and replace…|Show line numbers|Colour scheme|Close the window|Insert image"
    const children = names.split("|").map((name, i): Node => ({ ref_id: `@e${i}`, role: "button", name }))
    const text = print({ role: "window", name: "Settings", children })
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(realTokens(text))
    expect(estimateTokens(text)).toBeLessThan(realTokens(text) * 1.34)
  })
})

test("the estimate is at most a quarter too low for random letters", () => {
  const letters = fc.string({ unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz234567"), minLength: 40 })
  fc.assert(fc.property(letters, (text) => estimateTokens(text) >= realTokens(text) * 0.75))
})

test("the estimate is at least half of the real count for any text", () => {
  const unit = fc.oneof(fc.constant("grapheme" as const), fc.constant("binary" as const))
  const texts = unit.chain((kind) => fc.string({ unit: kind, minLength: 1, maxLength: 60 }))
  fc.assert(fc.property(texts, (text) => estimateTokens(text) * 2 >= realTokens(text)))
})

test("the estimate is 0 for no text, and two texts together cost no more than apart", () => {
  expect(estimateTokens("")).toBe(0)
  expect(estimateTokens(" ")).toBe(1)
  const lines = fc.array(fc.constantFrom('button "Save" [@e1]\n', '  list "Überschrift"\n', "{}\n"))
  fc.assert(
    fc.property(lines, (all) => {
      const apart = all.reduce((sum, line) => sum + estimateTokens(line), 0)
      expect(estimateTokens(all.join(""))).toBeLessThanOrEqual(apart)
    }),
  )
})

const LOCALES = "/usr/share/locale"

const catalogue = (language: string): string => `${LOCALES}/${language}/LC_MESSAGES/gtk30.mo`

/** The translations in a compiled gettext catalogue. */
function translations(path: string): string[] {
  const bytes = readFileSync(path)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const table = view.getUint32(16, true)
  return Array.from({ length: view.getUint32(8, true) }, (_, i) => {
    const [length, at] = [view.getUint32(table + i * 8, true), view.getUint32(table + i * 8 + 4, true)]
    return bytes.toString("utf8", at, at + length)
  })
}
