import type { WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import { InputCompositor } from "./input-compositor.ts"
import { readSeat } from "./seat.ts"
import { virtualDevices } from "./virtual-devices.ts"
import { WaylandMessage } from "./wire.ts"

/**
 * A wlroots compositor without a protocol of its own. Windows come from the accessibility bus, without positions.
 * Pointer input goes to screen points, and keys to the focused window. The compositor reports the titles and states of
 * its windows, which identify the windows of the accessibility bus.
 */
export class Wlroots extends InputCompositor {
  /** The titles of the windows that were listed, by their ids. */
  readonly #titles = new Map<string, string>()

  /** A window counts as focused only if both its app and the compositor say so. */
  async recognize(windows: readonly TopWindow[], deadline: Deadline): Promise<readonly TopWindow[]> {
    const toplevels = await this.connected(deadline, async (wayland) =>
      (await followToplevels(wayland, deadline))?.(),
    )
    if (!toplevels) return windows
    this.#titles.clear()
    for (const { id, title } of windows) this.#titles.set(id, title)
    return windows.map((window) => {
      const likes = windows.filter(({ title }) => title === window.title)
      const fitting = toplevels.filter(({ title }) => title === window.title)
      // If a second window with this title also claims the focus, it is unclear which one has it.
      const isOnlyClaim = isClaimed(window) && likes.filter(isClaimed).length === 1
      const focused = isOnlyClaim && fitting.some(({ activated }) => activated)
      const [only, ...others] = fitting
      if (!only || others.length > 0 || likes.length > 1) return { ...window, focused }
      return {
        ...window,
        focused,
        minimized: only.minimized,
        maximized: only.maximized,
        wmClass: only.appId ? { instance: only.appId, className: only.appId } : undefined,
        desktopFile: only.appId || undefined,
      }
    })
  }

  override async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    if (op.kind === "move" || op.kind === "resize") return super.operate(id, op, deadline)
    await this.connected(deadline, async (wayland) => {
      const now = await this.#find(wayland, id, deadline)
      const before = now()
      await askToplevel(wayland, before, requestFor(op.kind, before), deadline)
      const patience = deadline.slice(CHANGE_MS)
      await wayland
        .wait(() => isDone(op.kind, before, now()), patience)
        .catch((error: unknown) => {
          if (wayland.closed) throw error
          throw new AppError("ACTION_FAILED", `The compositor did not ${op.kind} window '${id}'`, {
            suggestion: "Run 'list-windows' to see its present state",
            disposition: { delivery: "delivered_unverified", retry: "safe" },
          })
        })
    })
  }

  override async requestClose(id: string, deadline: Deadline): Promise<string | undefined> {
    return this.connected(deadline, async (wayland) => {
      const now = await this.#find(wayland, id, deadline).catch(unlessUnknown)
      if (!now) return undefined
      await askToplevel(wayland, now(), "close", deadline)
      return "xdg_toplevel.close"
    })
  }

  protected override devices(wayland: Wayland): Devices {
    return virtualDevices(wayland, this.env)
  }

  /** The only window with this title, as it is now. Throws if there are several or none. */
  async #find(wayland: Wayland, id: string, deadline: Deadline): Promise<() => Toplevel> {
    const title = this.#titles.get(id)
    if (title === undefined) throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
    const all = await followToplevels(wayland, deadline)
    const fitting = all?.().filter((one) => one.title === title) ?? []
    const likes = [...this.#titles.values()].filter((one) => one === title)
    const [only, ...others] = fitting
    if (!all || !only) throw unknown(id)
    if (others.length > 0 || likes.length > 1)
      throw new AppError(
        "AMBIGUOUS_TARGET",
        `Several windows have the title of window '${id}', and this compositor reports nothing else about them`,
        {
          suggestion: "Close or rename one of them, or use commands that work by accessibility",
          disposition: NOTHING_DELIVERED,
        },
      )
    return () => all().find(({ object }) => object === only.object) ?? only
  }
}

const isClaimed = ({ focused, mayHaveFocus }: TopWindow): boolean => focused || mayHaveFocus === true

function requestFor(kind: StateOp, { minimized }: Toplevel): ToplevelRequest {
  if (kind !== "restore") return kind
  return minimized ? "unminimize" : "unmaximize"
}

function isDone(kind: StateOp, before: Toplevel, now: Toplevel): boolean {
  switch (kind) {
    case "focus":
      return now.activated && !now.minimized
    case "minimize":
      return now.minimized
    case "maximize":
      return now.maximized
    case "restore":
      return before.minimized ? !now.minimized : !now.maximized
    default:
      throw kind satisfies never
  }
}

function unknown(id: string): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The compositor does not report which of its windows is '${id}'`,
    {
      suggestion:
        "Use commands that work by accessibility: click, type, set-value, check and select by ref; or run the app on an isolated desktop: agent-desktop desktop-start",
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** undefined: this window cannot be distinguished from others. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code === "TIMEOUT") throw error
}

type StateOp = Exclude<WindowOp["kind"], "move" | "resize">

const CHANGE_MS = 1500

/** A window as wlroots' foreign-toplevel protocol describes it: without process or position. */
interface Toplevel {
  readonly object: number
  readonly title: string
  readonly appId: string
  readonly activated: boolean
  readonly minimized: boolean
  readonly maximized: boolean
}

type ToplevelRequest = "focus" | "minimize" | "maximize" | "unmaximize" | "unminimize" | "close"

/** All windows of a compositor, updated while the connection lives. undefined: it lacks the protocol. */
async function followToplevels(
  wayland: Wayland,
  deadline: Deadline,
): Promise<(() => readonly Toplevel[]) | undefined> {
  const all = new Map<number, Toplevel>()
  const manager = wayland.bind("zwlr_foreign_toplevel_manager_v1", 3, (event) => {
    if (event.opcode !== TOPLEVEL) return
    const object = event.u32()
    const set = (facts: Partial<Toplevel>) =>
      all.set(object, { ...(all.get(object) ?? NEW), object, ...facts })
    set({})
    wayland.adopt(object, (change) => {
      if (change.opcode === TITLE) set({ title: change.text() })
      if (change.opcode === APP_ID) set({ appId: change.text() })
      if (change.opcode === CLOSED) all.delete(object)
      if (change.opcode !== STATE) return
      const states = Array.from({ length: change.u32() / 4 }, () => change.u32())
      set({
        maximized: states.includes(MAXIMIZED),
        minimized: states.includes(MINIMIZED),
        activated: states.includes(ACTIVATED),
      })
    })
  })
  if (manager === undefined) return undefined
  // The first reply creates the objects, the second one describes them.
  await wayland.sync(deadline)
  await wayland.sync(deadline)
  return () => [...all.values()]
}

/** Asks the compositor for a change, without waiting for it. */
async function askToplevel(
  wayland: Wayland,
  { object }: Toplevel,
  request: ToplevelRequest,
  deadline: Deadline,
): Promise<void> {
  const message = new WaylandMessage(object, REQUESTS[request])
  if (request === "focus") message.u32((await readSeat(wayland, deadline))?.object ?? 0)
  wayland.send(message)
  await wayland.sync(deadline)
}

const NEW = { title: "", appId: "", activated: false, minimized: false, maximized: false }
const REQUESTS: Readonly<Record<ToplevelRequest, number>> = {
  maximize: 0,
  unmaximize: 1,
  minimize: 2,
  unminimize: 3,
  focus: 4,
  close: 5,
}
const TOPLEVEL = 0
const TITLE = 0
const APP_ID = 1
const STATE = 4
const CLOSED = 6
const MAXIMIZED = 0
const MINIMIZED = 1
const ACTIVATED = 2
