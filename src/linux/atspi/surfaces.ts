import type { Point, Rect, Surface, SurfaceInfo } from "../../node.ts"
import { middle } from "../../rect.ts"
import { DBusError, WireError } from "../dbus/bus.ts"
import type { TopWindow } from "../windowing/window.ts"
import { type Atspi, parseRefKey, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { Element, unlessRefused } from "./element.ts"
import type { Facts, Source } from "./facts.ts"
import type { Frame } from "./frames.ts"
import { kindIn, nameOf } from "./reading.ts"
import { MENU_ROLES, ROLE, WINDOW_ROLES } from "./roles.ts"
import { isShowing, mayBeCollapsed } from "./sight.ts"
import { openSource } from "./sources.ts"
import { lastShown } from "./watch.ts"

/** A visible surface: a window, an open menu, a dialog. */
export interface SeenSurface {
  readonly type: Surface
  readonly element: Element
  readonly title: string
  /** `w-…` of the window that it is or that contains it, `menu-1` for a menu, `popover-1` for another popup. */
  readonly id: string
  readonly window: TopWindow | undefined
  /** Its window on the screen, if no window manager manages it. */
  readonly popup?: TopWindow
  /** True if keys go to it. */
  readonly isActive?: boolean
  readonly itemCount?: number
}

/** A top-level object, and the window of the screen that it matches, if any. */
export interface TopLevel {
  readonly frame: Frame
  readonly element: Element
  readonly window: TopWindow | undefined
  /** The same for a window that no window manager manages. */
  readonly popup?: TopWindow
}

/** Notes of menus that are in no tree, kept from one command to the next. */
export interface MenuNotes {
  read(): Promise<readonly string[]>
  write(menu: { readonly at: Point; readonly note: string }): Promise<void>
  /** The places of all popups of the app. */
  places(): Promise<readonly Rect[]>
}

/** Everything that `--surface` could name, the most specific of each kind first. */
export async function findSurfaces(
  atspi: Atspi,
  tops: readonly TopLevel[],
  notes: MenuNotes,
): Promise<readonly SeenSurface[]> {
  const found = await Promise.all([
    ...tops.map((top) => surfacesIn(atspi, top)),
    menusElsewhere(atspi, tops, notes),
  ])
  const all = found.flat().filter(isFirst)
  const focused =
    all.find(({ type }) => type === "menu") ?? all.find(({ isActive }) => isActive) ?? focusedTop(all)
  return focused ? [...all, { ...focused, type: "focused" }] : all
}

/** The popups of an app that are not in the tree of a window. */
export async function findPopups(
  atspi: Atspi,
  tops: readonly TopLevel[],
  notes: MenuNotes,
): Promise<readonly SeenSurface[]> {
  const loose = tops.filter(({ window }) => !window)
  const found = await Promise.all([
    ...loose.filter(({ popup }) => popup).map((top) => popupsIn(atspi, top)),
    menusElsewhere(atspi, tops, notes),
  ])
  // A menu inside another popup is part of that popup's tree.
  const whole = found.map(([first, ...others]) => (first?.type === "popover" ? [first] : [first, ...others]))
  return whole
    .flat()
    .filter((one) => one !== undefined)
    .filter(isFirst)
}

export function surfaceInfo({ type, id, title, itemCount }: SeenSurface): SurfaceInfo {
  return {
    type,
    id,
    ...(title ? { title } : {}),
    ...(itemCount === undefined ? {} : { item_count: itemCount }),
  }
}

const MENU_ID = "menu-1"
const POPOVER_ID = "popover-1"
const MAX_SCANNED = 5000

/** Popups that are in no tree, known by the event when they opened, by the note of a command that received it, or by a search. */
async function menusElsewhere(
  atspi: Atspi,
  tops: readonly TopLevel[],
  notes: MenuNotes,
): Promise<readonly SeenSurface[]> {
  const top = tops.find(({ element }) => element.origin.traits.contextMenusAreInNoTree)
  if (!top) return []
  const heard = lastShown(atspi.bus)
  const noted = (await notes.read()).flatMap((note) => parseRefKey(note) ?? [])
  const known = new Map(
    [...heard, ...noted]
      .filter(({ bus }) => tops.some(({ element }) => element.ref.bus === bus))
      .map((ref) => [refKey(ref), ref] as const),
  )
  const isHeard = new Set(heard.map(refKey))
  const { looseType, searchLoose } = await import("./popups.ts")
  const show = async (ref: Ref, isNew: boolean): Promise<readonly SeenSurface[]> => {
    const type = await looseType(atspi, ref)
    if (!type) return []
    const extents = isNew ? await unlessRefused(atspi.extents(ref)) : undefined
    if (extents) await notes.write({ at: middle(extents), note: refKey(ref) })
    const element = new Element(ref, { ...top.element.origin, window: undefined })
    if (type === "menu") return scan(atspi, element, undefined, "")
    return [{ type, element, title: "", id: POPOVER_ID, window: undefined }]
  }
  const found = (await Promise.all([...known].map(([key, ref]) => show(ref, isHeard.has(key))))).flat()
  const { objectsAreNumberedFrom: first } = top.element.origin.traits
  if (found.length > 0 || first === undefined) return found
  const searched = await searchLoose(atspi, { bus: top.element.ref.bus, first }, await notes.places())
  return (await Promise.all(searched.map((ref) => show(ref, true)))).flat()
}

/** Drops the duplicate of a menu that is in a tree and also sent the event. */
function isFirst(one: SeenSurface, index: number, all: readonly SeenSurface[]): boolean {
  const key = refKey(one.element.ref)
  return one.type !== "menu" || all.findIndex(({ element }) => refKey(element.ref) === key) === index
}

/** The window with the keyboard. */
function focusedTop(all: readonly SeenSurface[]): SeenSurface | undefined {
  const tops = all.filter(({ type }) => type === "window" || type === "sheet" || type === "alert")
  return tops.find(({ window }) => window?.focused)
}

async function surfacesIn(atspi: Atspi, top: TopLevel): Promise<readonly SeenSurface[]> {
  const { frame, element, window } = top
  if (!window) return popupsIn(atspi, top)
  const { id } = window
  const own: SeenSurface = { type: topType(frame, window), element, title: window.title, id, window }
  if (window.minimized) return [own]
  return [own, ...(await scan(atspi, element, window, id))]
}

/** The menus in a top-level object that no window manager manages, and the object itself if it is more than a menu. */
async function popupsIn(atspi: Atspi, { frame, element, popup }: TopLevel): Promise<readonly SeenSurface[]> {
  const isPopup = frame.role === ROLE.WINDOW || MENU_ROLES.has(frame.role)
  // Pages that the browser has prepared are such frames, too.
  const mayBeMenu = element.origin.traits.menusAreFrames === true && !frame.name
  if (!isPopup && !mayBeMenu && !popup) return []
  const inner = await scan(atspi, element, undefined, POPOVER_ID).catch(noneIfClosed)
  const menus = inner.filter(({ type }) => type === "menu").map((menu) => ({ ...menu, popup }))
  if (!popup) return mayBeMenu ? menus : inner
  if (menus.length > 0 && (await isOnlyMenu(atspi, element))) return menus
  const isActive = has(frame.states, STATE.ACTIVE)
  const whole: SeenSurface = {
    type: "popover",
    element,
    title: frame.name,
    id: POPOVER_ID,
    window: undefined,
    popup,
    isActive,
  }
  return [whole, ...inner.filter(({ type }) => type !== "popover")]
}

/** True if a popup contains only a menu. */
async function isOnlyMenu(atspi: Atspi, { ref }: Element): Promise<boolean> {
  let at = ref
  for (let level = 0; level < MAX_BOXES; level++) {
    if (MENU_ROLES.has(await atspi.role(at))) return true
    const [only, ...others] = await atspi.children(at)
    if (!only || others.length > 0) return false
    at = only
  }
  return false
}

const MAX_BOXES = 5

async function scan(
  atspi: Atspi,
  element: Element,
  window: TopWindow | undefined,
  id: string,
): Promise<readonly SeenSurface[]> {
  return new Scan(atspi, await openSource(atspi, element, false), window, id).run(element)
}

/** Chromium lists the frame of a closed menu for a while, and returns nonsense for it. */
function noneIfClosed(error: unknown): readonly SeenSurface[] {
  if (error instanceof WireError || error instanceof DBusError) return []
  throw error
}

function topType({ role, states }: Frame, window: TopWindow): Surface {
  if (role === ROLE.ALERT) return "alert"
  const isDialog = WINDOW_ROLES.has(role) && role !== ROLE.FRAME && role !== ROLE.WINDOW
  const isAttached = has(states, STATE.MODAL) || window.transientFor !== undefined
  return isDialog && isAttached ? "sheet" : "window"
}

/** Searches the showing part of a window for surfaces inside it. */
class Scan {
  readonly #atspi: Atspi
  readonly #source: Source
  readonly #window: TopWindow | undefined
  readonly #id: string
  readonly #seen = new Set<string>()

  constructor(atspi: Atspi, source: Source, window: TopWindow | undefined, id: string) {
    this.#atspi = atspi
    this.#source = source
    this.#window = window
    this.#id = id
  }

  async run(root: Element): Promise<readonly SeenSurface[]> {
    const facts = await this.#source.facts(root.ref, await this.#source.look(root.ref, false))
    return MENU_ROLES.has(facts.role) ? this.#one(root, facts, "") : this.#below(root, facts, "")
  }

  async #below(element: Element, facts: Facts, name: string): Promise<readonly SeenSurface[]> {
    if (facts.childCount === 0 || has(facts.states, STATE.MANAGES_DESCENDANTS)) return []
    const children = await this.#source.children(element.ref, true)
    const parent = { ref: element.ref, role: facts.role, states: facts.states, size: children.length }
    const found = await Promise.all(
      children.map(({ ref, index }) => this.#child(new Element(ref, element.origin, parent, index), name)),
    )
    return found.flat()
  }

  async #child(element: Element, parentName: string): Promise<readonly SeenSurface[]> {
    const key = refKey(element.ref)
    if (this.#seen.has(key) || this.#seen.size >= MAX_SCANNED) return []
    this.#seen.add(key)
    const look = await this.#source.look(element.ref, MENU_ROLES.has(element.parentRole))
    if (!isShowing(element.origin, look)) return []
    const facts = await this.#source.facts(element.ref, look)
    return isShowing(element.origin, facts) ? this.#one(element, facts, parentName) : []
  }

  async #one(element: Element, facts: Facts, parentName: string): Promise<readonly SeenSurface[]> {
    // Firefox shows the selected option of a closed combo box in a separate menu.
    if (facts.role === ROLE.COMBO_BOX && isClosed(facts)) return []
    const kind = kindIn(facts, element)
    const title = nameOf(element.origin, kind, facts) ?? ""
    const inside = { element, title, id: this.#id, window: this.#window }
    switch (kind.role) {
      case "menubar":
        if (await this.#isFlat(element, facts)) return []
        return [
          { ...inside, type: "menubar", itemCount: await this.#countItems(element, facts, 0) },
          ...(await this.#below(element, facts, title)),
        ]
      case "menu": {
        const itemCount = await this.#countItems(element, facts, 0)
        return [{ ...inside, type: "menu", id: MENU_ID, title: title || parentName, itemCount }]
      }
      case "dialog":
      case "alertdialog":
        return [{ ...inside, type: "sheet" }, ...(await this.#below(element, facts, title))]
      case "popover":
        return [{ ...inside, type: "popover" }, ...(await this.#below(element, facts, title))]
      case "alert":
        return [{ ...inside, type: "alert" }, ...(await this.#below(element, facts, title))]
    }
    // GTK 3 hangs an open menu's items under the item that opens it.
    if (facts.role === ROLE.MENU && kind.role === "menuitem") {
      const itemCount = await this.#countItems(element, facts, 0)
      return itemCount > 0 ? [{ ...inside, type: "menu", id: MENU_ID, itemCount }] : []
    }
    return this.#below(element, facts, title || parentName)
  }

  async #isFlat({ ref, origin, parentRole }: Element, facts: Facts): Promise<boolean> {
    if (!mayBeCollapsed(origin.traits, facts.role, parentRole)) return false
    const extents =
      facts.extents ?? (await unlessRefused(this.#atspi.extents(ref, origin.traits.coordinates)))
    return extents?.height === 0
  }

  /** Counts items that show, also inside the boxes that GTK 4 puts around them. */
  async #countItems(element: Element, facts: Facts, level: number): Promise<number> {
    if (level > 10) return 0
    const children = await this.#source.children(element.ref, true)
    const counts = await Promise.all(
      children.map(async ({ ref }): Promise<number> => {
        const look = await this.#source.look(ref, false)
        if (!isShowing(element.origin, look)) return 0
        if (look.role !== undefined && ITEMS.has(look.role)) return 1
        if (look.role !== ROLE.PANEL && look.role !== ROLE.FILLER && look.role !== ROLE.SCROLL_PANE) return 0
        const inner = await this.#source.facts(ref, look)
        return this.#countItems(new Element(ref, element.origin), inner, level + 1)
      }),
    )
    return facts.childCount === 0 ? 0 : counts.reduce((sum, count) => sum + count, 0)
  }
}

const isClosed = ({ states }: Facts): boolean => has(states, STATE.EXPANDABLE) && !has(states, STATE.EXPANDED)

const ITEMS: ReadonlySet<number> = new Set([
  ROLE.CHECK_MENU_ITEM,
  ROLE.MENU,
  ROLE.MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
  ROLE.TEAROFF_MENU_ITEM,
])
