import { closeSync, readdirSync, renameSync, rmSync } from "node:fs"
import type { SeenWindow, WindowOp } from "../adapter.ts"
import { AppError, windowNotFound } from "../errors.ts"
import type { Rect } from "../node.ts"
import { inWords, openPrivateDirectory, readPrivateFile, writePrivateFile } from "../private-files.ts"
import { pause } from "../until.ts"
import { processStart } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { CANNOT_COMPLETE, deliveryOf, Failure, INVALID_ELEMENT, refused } from "./failure.ts"
import { act } from "./perform.ts"
import { usableArea } from "./screenshot.ts"
import { asElement, asFlag, type Element, newPoint, newSize } from "./value.ts"
import { isNear, listWindows, windowElement } from "./windows.ts"

/** How long an operation may take to show, and how often to look. */
const EFFECT_MS = 1000
const LOOK_MS = 20

/** Operates on a window and tells how it was once the effect showed, or after a short bound. `root`: of our state. */
export async function operateWindow(ax: Ax, id: string, op: WindowOp, root: string): Promise<SeenWindow> {
  const frames = new KeptFrames(root)
  const before = listWindows(ax).find((window) => window.id === id)
  if (!before) throw windowNotFound(id)
  const element = windowElement(ax, before.pid, id)
  if (!element) {
    throw new AppError(
      "ACTION_FAILED",
      `Window '${id}' cannot be operated: ${before.reason ?? "its app does not list it"}`,
      {
        suggestion: "Switch to its Space, or use 'list-windows' to see available windows",
      },
    )
  }
  const app = ax.connection.app(before.pid)
  // Placing a window goes wrong while an app animates for assistive clients; nothing else does, and some apps
  // put their web contents to sleep with it.
  const places = op.kind !== "focus" && op.kind !== "minimize"
  const animated = places && asFlag(ax.get(app, "AXEnhancedUserInterface")) === true
  if (animated) ax.set(app, "AXEnhancedUserInterface", cfBoolean(false))
  let goal: Rect | undefined
  try {
    goal = operate({ ax, app, window: element, before, op, frames })
  } finally {
    if (animated) ax.set(app, "AXEnhancedUserInterface", cfBoolean(true))
  }
  const end = ax.deadline.slice(EFFECT_MS)
  for (let last = before; ; ) {
    const now = listWindows(ax, before.pid).find((window) => window.id === id)
    if (!now && end.expired) throw lost(ax, element, id, op)
    // An app may round a size, or have a largest one: what has changed and rests has arrived.
    const rests = now && !isAt(now, before.bounds) && isAt(now, last.bounds)
    if (now && (end.expired || (goal ? isAt(now, goal) || rests : isDone(now, op)))) {
      if (op.kind === "maximize") correct(frames, before, now.bounds)
      return now
    }
    last = now ?? last
    await pause(LOOK_MS, end)
  }
}

/** Keeps where the window is, for `restore`, unless it is maximised already. */
function keep(frames: KeptFrames, { id, pid, bounds }: SeenWindow, area: Rect): void {
  const known = frames.find(id, pid)
  const already = bounds && (isNear(bounds, area) || (known && isNear(bounds, known.maximized)))
  if (bounds && !already) frames.keep(id, pid, bounds, area)
}

/** The app may have made it smaller than it was told to. */
function correct(frames: KeptFrames, { id, pid, bounds }: SeenWindow, maximized: Rect | undefined): void {
  const known = frames.find(id, pid)
  const kept = known && bounds && isNear(known.before, bounds)
  if (kept && maximized && !isNear(known.maximized, maximized)) frames.keep(id, pid, bounds, maximized)
}

/** A window that is in no list any more was closed, or could not be read: only the first is an absence. */
function lost(ax: Ax, element: Element, id: string, op: WindowOp): AppError {
  const role = ax.get(element, "AXRole")
  if (role instanceof Failure && role.code === INVALID_ELEMENT) return windowNotFound(id)
  return new AppError("ACTION_FAILED", `Window '${id}' could not be read after '${op.kind}'`, {
    suggestion: "Use 'list-windows' to see how it is now",
    disposition: { delivery: "delivered_unverified", retry: "safe" },
  })
}

interface Operation {
  readonly ax: Ax
  readonly app: Element
  readonly window: Element
  readonly before: SeenWindow
  readonly op: WindowOp
  readonly frames: KeptFrames
}

/** Sends what the operation takes. Gives back the frame to wait for, where the command does not name it. */
function operate(operation: Operation): Rect | undefined {
  const { ax, app, window, before, op, frames } = operation
  switch (op.kind) {
    case "focus":
      if (before.minimized) must(ax, window, op, ax.set(window, "AXMinimized", cfBoolean(false)))
      must(ax, window, op, ax.set(app, "AXFrontmost", cfBoolean(true)))
      // Not every window can be the main one; to be raised is enough.
      ax.set(window, "AXMain", cfBoolean(true))
      must(ax, window, op, ax.perform(window, "AXRaise"))
      return undefined
    case "minimize":
      must(ax, window, op, ax.set(window, "AXMinimized", cfBoolean(true)))
      return undefined
    case "restore":
      return restore(operation)
    case "maximize": {
      const area = before.bounds && usableArea(before.bounds)
      if (!area) throw new AppError("ACTION_FAILED", `Window '${before.id}' is on no screen`)
      // Before anything is done: where it cannot be kept, the way back would be lost.
      keep(frames, before, area)
      if (before.minimized) must(ax, window, op, ax.set(window, "AXMinimized", cfBoolean(false)))
      place(ax, window, area, op)
      return area
    }
    case "move":
      move(ax, window, op.x, op.y, op)
      return undefined
    case "resize":
      resize(ax, window, op.width, op.height, op)
      return undefined
    default:
      return op satisfies never
  }
}

/** Out of the Dock, out of full screen, back to where it was before `maximize`, or by the window's own button. */
function restore({ ax, window, before, op, frames }: Operation): Rect | undefined {
  const { id, pid, bounds, minimized } = before
  const name = minimized ? "AXMinimized" : asFlag(ax.get(window, "AXFullScreen")) ? "AXFullScreen" : undefined
  if (name) {
    must(ax, window, op, ax.set(window, name, cfBoolean(false)))
    return undefined
  }
  const kept = frames.find(id, pid)
  if (kept && bounds && isNear(bounds, kept.maximized)) {
    place(ax, window, kept.before, op)
    frames.forget(id)
    return kept.before
  }
  const area = bounds && usableArea(bounds)
  const fills = area && bounds.width >= area.width - 1 && bounds.height >= area.height - 1
  const button = fills ? asElement(ax.get(window, "AXZoomButton")) : undefined
  if (button) act(ax, button, ["AXZoomWindow"])
  return undefined
}

function place(ax: Ax, window: Element, { x, y, width, height }: Rect, op: WindowOp): void {
  move(ax, window, x, y, op)
  resize(ax, window, width, height, op)
  // An app may have kept it inside the old screen, or grown it from another corner.
  move(ax, window, x, y, op)
}

function move(ax: Ax, window: Element, x: number, y: number, op: WindowOp): void {
  using point = newPoint(x, y)
  must(ax, window, op, ax.set(window, "AXPosition", point.ref))
}

function resize(ax: Ax, window: Element, width: number, height: number, op: WindowOp): void {
  using size = newSize(width, height)
  must(ax, window, op, ax.set(window, "AXSize", size.ref))
}

/**
 * Only a plain refusal ends it, or an app that does not answer any more: whatever else it says, the
 * window is looked at afterwards.
 */
function must(ax: Ax, window: Element, op: WindowOp, code: number): void {
  if (deliveryOf(code) === "not_delivered") throw refused(`To ${op.kind} the window`, code)
  if (code !== CANNOT_COMPLETE) return
  try {
    ax.get(window, "AXRole")
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: UNCERTAIN }) : error
  }
}

/** What the app may still do once it wakes up; to do it again would change nothing. */
const UNCERTAIN = { delivery: "delivery_uncertain", retry: "safe" } as const

function isAt(window: SeenWindow, frame: Rect | undefined): boolean {
  return window.bounds !== undefined && frame !== undefined && isNear(window.bounds, frame)
}

function isDone(window: SeenWindow, op: WindowOp): boolean {
  const { bounds } = window
  const near = (a: number | undefined, b: number) => a !== undefined && Math.abs(a - b) <= 1
  switch (op.kind) {
    case "focus":
      return window.is_focused
    case "minimize":
      return window.minimized === true
    case "restore":
      return window.minimized !== true
    case "maximize":
      return true
    case "move":
      return near(bounds?.x, op.x) && near(bounds?.y, op.y)
    case "resize":
      return near(bounds?.width, op.width) && near(bounds?.height, op.height)
    default:
      return op satisfies never
  }
}

/**
 * Where windows were before `maximize`: macOS keeps that only for windows that the user zoomed. One file
 * a window, in a directory of our own.
 */
const FOLDER = "frames"
const MAX_BYTES = 4096

interface KeptFrame {
  readonly pid: number
  /** Which life of the pid it was: window numbers are used again, too. */
  readonly start: string
  readonly before: Rect
  readonly maximized: Rect
}

export class KeptFrames {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  keep(id: string, pid: number, before: Rect, maximized: Rect): void {
    const start = processStart(pid)
    if (start === undefined) return
    const kept: KeptFrame = { pid, start, before, maximized }
    told(() => {
      closeSync(openPrivateDirectory(this.#root, "root"))
      closeSync(openPrivateDirectory(`${this.#root}/${FOLDER}`, "inner"))
      this.#dropEnded()
      const fresh = `${this.#path(id)}.${crypto.randomUUID()}`
      writePrivateFile(fresh, new TextEncoder().encode(JSON.stringify(kept)), true)
      renameSync(fresh, this.#path(id))
    })
  }

  /** The frames of that window of that process; undefined when none were kept. */
  find(id: string, pid: number): KeptFrame | undefined {
    const kept = told(() => this.#read(this.#path(id)))
    return kept?.pid === pid && kept.start === processStart(pid) ? kept : undefined
  }

  forget(id: string): void {
    told(() => rmSync(this.#path(id), { force: true }))
  }

  #path(id: string): string {
    return `${this.#root}/${FOLDER}/${id}.json`
  }

  /** Windows of processes that are gone do not come back. */
  #dropEnded(): void {
    // What another process is about to rename into place does not end so.
    const names = readdirSync(`${this.#root}/${FOLDER}`).filter((name) => name.endsWith(".json"))
    for (const name of names) {
      const path = `${this.#root}/${FOLDER}/${name}`
      const kept = this.#read(path)
      if (!kept || processStart(kept.pid) !== kept.start) rmSync(path, { force: true })
    }
  }

  #read(path: string): KeptFrame | undefined {
    const text = readPrivateFile(path, MAX_BYTES)
    if (text === undefined) return undefined
    try {
      const kept: unknown = JSON.parse(text)
      return isKept(kept) ? kept : undefined
    } catch (error) {
      // Cut short, or not written by us: as good as none.
      if (!(error instanceof SyntaxError)) throw error
      return undefined
    }
  }
}

function told<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw inWords(error, "The size that the window had could not be kept or found")
  }
}

function isKept(kept: unknown): kept is KeptFrame {
  return (
    isObject(kept) &&
    typeof kept.pid === "number" &&
    typeof kept.start === "string" &&
    isRect(kept.before) &&
    isRect(kept.maximized)
  )
}

function isRect(rect: unknown): boolean {
  return isObject(rect) && ["x", "y", "width", "height"].every((side) => Number.isFinite(rect[side]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
}
