import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { MODIFIERS } from "../src/action.ts"
import { AppError } from "../src/errors.ts"
import { comboText, findSessionEnd, guardCombo, NAMED_KEYS, parseCombo, parseCombos } from "../src/keys.ts"

const failure = (act: () => unknown): AppError => {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("it did not fail")
}

describe("parseCombo", () => {
  test.each([
    ["a", [], "a"],
    ["A", [], "a"],
    ["Ctrl+C", ["ctrl"], "c"],
    ["shift+cmd+s", ["cmd", "shift"], "s"],
    ["command+control+option+shift+f24", ["cmd", "ctrl", "alt", "shift"], "f24"],
    ["meta+a", ["cmd"], "a"],
    ["super+a", ["cmd"], "a"],
    ["ctrl+ctrl+a", ["ctrl"], "a"],
    ["enter", [], "return"],
    ["esc", [], "escape"],
    ["backspace", [], "backspace"],
    ["forwarddelete", [], "forwarddelete"],
    ["PageUp", [], "pageup"],
    [" ctrl + left ", ["ctrl"], "left"],
    ["+", [], "+"],
    ["ctrl++", ["ctrl"], "+"],
    ["ctrl+shift++", ["ctrl", "shift"], "+"],
    ["alt+-", ["alt"], "-"],
    ["ctrl+`", ["ctrl"], "`"],
    ["ctrl+é", ["ctrl"], "é"],
    ["Ж", [], "ж"],
    ["ß", [], "ß"],
    // Lower-casing it would turn one key into two characters.
    ["İ", [], "İ"],
    ["😀", [], "😀"],
  ] as const)("reads %p", (text, modifiers, key) => {
    expect(parseCombo(text)).toEqual({ modifiers: [...modifiers], key })
  })

  test("takes delete as the key of that name on the platform's keyboard", () => {
    expect(parseCombo("ctrl+delete", {}, "linux")).toEqual({ modifiers: ["ctrl"], key: "forwarddelete" })
    expect(parseCombo("Delete", {}, "darwin")).toEqual({ modifiers: [], key: "backspace" })
    for (const platform of ["linux", "darwin"]) {
      expect(parseCombo("backspace", {}, platform).key).toBe("backspace")
      expect(parseCombo("forwarddelete", {}, platform).key).toBe("forwarddelete")
      expect(parseCombo("del", {}, platform).key).toBe("forwarddelete")
    }
  })

  test.each([
    ["ctrl+a delete", ["ctrl+a", "forwarddelete"]],
    ["  home   shift+end\n", ["home", "shift+end"]],
    ["ctrl + a", ["ctrl+a"]],
    ["ctrl +a b", ["ctrl+a", "b"]],
    ["ctrl++ +", ["ctrl++", "+"]],
    ["a + b", ["a", "+", "b"]],
    ["down", ["down"]],
  ])("reads several combos: %p", (text, combos) => {
    expect(parseCombos(text, {}, "linux").map(comboText)).toEqual(combos)
  })

  test.each([
    ["", "a key is missing"],
    ["ctrl+", "a key is missing"],
    ["+a", "a name is missing"],
    ["ctrl+++", "a name is missing"],
    ["a+b", "only the last name is a key"],
    ["ctrl+hello", "there is no key 'hello'"],
    ["f25", "there is no key 'f25'"],
    ["ctrl", "is a modifier"],
    ["ab", "there is no key"],
    ["\n", "a key is missing"],
    ["\u0007", "there is no key"],
  ])("refuses %p", (text, why) => {
    const error = failure(() => parseCombo(text))
    expect(error.code).toBe("INVALID_ARGS")
    expect(error.message).toContain(why)
    expect(error.suggestion).toBeString()
  })

  test.each([
    ["retrun", "return"],
    ["pagedwn", "pagedown"],
    ["ctlr+a", "ctrl"],
    ["ctrl+escpe", "escape"],
  ])("offers the nearest name for %p", (text, meant) => {
    expect(failure(() => parseCombo(text)).suggestion).toContain(`'${meant}'`)
  })

  test("accepts modifiers alone only if they can be held", () => {
    expect(parseCombo("shift", { modifiersAlone: true })).toEqual({ modifiers: [], key: "shift" })
    expect(parseCombo("option+control", { modifiersAlone: true })).toEqual({
      modifiers: ["alt"],
      key: "ctrl",
    })
  })

  test("reads cmd as ctrl only on Linux and only on request", () => {
    const asked = { cmdAsCtrl: true }
    expect(parseCombo("cmd+c", asked, "linux").modifiers).toEqual(["ctrl"])
    expect(parseCombo("cmd+c", asked, "darwin").modifiers).toEqual(["cmd"])
    expect(parseCombo("cmd+c", {}, "linux").modifiers).toEqual(["cmd"])
    expect(parseCombo("cmd", { ...asked, modifiersAlone: true }, "linux").key).toBe("ctrl")
  })

  test("parses back every combo it formats", () => {
    const combos = fc.record({
      modifiers: fc.subarray([...MODIFIERS]),
      key: fc.constantFrom(
        ...NAMED_KEYS.filter((key) => !MODIFIERS.some((modifier) => modifier === key)),
        "a",
        "+",
        "/",
        "é",
        "日",
      ),
    })
    fc.assert(fc.property(combos, (combo) => expect(parseCombo(comboText(combo))).toEqual(combo)))
  })

  test("turns any text into a combo or into INVALID_ARGS", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          expect(parseCombo(text).key).not.toBe("")
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
    )
  })
})

describe("guardCombo", () => {
  const ends = (text: string, app: string | undefined, platform: string) =>
    findSessionEnd(parseCombo(text, {}, platform), app, platform) !== undefined

  test.each([
    "ctrl+alt+delete",
    "ctrl+alt+forwarddelete",
    "alt+control+backspace",
    "ctrl+alt+f1",
    "ctrl+alt+f12",
  ])("blocks %p on Linux", (text) => {
    expect(ends(text, undefined, "linux")).toBe(true)
    expect(failure(() => guardCombo(parseCombo(text), undefined, "linux")).code).toBe("POLICY_DENIED")
    expect(failure(() => guardCombo(parseCombo(text), undefined, "linux")).suggestion).toContain("--force")
  })

  test.each(["ctrl+delete", "alt+f4", "ctrl+alt+t", "ctrl+alt+f13", "f1", "cmd+q"])(
    "allows %p on Linux",
    (text) => {
      expect(ends(text, undefined, "linux")).toBe(false)
    },
  )

  test("blocks cmd+q for Finder only", () => {
    expect(ends("cmd+q", "Finder", "darwin")).toBe(true)
    expect(ends("cmd+q", "com.apple.finder", "darwin")).toBe(true)
    expect(ends("cmd+q", "Path Finder", "darwin")).toBe(false)
    expect(ends("cmd+q", undefined, "darwin")).toBe(false)
  })

  test.each(["cmd+shift+q", "shift+option+cmd+q", "ctrl+cmd+q"])("blocks %p on macOS", (text) => {
    expect(ends(text, undefined, "darwin")).toBe(true)
  })
})
