import { firefox } from "../../test/fixtures/fixture.ts"
import { until } from "../../test/support/until.ts"
import { chromium } from "../apps.ts"
import type { Stage, Task } from "./task.ts"

/** Everyday tasks in stock apps. */

/** A dialog that prints its result. */
function dialog(
  name: string,
  args: readonly string[] | ((stage: Stage) => readonly string[]),
  wanted: string,
  steps: Pick<Task, "long" | "short">,
): Task {
  return {
    app: "zenity (GTK 3)",
    name,
    start: (stage) =>
      stage.open("Task", [
        "sh",
        "-c",
        `exec "$@" > ${stage.output}`,
        "sh",
        "zenity",
        "--title=Task",
        ...(typeof args === "function" ? args(stage) : args),
      ]),
    ...steps,
    isDone: async (stage) => (await stage.read(stage.output)).trim() === wanted,
  }
}

const FORM = ["--forms", "--add-entry=Name", "--add-entry=Mail", "--add-entry=Phone"]
const people = ({ isReversed }: Stage): readonly string[] => {
  const rows = [
    ["Ada", "36"],
    ["Alan", "41"],
    ["Grace", "85"],
  ]
  return ["--list", "--column=Name", "--column=Age", ...(isReversed ? rows.toReversed() : rows).flat()]
}

const DIALOGS: readonly Task[] = [
  dialog("fill a form", FORM, "Ada|ada@example.org|123", {
    async long(way) {
      await way.look("--app", "zenity")
      await way.on("set-value", 'textfield "Name"', "Ada")
      await way.on("set-value", 'textfield "Mail"', "ada@example.org")
      await way.on("set-value", 'textfield "Phone"', "123")
      await way.on("click", 'button "OK"')
    },
    short: (way) =>
      way.batch(
        ["set-value", { ref_id: 'textfield "Name"', value: "Ada" }],
        ["set-value", { ref_id: 'textfield "Mail"', value: "ada@example.org" }],
        ["set-value", { ref_id: 'textfield "Phone"', value: "123" }],
        ["click", { ref_id: 'button "OK"' }],
      ),
  }),
  dialog("choose a row", people, "Alan", {
    async long(way) {
      await way.look("--app", "zenity")
      await way.on("click", 'cell "Alan"')
      await way.on("click", 'button "OK"')
    },
    short: (way) => way.batch(["click", { ref_id: 'cell "Alan"' }], ["click", { ref_id: 'button "OK"' }]),
  }),
  dialog("set a value", ["--scale", "--text=Volume"], "70", {
    async long(way) {
      await way.look("--app", "zenity")
      await way.on("set-value", "slider", "70")
      await way.on("click", 'button "OK"')
    },
    short: (way) =>
      way.batch(["set-value", { ref_id: "slider", value: "70" }], ["click", { ref_id: 'button "OK"' }]),
  }),
  dialog("answer a question", ["--entry", "--text=Name"], "Grace", {
    async long(way) {
      await way.look("--app", "zenity")
      await way.on("type", "textfield", "Grace")
      await way.on("click", 'button "OK"')
    },
    short: (way) =>
      way.batch(["type", { ref_id: "@focused", text: "Grace" }], ["click", { ref_id: 'button "OK"' }]),
  }),
]

const POEM = "roses are red\nviolets are blue\n"

/** An editor with a file; its content judges the task. */
function edit(
  app: string,
  name: string,
  command: readonly string[],
  wanted: string,
  steps: Pick<Task, "long" | "short">,
): Task {
  return {
    app,
    name,
    start: async (stage) => {
      await Bun.write(stage.file, POEM)
      await stage.open("work", [...command, stage.file])
    },
    ...steps,
    isDone: async (stage) => (await stage.read()) === wanted,
  }
}

/** An editor whose new text is saved under a new name. */
function saveAs(
  app: string,
  title: string,
  command: readonly string[],
  { dialog, name }: Record<"dialog" | "name", string>,
): Task {
  return {
    app,
    name: "write and save as",
    start: (stage) => stage.open(title, command),
    async long(way, stage) {
      await way.look()
      await way.on("type", "textfield", "hello")
      await way.call("press", "ctrl+shift+s")
      await stage.opened(dialog)
      await way.look()
      await way.on("set-value", name, stage.file)
      await way.on("click", 'button "Save"')
    },
    short: (way, { file }) =>
      way.batch(
        ["type", { ref_id: "@focused", text: "hello" }],
        ["press", { combo: "ctrl+shift+s" }],
        ["set-value", { ref_id: name, value: file }],
        ["click", { ref_id: 'button "Save"' }],
      ),
    isDone: async (stage) => (await stage.read()).trim() === "hello",
  }
}

interface Replacing {
  /** Opens the dialog or bar. */
  readonly combo: string
  readonly dialog?: string
  /** The name of a field in a bar that slides in. */
  readonly bar?: string
  readonly find: string
  readonly replace: string
  /** Steps after the two texts. The long way looks again after a step that changes the elements. */
  readonly rest: readonly (readonly [verb: string, element: string])[]
}

/** Find and replace in a file, and save it. */
function replaceAll(
  app: string,
  command: readonly string[],
  { combo, dialog = "work", bar, find, replace, rest }: Replacing,
): Task {
  return edit(app, "find and replace", command, POEM.replaceAll("are", "were"), {
    async long(way, stage) {
      await way.call("press", combo)
      await stage.opened(dialog)
      if (bar) await stage.shows("textfield", bar)
      await way.look()
      await way.on("set-value", find, "are")
      await way.on("set-value", replace, "were")
      for (const [verb, element] of rest) await (verb === "look" ? way.look() : way.on(verb, element))
      await way.call("press", "ctrl+s")
    },
    short: (way) =>
      way.batch(
        ["press", { combo }],
        ...(bar ? [["wait", { element: replace, predicate: "visible" }] as const] : []),
        ["set-value", { ref_id: find, value: "are" }],
        ["set-value", { ref_id: replace, value: "were" }],
        ...rest.filter(([verb]) => verb !== "look").map(([verb, ref_id]) => [verb, { ref_id }] as const),
        ["press", { combo: "ctrl+s" }],
      ),
  })
}

/** 12 × 34 by its buttons; the result is copied. */
function multiply(app: string, title: string, command: readonly string[]): Task {
  const buttons = ["1", "2", "×", "3", "4", "="].map((name) => `button "${name}"`)
  return {
    app,
    name: "calculate and copy",
    start: (stage) => stage.open(title, command),
    async long(way) {
      await way.look()
      for (const button of buttons) await way.on("click", button)
      await way.call("press", "ctrl+c")
    },
    short: (way) =>
      way.batch(...buttons.map((ref_id) => ["click", { ref_id }] as const), ["press", { combo: "ctrl+c" }]),
    isDone: async (stage) => (await stage.clipboard()) === "408",
  }
}

const MOUSEPAD = "mousepad (GTK 3)"
const TEXT_EDITOR = "gnome-text-editor (GTK 4)"
const FEATHERPAD = "featherpad (Qt 5)"

const EDITORS: readonly Task[] = [
  saveAs(MOUSEPAD, "Mousepad", ["mousepad"], { dialog: "Save As", name: 'textfield "Name:"' }),
  replaceAll(MOUSEPAD, ["mousepad"], {
    combo: "ctrl+r",
    dialog: "Replace",
    find: 'combobox "Search for:"',
    replace: 'combobox "Replace with:"',
    rest: [
      ["check", 'checkbox "Replace all in:"'],
      ["look", ""],
      ["click", 'button "Replace All"'],
      ["click", 'button "Close"'],
    ],
  }),
  edit(MOUSEPAD, "choose from a menu", ["mousepad"], POEM.toUpperCase(), {
    async long(way) {
      await way.call("press", "ctrl+a")
      await way.look()
      await way.on("click", 'menuitem "Edit"')
      await way.look("--surface", "menu")
      await way.on("click", 'menuitem "Convert"')
      await way.look("--surface", "menu")
      await way.on("click", 'menuitem "To Uppercase"')
      await way.call("press", "ctrl+s")
    },
    short: (way) =>
      way.batch(
        ["press", { combo: "ctrl+a" }],
        ["click", { ref_id: 'menuitem "Edit"' }],
        ["click", { ref_id: 'menuitem "Convert"' }],
        ["click", { ref_id: 'menuitem "To Uppercase"' }],
        ["press", { combo: "ctrl+s" }],
      ),
  }),
  saveAs(TEXT_EDITOR, "Text Editor", ["gnome-text-editor", "--standalone"], {
    dialog: "Save As",
    name: 'textfield "Name:"',
  }),
  replaceAll(TEXT_EDITOR, ["gnome-text-editor", "--standalone"], {
    combo: "ctrl+h",
    bar: "Replace",
    find: 'textfield "EditorSearchEntry"',
    replace: 'textfield "Replace"',
    rest: [["click", 'button "Replace All"']],
  }),
  saveAs(FEATHERPAD, "Untitled", ["featherpad", "--standalone"], {
    dialog: "Save as",
    name: 'textfield "File name:"',
  }),
  replaceAll(FEATHERPAD, ["featherpad", "--standalone"], {
    combo: "ctrl+r",
    find: 'textfield "To be replaced"',
    replace: 'textfield "Replacing text"',
    rest: [["click", 'button "Replace all (F10)"']],
  }),
  multiply("gnome-calculator (GTK 4)", "Calculator", ["gnome-calculator"]),
  multiply("kcalc (Qt 5)", "KCalc", ["kcalc"]),
]

const page = ({ isReversed }: Stage): string => {
  const names = ["Ada", "Alan", "Gina", "Hugo", "Ines"]
  return `<!doctype html><title>Task</title><h1>Shop</h1>
<form action="/log"><label>Name <input name="name"></label> <label>Street <input name="street"></label>
<label>City <select name="city"><option>Basel<option>Bern<option>Chur</select></label>
<label><input type="checkbox" name="gift" value="yes"> Gift</label> <button>Order</button></form>
<table><tr><th>Name<th>Action${(isReversed ? names.toReversed() : names)
    .map((name) => `<tr><td>${name}<td><button onclick="fetch('/log?delete=${name}')">Delete</button>`)
    .join("")}</table>
<button onclick="document.querySelector('dialog').showModal()">Empty the cart</button>
<dialog aria-label="Sure?"><p>Empty the cart?</p><button onclick="fetch('/log?empty=yes')">Yes</button>
<button onclick="this.parentNode.close()">No</button></dialog>`
}

function browse(
  app: "Chromium" | "Firefox",
  name: string,
  wanted: string,
  steps: Pick<Task, "long" | "short">,
): Task {
  return {
    app,
    name,
    async start(stage) {
      const url = stage.serve(page(stage))
      const command = (app === "Chromium" ? chromium : firefoxWith)(stage.desktop.directory, url)
      await stage.open("Task", command)
      // A browser shows the title of a page before its content.
      await stage.desktop.run("wait", "--text", "Empty the cart", "--app", app)
    },
    ...steps,
    isDone: async ({ requests }) => requests.includes(wanted),
  }
}

/** Turns off the pages and questions of a first start, which may come at any time. */
const firefoxWith = (profile: string, url: string): readonly string[] => firefox(profile, url).command

/** Steps on elements of one window: in the long way after a look, in the short way in one batch. */
function steps(...all: readonly Step[]): Pick<Task, "long" | "short"> {
  return {
    async long(way) {
      await way.look()
      for (const [verb, element, value] of all) await way.on(verb, element, ...(value ? [value] : []))
    },
    short: (way) =>
      way.batch(
        ...all.map(([verb, ref_id, value]) => [verb, { ref_id, ...(value ? { value } : {}) }] as const),
      ),
  }
}

type Step = readonly [verb: string, element: string, value?: string]

const ADDRESS: readonly Step[] = [
  ["set-value", 'textfield "Name"', "Ada"],
  ["set-value", 'textfield "Street"', "Main 1"],
]
const FINISH: readonly Step[] = [
  ["check", 'checkbox "Gift"'],
  ["click", 'button "Order"'],
]

const remove: Pick<Task, "long" | "short"> = {
  async long(way) {
    await way.look()
    await way.on("click", 'button "Delete"')
  },
  short: (way) => way.call("click", 'button "Delete" in "Ada"'),
}

const confirm: Pick<Task, "long" | "short"> = {
  async long(way) {
    await way.look()
    await way.on("click", 'button "Empty the cart"')
    await way.look()
    await way.on("click", 'button "Yes"')
  },
  short: (way) =>
    way.batch(["click", { ref_id: 'button "Empty the cart"' }], ["click", { ref_id: 'button "Yes"' }]),
}

const PAGES: readonly Task[] = [
  browse(
    "Chromium",
    "fill a form",
    "name=Ada&street=Main+1&city=Bern&gift=yes",
    steps(...ADDRESS, ["select", 'combobox "City"', "Bern"], ...FINISH),
  ),
  browse("Chromium", "act on a row", "delete=Ada", remove),
  browse("Chromium", "confirm in a dialog", "empty=yes", confirm),
  browse(
    "Firefox",
    "fill a form",
    "name=Ada&street=Main+1&city=Basel&gift=yes",
    steps(...ADDRESS, ...FINISH),
  ),
  browse("Firefox", "confirm in a dialog", "empty=yes", confirm),
]

const preferences: Task = {
  app: FEATHERPAD,
  name: "change a preference",
  start: (stage) => stage.open("Untitled", ["featherpad", "--standalone"]),
  async long(way, stage) {
    await way.call("press", "ctrl+shift+p")
    await stage.opened("Preferences")
    await way.look()
    await way.on("check", 'checkbox "Start with side-pane mode"')
    await way.on("click", 'button "Close"')
  },
  short: (way) =>
    way.batch(
      ["press", { combo: "ctrl+shift+p" }],
      ["check", { ref_id: 'checkbox "Start with side-pane mode"' }],
      ["click", { ref_id: 'button "Close"' }],
    ),
  isDone: async ({ desktop, read }) =>
    (await read(`${desktop.directory}/home/.config/featherpad/fp.conf`)).includes("sidePaneMode=true"),
}

/** A document of LibreOffice that is saved as plain XML. */
function office(
  kind: "calc" | "writer",
  name: string,
  wanted: string,
  steps: Pick<Task, "long" | "short">,
): Task {
  const [ending, type, body] =
    kind === "calc"
      ? ["fods", "spreadsheet", '<table:table table:name="Sheet"/>']
      : ["fodt", "text", "<text:p>roses are red</text:p><text:p>violets are blue</text:p>"]
  const spaces = ["office", "table", "text"].map(
    (space) => `xmlns:${space}="urn:oasis:names:tc:opendocument:xmlns:${space}:1.0"`,
  )
  return {
    app: kind === "calc" ? "LibreOffice Calc" : "LibreOffice Writer",
    name,
    async start({ desktop, opened }) {
      const path = `${desktop.directory}/work.${ending}`
      await Bun.write(
        path,
        `<?xml version="1.0"?><office:document ${spaces.join(" ")} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.${type}"><office:body><office:${type}>${body}</office:${type}></office:body></office:document>`,
      )
      const profile = `-env:UserInstallation=file://${desktop.directory}/office`
      desktop.spawnApp(["soffice", "--norestore", "--nologo", "--nofirststartwizard", profile, path])
      await opened("work")
      // The window shows before its document has the keyboard focus.
      await until(async () => {
        const { json } = await desktop.run("find", "--state", "focused", "--first")
        return json?.data?.match
      }, 60_000)
    },
    ...steps,
    isDone: async ({ desktop, read }) => (await read(`${desktop.directory}/work.${ending}`)).includes(wanted),
  }
}

const CELLS = "Item\tPrice\nApples\t5\nPears\t7\n"

const DOCUMENTS: readonly Task[] = [
  office("calc", "fill cells and save", "Pears", {
    async long(way) {
      const found = await way.call("find", "--role", "cell", "--name", "A1", "--exact", "--first")
      await way.call("type", /@e\d+/.exec(found)?.[0] ?? "", CELLS)
      await way.call("press", "ctrl+s")
    },
    short: (way) => way.batch(["type", { ref_id: 'cell "A1"', text: CELLS }], ["press", { combo: "ctrl+s" }]),
  }),
  office("writer", "find and replace", "violets were blue", {
    async long(way, stage) {
      await way.call("press", "ctrl+h")
      await stage.opened("Find and Replace")
      await way.look()
      await way.on("set-value", "textfield nth 1", "are")
      await way.on("set-value", "textfield nth 2", "were")
      await way.on("click", 'button "Replace All"')
      await way.on("click", 'button "Close"')
      await way.call("press", "ctrl+s")
    },
    short: (way) =>
      way.batch(
        ["press", { combo: "ctrl+h" }],
        ["set-value", { ref_id: 'textfield in "Search For"', value: "are" }],
        ["set-value", { ref_id: 'textfield in "Replace With"', value: "were" }],
        ["click", { ref_id: 'button "Replace All"' }],
        ["click", { ref_id: 'button "Close"' }],
        ["press", { combo: "ctrl+s" }],
      ),
  }),
]

export const TASKS: readonly Task[] = [...DIALOGS, ...EDITORS, preferences, ...PAGES, ...DOCUMENTS]
