import type { Rect } from "../../node.ts"
import { type Atspi, existing, INTERFACE, type Interfaces, type Ref } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { ROLE } from "./roles.ts"

/** What decides whether an object is worth more questions. */
export interface Look {
  readonly states: StateSet
  /** Absent when only the states were asked for. */
  readonly role?: number
  /** Given when they are known from another object of the same kind. */
  readonly interfaces?: Interfaces
}

/** What every object says about itself; the rest is asked only of objects that need it. */
export interface Facts {
  readonly role: number
  readonly states: StateSet
  readonly interfaces: Interfaces
  readonly name: string
  /** Absent: not asked yet. */
  readonly description?: string
  /** −1: not known. */
  readonly childCount: number
  /** In the toolkit's own coordinates. Absent: not asked yet. */
  readonly extents?: Rect
}

export interface Child {
  readonly ref: Ref
  /** Its position among all children, also among those that are left out here. */
  readonly index: number
}

/** Where a walk gets its facts from: the application, object by object, or a copy of its cache. */
export interface Source {
  /** `sparing`: most such objects are hidden, so only the states are asked for. */
  look(ref: Ref, sparing: boolean): Maybe<Look>
  facts(ref: Ref, look: Look): Maybe<Facts>
  /** `showing`: hidden ones may be left out. */
  children(ref: Ref, showing: boolean): Maybe<readonly Child[]>
}

/** Asks the application for each object. */
export class LiveSource implements Source {
  readonly #atspi: Atspi
  readonly #toolkit: string
  readonly #needsInterfaces: (role: number) => boolean

  /** With `allBounds` every object's interfaces are read, since only those with Component have bounds. */
  constructor(atspi: Atspi, toolkit: string, allBounds: boolean) {
    this.#atspi = atspi
    this.#toolkit = toolkit
    // In Firefox the plainest structure may hold text.
    const asksAll = allBounds || toolkit === "Gecko"
    this.#needsInterfaces = asksAll ? () => true : (role) => !PLAIN_ROLES.has(role)
  }

  look(ref: Ref, sparing: boolean): Promise<Look> {
    const states = this.#atspi.states(ref)
    if (sparing) return states.then((set) => ({ states: set }))
    return Promise.all([states, this.#atspi.role(ref)]).then(([set, role]) => ({ states: set, role }))
  }

  async facts(ref: Ref, look: Look): Promise<Facts> {
    const isUnknown = look.role === undefined
    const isWebText =
      this.#toolkit === "Chromium" && WEB_TEXT.has(look.role ?? 0) && !has(look.states, STATE.EDITABLE)
    const isSwitchOrCheckBox = this.#toolkit === "GTK" && look.role === ROLE.CHECK_BOX
    const [role, name, interfaces, childCount] = await Promise.all([
      look.role ?? this.#atspi.role(ref),
      look.role === ROLE.SEPARATOR && this.#toolkit !== "Chromium" ? "" : this.#atspi.name(ref),
      look.interfaces ??
        (isWebText
          ? WEB_INTERFACES
          : isUnknown || this.#needsInterfaces(look.role ?? 0)
            ? this.#atspi.interfaces(ref)
            : 0),
      isSwitchOrCheckBox ? this.#atspi.childCount(ref) : -1,
    ])
    // Emphasised text of a page is a nameless text around the text itself.
    const isLeaf = isChildless(role) && (role !== ROLE.STATIC || name !== "")
    return { role, states: look.states, interfaces, name, childCount: isLeaf ? 0 : childCount }
  }

  children(ref: Ref): Promise<readonly Child[]> {
    return this.#atspi.children(ref).then(listChildren)
  }
}

export function isChildless(role: number): boolean {
  return CHILDLESS.has(role)
}

/** Numbers them as they come; what is no object keeps its number to itself. */
export function listChildren(refs: readonly Ref[]): Child[] {
  return refs.flatMap((ref, index) => (existing(ref) ? [{ ref, index }] : []))
}

/** Structure that nothing can be done with, whatever interfaces it has. */
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

/** What pages are full of, and what every node of a page has, whatever more it may have. */
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

/**
 * What is known already, or comes later. A tree read from a cache is walked without a single promise;
 * thousands of them would cost more than the reading.
 */
export type Maybe<T> = T | Promise<T>

export function then<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

export function all<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.every(isKnown) ? values : Promise.all(values)
}

function isKnown<T>(value: Maybe<T>): value is T {
  return !(value instanceof Promise)
}
