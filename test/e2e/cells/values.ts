import {
  type Absent,
  by,
  type Cell,
  type Done,
  nothing,
  on,
  type Route,
  refused,
  unsupported,
  verified,
} from "../matrix-cell.ts"

const NO_SLIDER: Absent = { absent: "dialogs of macros have no slider" }

export const NUMBERS: readonly Cell[] = [
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

export const CHOICES: readonly Cell[] = [
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
