import { readdirSync } from "node:fs"
import type { SeenWindow, WindowOp } from "../adapter.ts"
import { AppError, windowNotFound } from "../errors.ts"
import type { Rect } from "../node.ts"
import { pause } from "../until.ts"
import { appsLike, processStart } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { CANNOT_COMPLETE, deliveryOf, Failure, INVALID_ELEMENT, refused } from "./failure.ts"
import { usableArea } from "./screenshot.ts"
import { act } from "./sending.ts"
import { deleteState, openState, readState, withState, writeState } from "./state-files.ts"
import { asElement, asFlag, type Element, newPoint, newSize } from "./value.ts"
import { appAsWindow, isNear, listWindows, pidOf, windowElement } from "./windows.ts"

/** Longest wait for the effect of an operation, and the time between two looks. */
const EFFECT_MS = 1000
const LOOK_MS = 20

/** Operates on a window, waits a moment for the effect, and returns the window. `root`: where our state is. */
export async function operateWindow(ax: Ax, id: string, op: WindowOp, root: string): Promise<SeenWindow> {
  const pid = pidOf(id)
  if (pid !== undefined) return focusApp(ax, pid, id, op)
  const frames = new KeptFrames(root)
  const before = listWindows(ax, id).find((window) => window.id === id)
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
  // Placing a window goes wrong while the app animates for assistive clients. For everything else the
  // switch stays on: some apps put their web contents to sleep without it.
  const places = op.kind !== "focus" && op.kind !== "minimize"
  const animated = places && asFlag(ax.get(app, "AXEnhancedUserInterface")) === true
  if (animated) ax.set(app, "AXEnhancedUserInterface", cfBoolean(false))
  const doubts: number[] = []
  let goal: Rect | undefined
  try {
    goal = operate({ ax, app, window: element, before, op, frames, doubts })
  } finally {
    if (animated) ax.set(app, "AXEnhancedUserInterface", cfBoolean(true))
  }
  const end = ax.deadline.slice(EFFECT_MS)
  for (let last = before; ; ) {
    const now = listWindows(ax, { pid: before.pid }).find((window) => window.id === id)
    if (!now && end.expired) throw lost(ax, element, id, op)
    // The app may round or limit a size: a window that has changed and stands still is done.
    const rests = now && !isAt(now, before.bounds) && isAt(now, last.bounds)
    const done = now && (goal ? isAt(now, goal) || rests : isDone(now, op))
    const [doubt] = doubts
    if (!done && end.expired && doubt) throw refused(`to ${op.kind} the window`, doubt, UNCERTAIN)
    if (now && (end.expired || done)) {
      if (op.kind === "maximize") correct(frames, before, now.bounds)
      return now
    }
    last = now ?? last
    await pause(LOOK_MS, end)
  }
}

/** Brings an app without windows to the front, so that it gets the keys. */
async function focusApp(ax: Ax, pid: number, id: string, op: WindowOp): Promise<SeenWindow> {
  const [app] = appsLike({ pid })
  if (!app || op.kind !== "focus") throw windowNotFound(id)
  const code = ax.set(ax.connection.app(pid), "AXFrontmost", cfBoolean(true))
  const end = ax.deadline.slice(EFFECT_MS)
  for (;;) {
    const now = appAsWindow(ax, app)
    if (now.is_focused) return now
    if (end.expired && code !== 0) throw refused("to bring the app to the front", code, UNCERTAIN)
    if (end.expired) return now
    await pause(LOOK_MS, end)
  }
}

/** Stores the frame of the window for `restore`, unless the window is already maximised. */
function keep(frames: KeptFrames, { id, pid, bounds }: SeenWindow, area: Rect): void {
  const known = frames.find(id, pid)
  const already = bounds && (isNear(bounds, area) || (known && isNear(bounds, known.maximized)))
  if (bounds && !already) frames.keep(id, pid, bounds, area)
}

/** Stores the real maximised frame, if the app made the window smaller than asked. */
function correct(frames: KeptFrames, { id, pid, bounds }: SeenWindow, maximized: Rect | undefined): void {
  const known = frames.find(id, pid)
  const kept = known && bounds && isNear(known.before, bounds)
  if (kept && maximized && !isNear(known.maximized, maximized)) frames.keep(id, pid, bounds, maximized)
}

/** The error for a window that is no longer listed: not found if it was closed, failed if it could not be read. */
function lost(ax: Ax, element: Element, id: string, op: WindowOp): AppError {
  const role = ax.get(element, "AXRole")
  if (role instanceof Failure && role.code === INVALID_ELEMENT) return windowNotFound(id)
  return new AppError("ACTION_FAILED", `Window '${id}' could not be read after '${op.kind}'`, {
    suggestion: "Use 'list-windows' to see its present state",
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
  /** Errors that prove nothing yet. */
  readonly doubts: number[]
}

/** Performs the operation. Returns the frame to wait for, unless the operation names it. */
function operate(operation: Operation): Rect | undefined {
  const { ax, app, window, before, op, frames } = operation
  switch (op.kind) {
    case "focus":
      if (before.minimized) must(operation, ax.set(window, "AXMinimized", cfBoolean(false)))
      must(operation, ax.set(app, "AXFrontmost", cfBoolean(true)))
      // Not every window can be the main one. Raising it is enough.
      ax.set(window, "AXMain", cfBoolean(true))
      must(operation, ax.perform(window, "AXRaise"))
      return undefined
    case "minimize":
      must(operation, ax.set(window, "AXMinimized", cfBoolean(true)))
      return undefined
    case "restore":
      return restore(operation)
    case "maximize": {
      const area = before.bounds && usableArea(before.bounds)
      if (!area) throw new AppError("ACTION_FAILED", `Window '${before.id}' is not on any screen`)
      // Stored before the window changes: without the frame, `restore` could not undo it.
      keep(frames, before, area)
      if (before.minimized) must(operation, ax.set(window, "AXMinimized", cfBoolean(false)))
      place(operation, area)
      return area
    }
    case "move":
      move(operation, op.x, op.y)
      return undefined
    case "resize":
      resize(operation, op.width, op.height)
      return undefined
    default:
      return op satisfies never
  }
}

/** Undoes minimize, full screen or `maximize`. A window that the user zoomed is unzoomed by its button. */
function restore(operation: Operation): Rect | undefined {
  const { ax, window, before, frames } = operation
  const { id, pid, bounds, minimized } = before
  const name = minimized ? "AXMinimized" : asFlag(ax.get(window, "AXFullScreen")) ? "AXFullScreen" : undefined
  if (name) {
    must(operation, ax.set(window, name, cfBoolean(false)))
    return undefined
  }
  const kept = frames.find(id, pid)
  if (kept && bounds && isNear(bounds, kept.maximized)) {
    place(operation, kept.before)
    frames.forget(id)
    return kept.before
  }
  const area = bounds && usableArea(bounds)
  const fills = area && bounds.width >= area.width - 1 && bounds.height >= area.height - 1
  const button = fills ? asElement(ax.get(window, "AXZoomButton")) : undefined
  if (button) act(ax, button, ["AXZoomWindow"])
  return undefined
}

function place(operation: Operation, { x, y, width, height }: Rect): void {
  move(operation, x, y)
  resize(operation, width, height)
  // An app may have kept it inside the old screen, or grown it from another corner.
  move(operation, x, y)
}

function move(operation: Operation, x: number, y: number): void {
  using point = newPoint(x, y)
  must(operation, operation.ax.set(operation.window, "AXPosition", point.ref))
}

function resize(operation: Operation, width: number, height: number): void {
  using size = newSize(width, height)
  must(operation, operation.ax.set(operation.window, "AXSize", size.ref))
}

/**
 * Throws if the app plainly refused, or does not answer any more. Any other answer proves nothing: the
 * window is looked at afterwards.
 */
function must({ ax, window, op, doubts }: Operation, code: number): void {
  if (deliveryOf(code) === "not_delivered") throw refused(`to ${op.kind} the window`, code)
  if (code !== 0) doubts.push(code)
  if (code !== CANNOT_COMPLETE) return
  try {
    ax.get(window, "AXRole")
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: UNCERTAIN }) : error
  }
}

/** The app may still do it when it wakes up. Doing it twice changes nothing. */
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

const FOLDER = "frames"
const WHAT = "The previous size of the window"

interface KeptFrame {
  readonly pid: number
  /** Start time of the process: pids and window numbers are reused. */
  readonly start: string
  readonly before: Rect
  readonly maximized: Rect
}

/**
 * Frames of windows before `maximize`, one file per window in a directory of our own. macOS itself remembers
 * them only for windows that the user zoomed.
 */
export class KeptFrames {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  keep(id: string, pid: number, before: Rect, maximized: Rect): void {
    const start = processStart(pid)
    if (start === undefined) return
    const kept: KeptFrame = { pid, start, before, maximized }
    withState(WHAT, () => {
      openState(this.#root, FOLDER)
      this.#dropEnded()
      writeState(this.#path(id), kept)
    })
  }

  /** The stored frames of a window of this process; undefined if there are none. */
  find(id: string, pid: number): KeptFrame | undefined {
    const kept = withState(WHAT, () => readFrame(this.#path(id)))
    return kept?.pid === pid && kept.start === processStart(pid) ? kept : undefined
  }

  forget(id: string): void {
    withState(WHAT, () => deleteState(this.#path(id)))
  }

  #path(id: string): string {
    return `${this.#root}/${FOLDER}/${id}.json`
  }

  /** Deletes the frames of processes that have ended. */
  #dropEnded(): void {
    // Files that another process is about to rename into place end differently.
    const names = readdirSync(`${this.#root}/${FOLDER}`).filter((name) => name.endsWith(".json"))
    for (const name of names) {
      const path = `${this.#root}/${FOLDER}/${name}`
      const kept = readFrame(path)
      if (!kept || processStart(kept.pid) !== kept.start) deleteState(path)
    }
  }
}

function readFrame(path: string): KeptFrame | undefined {
  const kept = readState(path)
  return isKept(kept) ? kept : undefined
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
