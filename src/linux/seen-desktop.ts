import type { Seen, SeenApp, SeenWindow, TreeTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED, parentNotFound, windowNotFound } from "../errors.ts"
import type { Point, Surface } from "../node.ts"
import type { BusHint, RefEntry } from "../refmap.ts"
import { pause } from "../until.ts"
import { Atspi, type IsNative, parseRefKey, refKey } from "./atspi/atspi.ts"
import { Element } from "./atspi/element.ts"
import { readProcessFrames } from "./atspi/frames.ts"
import type { Inventory } from "./atspi/inventory.ts"
import {
  frameElement,
  noFrame,
  noSurface,
  type TreeRoot,
  translatingErrors,
  unseenPopup,
} from "./atspi/read-tree.ts"
import type { MenuNotes, SeenSurface, TopLevel } from "./atspi/surfaces.ts"
import { isYoung } from "./host/processes.ts"
import { type Session, silentBus } from "./host/session.ts"
import type { WindowSystem } from "./windowing/system.ts"
import { isPassing, isWindowId, type TopWindow } from "./windowing/window.ts"

// Loaded when needed: an action on a ref does not need it, since the address of the ref leads to the element.
const inventories = () => import("./atspi/inventory.ts")

/** How long to look for the element that has the focus. */
const FOCUS_LOOK_MS = 750
/** How long a window whose process has just started may take to show its frame. */
const START_MS = 2500
const LOOK_AGAIN_MS = 50

/** The desktop as one command sees it: its windows, and the accessible object of each. */
export class SeenDesktop {
  readonly #session: Session
  readonly #deadline: Deadline
  #last: Inventory | undefined

  constructor(session: Session, deadline: Deadline) {
    this.#session = session
    this.#deadline = deadline
  }

  async atspi(hint?: BusHint): Promise<Atspi> {
    return new Atspi(await this.#session.a11y(this.#deadline, hint), this.#deadline, this.#isNative)
  }

  /** undefined: no app of this session can be a native Wayland client. */
  get #isNative(): IsNative | undefined {
    if (!this.#session.mayBeNative) return undefined
    return async (pid) => (await this.#windowing()).isNative(pid, this.#deadline)
  }

  async apps(): Promise<readonly SeenApp[]> {
    const { seenApps, takeAppInventory } = await inventories()
    return seenApps(await takeAppInventory(this.#session, this.#deadline), this.#session.env)
  }

  /** True if the process is proved to have an app or a window here, beyond a window's own claim. */
  async vouchesFor(pid: number): Promise<boolean> {
    const { isVouchedFor, takeAppInventory } = await inventories()
    return isVouchedFor(await takeAppInventory(this.#session, this.#deadline), pid)
  }

  async windows(only?: string): Promise<readonly SeenWindow[]> {
    const [now, { seenWindow }] = await Promise.all([this.#look(only), inventories()])
    return now.windows.map((window) => seenWindow(window, now, this.#session.env))
  }

  async surfaces(pid: number): Promise<readonly SeenSurface[]> {
    const { findSurfaces } = await import("./atspi/surfaces.ts")
    await this.#look()
    const [tops, popups] = await Promise.all([this.#topLevels(pid), this.#popupsOf(pid)])
    return findSurfaces(await this.atspi(), await withPopups(tops, popups ?? []), this.#menuNotes(pid))
  }

  /** The popups that belong to a window and are not in its tree. */
  async #popupsOver({ id, pid }: SeenWindow): Promise<readonly SeenSurface[]> {
    const popups = await this.#popupsOf(pid)
    if (!popups || popups.length === 0) return []
    const { findPopups } = await import("./atspi/surfaces.ts")
    const tops = await withPopups(await this.#topLevels(pid), popups)
    const windows = tops.flatMap(({ window }) => window ?? [])
    const focused = windows.find((window) => window.focused) ?? windows[0]
    const found = await findPopups(await this.atspi(), tops, this.#menuNotes(pid))
    return found.filter(({ popup }) => {
      const owner = windows.find((window) => window.id === popup?.transientFor) ?? focused
      return owner !== undefined && owner.id === id
    })
  }

  #menuNotes(pid: number): MenuNotes {
    return {
      read: async () => (await this.#windowing()).readMenuNotes(pid, this.#deadline),
      write: async (menu) => (await this.#windowing()).writeMenuNote({ ...menu, pid }, this.#deadline),
      places: async () => ((await this.#popupsOf(pid)) ?? []).flatMap(({ bounds }) => bounds ?? []),
    }
  }

  /** The element that gets the keys in a window. undefined: unknown. */
  async focused(window: SeenWindow): Promise<Seen | undefined> {
    const { findFocused } = await import("./atspi/focus.ts")
    return this.#briefly(window, async (view, top) => {
      // An open menu or list takes the keys, even if an element of the window has the focus.
      if (await view.#hasPopup(window.pid)) return undefined
      return findFocused(await view.atspi(), top)
    })
  }

  /** True if Enter would press the dialog's default button and that button is disabled. */
  async isEnterBlocked(window: SeenWindow): Promise<boolean> {
    const { hasDisabledDefault } = await import("./atspi/focus.ts")
    const look = async (view: SeenDesktop, top: Element) => hasDisabledDefault(await view.atspi(), top)
    return (await this.#briefly(window, look)) ?? false
  }

  async popoverOpeners(window: SeenWindow): Promise<readonly string[]> {
    const { openersOf } = await import("./atspi/popups.ts")
    const look = async (): Promise<readonly string[]> => {
      const top = await this.#findTop(window.id)
      return top ? openersOf(await this.atspi(), top.element.ref) : []
    }
    return translatingErrors({ app: window.app_name }, look())
  }

  /** Looks into a window, but not for long: the keys go to it in any case. undefined: its app cannot be asked. */
  async #briefly<T>(
    window: SeenWindow,
    look: (view: SeenDesktop, top: Element) => Promise<T>,
  ): Promise<T | undefined> {
    if (window.accessible === false) return undefined
    // The keys need time as well.
    const time = Math.min(FOCUS_LOOK_MS, this.#deadline.remaining / 3)
    const view = new SeenDesktop(this.#session, this.#deadline.slice(time))
    view.#last = this.#last
    const finding = view.#findTop(window.id)
    const looking = finding.then((top) => top && look(view, top.element))
    try {
      return await translatingErrors({ app: window.app_name }, looking)
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  async #hasPopup(pid: number): Promise<boolean> {
    const popups = await this.#popupsOf(pid)
    return popups ? popups.length > 0 : (await this.surfaces(pid)).some(({ type }) => type === "menu")
  }

  /** undefined: the window system does not report it. */
  async #popupsOf(pid: number): Promise<readonly TopWindow[] | undefined> {
    const popups = await (await this.#windowing()).popups(this.#deadline)
    return popups?.filter((popup) => popup.pid === pid && !isPassing(popup))
  }

  /** True if keys go to the window that the element is in. */
  async hasKeys({ origin }: Element): Promise<boolean> {
    const hasKeys = await (await this.#windowing()).hasKeys(origin, this.#deadline)
    if (hasKeys !== undefined) return hasKeys
    return (await this.windows(origin.window)).some(
      ({ id, is_focused }) => id === origin.window && is_focused,
    )
  }

  /** The element at which the tree of a target starts. */
  async rootOf(target: TreeTarget): Promise<TreeRoot> {
    if (target.kind === "element") {
      const { id = "", title = "" } = target.window ?? {}
      const element = await this.#above(Element.of(target.handle), target.above ?? 0)
      return { element, window: { id, title }, surface: "window" }
    }
    const { window, surface } = target
    const { id, title, app_name } = window
    if (surface === "window") {
      const { element, frame } = await this.#topOf(window)
      const over = translatingErrors({ app: app_name }, this.#popupsOver(window))
      const popups = over.then((all) => all.map(rootOfPopup))
      // The tree is read meanwhile, and may fail first.
      popups.catch(() => {})
      return { element, window: { id, title }, surface, frame, popups }
    }
    const all = await translatingErrors({ app: app_name }, this.surfaces(window.pid))
    const found = all.filter(({ type }) => type === surface)
    const best = found.find((one) => one.id === id) ?? (await this.#nearest(window, found))
    if (!best) {
      const isSeen = all.some(({ type }) => POPUP_SURFACES.has(type))
      const [unseen] =
        POPUP_SURFACES.has(surface) && !isSeen ? ((await this.#popupsOf(window.pid)) ?? []) : []
      throw unseen?.frame ? unseenPopup(unseen.frame, app_name) : noSurface(surface, app_name)
    }
    const isMenu = all.some(({ type, element }) => type === "menu" && element === best.element)
    // Its submenus may be separate popups.
    const others = isMenu && best.popup ? all.filter(({ type, popup }) => type === "menu" && popup) : []
    return {
      element: best.element,
      window: { id: best.id, title: best.title },
      surface: isMenu ? "menu" : best.popup ? "popover" : surface,
      popups: Promise.resolve(others.filter((one) => one !== best).map(rootOfPopup)),
    }
  }

  /**
   * The surface of another window of the app. A menu bar is that of the window which the given one belongs to, as a
   * dialog belongs to its document; without such a window, several menu bars are ambiguous.
   */
  async #nearest(
    { id, app_name }: SeenWindow,
    found: readonly SeenSurface[],
  ): Promise<SeenSurface | undefined> {
    const bars = found.filter((one) => one.type === "menubar" && isWindowId(one.id))
    if (new Set(bars.map((one) => one.id)).size < 2) return found[0]
    const byId = new Map(
      (await (await this.#windowing()).mates(id, this.#deadline)).map((one) => [one.id, one]),
    )
    const passed = new Set<string>()
    for (let owner = byId.get(id)?.transientFor; owner && !passed.has(owner); ) {
      const bar = bars.find((one) => one.id === owner)
      if (bar) return bar
      passed.add(owner)
      owner = byId.get(owner)?.transientFor
    }
    throw severalBars(id, app_name, bars)
  }

  /** The dialog or popover among objects that have just appeared. */
  async openedAmong(addresses: readonly string[], pid: number): Promise<TreeRoot | "opening" | undefined> {
    const [atspi, { openedAmong }, { openIn }] = await Promise.all([
      this.atspi(),
      import("./atspi/dialogs.ts"),
      import("./atspi/open.ts"),
    ])
    const opened = await openedAmong(atspi, pid, addresses)
    if (!opened) return undefined
    await this.#look()
    const tops = await this.#topLevels(pid)
    const top = tops.find(({ element, window }) => window && refKey(element.ref) === refKey(opened.top))
    if (!top?.window) return "opening"
    const { id, title } = top.window
    const place = { window: { id, title }, surface: "sheet" } as const
    if (refKey(opened.ref) === refKey(opened.top)) return { ...place, element: top.element, frame: top.frame }
    const element = await openIn(atspi, top.element, opened.ref)
    return element && { ...place, element }
  }

  async #above(element: Element, levels: number): Promise<Element> {
    if (levels === 0) return element
    const { openAbove } = await import("./atspi/open.ts")
    const found = await translatingErrors(element.origin, openAbove(await this.atspi(), element, levels))
    if (found) return found
    throw parentNotFound()
  }

  /** The frame of an entry's window; for an entry in a menu, a frame of its process. */
  readonly frameFor = async ({ window_id, pid }: RefEntry): Promise<Element | undefined> => {
    if (isWindowId(window_id)) return (await this.#findTop(window_id))?.element
    return (await this.#topLevels(pid)).find(({ window }) => window !== undefined)?.element
  }

  /**
   * The window of the modal dialog that blocks an entry's window; the same window if the dialog is inside it.
   * undefined: there is none, or it is unknown.
   */
  async dialogOver(entry: RefEntry, hint?: BusHint): Promise<{ readonly id: string } | undefined> {
    const own = entry.window_id
    const ref = parseRefKey(entry.address ?? "")
    if (!isWindowId(own) || !ref || !this.#session.hasWindows) return undefined
    const [atspi, { dialogOver, findDialogSigns }] = await Promise.all([
      this.atspi(hint),
      import("./atspi/dialogs.ts"),
    ])
    const app = entry.source_app ?? `pid ${entry.pid}`
    const page = parseRefKey(entry.page ?? "")
    const { beside, inside, overPage } = await translatingErrors(
      { app },
      findDialogSigns(atspi, ref.bus, page),
    )
    if (overPage) return { id: own }
    if (inside.length > 0 && page) {
      const frame = await this.frameFor(entry)
      if (frame && inside.some((one) => refKey(one) === refKey(frame.ref))) return { id: own }
    }
    if (!beside) return undefined
    const system = await this.#windowing()
    const dialog = dialogOver(own, await system.mates(own, this.#deadline))
    return dialog && { id: dialog.id }
  }

  /** The topmost window at a point: the element's own, a popup of its process, or another one. */
  async topmost(
    { origin }: Element,
    point: Point,
  ): Promise<"own" | "popup" | { readonly by: string; readonly isOtherApp: boolean }> {
    const system = await this.#windowing()
    const window = await system.windowAt(point, this.#deadline)
    if (!window) return { by: "the desktop", isOtherApp: true }
    if (window.id === origin.window) return "own"
    const name = window.title || window.wmClass?.className || window.id
    if (window.pid !== origin.pid) return { by: `window '${name}'`, isOtherApp: true }
    // An element of a menu does not know which window the menu is.
    const isAnywhere = origin.window === undefined
    if (isAnywhere && !origin.traits.hitTestMissesPopups) return "own"
    const popups = await system.popups(this.#deadline)
    if (popups?.some(({ id }) => id === window.id)) return "popup"
    return isAnywhere ? "own" : { by: `window '${name}'`, isOtherApp: false }
  }

  /** Reads all windows and apps, or one window and the others of its process. */
  async #look(only?: string): Promise<Inventory> {
    const { takeInventory, takeInventoryOf } = await inventories()
    const isOne = only === "focused" || isWindowId(only)
    const part = isOne ? await takeInventoryOf(this.#session, only, this.#deadline) : undefined
    this.#last = part || (await takeInventory(this.#session, this.#deadline))
    return this.#last
  }

  async #topOf({ id, app_name, pid }: SeenWindow): Promise<TopLevel> {
    const patience = this.#deadline.slice(Math.min(START_MS, this.#deadline.remaining / 2))
    for (;;) {
      const top = await translatingErrors({ app: app_name }, this.#findTop(id, true))
      if (top) return top
      if (!isYoung(pid) || patience.expired) break
      // The inventory may mistake another app without a window for this one, and so not report the window as starting.
      await pause(LOOK_AGAIN_MS, patience)
      await this.#look(id)
    }
    // The process of the window may have ended meanwhile.
    if (this.#window(id)) await this.#look(id)
    const window = this.#window(id)
    if (window) {
      const twins = this.#last?.windows.filter((one) => one.pid === window.pid && one.title === window.title)
      throw noFrame({ id, app_name, pid }, twins?.map((one) => one.id) ?? [])
    }
    throw windowNotFound(id)
  }

  /** undefined: there is no such window, or none of its process's frames is provably the window. */
  async #findTop(id: string, withCache = false): Promise<TopLevel | undefined> {
    if (!this.#window(id)) await this.#look(id)
    const window = this.#window(id)
    const tops = window && (await this.#topLevels(window.pid, withCache))
    return tops?.find((top) => top.window?.id === window?.id)
  }

  #windowing(): Promise<WindowSystem> {
    return this.#session.windowing(this.#deadline)
  }

  #window(id: string): TopWindow | undefined {
    return this.#last?.windows.find((window) => window.id === id)
  }

  async #topLevels(pid: number | undefined, withCache = false): Promise<readonly TopLevel[]> {
    const known = this.#last
    const now = known && (known.pid ?? pid) === pid ? known : await this.#look()
    if (now.bus === "silent") throw silentBus()
    const { frames, matches } = await readProcessFrames(await this.atspi(), pid, now, withCache)
    const popups = async () => (await this.#windowing()).popups(this.#deadline)
    return frames.map((frame) => {
      const window = now.windows.find(({ id }) => matches.get(id) === frame)
      return { frame, window, element: frameElement(frame, window, popups) }
    })
  }
}

const POPUP_SURFACES: ReadonlySet<Surface> = new Set<Surface>(["menu", "popover"])

/** Finds out which top-level objects are popups. */
async function withPopups(
  tops: readonly TopLevel[],
  popups: readonly TopWindow[],
): Promise<readonly TopLevel[]> {
  if (popups.length === 0) return tops
  const { matchPopups } = await import("./atspi/frames.ts")
  const loose = tops.filter(({ window }) => !window).map(({ frame }) => frame)
  const matches = matchPopups(popups, loose)
  return tops.map((top) => ({ ...top, popup: matches.get(top.frame) }))
}

const rootOfPopup = ({ type, element, id, title }: SeenSurface): TreeRoot => ({
  element,
  window: { id, title },
  surface: type,
})

function severalBars(own: string, app: string, bars: readonly SeenSurface[]): AppError {
  const titles = new Map(bars.flatMap(({ window }) => (window ? [[window.id, window.title]] : [])))
  const windows = [...titles].map(([id, title]) => ({ id, title }))
  return new AppError(
    "AMBIGUOUS_TARGET",
    `${windows.length} windows of '${app}' have a menu bar, and window '${own}' has none`,
    {
      suggestion: `Name one: ${windows.map(({ id }) => `--window-id ${id}`).join(" or ")}`,
      details: { kind: "menu", candidates: windows },
      disposition: NOTHING_DELIVERED,
    },
  )
}
