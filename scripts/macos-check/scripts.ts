/**
 * Every AppleScript that the checks use. Apps are addressed by their identifiers and elements by their roles, never by
 * names, which differ between languages.
 */

export const FINDER = "com.apple.finder"
export const TEXTEDIT = "com.apple.TextEdit"
export const CONTACTS = "com.apple.AddressBook"
export const TERMINAL = "com.apple.Terminal"
export const SAFARI = "com.apple.Safari"
export const CHROME = "com.google.Chrome"
export const SETTINGS = "com.apple.systempreferences"
export const CALCULATOR = "com.apple.calculator"

export type Scripts = typeof SCRIPTS

export const SCRIPTS = {
  isRunning: (app: string) => `application id ${quote(app)} is running`,
  quit: (app: string) => `tell application id ${quote(app)} to quit`,
  activate: (app: string) => `tell application id ${quote(app)} to activate`,
  /** Finds an installed app without starting it. */
  isInstalled: (app: string) =>
    tell(FINDER, [
      "try",
      `get application file id ${quote(app)}`,
      "return true",
      "on error",
      "return false",
      "end try",
    ]),
  frontApp: () => events(["return bundle identifier of first process whose frontmost is true"]),
  /** The pids of all apps in the Dock, one per line. */
  regularApps: () => events(listed("unix id of every process whose background only is false")),
  /** The kinds of data in the clipboard, one per line. */
  clipboardKinds: () => listed("clipboard info", "item 1 of one").join("\n"),

  /** The windows of Finder or Terminal by id, or the documents of TextEdit by name, one per line. */
  listOpen: (app: string) =>
    app === TEXTEDIT
      ? tell(app, listed("name of every document"))
      : tell(app, listed(`id of every ${app === FINDER ? "Finder window" : "window"}`)),
  closeOpen: (app: string, one: string) =>
    app === TEXTEDIT
      ? tell(app, [`close (every document whose name is ${quote(one)}) saving no`])
      : app === FINDER
        ? tell(app, [`close Finder window id ${Number(one)}`])
        : tell(app, [`close (every window whose id is ${Number(one)}) saving no`]),

  /** Opens a window of its own on a folder, and returns its id. */
  openFolder: (path: string, view: "icon view" | "list view") =>
    [
      `set place to (POSIX file ${quote(path)}) as alias`,
      tell(FINDER, [
        "activate",
        "set shown to make new Finder window to place",
        `set current view of shown to ${view}`,
        "return id of shown",
      ]),
    ].join("\n"),
  /** The path that a Finder window shows; empty for places that are not folders. */
  folderOf: (window: string) =>
    tell(FINDER, [
      "try",
      `return POSIX path of (target of Finder window id ${Number(window)} as alias)`,
      "on error",
      `return ""`,
      "end try",
    ]),
  /** The left and the top edge of a Finder window, one per line. */
  folderPosition: (window: string) => tell(FINDER, listed(`position of Finder window id ${Number(window)}`)),
  /** The names of the selected files, one per line. */
  selection: () => tell(FINDER, listed("selection as list", "name of one")),
  /** Folders that a sidebar may show: a line with the name in the user's language, then a line with the path, and so on. */
  sidebarFolders: () =>
    [
      `set found to ""`,
      "repeat with place in {applications folder, desktop folder, documents folder, downloads folder}",
      "set there to path to (contents of place)",
      `tell application id ${quote(FINDER)} to set shown to displayed name of there`,
      "set found to found & shown & linefeed & (POSIX path of there) & linefeed",
      "end repeat",
      "return found",
    ].join("\n"),

  /** Makes an empty document, and returns its name. */
  newDocument: () => tell(TEXTEDIT, ["activate", "return name of (make new document)"]),
  closeFile: (path: string) =>
    tell(TEXTEDIT, [`close (every document whose path is ${quote(path)}) saving no`]),

  makePerson: (name: string) =>
    tell(CONTACTS, [
      `set made to make new person with properties {first name:"Agent", last name:${quote(name)}}`,
      "save",
      "return id of made",
    ]),
  deletePeople: (name: string) =>
    tell(CONTACTS, [
      `repeat with one in (get (every person whose last name is ${quote(name)}))`,
      "delete (contents of one)",
      "end repeat",
      "save",
    ]),

  /** A property of all elements of a role in the front window, or in its sheet, one per line. */
  look: (app: string, place: "window" | "sheet", role: string, property: "value" | "title" | "role") =>
    process(
      app,
      listed(
        `entire contents of ${place === "sheet" ? "sheet 1 of window 1" : "window 1"}`,
        `${property} of one`,
        `role of one is ${quote(role)}`,
      ),
    ),
  pressButton: (app: string, title: string) =>
    process(app, [
      "repeat with one in (get (entire contents of window 1))",
      "try",
      `if role of one is "AXButton" and title of one is ${quote(title)} then`,
      "click one",
      "return",
      "end if",
      "end try",
      "end repeat",
    ]),
  windowTitle: (app: string) => process(app, ["return title of window 1"]),
  menuLength: (app: string, position: number) =>
    process(app, [`return count of menu items of menu 1 of menu bar item ${position} of menu bar 1`]),

  /** Runs a command in a window of its own, and returns the window's id. */
  runInTerminal: (command: string) =>
    tell(TERMINAL, ["activate", `do script ${quote(command)}`, "return id of front window"]),

  openWebWindow: (app: string, url: string) =>
    tell(
      app,
      app === SAFARI
        ? ["activate", `make new document with properties {URL:${quote(url)}}`]
        : ["activate", "set made to make new window", `set URL of active tab of made to ${quote(url)}`],
    ),
  closeWebPages: (app: string, url: string) =>
    tell(app, [
      "repeat with one in (get every window)",
      "try",
      `close (every tab of one whose URL starts with ${quote(url)})`,
      "end try",
      "end repeat",
    ]),
} as const

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`
}

function tell(app: string, what: readonly string[]): string {
  return [`tell application id ${quote(app)}`, ...what, "end tell"].join("\n")
}

/** System Events is a second client of the accessibility API, independent of agent-desktop. */
function events(what: readonly string[]): string {
  return tell("com.apple.systemevents", what)
}

function process(app: string, what: readonly string[]): string {
  return events([`tell (first process whose bundle identifier is ${quote(app)})`, ...what, "end tell"])
}

/** Returns the items of a list as lines. Items that cannot be read are left out. */
function listed(list: string, item = "contents of one", condition = "true"): string[] {
  return [
    `set found to ""`,
    // Without "get", apps are asked for one item at a time, which not every app can do.
    `repeat with one in (get (${list}))`,
    "try",
    `if ${condition} then set found to found & ((${item}) as text) & linefeed`,
    "end try",
    "end repeat",
    "return found",
  ]
}
