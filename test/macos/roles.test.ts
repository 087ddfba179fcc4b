import { expect, test } from "bun:test"
import { isSecure, ROLES, roleOf, SUBROLES } from "../../src/macos/roles.ts"
import { isRole, type Role } from "../../src/node.ts"

test("every role is a word of the contract", () => {
  expect([...Object.values(ROLES), ...Object.values(SUBROLES)].filter((role) => !isRole(role))).toEqual([])
})

const CASES: readonly (readonly [axRole: string | undefined, axSubrole: string | undefined, role: Role])[] = [
  ["AXButton", undefined, "button"],
  ["AXButton", "AXCloseButton", "button"],
  ["AXTextArea", undefined, "textfield"],
  ["AXTextField", "AXSearchField", "textfield"],
  ["AXTextField", "AXSecureTextField", "textfield"],
  ["AXCheckBox", undefined, "checkbox"],
  ["AXCheckBox", "AXSwitch", "switch"],
  ["AXCheckBox", "AXToggleButton", "checkbox"],
  ["AXButton", "AXToggleButton", "button"],
  ["AXRadioButton", "AXTabButton", "tab"],
  ["AXTabGroup", undefined, "tablist"],
  ["AXPopUpButton", undefined, "combobox"],
  ["AXMenuButton", undefined, "menubutton"],
  ["AXRow", "AXOutlineRow", "treeitem"],
  ["AXRow", "AXTableRow", "row"],
  ["AXMenuBar", undefined, "menubar"],
  ["AXMenuBarItem", undefined, "menuitem"],
  ["AXWindow", "AXStandardWindow", "window"],
  ["AXWindow", "AXDialog", "dialog"],
  ["AXSplitGroup", undefined, "splitter"],
  ["AXGroup", "AXLandmarkMain", "main"],
  ["AXGroup", "AXSomethingNew", "group"],
  ["AXSomethingNew", undefined, "unknown"],
  [undefined, undefined, "unknown"],
]

for (const [axRole, axSubrole, role] of CASES) {
  test(`${axRole ?? "an element without a role"}${axSubrole ? ` with ${axSubrole}` : ""} is a ${role}`, () => {
    expect(roleOf(axRole, axSubrole)).toBe(role)
  })
}

test("a password field is known by its role or by its subrole", () => {
  expect([isSecure("AXTextField", "AXSecureTextField"), isSecure("AXSecureTextField", undefined)]).toEqual([
    true,
    true,
  ])
  expect([isSecure("AXTextField", "AXSearchField"), isSecure(undefined, undefined)]).toEqual([false, false])
})
