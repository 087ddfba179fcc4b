import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../src/errors.ts"
import { isSameName, parseDescription } from "../../src/look/description.ts"
import { lineOf } from "../../src/look/outline.ts"
import { allRoles } from "../../src/node.ts"

/** The words for an element: `button "Save"`, `button "Delete" in "Gina Moser"`. */

describe("a description", () => {
  test.each([
    ['button "Save"', { role: "button", name: "Save", within: [] }],
    ['"Save"', { name: "Save", within: [] }],
    ["button", { role: "button", within: [] }],
    ["  Button   \n", { role: "button", within: [] }],
    ["text box", undefined],
    ['textbox "City"?', { role: "textfield", name: "City", within: [] }],
    ['button "Delete" in "Gina Moser"', { role: "button", name: "Delete", within: [{ name: "Gina Moser" }] }],
    [
      '"Delete" in row "Gina" in toolbar in "Main"',
      { name: "Delete", within: [{ role: "row", name: "Gina" }, { role: "toolbar" }, { name: "Main" }] },
    ],
    ['button "OK" nth 2', { role: "button", name: "OK", within: [], nth: 2 }],
    ['button nth 2 in "X"', { role: "button", within: [{ name: "X" }], nth: 2 }],
    ['"in" in "nth"', { name: "in", within: [{ name: "nth" }] }],
    ['"a \\"b\\" \\\\ \\n\\u00e9"', { name: 'a "b" \\ \né', within: [] }],
    ['"a raw\ttab and\nline"', { name: "a raw\ttab and\nline", within: [] }],
  ])("%j", (text, read) => {
    if (read) expect(parseDescription(text)).toEqual(read as never)
    else expect(() => parseDescription(text)).toThrow("at character 1")
  })

  test.each([
    ["", "a role or a name in quotes is missing, at character 1"],
    ["Save", "'Save' is not a role"],
    ["buton", "did you mean button?"],
    ["button Save", "'Save' is neither 'in' nor 'nth', at character 8"],
    ['button "Save', "the quote that ends this name is missing, at character 8"],
    ['button ""', "the name is empty, at character 1"],
    ['button "Save" "Now"', "a second name; 'in' is missing before it?, at character 15"],
    ['button "Save" [@e3]', "@e3 is a ref, which stands alone, at character 15"],
    ['button "OK" nth 0', "nth needs a number from 1, at character 17"],
    ['button "OK" nth', "nth needs a number from 1, at character 16"],
    ['button "OK" nth 1 nth 2', "neither 'in' nor 'nth'"],
    ['button "OK" in', "the name of what it is in is missing, at character 15"],
    ['button "OK"in "X"', "a space is missing after the name, at character 12"],
    ['"C:\\dir"', "a backslash in this name"],
    ["in", "'in' is not a role"],
    ["@e0", "'@e0' is not a role"],
  ])("%j is refused, and the message says where", (text, message) => {
    expect(() => parseDescription(text)).toThrow(message)
    try {
      parseDescription(text)
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      expect(error).toMatchObject({ code: "INVALID_ARGS", suggestion: expect.stringContaining("@e3") })
    }
  })

  test("is exactly what the outline prints", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.string({
        unit: fc.constantFrom('"', "\\", "\n", "\u2028", "in", " ", "[@e3]", "…", "\ud83d"),
        minLength: 1,
      }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...allRoles()), text, (role, name) => {
        const printed = lineOf({ role, name })
        expect(printed).not.toContain("\n")
        expect(parseDescription(printed)).toEqual({ role, name, within: [] })
      }),
    )
  })

  test("never throws anything but INVALID_ARGS", () => {
    const part = fc.constantFrom("button", '"a"', "in", "nth", "2", '"', "\\", " ", "@e1", "?", "\n")
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join(" ")),
        ),
        (text) => {
          try {
            parseDescription(text)
          } catch (error) {
            expect(error).toMatchObject({ code: "INVALID_ARGS" })
          }
        },
      ),
    )
  })
})

describe("a name", () => {
  test.each([
    ["button", "Save", "save", true],
    ["button", "Save", "Save as", false],
    ["button", "Save", "Sav", false],
    ["button", "_Save", "Save", true],
    ["button", "E_xit", "exit", true],
    ["button", "&Open…", "Open", true],
    ["button", "Open...", "Open…", true],
    ["menuitem", "Save As…", "save as", true],
    ["button", "…", "...", true],
    ["button", "…", "", false],
    ["button", "Save & Close", "Save & close", true],
    ["button", "Save & Close", "Save Close", false],
    ["textfield", "_Name:", "name", true],
    ["textfield", "名前：", "名前", true],
    ["textfield", ":", "", false],
    ["option", "C:", "C", false],
    ["option", "my_file", "myfile", false],
    ["cell", "R&D", "RD", false],
    ["statictext", "Two\n words", "Two words", true],
    ["button", "Cafe\u0301", "Café", true],
  ] as const)("of a %s, %j, is %j: %p", (role, have, want, same) => {
    expect(isSameName(role, have, want)).toBe(same)
    expect(isSameName(role, want, have)).toBe(same)
  })

  test("may have a shortcut in parentheses behind it, which a caller can leave out", () => {
    expect(isSameName("button", "Address Book (Ctrl+2)", "address book")).toBe(true)
    expect(isSameName("tab", "Styles (Ctrl+Alt+2)", "Styles")).toBe(true)
    expect(isSameName("button", "Styles (Ctrl+2)", "Styles (Ctrl+3)")).toBe(false)
    expect(isSameName("button", "Save (draft)", "Save")).toBe(false)
    expect(isSameName("link", "Save (Ctrl+S)", "Save")).toBe(false)
  })

  test("of a menu item may have its shortcut behind it, which a caller can leave out", () => {
    expect(isSameName("menuitem", "Print… Ctrl+P", "print")).toBe(true)
    expect(isSameName("menuitem", "Print… Ctrl+P", "Print… Ctrl+P")).toBe(true)
    expect(isSameName("menuitem", "Print… Ctrl+P", "Print Ctrl+Q")).toBe(false)
    expect(isSameName("menuitem", "Print", "Print Ctrl+P")).toBe(false)
    expect(isSameName("button", "Print Ctrl+P", "Print")).toBe(false)
  })
})
