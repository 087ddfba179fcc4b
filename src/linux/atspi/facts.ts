import type { Rect } from "../../node.ts"
import { encloses } from "../../rect.ts"
import type { TopWindow } from "../windowing/window.ts"
import { type Atspi, existing, INTERFACE, type Interfaces, type Ref } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { ClassFacts } from "./class-facts.ts"
import { type Origin, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** The answers that decide whether an object is worth more questions. */
export interface Look {
  readonly states: StateSet
  /** Absent when only the states were asked for. */
  readonly role?: number
  /** Set if another object of the same kind has reported them. */
  readonly interfaces?: Interfaces
}

/** Facts that every object is asked for. Further questions go only to objects that need them; see questions.ts. */
export interface Facts {
  readonly role: number
  readonly states: StateSet
  readonly interfaces: Interfaces
  readonly name: string
  /** Absent: not asked yet. */
  readonly description?: string
  /** −1: not known. */
  readonly childCount: number
  /** In the coordinates of the toolkit. Absent: not asked yet. */
  readonly extents?: Rect
}

export interface Child {
  readonly ref: Ref
  /** Its position among all children, including those that are left out here. */
  readonly index: number
}

/** The source of facts: the app, object by object, or a copy of its cache. */
export interface Source {
  /** `sparing`: most such objects are hidden, so only the states are asked for. */
  look(ref: Ref, sparing: boolean): Maybe<Look>
  facts(ref: Ref, look: Look): Maybe<Facts>
  /** `showing`: hidden ones may be left out. */
  children(ref: Ref, showing: boolean): Maybe<readonly Child[]>
}

/** The part of an element's origin that facts need. */
type FactsOrigin = Pick<Origin, "traits"> & Partial<Pick<Origin, "popups" | "pid">>

/** Asks the application for each object. */
export class LiveSource implements Source {
  readonly #atspi: Atspi
  readonly #traits: Traits
  readonly #popups: (() => Promise<readonly TopWindow[]>) | undefined
  readonly #needsInterfaces: (role: number) => boolean
  readonly #classes: ClassFacts | undefined
  #places: Promise<readonly Rect[]> | undefined

  /** With `allBounds` the interfaces of every object are read, since only those with Component have bounds. */
  constructor(atspi: Atspi, { traits, popups, pid }: FactsOrigin, allBounds: boolean) {
    this.#atspi = atspi
    this.#traits = traits
    this.#classes = traits.classesTell && ClassFacts.of(atspi.bus)
    this.#popups = popups && (async () => ((await popups()) ?? []).filter((popup) => popup.pid === pid))
    const asksAll = allBounds || traits.structureHoldsText
    this.#needsInterfaces = asksAll ? () => true : (role) => !PLAIN_ROLES.has(role)
  }

  look(ref: Ref, sparing: boolean): Promise<Look> {
    if (this.#traits.shownItemsLackShowing && this.#popups) return this.#lookAtPlace(ref, this.#popups)
    const states = this.#atspi.states(ref)
    if (sparing) return states.then((set) => ({ states: set }))
    return Promise.all([states, this.#atspi.role(ref)]).then(([set, role]) => ({ states: set, role }))
  }

  /**
   * Adds the state that the toolkit does not report for items of open menus: they are inside a popup of their width.
   */
  async #lookAtPlace(ref: Ref, popups: () => Promise<readonly TopWindow[]>): Promise<Look> {
    const [states, role] = await Promise.all([this.#atspi.states(ref), this.#atspi.role(ref)])
    if (!MENU_ITEMS.has(role) || has(states, STATE.SHOWING) || !has(states, STATE.VISIBLE))
      return { states, role }
    this.#places ??= popups().then((all) => all.flatMap(({ bounds }) => bounds ?? []))
    const [places, extents] = await Promise.all([this.#places, unlessRefused(this.#atspi.extents(ref))])
    const isShown = extents !== undefined && places.some((place) => isItemOf(extents, place))
    return { states: isShown ? states + 2 ** STATE.SHOWING : states, role }
  }

  async facts(ref: Ref, look: Look): Promise<Facts> {
    const isUnknown = look.role === undefined
    const { switchIs, separatorsHaveNames } = this.#traits
    const fixed = this.fixedInterfaces(look.role ?? 0, look.states)
    const mayBeSwitch = switchIs === "a childless check box" && look.role === ROLE.CHECK_BOX
    const [role, name, interfaces, childCount] = await Promise.all([
      look.role ?? this.#atspi.role(ref),
      look.role === ROLE.SEPARATOR && !separatorsHaveNames ? "" : this.#atspi.name(ref),
      look.interfaces ??
        fixed ??
        (isUnknown || this.#needsInterfaces(look.role ?? 0) ? this.#interfaces(ref, look) : 0),
      mayBeSwitch ? this.#atspi.childCount(ref) : -1,
    ])
    // Emphasised text of a page is a nameless text around the text.
    const isLeaf = isChildless(role) && (role !== ROLE.STATIC || name !== "")
    return { role, states: look.states, interfaces, name, childCount: isLeaf ? 0 : childCount }
  }

  /** The interfaces of a page's text and structure. No app is asked for them, so that every reading is the same. */
  fixedInterfaces(role: number, states: StateSet): Interfaces | undefined {
    const isWebText =
      this.#traits.textInterfacesAreFixed && WEB_TEXT.has(role) && !has(states, STATE.EDITABLE)
    return isWebText ? WEB_INTERFACES : undefined
  }

  #interfaces(ref: Ref, { role = ROLE.INVALID }: Look): Maybe<Interfaces> {
    const classes = this.#classes
    if (!classes) return this.#atspi.interfaces(ref)
    const learn = (now: Interfaces): Interfaces => {
      classes.learn(ref, role, now)
      return now
    }
    return classes.interfaces(ref) ?? this.#atspi.interfaces(ref).then(learn)
  }

  children(ref: Ref): Promise<readonly Child[]> {
    if (this.#classes?.isLeaf(ref)) return NO_CHILDREN
    return this.#atspi.children(ref).then((refs) => {
      if (refs.length === 0) this.#classes?.learnChildless(ref)
      return listChildren(refs)
    })
  }
}

const NO_CHILDREN: Promise<readonly Child[]> = Promise.resolve([])

export function isChildless(role: number): boolean {
  return CHILDLESS.has(role)
}

/** Numbers the children in order. A missing object is left out, and the others keep their numbers. */
export function listChildren(refs: readonly Ref[]): Child[] {
  return refs.flatMap((ref, index) => (existing(ref) ? [{ ref, index }] : []))
}

/** Structure without any use for interfaces. */
const PLAIN_ROLES: ReadonlySet<number> = new Set([
  ROLE.FILLER,
  ROLE.MENU_BAR,
  ROLE.ROOT_PANE,
  ROLE.SCROLL_PANE,
  ROLE.SEPARATOR,
  ROLE.SPLIT_PANE,
  ROLE.STATUS_BAR,
  ROLE.TOOL_BAR,
  ROLE.VIEWPORT,
])

/** The most common nodes of pages, and the interfaces that every node of a page has. */
const WEB_TEXT: ReadonlySet<number> = new Set([ROLE.PARAGRAPH, ROLE.SECTION, ROLE.STATIC])
const WEB_INTERFACES = INTERFACE.Accessible | INTERFACE.Action | INTERFACE.Component

const CHILDLESS: ReadonlySet<number> = new Set([
  ROLE.ANIMATION,
  ROLE.LEVEL_BAR,
  ROLE.PROGRESS_BAR,
  ROLE.SCROLL_BAR,
  ROLE.SEPARATOR,
  ROLE.SLIDER,
  ROLE.STATIC,
])

const MENU_ITEMS: ReadonlySet<number> = new Set([
  ROLE.CHECK_MENU_ITEM,
  ROLE.MENU,
  ROLE.MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
  ROLE.SEPARATOR,
  ROLE.TEAROFF_MENU_ITEM,
])

const isItemOf = (item: Rect, menu: Rect): boolean =>
  encloses(menu, item) && menu.width - item.width <= MOST_BORDER

/** The borders of a menu, left and right together. */
const MOST_BORDER = 16

/** An answer that is already known, or comes later. A source that knows it creates no promise. */
export type Maybe<T> = T | Promise<T>
