import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  cleanName,
  cleanValue,
  formatNumber,
  isClassName,
  shortcutOf,
} from "../../../src/linux/atspi/names.ts"
import { nameOf } from "../../../src/linux/atspi/reading.ts"
import { traitsOf } from "../../../src/linux/atspi/toolkits.ts"

describe("a name", () => {
  test("is one line without control characters, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
        const name = cleanName(text)
        if (name === undefined) return
        expect(name).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(name).toBe(name.trim())
        expect(name.length).toBeLessThanOrEqual(2001)
        expect(name).not.toBe("")
      }),
    )
  })

  test("is never cut inside a character", () => {
    expect(cleanName(`${"x".repeat(1999)}😀tail`)).toBe(`${"x".repeat(1999)}…`)
    expect(cleanName("x".repeat(2000))).toBe("x".repeat(2000))
  })

  test("that is a widget class is ignored", () => {
    for (const name of ["GtkImage", "AdwGizmo", "GtkMenuButton", "VteTerminal"])
      expect(isClassName(name), name).toBe(true)
    for (const name of ["Gtk", "GTK Demo", "Save", "GitHub", "Gtkfoo"])
      expect(isClassName(name), name).toBe(false)
  })
})

test("the name of a browser's tab does not contain the memory use of its page", () => {
  const origin = { pid: 1, app: "chromium", traits: traitsOf("Chromium", "chromium"), shift: undefined }
  const nameIn = (role: "tab" | "button", name: string) => nameOf(origin, { native: 37, role }, { name })
  expect(nameIn("tab", "Shop - Memory usage - 64.4 MB")).toBe("Shop")
  expect(nameIn("tab", "Shop - Uso de memoria - 1,2 GB")).toBe("Shop")
  expect(nameIn("tab", "Disk - 2 - 64.4 MB")).toBe("Disk - 2 - 64.4 MB")
  expect(nameIn("button", "Shop - Memory usage - 64.4 MB")).toBe("Shop - Memory usage - 64.4 MB")
})

test("a value keeps its line breaks, and an empty one stays empty", () => {
  expect(cleanValue("")).toBe("")
  expect(cleanValue("a\tb\nc\u0000\u0007")).toBe("a\tb\nc")
})

test("numbers are formatted as a user would write them", () => {
  const written: [number, string][] = [
    [0, "0"],
    [50, "50"],
    [0.1 + 0.2, "0.3"],
    [0.30000001192092896, "0.3"],
    [-2.5, "-2.5"],
    [1234567.891, "1234567.891"],
    [Number.NaN, "0"],
    [Number.POSITIVE_INFINITY, "0"],
  ]
  for (const [value, text] of written) expect(formatNumber(value)).toBe(text)
})

test("only the accelerator of a key binding is used as a hint", () => {
  expect(shortcutOf("n;<Alt>f:n;<Primary>n")).toBe("Ctrl+N")
  expect(shortcutOf("s;<Alt>f:s;<Primary><Shift>s")).toBe("Ctrl+Shift+S")
  expect(shortcutOf(";;F1")).toBe("F1")
  expect(shortcutOf("f;<Alt>f;")).toBeUndefined()
  expect(shortcutOf("")).toBeUndefined()
})
