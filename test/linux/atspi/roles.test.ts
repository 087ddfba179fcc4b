import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { has, INTERFACE, packStates, STATE, type StateSet } from "../../../src/linux/atspi/bits.ts"
import { type Evidence, kindOf, ROLE, roleOf } from "../../../src/linux/atspi/roles.ts"
import { TRAITS, traitsOf } from "../../../src/linux/atspi/toolkits.ts"
import { allRoles } from "../../../src/node.ts"

const words = allRoles()
const LAST_ROLE = 130

function states(...names: (keyof typeof STATE)[]): StateSet {
  return names.reduce((set, name) => set + 2 ** STATE[name], 0)
}

function role(
  native: keyof typeof ROLE,
  set: StateSet = 0,
  parent: keyof typeof ROLE = "PANEL",
  more?: Evidence,
): string {
  return kindOf(ROLE[native], set, false, ROLE[parent], more).role
}

test("every AT-SPI role maps to a role of the contract, and a newer one to unknown", () => {
  for (let native = 0; native <= LAST_ROLE; native++) expect(words, String(native)).toContain(roleOf(native))
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(2 ** 31),
      fc.boolean(),
      fc.nat(140),
      fc.constantFrom("gtk", "GTK", "Qt", "Chromium", ""),
      (native, set, holds, parent, toolkit) => {
        expect(words).toContain(
          kindOf(native, set, holds, parent, {
            traits: traitsOf(toolkit, ""),
            interfaces: set,
            childCount: 0,
          }).role,
        )
      },
    ),
  )
  expect(roleOf(LAST_ROLE + 1)).toBe("unknown")
  expect(roleOf(-1)).toBe("unknown")
})

describe("the same AT-SPI role is", () => {
  test("a menu if it opens by itself, an item inside another menu", () => {
    expect(role("MENU", 0, "WINDOW")).toBe("menu")
    expect(role("MENU", 0, "MENU_BAR")).toBe("menuitem")
    expect(role("MENU", 0, "MENU")).toBe("menuitem")
  })

  test("an option if it can be selected, structure if it only holds text", () => {
    expect(role("LIST_ITEM", states("SELECTABLE"), "LIST")).toBe("option")
    expect(role("LIST_ITEM", 0, "LIST")).toBe("group")
    expect(role("LIST_ITEM", states("SELECTABLE"), "TREE")).toBe("treeitem")
    expect(role("LIST", states("FOCUSABLE"))).toBe("listbox")
    expect(role("LIST")).toBe("list")
  })

  test("a window at the top level, a group inside a window", () => {
    expect(role("FRAME", 0, "APPLICATION")).toBe("window")
    expect(role("FRAME", 0, "PANEL")).toBe("group")
    expect(role("FILE_CHOOSER", 0, "APPLICATION")).toBe("dialog")
    expect(role("FILE_CHOOSER", 0, "FILLER")).toBe("group")
  })

  test("a switch or a button, depending on the toolkit's details", () => {
    const plain = INTERFACE.Accessible | INTERFACE.Action | INTERFACE.Component
    expect(role("TOGGLE_BUTTON", 0, "PANEL", { traits: TRAITS.gtk3, interfaces: plain })).toBe("switch")
    expect(
      role("TOGGLE_BUTTON", 0, "PANEL", { traits: TRAITS.gtk3, interfaces: plain | INTERFACE.Image }),
    ).toBe("button")
    expect(role("TOGGLE_BUTTON", states("CHECKABLE"), "PANEL", { traits: TRAITS.chromium })).toBe("switch")
    expect(role("TOGGLE_BUTTON", 0, "PANEL", { traits: TRAITS.chromium })).toBe("button")
    expect(role("CHECK_BOX", 0, "PANEL", { traits: TRAITS.gtk4, childCount: 0 })).toBe("switch")
    expect(role("CHECK_BOX", 0, "PANEL", { traits: TRAITS.gtk4, childCount: 2 })).toBe("checkbox")
  })

  test("a text field if it is editable, text if it is not", () => {
    expect(role("TEXT", states("EDITABLE"))).toBe("textfield")
    expect(role("TEXT")).toBe("statictext")
    expect(role("PARAGRAPH", states("EDITABLE", "FOCUSABLE"))).toBe("textfield")
    expect(role("PARAGRAPH")).toBe("paragraph")
    expect(role("SECTION")).toBe("group")
  })
})

test("a set of states keeps its 64 bits separate", () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), (low, high) => {
      const set = packStates(low, high)
      for (const bit of Object.values(STATE)) {
        const word = bit < 32 ? low : high
        expect(has(set, bit)).toBe(((word >>> (bit & 31)) & 1) === 1)
      }
    }),
  )
})
