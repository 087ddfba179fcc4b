import { expect, test } from "bun:test"
import fc from "fast-check"
import { nearest } from "../src/nearest.ts"

const COMMANDS = [
  "snapshot",
  "screenshot",
  "scroll",
  "click",
  "double-click",
  "list-windows",
  "list-apps",
  "is",
]

test.each([
  ["snpashto", "snapshot"],
  ["CLICK", "click"],
  ["clcik", "click"],
  ["double_click", "double-click"],
  ["doubleclick", "double-click"],
  ["windows-list", "list-windows"],
  ["screen", "screenshot"],
  ["list-window", "list-windows"],
  ["si", "is"],
])("%s means %s", (word, meant) => {
  expect(nearest(word, COMMANDS)).toBe(meant)
})

test.each(["", "x", "zz", "frobnicate", "@e1", "toString", "a".repeat(100_000)])(
  "%.20s has no nearest word",
  (word) => {
    expect(nearest(word, COMMANDS)).toBeUndefined()
  },
)

test("missing or extra leading dashes do not matter", () => {
  expect(nearest("-app", ["--map", "--app"])).toBe("--app")
})

test("two swapped letters are recognized in any word of four letters or more", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{4,12}$/), fc.nat(), (word, seed) => {
      const at = seed % (word.length - 1)
      const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2)
      expect(nearest(swapped, ["0000000000", word])).toBe(word)
    }),
  )
})
