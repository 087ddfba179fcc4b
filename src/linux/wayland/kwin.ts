import { rmSync, writeFileSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { type Answer, type Bus, DBusError, DBusTimeout, type Message, method, readAs } from "../dbus/bus.ts"
import { unmarshal } from "../dbus/read.ts"
import { isVariant } from "../dbus/wire.ts"
import type { BusAccess } from "./session-bus.ts"
import type { DrawnWindow } from "./window-compositor.ts"

/**
 * Controls KWin by scripts, the only access to windows that every KWin version offers without a grant. A script is
 * loaded for one question, answers with a D-Bus call to us, and is unloaded.
 */
export class KWin {
  readonly #env: Env
  readonly #access: BusAccess
  /** The bus name of KWin's own process. */
  readonly #owner: string
  #last: Promise<void> = Promise.resolve()

  constructor(env: Env, access: BusAccess, owner: string) {
    this.#env = env
    this.#access = access
    this.#owner = owner
  }

  async views(deadline: Deadline): Promise<readonly KWinView[]> {
    const views: readonly KWinView[] = JSON.parse(await this.#run("answer(windows())", deadline))
    return views.toSorted((a, b) => b.order - a.order)
  }

  async cursor(deadline: Deadline): Promise<Point> {
    const code = "answer({ x: workspace.cursorPos.x, y: workspace.cursorPos.y })"
    return JSON.parse(await this.#run(code, deadline))
  }

  /** Runs `code` with the window as `w`. False: there is no such window. */
  async change(id: string, code: string, deadline: Deadline): Promise<boolean> {
    const found = `var w = find(${JSON.stringify(id)}); if (w) { ${code} } answer(Boolean(w))`
    return JSON.parse(await this.#run(found, deadline))
  }

  /** True while an effect shows all windows in other positions, and takes keys and clicks itself. */
  async hasOverview(deadline: Deadline): Promise<boolean> {
    const bus = await this.#access.bus(deadline)
    const get = method("org.freedesktop.DBus.Properties.Get", "ss", ["org.kde.kwin.Effects", "activeEffects"])
    try {
      const reply = await bus.call(get, this.#owner, "/Effects", deadline)
      const [active] = unmarshal(reply.signature, reply.body)
      const names = active !== undefined && isVariant(active) ? active.value : []
      return Array.isArray(names) && names.some((name) => OVERVIEWS.has(String(name)))
    } catch (error) {
      // Without effects there is no such interface.
      if (error instanceof DBusError) return false
      throw unlessOurs(error)
    }
  }

  async version(deadline: Deadline): Promise<string | undefined> {
    const bus = await this.#access.bus(deadline)
    const reply = await bus.call(SUPPORT_INFORMATION, this.#owner, "/KWin", deadline)
    return /^KWin version: (\S+)/m.exec(readAs(reply, "s").string())?.[1]
  }

  /**
   * Runs scripts one after the other: KWin numbers them by their count, and confuses them if one of several is
   * unloaded.
   */
  async #run(code: string, deadline: Deadline): Promise<string> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    try {
      await before
      return await this.#ask(code, deadline)
    } finally {
      resolve()
    }
  }

  async #ask(code: string, deadline: Deadline): Promise<string> {
    const bus = await this.#access.bus(deadline)
    const token = `agent-desktop-${crypto.randomUUID()}`
    const answer = Promise.withResolvers<string>()
    answer.promise.catch(() => {})
    bus.serve((call): Answer => {
      // Another program on the bus cannot answer for KWin.
      if (call.sender !== this.#owner) return { error: "org.freedesktop.DBus.Error.AccessDenied" }
      const [received, text] = wordsOf(call)
      if (received === token) answer.resolve(text)
      return {}
    })
    const path = `${this.#env.XDG_RUNTIME_DIR}/${token}.js`
    writeFileSync(path, scriptOf(code, await bus.name, token), { mode: 0o600, flag: "wx" })
    const scripting = (member: string, values: readonly string[]) =>
      bus.call(
        method(`${SCRIPTING}.${member}`, "s".repeat(values.length), values),
        this.#owner,
        "/Scripting",
        deadline,
      )
    const timer = setTimeout(() => answer.reject(late()), deadline.remaining)
    try {
      const number = readAs(await scripting("loadScript", [path, token]), "i").i32()
      const isStarted = await this.#start(bus, number, deadline)
      const silence = Promise.withResolvers<undefined>()
      const alarm = setTimeout(() => silence.resolve(undefined), isStarted ? SILENCE_MS : 0)
      const soon = await Promise.race([answer.promise, silence.promise])
      clearTimeout(alarm)
      if (soon !== undefined) return soon
      // Another program's script took the number. This starts every script that is not running; none runs twice.
      await scripting("start", [])
      return await answer.promise
    } catch (error) {
      throw unlessOurs(error)
    } finally {
      clearTimeout(timer)
      rmSync(path, { force: true })
      await scripting("unloadScript", [token]).catch(() => {})
    }
  }

  /** Plasma 6 has scripts below /Scripting, Plasma 5 at the root. False: there is no such script. */
  async #start(bus: Bus, number: number, deadline: Deadline): Promise<boolean> {
    const run = method("org.kde.kwin.Script.run")
    for (const path of [`/Scripting/Script${number}`, `/${number}`]) {
      try {
        await bus.call(run, this.#owner, path, deadline)
        return true
      } catch (error) {
        if (!(error instanceof DBusError)) throw error
      }
    }
    return false
  }
}

function wordsOf(call: Message): readonly [string, string] {
  if (call.signature !== "ss") return ["", ""]
  return [call.body.string(), call.body.string()]
}

/** A window as the script below describes it. */
export interface KWinView extends DrawnWindow {
  readonly id: string
  readonly order: number
  readonly active: boolean
  readonly modal: boolean
  /** "normal", "dialog", "popup" or "other". */
  readonly type: string
  readonly owner: string
}

/** Names that differ between Plasma 5 and 6 are tried in both forms. */
const scriptOf = (code: string, name: string, token: string): string => `
function all() { return workspace.windowList ? workspace.windowList() : workspace.clientList() }
function idOf(w) { return String(w.internalId).replace(/[{}]/g, "") }
function find(id) { return all().filter(function (w) { return idOf(w) === id })[0] }
function rect(r) {
  return { x: Math.round(r.x), y: Math.round(r.y), width: Math.round(r.width), height: Math.round(r.height) }
}
function isHere(w) {
  if (w.onAllDesktops) return true
  if (workspace.windowList) return w.desktops.some(function (d) { return d === workspace.currentDesktop })
  return w.desktop === workspace.currentDesktop
}
function typeOf(w) {
  if (w.popupWindow) return "popup"
  if (w.dialog) return "dialog"
  return w.normalWindow || w.utility ? "normal" : w.splash ? "splash" : "other"
}
function isMaximized(w) {
  var mode = w.maximizeMode
  if (mode !== undefined) return mode === 3
  var area = workspace.clientArea(2, w)
  var f = w.frameGeometry
  return f.x === area.x && f.y === area.y && f.width === area.width && f.height === area.height
}
function windows() {
  return all().map(function (w) {
    return {
      id: idOf(w), title: w.caption, pid: w.pid, appId: w.desktopFileName || w.resourceClass || "",
      xId: w.windowId || 0, frame: rect(w.frameGeometry), buffer: rect(w.bufferGeometry),
      order: w.stackingOrder, active: w.active, minimized: w.minimized, maximized: isMaximized(w),
      modal: w.modal, visible: !w.minimized && !w.hidden && isHere(w), type: typeOf(w),
      owner: w.transientFor ? idOf(w.transientFor) : "",
    }
  })
}
function activate(w) {
  w.minimized = false
  if (workspace.windowList) workspace.activeWindow = w
  else workspace.activeClient = w
}
function place(w, x, y, width, height) {
  var f = w.frameGeometry
  w.frameGeometry = {
    x: x === null ? f.x : x, y: y === null ? f.y : y,
    width: width === null ? f.width : width, height: height === null ? f.height : height,
  }
}
function answer(value) {
  callDBus(${JSON.stringify(name)}, "/agent_desktop", "local.agent_desktop", "answer", ${JSON.stringify(token)},
    JSON.stringify(value))
}
${code}
`

function late(): AppError {
  return new AppError("TIMEOUT", "KWin did not answer in time", {
    suggestion: "Run 'doctor' to see which link hangs, or retry with a larger --timeout-ms",
    details: { kind: "compositor" },
  })
}

function unlessOurs(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (error instanceof DBusTimeout) return late()
  return new AppError("PLATFORM_NOT_SUPPORTED", "KWin runs no scripts for this program", {
    suggestion: "Run inside the KWin session; 'doctor' shows what is missing",
    platformDetail: error instanceof DBusError ? `${error.code}: ${error.message}` : String(error),
    disposition: NOTHING_DELIVERED,
  })
}

const OVERVIEWS: ReadonlySet<string> = new Set([
  "overview",
  "windowview",
  "desktopgrid",
  "tileseditor",
  "cube",
])
/** A script answers within a few milliseconds of its start. */
const SILENCE_MS = 250
const SCRIPTING = "org.kde.kwin.Scripting"
const SUPPORT_INFORMATION = method("org.kde.KWin.supportInformation")
