import { expect, test } from "bun:test"
import fc from "fast-check"
import { detailsOf, mayBeActedOn, natureOf, STRUCTURE, WEB_STRUCTURE } from "../../src/macos/attributes.ts"
import { actionNames, statesOf } from "../../src/macos/describe.ts"
import { deliveryOf, Failure } from "../../src/macos/failure.ts"
import { partsOf } from "../../src/macos/keyboard.ts"
import { hintOf, nameOf, shortcutOf, valueText } from "../../src/macos/names.ts"
import type { Attributes } from "../../src/macos/value.ts"
import type { Role } from "../../src/node.ts"

const states = (role: Role, attributes: Attributes, secure = false) =>
  statesOf(role, attributes, { secure, interactive: true })

test("a state is listed only if the app reports it", () => {
  expect(states("button", {})).toEqual([])
  expect(states("button", { AXEnabled: new Failure(-25205), AXFocused: undefined, AXHidden: false })).toEqual(
    [],
  )
  expect(states("button", { AXEnabled: true, AXFocused: true })).toEqual(["enabled", "focused"])
  expect(states("button", { AXEnabled: false })).toEqual(["disabled"])
  expect(statesOf("group", { AXEnabled: true }, { secure: false, interactive: false })).toEqual([])
})

test("a check box is checked, unchecked or neither, as a number or as a boolean", () => {
  expect(states("checkbox", { AXValue: 1 })).toEqual(["checked"])
  expect(states("checkbox", { AXValue: true })).toEqual(["checked"])
  expect(states("switch", { AXValue: 0 })).toEqual(["unchecked"])
  expect(states("radiobutton", { AXValue: false })).toEqual(["unchecked"])
  expect(states("checkbox", { AXValue: 2 })).toEqual(["indeterminate"])
  expect(states("checkbox", { AXValue: "1" })).toEqual([])
  expect(states("slider", { AXValue: 1 })).toEqual([])
  expect(states("button", { AXSubrole: "AXToggleButton", AXValue: 1 })).toEqual(["checked"])
  expect(states("button", { AXValue: 1 })).toEqual([])
})

test("a menu item is checked if it has a mark", () => {
  expect(states("menuitem", { AXMenuItemMarkChar: "✓" })).toEqual(["checked"])
  expect(states("menuitem", { AXMenuItemMarkChar: "-" })).toEqual(["indeterminate"])
  expect(states("menuitem", { AXMenuItemMarkChar: "" })).toEqual([])
})

test("an expandable element is expanded or collapsed, by any of the attributes for that", () => {
  expect(states("combobox", { AXExpanded: false })).toEqual(["collapsed"])
  expect(states("treeitem", { AXDisclosing: true })).toEqual(["expanded"])
  expect(states("disclosure", { AXValue: 1 })).toEqual(["expanded"])
  expect(states("treeitem", {})).toEqual([])
})

test("a field whose subrole cannot be read may be secure; a field without a subrole is not", () => {
  const hides = (structure: Attributes) => natureOf(structure).hides
  expect(hides({ AXRole: "AXTextField", AXSubrole: new Failure(-25204) })).toBe(true)
  expect(hides({ AXSubrole: undefined })).toBe(true)
  expect(hides({ AXRole: "AXTextField", AXSubrole: "AXSecureTextField" })).toBe(true)
  expect(hides({ AXRole: "AXTextField", AXSubrole: new Failure(-25205) })).toBe(false)
})

test("invalid is only reported if the app reports it", () => {
  expect(states("textfield", { AXInvalid: "false" })).toEqual([])
  expect(states("textfield", { AXInvalid: "" })).toEqual([])
  expect(states("textfield", { AXInvalid: "spelling" })).toEqual(["invalid"])
})

test("the value of a secure field is never requested", () => {
  const field = { role: "textfield", toggle: false, named: undefined } as const
  expect(detailsOf({ ...field, hides: false }, true, () => false)).toContain("AXValue")
  expect(detailsOf({ ...field, hides: true }, true, () => false)).not.toContain("AXValue")
  expect(STRUCTURE).not.toContain("AXValue")
  expect(WEB_STRUCTURE).not.toContain("AXValue")
  expect(states("textfield", {}, true)).toEqual(["secure"])
})

test("a name comes from the title, the label, the description, the text inside, the placeholder", () => {
  const all = { AXTitle: "title", AXDescription: "description", AXPlaceholderValue: "placeholder" }
  const found = { label: "label", inside: "inside" }
  expect(nameOf(all, found)).toBe("title")
  expect(nameOf({ ...all, AXTitle: " " }, found)).toBe("label")
  expect(nameOf({ ...all, AXTitle: "" }, {})).toBe("description")
  expect(nameOf({ AXPlaceholderValue: "placeholder" }, { inside: "inside" })).toBe("inside")
  expect(nameOf({ AXValue: "typed", AXPlaceholderValue: "Search" }, {})).toBe("Search")
  expect(nameOf({ AXValue: "Hello" }, {})).toBeUndefined()
})

test("a value is text, an empty field has one, and the state of a control is not repeated as a value", () => {
  expect(valueText("textfield", "")).toBe("")
  expect(valueText("slider", 0.5)).toBe("0.5")
  expect(valueText("checkbox", 1)).toBeUndefined()
  expect(valueText("textfield", new Failure(-25212))).toBeUndefined()
  expect(valueText("statictext", "Hello")).toBe("Hello")
  expect(valueText("statictext", " ")).toBeUndefined()
})

test("a shortcut has the form that 'press' takes, with cmd unless the app excludes it", () => {
  expect(shortcutOf({ AXMenuItemCmdChar: "S", AXMenuItemCmdModifiers: 0 })).toBe("cmd+s")
  expect(shortcutOf({ AXMenuItemCmdChar: "S", AXMenuItemCmdModifiers: 1 })).toBe("cmd+shift+s")
  expect(shortcutOf({ AXMenuItemCmdChar: "F", AXMenuItemCmdModifiers: 4 | 8 })).toBe("ctrl+f")
  expect(shortcutOf({ AXMenuItemCmdChar: "" })).toBeUndefined()
  expect(hintOf({ AXHelp: "Saves", AXMenuItemCmdChar: "S" }, "Save")).toBe("Saves; cmd+s")
  expect(hintOf({ AXHelp: "Save" }, "Save")).toBeUndefined()
})

const offers = (...actions: string[]) => ({ actions: new Set(actions), settable: false })

test("an element has exactly the actions that it offers", () => {
  expect(actionNames("button", [], {}, offers("AXPress", "AXShowMenu"))).toEqual(["Click", "RightClick"])
  expect(actionNames("button", [], {}, offers())).toEqual([])
  expect(actionNames("combobox", [], {}, offers("AXPress", "AXShowMenu"))).toEqual([
    "Click",
    "Expand",
    "Select",
  ])
  expect(actionNames("radiobutton", [], {}, offers("AXPress"))).toEqual(["Click", "Check"])
  expect(actionNames("cell", [], { AXSelected: false }, offers("AXOpen"))).toEqual(["Click", "DoubleClick"])
  expect(actionNames("textfield", [], { AXFocused: false }, { actions: new Set(), settable: true })).toEqual([
    "SetValue",
    "TypeText",
    "Clear",
    "SetFocus",
  ])
})

test("only elements that may be buttons are asked for their actions", () => {
  expect(mayBeActedOn("button", false, false)).toBe("yes")
  expect(mayBeActedOn("image", false, false)).toBe("ask")
  expect(mayBeActedOn("group", true, true)).toBe("ask")
  expect(mayBeActedOn("group", true, false)).toBe("no")
  expect(mayBeActedOn("group", false, true)).toBe("sample")
  expect(mayBeActedOn("statictext", false, false)).toBe("sample")
  expect(mayBeActedOn("statictext", true, false)).toBe("no")
})

test("only a plain refusal means that nothing was delivered", () => {
  expect(deliveryOf(0)).toBe("delivered_unverified")
  expect([-25201, -25202, -25211].map(deliveryOf)).toEqual(Array(3).fill("not_delivered"))
  const open = [-25200, -25203, -25204, -25205, -25206, -25207, -25208, -25212, -25213, -25214]
  expect(open.map(deliveryOf)).toEqual(Array(10).fill("delivery_uncertain"))
})

test("text is split into events of at most 20 units, never inside a character, and line ends and tabs are keys", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.array(fc.constantFrom("\n", "\t", "😀", "a")),
      (text, more) => {
        const whole = text + more.join("")
        const parts = partsOf(whole)
        expect(parts.join("")).toBe(whole.replaceAll(/\r\n?/g, "\n"))
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(20)
          expect(part.isWellFormed()).toBe(true)
          expect(part.length === 1 || !/[\n\t]/.test(part)).toBe(true)
        }
      },
    ),
  )
  expect(partsOf(`${"x".repeat(19)}😀`)).toEqual(["x".repeat(19), "😀"])
  expect(partsOf("a\r\nb")).toEqual(["a", "\n", "b"])
})
