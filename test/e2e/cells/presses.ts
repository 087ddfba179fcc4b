import {
  type Absent,
  by,
  type Cell,
  clicks,
  contradicted,
  type Done,
  nothing,
  on,
  type PerToolkit,
  type Route,
  set,
  unsupported,
  unverified,
  verified,
} from "../matrix-cell.ts"

const NO_MENU_BUTTON: Absent = { absent: "dialogs of macros have no menu button" }

export const BUTTONS: readonly Cell[] = [
  { command: "click", on: "Press me", want: by("accessibility", [on("press", "Press me")]) },
  {
    command: "click",
    on: "Press me",
    input: "semantic",
    want: by("accessibility", [on("press", "Press me")]),
  },
  { command: "click", on: "Press me", input: "physical", want: by("pointer", [on("press", "Press me")]) },
  { command: "click", on: "Deaf", want: unverified("accessibility") },
  { command: "click", on: "Deaf", input: "physical", want: by("pointer", []) },
  { command: "click", on: "Slow", want: by("accessibility", [on("press", "Slow")]) },
  {
    command: "click",
    on: "Delete",
    nth: 0,
    about: "Delete, the first of two",
    want: by("accessibility", [{ event: "press", name: "Delete", key: "Delete 1" }]),
  },
  {
    command: "click",
    on: "Delete",
    nth: 1,
    about: "Delete, the second of two",
    want: by("accessibility", [{ event: "press", name: "Delete", key: "Delete 2" }]),
  },
  {
    command: "click",
    on: "Delete",
    nth: 1,
    about: "Delete, the second of two",
    input: "physical",
    want: by("pointer", [{ event: "press", name: "Delete", key: "Delete 2" }]),
  },
  {
    command: "click",
    on: "Website",
    role: "link",
    want: {
      rest: by("accessibility", [on("link", "Website")]),
      gtk3: { absent: "it is a button there" },
      office: { absent: "it is plain text there" },
      qt: { absent: "a link in the text of a label has no ref" },
    },
  },
  {
    command: "click",
    on: "Options",
    about: "Options, a menu button",
    want: { rest: by("accessibility", [on("popover", "Options", true)]), office: NO_MENU_BUTTON },
  },
  {
    command: "click",
    on: "Options",
    about: "Options, a menu button",
    input: "physical",
    want: { rest: by("pointer", [on("popover", "Options", true)]), office: NO_MENU_BUTTON },
  },
  { command: "double-click", on: "Click area", want: unverified("pointer", ...clicks(2)) },
  { command: "double-click", on: "Click area", input: "physical", want: unverified("pointer", ...clicks(2)) },
  { command: "double-click", on: "Click area", input: "semantic", want: unsupported },
  { command: "triple-click", on: "Click area", want: unverified("pointer", ...clicks(3)) },
  { command: "triple-click", on: "Click area", input: "physical", want: unverified("pointer", ...clicks(3)) },
  { command: "triple-click", on: "Click area", input: "semantic", want: unsupported },
  {
    command: "right-click",
    on: "Context area",
    want: {
      rest: verified("pointer", on("context", "Context area")),
      web: verified("accessibility", on("context", "Context area")),
    },
  },
  {
    command: "right-click",
    on: "Context area",
    input: "physical",
    want: verified("pointer", on("context", "Context area")),
  },
  {
    command: "right-click",
    on: "Context area",
    input: "semantic",
    want: { rest: unsupported, web: verified("accessibility", on("context", "Context area")) },
  },
  { command: "hover", on: "Click area", want: { how: "pointer", log: [] } },
  {
    command: "drag",
    on: "Drag me",
    args: ["--to", "@Drop here"],
    want: { how: "pointer", log: [on("drag", "Drag me"), on("drop", "Drop here", "dragged")] },
  },
  { command: "toggle", on: "Press me", want: unsupported },
  { command: "check", on: "Press me", want: unsupported },
  { command: "expand", on: "Press me", want: unsupported },
  { command: "type", on: "Press me", args: ["x"], want: unsupported },
  { command: "set-value", on: "Press me", args: ["x"], want: unsupported },
  { command: "clear", on: "Press me", want: unsupported },
  { command: "select", on: "Press me", args: ["x"], want: unsupported },
]

/** GTK 4.8 and LibreOffice show a toggle button as a plain button until it is pressed. */
const boldOn = (how: Route, inQt = how): PerToolkit => ({
  rest: verified(how, on("toggle", "Bold", true)),
  qt: verified(inQt, on("toggle", "Bold", true)),
  gtk4: unsupported,
  office: unsupported,
})
const agreed = (value: boolean, how: Route = "accessibility"): Done =>
  verified(how, on("check", "Agree", value))
/** GTK 4.8 offers no action for check and radio buttons, and the one of Qt is not a click for its app. */
const byPointerOnGtk4AndQt = (cell: (how: Route) => Done): PerToolkit => ({
  rest: cell("accessibility"),
  gtk4: cell("pointer"),
  qt: cell("pointer"),
})

export const TOGGLES: readonly Cell[] = [
  {
    command: "click",
    on: "Bold",
    // The accessible press of LibreOffice acts like a click, but the button does not stay down.
    want: {
      rest: by("accessibility", [on("toggle", "Bold", true)]),
      qt: by("pointer", [on("toggle", "Bold", true)]),
      office: unverified("accessibility"),
    },
  },
  {
    command: "click",
    on: "Bold",
    input: "physical",
    want: by("pointer", [on("toggle", "Bold", true)]),
  },
  { command: "toggle", on: "Bold", want: boldOn("accessibility", "pointer") },
  { command: "toggle", on: "Bold", input: "semantic", want: boldOn("accessibility") },
  { command: "toggle", on: "Bold", input: "physical", want: boldOn("pointer") },
  { command: "check", on: "Bold", want: boldOn("accessibility", "pointer") },
  {
    command: "uncheck",
    on: "Bold",
    given: [set("Bold", true)],
    about: "Bold, pressed",
    want: {
      rest: verified("accessibility", on("toggle", "Bold", false)),
      qt: verified("pointer", on("toggle", "Bold", false)),
      office: verified("pointer", on("toggle", "Bold", false)),
    },
  },
  {
    command: "click",
    on: "Agree",
    want: byPointerOnGtk4AndQt((how) => by(how, [on("check", "Agree", true)])),
  },
  { command: "toggle", on: "Agree", want: byPointerOnGtk4AndQt((how) => agreed(true, how)) },
  { command: "check", on: "Agree", want: byPointerOnGtk4AndQt((how) => agreed(true, how)) },
  { command: "check", on: "Agree", input: "semantic", want: { rest: agreed(true), gtk4: unsupported } },
  { command: "check", on: "Agree", input: "physical", want: agreed(true, "pointer") },
  { command: "check", on: "Agree", given: [set("Agree", true)], about: "Agree, checked", want: nothing },
  {
    command: "uncheck",
    on: "Agree",
    given: [set("Agree", true)],
    about: "Agree, checked",
    want: byPointerOnGtk4AndQt((how) => agreed(false, how)),
  },
  { command: "uncheck", on: "Agree", want: nothing },
  { command: "uncheck", on: "Agree", input: "physical", want: nothing },
  { command: "check", on: "Stuck", about: "Stuck, which unchecks itself", want: contradicted },
  {
    command: "check",
    on: "Stuck",
    about: "Stuck, which unchecks itself",
    input: "physical",
    want: contradicted,
  },
  {
    command: "toggle",
    on: "Wi-Fi",
    role: "switch",
    want: {
      rest: verified("accessibility", on("switch", "Wi-Fi", true)),
      qt: { absent: "Qt has no switch" },
      office: { absent: "LibreOffice has no switch" },
    },
  },
  {
    command: "check",
    on: "Wi-Fi",
    role: "switch",
    want: {
      rest: verified("accessibility", on("switch", "Wi-Fi", true)),
      qt: { absent: "Qt has no switch" },
      office: { absent: "LibreOffice has no switch" },
    },
  },
  {
    command: "click",
    on: "Medium",
    want: byPointerOnGtk4AndQt((how) => by(how, [on("radio", "Medium", true)])),
  },
  {
    command: "check",
    on: "Medium",
    want: byPointerOnGtk4AndQt((how) => verified(how, on("radio", "Medium", true))),
  },
  {
    command: "check",
    on: "Medium",
    input: "physical",
    want: verified("pointer", on("radio", "Medium", true)),
  },
  { command: "check", on: "Small", about: "Small, checked", want: nothing },
  {
    command: "uncheck",
    on: "Small",
    about: "Small, checked",
    // GTK 4.8 reports a radio button as a check box.
    want: { rest: unsupported, gtk4: contradicted },
  },
]
