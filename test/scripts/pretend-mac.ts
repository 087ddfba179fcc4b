import { appendFileSync, writeFileSync } from "node:fs"
import { basename } from "node:path"
import { version } from "../../package.json"
import type { Node, Outside, Ran } from "../../scripts/macos-check/mac.ts"
import {
  CALCULATOR,
  CHROME,
  CONTACTS,
  FINDER,
  SAFARI,
  SETTINGS,
  TERMINAL,
  TEXTEDIT,
} from "../../scripts/macos-check/scripts.ts"
import { type Desk, type Fault, type Part, partsOf, type Win } from "./pretend-windows.ts"

/**
 * A Mac for the checks of scripts/macos-check.ts: agent-desktop and AppleScript, played by a model of the apps. It
 * speaks German and corrects what is typed, and it can have one fault.
 */

const PIDS: Readonly<Record<string, number>> = {
  [FINDER]: 100,
  [TEXTEDIT]: 101,
  [CONTACTS]: 102,
  [TERMINAL]: 103,
  [SAFARI]: 104,
  [CHROME]: 105,
  [SETTINGS]: 106,
  [CALCULATOR]: 107,
}

/** Changes words as a Mac does by default: the first letter of a sentence, and a spelling. */
const corrected = (text: string): string =>
  text
    .replace(/(^|\n)([a-zäöü])/g, (_, start: string, letter: string) => start + letter.toUpperCase())
    .replaceAll("teh", "the")

export class PretendMac {
  readonly running = new Set([FINDER, TERMINAL])
  windows: Win[] = [
    { id: "w-1", app: FINDER, title: "Dokumente", folder: "/Users/someone/Documents/", text: "" },
  ]
  people: string[] = ["someone"]
  clipboard = "mine"
  front = TERMINAL
  readonly stopped = new Set<number>()
  isMissingSymbol = false
  #menu = false
  #keys = ""
  #selection = ""
  #next = 2
  #refs = new Map<string, Part>()
  readonly #fault: Fault | undefined

  constructor(fault?: Fault) {
    this.#fault = fault
  }

  /** Everything that a run must leave as it was. */
  state(): object {
    const { windows, people, clipboard } = this
    const open = windows.map(({ id, title, sheet, isEditing }) => ({ id, title, sheet, isEditing }))
    return {
      running: [...this.running].sort(),
      open,
      people: [...people],
      clipboard,
      stopped: [...this.stopped],
      menu: this.#menu,
    }
  }

  outside(): Outside {
    return {
      ask: async (args) => {
        const answer = await this.#ask(args)
        return { code: answer.ok ? 0 : 1, out: JSON.stringify(answer), err: "" }
      },
      script: async (name, args) => {
        const scripts: Readonly<Record<string, (...args: never[]) => unknown>> = this.#scripts
        const script = scripts[name]
        if (!script) throw new Error(`no script ${name}`)
        return ran(`${(await script(...(args as never[]))) ?? ""}\n`)
      },
      run: (command, input) => this.#run(command, input),
      pause: () => Bun.sleep(1),
    }
  }

  #open(app: string, facts: Partial<Win>): Win {
    const win: Win = { id: `w-${this.#next++}`, app, title: "", text: "", ...facts }
    this.running.add(app)
    this.front = app
    this.windows = [win, ...this.windows]
    return win
  }

  #front(app: string): Win {
    const win = this.windows.find((one) => one.app === app)
    if (!win) throw new Error(`${app} has no window`)
    return win
  }

  readonly #scripts = {
    isRunning: (app: string) => this.running.has(app),
    isInstalled: () => true,
    quit: (app: string) => {
      this.running.delete(app)
      this.windows = this.windows.filter((win) => win.app !== app)
    },
    activate: (app: string) => {
      this.front = app
    },
    frontApp: () => this.front,
    regularApps: () => [...this.running].map((app) => PIDS[app]).join("\n"),
    clipboardKinds: () => "«class utf8»\n«class ut16»",
    listOpen: (app: string) =>
      this.windows
        .filter((win) => win.app === app)
        .map((win) => this.#key(win))
        .join("\n"),
    closeOpen: (app: string, key: string) => {
      const win = this.windows.find((one) => one.app === app && this.#key(one) === key)
      if (!win) throw new Error(`no window ${key}`)
      if (win.sheet !== undefined) throw new Error("a sheet is open")
      this.windows = this.windows.filter((one) => one !== win)
    },
    openFolder: (folder: string, view: string) =>
      this.#open(FINDER, { title: basename(folder), folder: `${folder}/`, view }).id.slice(2),
    folderOf: (id: string) => this.#byId(`w-${id}`).folder ?? "",
    folderPosition: () => "120\n140",
    selection: () => this.#selection,
    sidebarFolders: () => "Programme\n/Applications/\nSchreibtisch\n/Users/someone/Desktop/\n",
    newDocument: () => this.#open(TEXTEDIT, { title: `Ohne Titel ${this.#next}` }).title,
    closeFile: (path: string) => {
      this.windows = this.windows.filter((win) => win.file !== path)
    },
    makePerson: (name: string) => {
      this.running.add(CONTACTS)
      this.people.push(name)
      return `${name}:ABPerson`
    },
    deletePeople: (name: string) => {
      this.people = this.people.filter((one) => one !== name)
    },
    look: (app: string, place: string, role: string) => {
      const win = this.#front(app)
      if (place === "sheet") return win.sheet
      return role === "AXButton"
        ? `missing value\n${win.isEditing ? "Fertig" : "Bearbeiten"}`
        : "AXTextField\n".repeat(win.isEditing ? 9 : 1)
    },
    pressButton: (app: string) => {
      const win = this.#front(app)
      win.isEditing = !win.isEditing
    },
    windowTitle: (app: string) => this.#front(app).title,
    menuLength: () => 14,
    runInTerminal: (command: string) => {
      const [pid, file] = [...command.matchAll(/'(.*?)'/g)].map(([, path]) => path!)
      writeFileSync(pid!, "4711\n")
      writeFileSync(file!, "")
      return this.#open(TERMINAL, { title: "cat", folder: file }).id.slice(2)
    },
    openWebWindow: async (app: string, url: string) => {
      const page = await (await fetch(url)).text()
      await fetch(`${url}load`, { method: "POST" })
      this.#open(app, { title: /<title>(.*?)</.exec(page)![1]!, url })
    },
    closeWebPages: (app: string, url: string) => {
      this.windows = this.windows.filter((win) => win.app !== app || !win.url?.startsWith(url))
    },
  }

  #key({ app, id, title }: Win): string {
    return app === TEXTEDIT ? title : id.slice(2)
  }

  #byId(id: string): Win {
    const win = this.windows.find((one) => one.id === id)
    if (!win) throw new Error(`no window ${id}`)
    return win
  }

  async #run([program, ...args]: readonly string[], input = ""): Promise<Ran> {
    switch (program) {
      case "pbpaste":
        return ran(this.clipboard)
      case "pbcopy":
        this.clipboard = input
        return ran()
      case "kill": {
        const [signal, pid] = args
        if (signal === "-STOP") this.stopped.add(Number(pid))
        if (signal === "-CONT") this.stopped.delete(Number(pid))
        return ran()
      }
      case "osacompile":
        writeFileSync(args[1]!, args.join("\n"))
        return ran()
      case "sips":
        return ran("pixelWidth: 800\npixelHeight: 600\n")
      case "open": {
        const path = args.at(-1)!
        if (path.startsWith("addressbook:")) this.#open(CONTACTS, { title: "Kontakte" })
        else this.#open(TEXTEDIT, { title: basename(path), file: path })
        return ran()
      }
      default:
        return { code: 127, out: "", err: `no program ${program}` }
    }
  }

  #done(delivery = "delivered_verified") {
    return good({ action: "x", method: "semantic", disposition: { delivery, retry: "safe" } })
  }

  async #ask([command = "", ...args]: readonly string[]): Promise<Answer> {
    const option = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
    const app = option("--app")
    switch (command) {
      case "version":
        return good({ version })
      case "doctor":
        return good({ checks: [{ name: "symbols of AppKit", ok: !this.isMissingSymbol, detail: "9 found" }] })
      case "permissions":
        return good({ granted: true, screen_recording: { state: "granted" }, grant_to: "Terminal" })
      case "list-apps":
        return good({ apps: [...this.running].map((one) => ({ name: one, pid: PIDS[one] })) })
      case "list-windows":
        if (this.#is("one app spoils the list") && !app) return bad("PERM_DENIED")
        if (this.#is("hanging app slows down") && this.stopped.size > 0) await Bun.sleep(400)
        return good({
          windows: this.windows.filter((win) => !app || win.app === app).map((win) => this.#info(win)),
        })
      case "launch": {
        if (this.running.has(args[0]!)) return good(this.#info(this.#front(args[0]!)))
        return good(this.#info(this.#open(args[0]!, { title: "Allgemein", wakes: true })))
      }
      case "snapshot":
        return this.#snapshot(option("--window-id"), app, option("--surface"))
      case "batch": {
        const items: { args: { window_id: string } }[] = JSON.parse(args[0]!)
        const results = items.map(({ args: { window_id } }, index) =>
          index > 0 && this.#is("second window sleeps")
            ? good({ tree: { role: "window" } })
            : this.#snapshot(window_id, undefined, undefined),
        )
        return good({ results })
      }
      case "list-surfaces": {
        const { sheet } = this.#front(app!)
        const types = sheet === undefined || this.#is("no sheet") ? [] : ["sheet"]
        return good({ surfaces: ["window", ...types].map((type) => ({ type })) })
      }
      case "press":
        return this.#press(args[0]!, app)
      case "clipboard-set":
        this.clipboard = args[0]!
        return good({})
      case "clipboard-get":
        return good({ text: this.clipboard })
      case "focus-window":
      case "move-window":
      case "maximize":
      case "restore":
        return good({ window: this.#info(this.#byId(args[0]!)) })
      case "screenshot":
        return good({ width: 800, height: 600 })
      case "wait":
      case "focus":
        return good({ found: true })
      default:
        return this.#act(command, args)
    }
  }

  async #act(command: string, args: readonly string[]): Promise<Answer> {
    const part = this.#refs.get(args[0]!)
    if (!part) return bad("STALE_REF")
    if (part.isBlocked?.()) return bad("ACTION_FAILED")
    const isPhysical = args.includes("physical")
    if (command === "type") {
      if (!part.types) return bad("ACTION_NOT_SUPPORTED")
      await part.types(corrected(args[1]!))
      return this.#done()
    }
    if (isPhysical && this.#is("deep buttons are covered")) return bad("ACTION_FAILED")
    const action = part.on?.[command as "click"]
    if (!action) return bad("ACTION_NOT_SUPPORTED")
    await action()
    if (command !== "clear" && this.#is("presses twice")) await action()
    return this.#done()
  }

  #press(key: string, app: string | undefined): Answer {
    if (key === "escape") {
      this.#menu = false
      if (app === TEXTEDIT) this.#front(app).sheet = undefined
    }
    if (app === CALCULATOR) {
      if (key === "cmd+c") this.clipboard = this.#keys === "7+5" ? "12" : "?"
      else this.#keys = key === "escape" ? "" : key === "return" ? this.#keys : this.#keys + key
    }
    if (app === TEXTEDIT && key === "cmd+s") {
      const win = this.#front(app)
      if (win.file) writeFileSync(win.file, win.text)
      else win.sheet = "Ohne Titel"
    }
    if (app === TERMINAL && key === "return") {
      const win = this.#front(app)
      appendFileSync(win.folder!, `${win.text}\n`)
      win.text = ""
    }
    return good({})
  }

  #info({ id, title, app }: Win) {
    return { id, title, pid: PIDS[app], bounds: { x: 120, y: 140, width: 800, height: 600 } }
  }

  #snapshot(id: string | undefined, app: string | undefined, surface: string | undefined): Answer {
    if (app === CALCULATOR && this.#is("young app does not answer")) return bad("APP_UNRESPONSIVE")
    const win = id ? this.#byId(id) : this.#front(app!)
    this.#refs = new Map()
    const tree = this.#number({ role: "window", children: partsOf(win, surface, this.#desk) })
    return good({ tree, complete: !(this.#is("incomplete tree") && win.view === "list view") })
  }

  #number({ on, types, isBlocked, children, ...node }: Part): Node {
    const has = on || types
    const ref = has ? `@e${this.#refs.size + 1}` : undefined
    if (ref) this.#refs.set(ref, { ...node, on, types, isBlocked })
    return {
      ...node,
      ...(ref ? { ref_id: ref } : {}),
      children: children?.map((child) => this.#number(child)),
    }
  }

  readonly #desk: Desk = {
    is: (fault) => this.#is(fault),
    openMenu: () => {
      this.#menu = true
    },
    select: (name) => {
      this.#selection = name
    },
  }

  #is(fault: Fault): boolean {
    return this.#fault === fault
  }
}

interface Answer {
  readonly ok: boolean
  readonly data?: unknown
  readonly error?: unknown
}

const good = (data: object): Answer => ({ ok: true, data })
const bad = (code: string): Answer => ({
  ok: false,
  error: { code, disposition: { delivery: "not_delivered", retry: "safe" } },
})
const ran = (out = ""): Ran => ({ code: 0, out, err: "" })
