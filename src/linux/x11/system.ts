import type { Env, InputEvent, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp, Picture } from "../../desktop.ts"
import { NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { DisplayInfo, Point, Rect } from "../../node.ts"
import type { InputLock } from "../../turn.ts"
import type { PopupWatch, ScreenWatch } from "../../watch.ts"
import type { MenuNote, Owner, Uncovered, WindowSystem } from "../windowing/system.ts"
import { type TopWindow, windowId, windowNumber } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import type { Owner as XOwner } from "./last-look.ts"
import type { XWindow } from "./window.ts"

// Each operation loads what it needs: most commands need one or two.
const lists = () => import("./windows.ts")
const operations = () => import("./window-ops.ts")

/** X11 as a window system. */
export class XWindowSystem implements WindowSystem {
  readonly listsAll = true
  readonly hasInput = true
  readonly #x: X11
  readonly #env: Env

  constructor(x: X11, env: Env) {
    this.#x = x
    this.#env = env
  }

  async isNative(): Promise<boolean> {
    return false
  }

  async windows(deadline: Deadline): Promise<readonly TopWindow[]> {
    return (await (await lists()).listWindows(this.#x, deadline)).map(topWindow)
  }

  async mates(id: string, deadline: Deadline): Promise<readonly TopWindow[]> {
    const window = id === "focused" ? id : windowNumber(id)
    if (window === undefined) return []
    return (await (await lists()).listMates(this.#x, window, deadline)).map(topWindow)
  }

  async existing(ids: readonly string[], deadline: Deadline): Promise<ReadonlySet<string>> {
    const { readWindows } = await import("./window.ts")
    const windows = await readWindows(this.#x, ids.map(numberOf), deadline)
    return new Set(windows.map(({ id }) => windowId(id)))
  }

  async popups(deadline: Deadline): Promise<readonly TopWindow[]> {
    return (await (await lists()).listOverrideWindows(this.#x, deadline)).map(topWindow)
  }

  async watchPopups(deadline: Deadline): Promise<PopupWatch> {
    return (await import("./popup-watch.ts")).watchPopups(this.#x, deadline)
  }

  async windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined> {
    const window = await (await lists()).windowAt(this.#x, point, deadline)
    return window && topWindow(window)
  }

  async watch(changed: () => void, deadline: Deadline): Promise<Disposable> {
    return (await lists()).watchWindows(this.#x, deadline, changed)
  }

  async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    await (await operations()).operateWindow(this.#x, numberOf(id), op, deadline)
  }

  async requestClose(id: string, deadline: Deadline): Promise<string> {
    await (await operations()).requestClose(this.#x, numberOf(id), deadline)
    return "WM_DELETE_WINDOW"
  }

  async caughtUp(id: string, deadline: Deadline): Promise<boolean> {
    const window = windowNumber(id)
    if (window === undefined) return true
    return (await import("./wait-for-reader.ts")).caughtUp(this.#x, window, deadline)
  }

  async openLock(deadline: Deadline): Promise<InputLock> {
    return (await import("./input.ts")).openInputLock(this.#env, deadline)
  }

  async hasKeys(owner: Owner, deadline: Deadline): Promise<boolean> {
    return (await import("./key-target.ts")).hasKeys(this.#x, ownerOnX(owner), deadline)
  }

  async input(
    event: InputEvent,
    deadline: Deadline,
    owner?: Owner,
    approach?: () => Promise<void>,
  ): Promise<void> {
    const { sendInput } = await import("./input.ts")
    return sendInput(this.#x, event, deadline, owner && ownerOnX(owner), approach)
  }

  async visitRow(at: Point, top: number, deadline: Deadline): Promise<void> {
    return (await import("./pointer.ts")).visitRow(this.#x, at, top, deadline)
  }

  async readMenuNotes(pid: number, deadline: Deadline): Promise<readonly string[]> {
    return (await import("./menu-notes.ts")).readMenuNotes(this.#x, pid, deadline)
  }

  async writeMenuNote(menu: MenuNote, deadline: Deadline): Promise<void> {
    return (await import("./menu-notes.ts")).writeMenuNote(this.#x, menu, deadline)
  }

  async clipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined> {
    return (await import("./clipboard.ts")).operateClipboard(this.#x, op, this.#env, deadline)
  }

  async picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    return (await import("./screenshot.ts")).takePicture(this.#x, target, deadline)
  }

  async uncovered(window: string, area: Rect, deadline: Deadline): Promise<Uncovered | undefined> {
    return (await import("./screenshot.ts")).uncoveredPixels(this.#x, window, area, deadline)
  }

  async displays(deadline: Deadline): Promise<readonly DisplayInfo[]> {
    return (await import("./displays.ts")).listDisplays(this.#x, deadline)
  }

  async watchScreen(deadline: Deadline): Promise<ScreenWatch | undefined> {
    return (await import("./screen-watch.ts")).watchScreen(this.#x, deadline)
  }
}

function topWindow({ id, transientFor, ...facts }: XWindow): TopWindow {
  return {
    ...facts,
    id: windowId(id),
    transientFor: transientFor === undefined ? undefined : windowId(transientFor),
  }
}

const ownerOnX = ({ pid, window }: Owner): XOwner => ({ pid, window: windowNumber(window) })

function numberOf(id: string): number {
  const number = windowNumber(id)
  if (number !== undefined) return number
  throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
}
