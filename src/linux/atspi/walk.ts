import { MAX_LEVELS, MAX_NODES, type SeenNode, type TreeOptions } from "../../adapter.ts"
import { isWrapper } from "../../tree.ts"
import { DBusClosed, DBusError, DBusTimeout, WireError } from "../dbus/bus.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { placeBelow, popupPlace } from "./coordinates.ts"
import { describe, isShowing, kindIn, nameOf } from "./describe.ts"
import { Element, isGone, type Parent, type Place } from "./element.ts"
import {
  all,
  type Child,
  type Facts,
  isChildless,
  type Look,
  type Maybe,
  type Source,
  then,
} from "./facts.ts"
import { LABEL_DEPTH, needsContents, settle } from "./labels.ts"
import { type Kind, MENU_ROLES, ROLE } from "./roles.ts"
import { ColumnSource, MAX_MANAGED, visibleChildren } from "./virtual.ts"

export interface Walked {
  readonly root: SeenNode
  /** false: an answer is missing, or a limit was met that nobody asked for. */
  readonly complete: boolean
}

export interface WalkOptions extends TreeOptions {
  /** Where the depth ends, ask how many children there are. */
  readonly counts: boolean
}

/**
 * Reads the tree below an object: every node goes on as soon as its own answers are there. `known` is what was
 * asked about the object itself before.
 */
export async function walkTree(
  atspi: Atspi,
  source: Source,
  root: Pick<Element, "ref" | "place" | "parent" | "index">,
  options: WalkOptions,
  known?: Facts,
): Promise<Walked> {
  const walk = new Walk(atspi, options)
  const element = new Element(root.ref, root.place, root.parent, root.index)
  const facts = known ?? (await source.facts(root.ref, await source.look(root.ref, false)))
  const start = { element, source, level: 0, depth: 0, spare: undefined, above: undefined }
  const node = await walk.visit(await walk.relocate(start, facts), facts)
  return { root: node, complete: walk.complete }
}

interface Step {
  readonly element: Element
  readonly source: Source
  readonly level: number
  readonly depth: number
  /** Levels that may still be read beyond the depth, for a name above. */
  readonly spare: number | undefined
  readonly above: Step | undefined
}

interface Below {
  readonly nodes: readonly SeenNode[]
  /** Read for a name only: not part of the tree. */
  readonly isSpare?: boolean
  /** How many there are, where not all are here. */
  readonly count?: number
}

/** Children that are being asked for while the facts of their parent are. */
type Listing = Maybe<readonly Child[] | undefined>

const UNREAD = Symbol("unread")
type Outcome = SeenNode | typeof UNREAD | undefined

class Walk {
  complete = true
  readonly #atspi: Atspi
  readonly #options: WalkOptions
  #nodes = 0

  constructor(atspi: Atspi, options: WalkOptions) {
    this.#atspi = atspi
    this.#options = options
  }

  visit(step: Step, facts: Facts, listing?: Listing): Maybe<SeenNode> {
    const { element } = step
    const kind = kindIn(facts, element.place, element.parentRole)
    const { bounds, interactiveOnly } = this.#options
    const described = describe(this.#atspi, element, kind, facts, bounds, this.#expect, interactiveOnly)
    const below = facts.childCount === 0 ? LEAF : this.#below(step, facts, kind, listing)
    return then(described, (words) =>
      then(below, ({ nodes, isSpare, count }) => ({
        ...settle(words, kind, element.place, nodes),
        children: isSpare ? [] : nodes,
        ...(count ? { children_count: count } : {}),
      })),
    )
  }

  #below(step: Step, facts: Facts, kind: Kind, listing: Listing | undefined): Maybe<Below> {
    const { ref, place } = step.element
    const name = nameOf(place, kind, facts)
    const depth = step.depth + (isWrapper({ role: kind.role, name, description: facts.description }) ? 0 : 1)
    if (!this.#options.includeHidden && isClosedMenu(step.element, facts)) return LEAF
    if (this.#isWithin(depth, step)) return this.#children(step, facts, depth, listing)
    const spare = step.spare ?? (needsContents(kind, place, name) ? LABEL_DEPTH : 0)
    const labels = spare > 0 ? this.#children(step, facts, depth, undefined, spare - 1) : LEAF
    const count = facts.childCount >= 0 ? facts.childCount : this.#count(ref, step.spare !== undefined)
    return then(labels, ({ nodes }) =>
      then(count, (total) => ({ nodes, isSpare: step.spare === undefined, count: total })),
    )
  }

  #isWithin(depth: number, step: Step): boolean {
    return depth <= this.#options.maxDepth && step.level < MAX_LEVELS
  }

  #count(ref: Ref, isSpare: boolean): Maybe<number | undefined> {
    return this.#options.counts && !isSpare ? this.#expect(this.#atspi.childCount(ref)) : undefined
  }

  #children(step: Step, facts: Facts, depth: number, begun?: Listing, spare?: number): Maybe<Below> {
    const { element } = step
    const place = placeBelow(this.#atspi, element, facts, this.#expect)
    if (has(facts.states, STATE.MANAGES_DESCENDANTS)) {
      return this.#expect(this.#atspi.childCount(element.ref)).then((total) => {
        if (total === undefined || total <= MAX_MANAGED) {
          const listed = { ...step, source: alike(step.source, facts, undefined) }
          return this.#visitAll(listed, facts, depth, spare, place, this.#list(step))
        }
        return this.#expect(visibleChildren(this.#atspi, element.ref, facts)).then((visible) => {
          const source = alike(step.source, facts, visible?.columns)
          return this.#visitAll({ ...step, source }, facts, depth, spare, place, visible?.children, total)
        })
      })
    }
    return this.#visitAll(step, facts, depth, spare, place, begun ?? this.#list(step))
  }

  #list({ source, element }: Step): Listing {
    const listing = source.children(element.ref, !this.#options.includeHidden)
    return listing instanceof Promise ? this.#expect(listing) : listing
  }

  #visitAll(
    step: Step,
    facts: Facts,
    depth: number,
    spare: number | undefined,
    where: Maybe<Place>,
    listing: Listing,
    total?: number,
  ): Maybe<Below> {
    return then(listing, (children) => {
      if (!children) return { nodes: [], count: total }
      const { ref } = step.element
      const parent = { ref, role: facts.role, states: facts.states, size: children.length }
      return then(where, (place) => {
        const visits = withoutRepeats(step, children).map((child) => {
          const element = new Element(child.ref, place, parent, child.index)
          const { source } = step
          return this.#child({ element, source, level: step.level + 1, depth, spare, above: step }, parent)
        })
        return then(all(visits), (visited) => {
          const isCut = visited.includes(UNREAD)
          if (isCut) this.complete = false
          const nodes = visited.filter((node) => node !== undefined && node !== UNREAD)
          return { nodes, count: total ?? (isCut ? children.length : undefined) }
        })
      })
    })
  }

  #child(step: Step, parent: Parent): Maybe<Outcome> {
    if (this.#nodes >= MAX_NODES) return UNREAD
    this.#nodes++
    try {
      const read = this.#read(step, parent)
      return read instanceof Promise ? read.catch((error: unknown) => this.#lose(error)) : read
    } catch (error) {
      return this.#lose(error)
    }
  }

  #read(step: Step, parent: Parent): Maybe<Outcome> {
    const { ref, place } = step.element
    // The items of a menu that is not open are all hidden; elsewhere most children show.
    return then(step.source.look(ref, MENU_ROLES.has(parent.role)), (look) => {
      if (!this.#isWanted(look, place)) return undefined
      const listing = this.#listEarly(step, look)
      return then(step.source.facts(ref, look), (facts) => {
        if (!this.#options.includeHidden && !isShowing(place, facts)) return undefined
        return then(this.#isCollapsed(ref, facts, parent), (isCollapsed) =>
          isCollapsed
            ? undefined
            : then(this.relocate(step, facts), (there) => this.visit(there, facts, listing)),
        )
      })
    })
  }

  /** Where it is certain that the children are wanted, they are asked for together with the facts. */
  #listEarly(step: Step, { role, states }: Look): Listing | undefined {
    if (
      role === undefined ||
      role === ROLE.MENU ||
      isChildless(role) ||
      !this.#isWithin(step.depth + 1, step)
    )
      return undefined
    return has(states, STATE.MANAGES_DESCENDANTS) ? undefined : this.#list(step)
  }

  /** GTK 4's popovers have coordinates of their own. */
  relocate(step: Step, facts: Facts): Maybe<Step> {
    const { ref, place, parent, index } = step.element
    const kind = kindIn(facts, place, step.element.parentRole)
    return then(popupPlace(place, kind, facts), (own) =>
      own === place ? step : { ...step, element: new Element(ref, own, parent, index) },
    )
  }

  #isWanted(look: Look, place: Place): boolean {
    if (has(look.states, STATE.DEFUNCT)) return false
    return this.#options.includeHidden || isShowing(place, look)
  }

  /**
   * LibreOffice keeps a second menu bar of its own, without any height, under the native one; Qt 5 says
   * of the list of a closed combo box that it shows.
   */
  #isCollapsed(ref: Ref, { role }: Facts, parent: Parent): Maybe<boolean> {
    const isSuspect =
      (role === ROLE.MENU_BAR && parent.role === ROLE.ROOT_PANE) ||
      (role === ROLE.LIST && parent.role === ROLE.COMBO_BOX)
    if (this.#options.includeHidden || !isSuspect) return false
    return this.#expect(this.#atspi.extents(ref)).then((extents) => extents?.height === 0)
  }

  /** undefined when the answer did not come, or was none. */
  readonly #expect = <T>(read: Promise<T>): Promise<T | undefined> =>
    read.catch((error: unknown) => {
      this.#lose(error)
      return undefined
    })

  #lose(error: unknown): typeof UNREAD | undefined {
    if (isUnanswered(error)) {
      this.complete = false
      return UNREAD
    }
    // The object went away between two answers, or says nonsense: it is not there.
    if (error instanceof DBusError || error instanceof WireError) return undefined
    throw error
  }
}

const LEAF: Below = { nodes: [] }

/** Where children are made up as they are asked for, those of a column, or of a list, are of one kind. */
function alike(source: Source, { role }: Facts, columns: ReadonlyMap<string, number> | undefined): Source {
  if (columns) return new ColumnSource(source, ({ path }) => columns.get(path))
  return role === ROLE.LIST ? new ColumnSource(source, () => 0) : source
}

/** GTK 3 hangs a menu's items under the item that opens it, which is selected for as long as they show. */
function isClosedMenu({ place, parentRole }: Element, { role, states }: Facts): boolean {
  const isItem = role === ROLE.MENU && MENU_ROLES.has(parentRole)
  return isItem && place.toolkit === "gtk" && !has(states, STATE.SELECTED)
}

function isUnanswered(error: unknown): boolean {
  return error instanceof DBusTimeout || error instanceof DBusClosed || isGone(error)
}

/** Some applications list a child twice, or an ancestor as a child. */
function withoutRepeats(step: Step, children: readonly Child[]): readonly Child[] {
  if (children.length === 0) return children
  const seen = new Set<string>()
  for (let at: Step | undefined = step; at; at = at.above) seen.add(refKey(at.element.ref))
  return children.filter(({ ref }) => {
    const key = refKey(ref)
    return !seen.has(key) && seen.add(key)
  })
}
