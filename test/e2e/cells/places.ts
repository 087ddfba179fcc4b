import {
  type Absent,
  by,
  type Cell,
  clicks,
  type Done,
  nothing,
  on,
  type PerToolkit,
  type Route,
  refused,
  unsupported,
  unverified,
  verified,
} from "../matrix-cell.ts"

const HIDDEN = ["--include-hidden"]

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

export const DISCLOSURES: readonly Cell[] = [
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

export const SCROLLING: readonly Cell[] = [
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
      office: refused("ACTION_FAILED", "not_actionable"),
    },
    timeoutMs: 5000,
  },
]

/** Commands without a ref: they act at a point or at the keyboard focus. */
export const BARE: readonly Cell[] = [
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
