import type { FixtureEvent } from "../fixtures/fixture.ts"
import {
  type Absent,
  by,
  type Cell,
  contradicted,
  type Done,
  nothing,
  on,
  type PerToolkit,
  type Route,
  refused,
  unsupported,
  unverified,
  verified,
} from "./matrix-cell.ts"
import type { FixtureCommand } from "./matrix-stage.ts"

/** One line of the log for every character that arrives. */
const letters = (name: string, text: string, before = "", event = "text"): FixtureEvent[] =>
  [...text].map((_, at, all) => on(event, name, before + all.slice(0, at + 1).join("")))

const clicks = (count: number, button = 1): FixtureEvent[] =>
  Array.from({ length: count }, (_, at) => [
    { event: "click", name: "Click area", button, count: at + 1 },
    { event: "release", name: "Click area", button },
  ]).flat()

const set = (name: string, value: unknown): FixtureCommand => ({ do: "set", name, value })

const HIDDEN = ["--include-hidden"]

const NO_MENU_BUTTON: Absent = { absent: "dialogs of macros have no menu button" }

const BUTTONS: readonly Cell[] = [
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
const boldOn = (how: Route = "accessibility"): PerToolkit => ({
  rest: verified(how, on("toggle", "Bold", true)),
  gtk4: unsupported,
  office: unsupported,
})
const agreed = (value: boolean, how: Route = "accessibility"): Done =>
  verified(how, on("check", "Agree", value))
/** GTK 4.8 offers no action for check and radio buttons. */
const byPointerOnGtk4 = (cell: (how: Route) => Done): PerToolkit => ({
  rest: cell("accessibility"),
  gtk4: cell("pointer"),
})

const TOGGLES: readonly Cell[] = [
  {
    command: "click",
    on: "Bold",
    // The accessible press of LibreOffice acts like a click, but the button does not stay down.
    want: { rest: by("accessibility", [on("toggle", "Bold", true)]), office: unverified("accessibility") },
  },
  {
    command: "click",
    on: "Bold",
    input: "physical",
    want: by("pointer", [on("toggle", "Bold", true)]),
  },
  { command: "toggle", on: "Bold", want: boldOn() },
  { command: "toggle", on: "Bold", input: "semantic", want: boldOn() },
  { command: "toggle", on: "Bold", input: "physical", want: boldOn("pointer") },
  { command: "check", on: "Bold", want: boldOn() },
  {
    command: "uncheck",
    on: "Bold",
    given: [set("Bold", true)],
    about: "Bold, pressed",
    want: {
      rest: verified("accessibility", on("toggle", "Bold", false)),
      office: verified("pointer", on("toggle", "Bold", false)),
    },
  },
  {
    command: "click",
    on: "Agree",
    want: byPointerOnGtk4((how) => by(how, [on("check", "Agree", true)])),
  },
  { command: "toggle", on: "Agree", want: byPointerOnGtk4((how) => agreed(true, how)) },
  { command: "check", on: "Agree", want: byPointerOnGtk4((how) => agreed(true, how)) },
  { command: "check", on: "Agree", input: "semantic", want: { rest: agreed(true), gtk4: unsupported } },
  { command: "check", on: "Agree", input: "physical", want: agreed(true, "pointer") },
  { command: "check", on: "Agree", given: [set("Agree", true)], about: "Agree, checked", want: nothing },
  {
    command: "uncheck",
    on: "Agree",
    given: [set("Agree", true)],
    about: "Agree, checked",
    want: byPointerOnGtk4((how) => agreed(false, how)),
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
    want: byPointerOnGtk4((how) => by(how, [on("radio", "Medium", true)])),
  },
  {
    command: "check",
    on: "Medium",
    want: byPointerOnGtk4((how) => verified(how, on("radio", "Medium", true))),
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

const HELLO = "héllo ✓"

const NO_LINES: Absent = { absent: "a field of several lines is not accessible" }

const TEXTS: readonly Cell[] = [
  {
    command: "type",
    on: "Name",
    role: "textfield",
    args: [HELLO],
    want: {
      rest: verified("accessibility", on("text", "Name", HELLO)),
      web: verified("keyboard", ...letters("Name", HELLO)),
    },
  },
  {
    command: "type",
    on: "Name",
    role: "textfield",
    args: [HELLO],
    input: "semantic",
    want: { rest: verified("accessibility", on("text", "Name", HELLO)), web: unsupported },
  },
  {
    command: "type",
    on: "Name",
    role: "textfield",
    args: [HELLO],
    input: "physical",
    want: verified("keyboard", ...letters("Name", HELLO)),
  },
  {
    command: "type",
    on: "Name",
    role: "textfield",
    args: ["de"],
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    want: {
      rest: verified("accessibility", on("text", "Name", "abcde")),
      web: verified("keyboard", ...letters("Name", "de", "abc")),
    },
  },
  {
    command: "type",
    on: "Name",
    role: "textfield",
    args: ["de"],
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    input: "physical",
    want: verified("keyboard", ...letters("Name", "de", "abc")),
  },
  {
    command: "set-value",
    on: "Name",
    role: "textfield",
    args: ["xyz"],
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    want: {
      rest: verified("accessibility", on("text", "Name", "xyz")),
      gtk4: verified("accessibility", on("text", "Name", ""), on("text", "Name", "xyz")),
      web: verified("keyboard", ...letters("Name", "xyz")),
    },
  },
  {
    command: "set-value",
    on: "Name",
    role: "textfield",
    args: ["xyz"],
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    input: "physical",
    want: {
      rest: verified("keyboard", ...letters("Name", "xyz")),
      gtk3: verified("keyboard", on("text", "Name", ""), ...letters("Name", "xyz")),
      gtk4: verified("keyboard", on("text", "Name", ""), ...letters("Name", "xyz")),
    },
  },
  {
    command: "set-value",
    on: "Name",
    role: "textfield",
    args: ["xyz"],
    input: "semantic",
    want: { rest: verified("accessibility", on("text", "Name", "xyz")), web: unsupported },
  },
  {
    command: "clear",
    on: "Name",
    role: "textfield",
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    want: {
      rest: verified("accessibility", on("text", "Name", "")),
      web: verified("keyboard", on("text", "Name", "")),
    },
  },
  {
    command: "clear",
    on: "Name",
    role: "textfield",
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    input: "physical",
    want: verified("keyboard", on("text", "Name", "")),
  },
  {
    command: "clear",
    on: "Name",
    role: "textfield",
    given: [set("Name", "abc")],
    about: "Name, with a text in it",
    input: "semantic",
    want: { rest: verified("accessibility", on("text", "Name", "")), web: unsupported },
  },
  {
    command: "click",
    on: "Name",
    role: "textfield",
    want: {
      rest: by("pointer", [], { states: ["focused"] }),
      web: by("accessibility", [], { states: ["focused"] }),
    },
  },
  {
    command: "click",
    on: "Name",
    role: "textfield",
    input: "semantic",
    want: { rest: unsupported, web: by("accessibility", [], { states: ["focused"] }) },
  },
  {
    command: "focus",
    on: "Name",
    role: "textfield",
    want: {
      rest: { ...verified("accessibility"), states: ["focused"] },
      gtk4: { ...verified("pointer"), states: ["focused"] },
    },
  },
  {
    command: "focus",
    on: "Name",
    role: "textfield",
    input: "semantic",
    want: { rest: { ...verified("accessibility"), states: ["focused"] }, gtk4: unsupported },
  },
  {
    command: "focus",
    on: "Name",
    role: "textfield",
    input: "physical",
    want: { ...verified("pointer"), states: ["focused"] },
  },
  {
    command: "focus",
    on: "Name",
    role: "textfield",
    given: [{ do: "focus", name: "Name" }],
    about: "Name, focused",
    want: nothing,
  },
  {
    command: "focus",
    on: "Agree",
    want: { rest: { ...verified("accessibility"), states: ["focused"] }, gtk4: unsupported },
  },
  { command: "focus", on: "Agree", input: "physical", want: unsupported },
  {
    command: "type",
    on: "Secret",
    role: "textfield",
    args: ["pw"],
    about: "Secret, a password field",
    want: {
      rest: unverified("accessibility", on("text", "Secret", "pw")),
      web: unverified("keyboard", ...letters("Secret", "pw")),
    },
  },
  {
    command: "clear",
    on: "Secret",
    role: "textfield",
    given: [set("Secret", "pw")],
    about: "Secret, a password field",
    want: {
      rest: unverified("accessibility", on("text", "Secret", "")),
      web: unverified("keyboard", on("text", "Secret", "")),
    },
  },
  ...(["type", "set-value", "clear"] as const).map(
    (command): Cell => ({
      command,
      on: "Serial",
      role: "textfield",
      args: command === "clear" ? [] : ["x"],
      about: "Serial, read-only",
      timeoutMs: 1500,
      want: refused("ACTION_FAILED", "not_actionable"),
    }),
  ),
  {
    command: "set-value",
    on: "Stubborn",
    role: "textfield",
    args: ["x"],
    about: "Stubborn, which puts its text back",
    want: contradicted,
  },
  {
    command: "type",
    on: "Stubborn",
    role: "textfield",
    args: ["moved"],
    about: "Stubborn, which puts its text back",
    want: contradicted,
  },
  {
    command: "type",
    on: "Notes",
    role: "textfield",
    args: ["a\nb"],
    about: "Notes, two lines",
    want: {
      rest: verified("accessibility", on("text", "Notes", "a\nb")),
      office: NO_LINES,
      web: verified("keyboard", ...letters("Notes", "a\nb")),
    },
  },
  {
    command: "type",
    on: "Notes",
    role: "textfield",
    args: ["a\nb"],
    about: "Notes, two lines",
    input: "physical",
    want: { rest: verified("keyboard", ...letters("Notes", "a\nb")), office: NO_LINES },
  },
  {
    command: "set-value",
    on: "Notes",
    role: "textfield",
    args: ["new"],
    want: {
      rest: verified("accessibility", on("text", "Notes", "new")),
      office: NO_LINES,
      web: verified("keyboard", ...letters("Notes", "new")),
    },
  },
  {
    command: "set-value",
    on: "City",
    role: "combobox",
    args: ["Oslo"],
    about: "City, a combo box to type into",
    want: {
      rest: verified("accessibility", on("select", "City", "Oslo")),
      gtk4: verified("accessibility", on("select", "City", ""), on("select", "City", "Oslo")),
      web: by("keyboard", letters("City", "Oslo", "", "select")),
    },
  },
]

const NO_SLIDER: Absent = { absent: "dialogs of macros have no slider" }

const NUMBERS: readonly Cell[] = [
  {
    command: "set-value",
    on: "Volume",
    role: "slider",
    args: ["75"],
    want: { rest: verified("accessibility", on("value", "Volume", 75)), office: NO_SLIDER },
  },
  {
    command: "set-value",
    on: "Volume",
    role: "slider",
    args: ["75"],
    input: "semantic",
    want: { rest: verified("accessibility", on("value", "Volume", 75)), office: NO_SLIDER },
  },
  {
    command: "set-value",
    on: "Volume",
    role: "slider",
    args: ["32"],
    input: "physical",
    about: "Volume, two steps on",
    want: {
      rest: verified("keyboard", on("value", "Volume", 31), on("value", "Volume", 32)),
      // GTK 4.8 gives a slider the focus by no request.
      gtk4: unsupported,
      office: NO_SLIDER,
    },
  },
  {
    command: "set-value",
    on: "Volume",
    role: "slider",
    args: ["400"],
    about: "Volume, too much",
    want: { rest: refused("ACTION_FAILED", "out_of_range"), office: NO_SLIDER },
  },
  {
    command: "set-value",
    on: "Volume",
    role: "slider",
    args: ["loud"],
    about: "Volume, not a number",
    want: { rest: refused("ACTION_FAILED", "not_a_number"), office: NO_SLIDER },
  },
  {
    command: "set-value",
    on: "Amount",
    role: "incrementor",
    args: ["42"],
    want: {
      rest: verified("accessibility", on("value", "Amount", 42)),
      office: verified("keyboard", on("value", "Amount", 4), on("value", "Amount", 42)),
    },
  },
  {
    command: "set-value",
    on: "Amount",
    role: "incrementor",
    args: ["400"],
    about: "Amount, too much",
    want: refused("ACTION_FAILED", "out_of_range"),
  },
  {
    command: "set-value",
    on: "Day",
    role: "incrementor",
    args: ["2024-06-01"],
    about: "Day, a date field",
    want: {
      rest: { absent: "GTK has no date field" },
      qt: verified("accessibility", on("value", "Day", "2024-06-01")),
      web: { absent: "it is made of three fields there" },
      office: { absent: "it is a plain field there" },
    },
  },
]

const picked = (name: string, value: string, how: Route): Done => verified(how, on("select", name, value))

const CHOICES: readonly Cell[] = [
  {
    command: "select",
    on: "Fruit",
    role: "combobox",
    args: ["Banana"],
    want: {
      rest: picked("Fruit", "Banana", "accessibility"),
      gtk4: picked("Fruit", "Banana", "pointer"),
      qt: picked("Fruit", "Banana", "pointer"),
    },
  },
  {
    command: "select",
    on: "Fruit",
    role: "combobox",
    args: ["Banana"],
    input: "semantic",
    want: { rest: picked("Fruit", "Banana", "accessibility"), gtk4: unsupported, qt: unsupported },
  },
  {
    command: "select",
    on: "Fruit",
    role: "combobox",
    args: ["Banana"],
    input: "physical",
    want: picked("Fruit", "Banana", "pointer"),
  },
  {
    command: "select",
    on: "Fruit",
    role: "combobox",
    args: ["Apple"],
    about: "Fruit, already chosen",
    want: nothing,
  },
  {
    command: "select",
    on: "Fruit",
    role: "combobox",
    args: ["Kiwi"],
    about: "Fruit, no such option",
    want: refused("ELEMENT_NOT_FOUND"),
  },
  {
    command: "select",
    on: "City",
    role: "combobox",
    args: ["Rome"],
    about: "City, a combo box to type into",
    want: {
      rest: picked("City", "Rome", "accessibility"),
      // GTK 4 exposes no names in this list.
      gtk4: refused("ELEMENT_NOT_FOUND"),
      qt: picked("City", "Rome", "pointer"),
      web: refused("ELEMENT_NOT_FOUND"),
    },
  },
  {
    command: "select",
    on: "Colours",
    role: "listbox",
    args: ["Blue"],
    want: picked("Colours", "Blue", "accessibility"),
  },
  {
    command: "select",
    on: "Colours",
    role: "listbox",
    args: ["Blue"],
    input: "semantic",
    want: picked("Colours", "Blue", "accessibility"),
  },
  {
    command: "select",
    on: "Colours",
    role: "listbox",
    args: ["Mauve"],
    about: "Colours, no such option",
    want: refused("ELEMENT_NOT_FOUND"),
  },
  {
    command: "click",
    on: "Red",
    role: "option",
    want: {
      // A single click activates a row of a GTK list.
      rest: by("pointer", [on("select", "Colours", "Red"), on("activate", "Colours", "Red")]),
      qt: by("pointer", [on("select", "Colours", "Red")]),
      office: by("pointer", [on("select", "Colours", "Red")]),
      web: by("accessibility", [on("select", "Colours", "Red")]),
    },
  },
  {
    command: "double-click",
    on: "Green",
    role: "option",
    want: {
      // The second press selects the row again.
      rest: by("pointer", [
        on("select", "Colours", "Green"),
        on("activate", "Colours", "Green"),
        on("select", "Colours", "Green"),
      ]),
      qt: by("pointer", [on("select", "Colours", "Green"), on("activate", "Colours", "Green")]),
      office: by("pointer", [on("select", "Colours", "Green"), on("activate", "Colours", "Green")]),
      web: by("pointer", [
        on("select", "Colours", "Green"),
        on("select", "Colours", "Green"),
        on("activate", "Colours", "Green"),
      ]),
    },
  },
  {
    command: "click",
    on: "Ada",
    role: "cell",
    want: by("pointer", [on("select", "People", "Ada")]),
  },
  {
    command: "click",
    on: "Second",
    role: "tab",
    want: by("accessibility", [on("tab", "Second")]),
  },
  {
    command: "click",
    on: "Second",
    role: "tab",
    input: "physical",
    want: by("pointer", [on("tab", "Second")]),
  },
]

const opened = (name: string, value: boolean, how: Route): Done => verified(how, on("expand", name, value))
/** A row of a GTK 3 table may have an old name; see src/linux/atspi/rows.ts. */
const openedRow = (name: string): Done => unverified("accessibility", on("expand", name, true))

/** In GTK 4 the arrow beside the row is an element of its own. */
const documents = (want: PerToolkit, more: Partial<Cell>): readonly Cell[] => [
  {
    command: "expand",
    on: "Documents",
    role: "treeitem",
    ...more,
    want: { ...want, gtk4: { absent: "it is a group there" } },
  },
  {
    command: "expand",
    on: "Documents",
    role: "group",
    ...more,
    want: { rest: { absent: "it is a tree item there" }, gtk4: want.gtk4 ?? want.rest },
  },
]

const NO_EXPANDER: Absent = { absent: "dialogs of macros have no expander" }

const DISCLOSURES: readonly Cell[] = [
  ...documents(
    {
      rest: opened("Documents", true, "accessibility"),
      gtk3: openedRow("Documents"),
      qt: opened("Documents", true, "pointer"),
      web: opened("Documents", true, "keyboard"),
    },
    {},
  ),
  ...documents(
    {
      rest: opened("Documents", true, "accessibility"),
      gtk3: openedRow("Documents"),
      qt: unsupported,
      web: unsupported,
    },
    { input: "semantic" },
  ),
  ...documents(
    {
      rest: unsupported,
      qt: opened("Documents", true, "pointer"),
      web: opened("Documents", true, "keyboard"),
    },
    { input: "physical" },
  ),
  ...documents({ rest: nothing }, { command: "collapse", about: "Documents, collapsed" }),
  {
    command: "click",
    on: "Pictures",
    role: "treeitem",
    want: {
      rest: by("pointer", [on("select", "Files", "Pictures")]),
      gtk4: { absent: "it is an option there" },
      // The page expands a clicked item.
      web: by("pointer", [on("select", "Files", "Pictures"), on("expand", "Pictures", true)]),
    },
  },
  {
    command: "double-click",
    on: "Pictures",
    role: "treeitem",
    want: {
      rest: by("pointer", [on("select", "Files", "Pictures"), on("activate", "Files", "Pictures")]),
      gtk4: { absent: "it is an option there" },
      qt: by("pointer", [
        on("select", "Files", "Pictures"),
        on("activate", "Files", "Pictures"),
        on("expand", "Pictures", true),
      ]),
      web: by("pointer", [
        on("select", "Files", "Pictures"),
        on("expand", "Pictures", true),
        on("select", "Files", "Pictures"),
        on("expand", "Pictures", false),
        on("activate", "Files", "Pictures"),
      ]),
      office: by("pointer", [
        on("select", "Files", "Pictures"),
        on("expand", "Pictures", true),
        on("activate", "Files", "Pictures"),
      ]),
    },
  },
  {
    command: "expand",
    on: "Details",
    want: { rest: opened("Details", true, "accessibility"), qt: unsupported, office: NO_EXPANDER },
  },
  {
    command: "expand",
    on: "Details",
    input: "physical",
    want: { rest: opened("Details", true, "pointer"), qt: unsupported, office: NO_EXPANDER },
  },
  {
    command: "collapse",
    on: "Details",
    about: "Details, collapsed",
    want: { rest: nothing, qt: unsupported, office: NO_EXPANDER },
  },
]

const scrolled = on("scroll", "Scroll area")

const SCROLLING: readonly Cell[] = [
  {
    command: "scroll",
    on: "Row 1",
    args: ["down", "2"],
    want: {
      rest: verified("accessibility", scrolled),
      web: by("wheel", [scrolled]),
      office: verified("wheel", scrolled),
    },
  },
  {
    command: "scroll",
    on: "Row 1",
    args: ["down", "2"],
    input: "semantic",
    want: { rest: verified("accessibility", scrolled), web: unsupported, office: unsupported },
  },
  {
    command: "scroll",
    on: "Row 1",
    args: ["down", "2"],
    input: "physical",
    want: by("wheel", [scrolled]),
  },
  {
    command: "scroll",
    on: "Row 1",
    args: ["up"],
    about: "Row 1, at the top",
    want: {
      rest: refused("ACTION_FAILED", "at_end"),
      web: unverified("wheel"),
      office: unverified("wheel"),
    },
  },
  {
    command: "scroll-to",
    on: "Row 20",
    look: HIDDEN,
    about: "Row 20, out of view",
    want: {
      rest: verified("accessibility", scrolled),
      web: by("accessibility", [scrolled]),
      // LibreOffice exposes no scroll bars of its trees.
      office: unsupported,
    },
  },
  {
    command: "scroll-to",
    on: "Row 1",
    about: "Row 1, in view",
    want: { rest: nothing, web: by("accessibility", []), office: unsupported },
  },
  {
    command: "click",
    on: "Row 20",
    look: HIDDEN,
    input: "physical",
    about: "Row 20, out of view",
    want: {
      rest: by("pointer", [scrolled, on("press", "Row 20")]),
      // GTK 4 scrolls the row a little further when it gets the focus.
      gtk4: by("pointer", [scrolled, on("press", "Row 20"), scrolled]),
      office: refused("ACTION_FAILED", "not_actionable"),
    },
    timeoutMs: 5000,
  },
]

/** Commands without a ref: they act at a point or at the keyboard focus. */
const BARE: readonly Cell[] = [
  {
    command: "press",
    on: "Press me",
    isBare: true,
    args: ["space"],
    about: "on the button with the focus",
    want: by("keyboard", [on("press", "Press me")]),
  },
  {
    command: "press",
    on: "Press me",
    isBare: true,
    args: ["ctrl+s"],
    about: "a shortcut",
    want: by("keyboard", [on("menu", "Save")]),
  },
  {
    command: "press",
    on: "Name",
    role: "textfield",
    isBare: true,
    args: ["x"],
    given: [{ do: "focus", name: "Name" }],
    about: "in the field with the focus",
    want: by("keyboard", [on("text", "Name", "x")]),
  },
  { ...atArea("mouse-move"), want: by("pointer", []) },
  { ...atArea("mouse-click"), want: by("pointer", clicks(1)) },
  { ...atArea("mouse-click", "--count", "2"), want: by("pointer", clicks(2)) },
  { ...atArea("mouse-click", "--button", "middle"), want: by("pointer", clicks(1, 2)) },
  { ...atArea("mouse-click", "--button", "right"), want: by("pointer", clicks(1, 3)) },
  { ...atArea("hover"), want: by("pointer", []) },
  {
    command: "mouse-wheel",
    on: "Row 1",
    isBare: true,
    args: ["--xy", "#Row 1", "--dy", "2"],
    want: by("wheel", [scrolled]),
  },
  {
    command: "drag",
    on: "Drag me",
    isBare: true,
    args: ["--from-xy", "#Drag me", "--to-xy", "#Drop here"],
    want: by("pointer", [on("drag", "Drag me"), on("drop", "Drop here", "dragged")]),
  },
]

function atArea(command: string, ...more: readonly string[]): Omit<Cell, "want"> {
  return { command, on: "Click area", isBare: true, args: ["--xy", "#Click area", ...more] }
}

/** The effect of every command on every fitting control of every toolkit. Each cell is a test. */
export const CELLS: readonly Cell[] = [
  ...BUTTONS,
  ...TOGGLES,
  ...TEXTS,
  ...NUMBERS,
  ...CHOICES,
  ...DISCLOSURES,
  ...SCROLLING,
  ...BARE,
]
