import { appendFileSync, readFileSync } from "node:fs"
import type { Node } from "../../scripts/macos-check/mac.ts"
import {
  CALCULATOR,
  CONTACTS,
  FINDER,
  SETTINGS,
  TERMINAL,
  TEXTEDIT,
} from "../../scripts/macos-check/scripts.ts"

/** The windows of the model in pretend-mac.ts: their contents, and the faults that these can have. */

export const FAULTS = {
  /** The action is performed, answers with an error, and is done again. */
  "presses twice": "once",
  /** A row that answers "not implemented" makes the tree incomplete. */
  "incomplete tree": "complete",
  "terminal drops text": "typing",
  "page drops text": "typing",
  "one app spoils the list": "one app",
  "deep buttons are covered": "depth",
  "no sheet": "sheets",
  "a sheet blocks nothing": "sheets",
  "sidebar only selects": "opening",
  "icons have no ref": "opening",
  "hanging app slows down": "hanging",
  "second window sleeps": "waking",
  "young app does not answer": "young",
} as const

export type Fault = keyof typeof FAULTS

export interface Win {
  readonly id: string
  readonly app: string
  title: string
  /** The content, by the kind of window. */
  readonly file?: string
  folder?: string
  view?: string
  url?: string
  text: string
  isEditing?: boolean
  sheet?: string
  wakes?: boolean
}

export interface Part extends Node {
  readonly on?: Partial<Record<"click" | "double-click" | "physical" | "clear", () => void | Promise<void>>>
  readonly types?: (text: string) => void | Promise<void>
  /** True while a sheet is over it. */
  readonly isBlocked?: () => boolean
  readonly children?: readonly Part[]
}

/** The rest of the model, as far as a window reaches it. */
export interface Desk {
  is(fault: Fault): boolean
  openMenu(): void
  select(name: string): void
}

/** The elements of a window, or of a surface that belongs to it. */
export function partsOf(win: Win, surface: string | undefined, desk: Desk): readonly Part[] {
  if (surface === "menubar")
    return ["Apple", "TextEdit", "Ablage"].map((name) => ({
      role: "menuitem",
      name,
      on: {
        click: () => {
          desk.openMenu()
        },
      },
    }))
  if (surface === "menu") return [{ role: "menuitem", name: "Neu" }]
  if (surface === "sheet")
    return [
      field("Sichern unter:", (text) => {
        win.sheet = text
      }),
    ]
  switch (win.app) {
    case FINDER:
      return [...sidebar(win, desk), ...files(win, desk)]
    case TEXTEDIT:
      return [
        {
          ...field("", (text) => {
            win.text = text
          }),
          isBlocked: () => win.sheet !== undefined && !desk.is("a sheet blocks nothing"),
        },
      ]
    case TERMINAL:
      return [
        field("Shell", (text) => {
          if (!desk.is("terminal drops text")) win.text += text
        }),
      ]
    case CONTACTS:
      return [
        {
          role: "button",
          name: win.isEditing ? "Fertig" : "Bearbeiten",
          on: {
            click: () => {
              win.isEditing = !win.isEditing
            },
          },
        },
      ]
    case CALCULATOR:
      return Array.from({ length: 20 }, (_, n) => ({ role: "button", name: `${n}` }))
    case SETTINGS:
      return ["Allgemein", "Bedienungshilfen"].map((name) => ({
        role: "row",
        name,
        states: name === win.title ? ["selected"] : [],
        on: {
          click: () => {
            win.title = name
          },
        },
      }))
    default:
      return page(win, desk)
  }
}

function sidebar(win: Win, desk: Desk): readonly Part[] {
  return [
    {
      role: "treeitem",
      name: "Programme",
      on: {
        click: () => {
          if (!desk.is("sidebar only selects")) win.folder = "/Applications/"
        },
      },
    },
  ]
}

function files(win: Win, desk: Desk): readonly Part[] {
  if (win.view === "icon view") {
    const isBlind = desk.is("icons have no ref")
    const opened = () => {
      const source = readFileSync(`${win.folder}count.app`, "utf8")
      appendFileSync(/quoted form of "(.*?)"/.exec(source)![1]!, "opened\n")
    }
    return [{ role: "image", name: "count", ...(isBlind ? {} : { on: { "double-click": opened } }) }]
  }
  return ["one.txt", "two.txt", "three.txt"].map((name) => ({
    role: "row",
    name,
    on: {
      click: () => {
        desk.select(name)
      },
    },
  }))
}

function page({ title, url }: Win, desk: Desk): readonly Part[] {
  const post = async (what: string, body = "") => {
    await fetch(url! + what, { method: "POST", body })
  }
  return [
    field(`Field ${title}`, (text) => (desk.is("page drops text") ? undefined : post("text", text))),
    { role: "button", name: `Button ${title}`, on: { click: () => post("click") } },
  ]
}

function field(name: string, types: (text: string) => void | Promise<void>): Part {
  return { role: "textfield", name, types, on: { clear: () => types("") } }
}
