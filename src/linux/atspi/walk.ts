import { MAX_NODES, type Seen, type SeenNode, type TreeOptions } from "../../adapter.ts"
import { depthBelow, describeElement, describeTree, isWithin, newBelow } from "../../describe/draft.ts"
import type { Rect } from "../../node.ts"
import { DBusClosed, DBusError, DBusTimeout, WireError } from "../dbus/bus.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { originBelow, popupOrigin } from "./coordinates.ts"
import { describe } from "./describe.ts"
import { Element, isGone, type Origin, unlessRefused } from "./element.ts"
import { type Child, type Facts, isChildless, type Look, type Maybe, type Source } from "./facts.ts"
import { LABEL_DEPTH, needsContents } from "./labels.ts"
import { isRead, ObjectDraft, type ReadDraft, ROOT, type Step } from "./object-draft.ts"
import { askAll } from "./questions.ts"
import { kindIn, nameOf, type Reading, readingOf } from "./reading.ts"
import { MENU_ROLES, ROLE } from "./roles.ts"
import {
  asDrawnField,
  holdsShown,
  isDrawnField,
  isScroller,
  isShowing,
  mayBeCollapsed,
  mayClaimNoPlace,
  type Sight,
  sightAlone,
  sightOf,
  sightOfRoot,
} from "./sight.ts"
import type { Traits } from "./toolkits.ts"
import { ColumnSource, mayHaveMore, mostListed, visibleChildren } from "./virtual.ts"

export interface Walked {
  readonly root: SeenNode
  /** false: an answer is missing, or the limit of nodes was met. */
  readonly complete: boolean
}

/** Reads the tree below an object. `known` are facts of the object that were asked for before. */
export async function walkTree(
  atspi: Atspi,
  source: Source,
  root: Element,
  options: TreeOptions,
  known?: Facts,
): Promise<Walked> {
  const collector = new Collector(atspi, options)
  const facts = known ?? (await factsOf(source, root))
  const draft = await collector.collect(
    new ObjectDraft(root, source, undefined, ROOT),
    facts,
    sightOfRoot(root, facts, options),
  )
  const tree = describeTree(draft, describeDraft)
  const isPlaced = root.origin.traits.outOfView === "by place"
  return {
    root: isPlaced ? (await import("./scrolled-away.ts")).markByPlace(tree) : tree,
    complete: collector.isComplete,
  }
}

/** Reads one object by the same rules, and of the objects inside it only those that may name it. */
export async function walkElement(
  atspi: Atspi,
  source: Source,
  element: Element,
): Promise<{ readonly seen: Seen; readonly complete: boolean }> {
  const { ref, origin } = element
  const { lacksShowing, coordinates } = origin.traits
  const [facts, room] = await Promise.all([
    factsOf(source, element),
    lacksShowing ? unlessRefused(atspi.extents(ref, coordinates)) : undefined,
  ])
  const looked = { ...facts, extents: facts.extents ?? room }
  const sight = isShowing(origin, looked) ? "shown" : await sightAlone(atspi, element, looked)
  // In a hidden element everything is hidden, also the labels that name it.
  const collector = new Collector(atspi, sight === "shown" ? ALONE : ALONE_HIDDEN)
  const kind = kindIn(facts, element)
  const spare = needsContents({ element, kind, name: nameOf(element.origin, kind, facts) }) ? LABEL_DEPTH : 0
  const draft = await collector.collect(
    new ObjectDraft(element, source, undefined, { ...ROOT, spare }),
    facts,
    sight,
  )
  return { seen: describeElement(draft, describeDraft), complete: collector.isComplete }
}

const ALONE: TreeOptions = {
  maxDepth: 0,
  // Also of lists and tables, which the pointer scrolls.
  bounds: "all",
  includeHidden: false,
  interactiveOnly: false,
}

const ALONE_HIDDEN: TreeOptions = { ...ALONE, includeHidden: true }

async function factsOf(source: Source, element: Element): Promise<Facts> {
  const look = await source.look(element.ref, false)
  const facts = await source.facts(element.ref, look)
  return isDrawnField(element, look) ? asDrawnField(facts) : facts
}

const describeDraft = ({ reading }: ReadDraft, inside: readonly SeenNode[]): Seen => describe(reading, inside)

const NO_CHILDREN: readonly Child[] = []

/** Children, or the promise of them. undefined: they could not be listed. */
type Listing = Maybe<readonly Child[] | undefined>

/**
 * Asks the app for a tree. Every object goes through the steps below as soon as its own answers are there, and waits
 * for no other object. If a source knows all answers, nothing is awaited and no promise is made: thousands of them
 * would cost more than reading the cache.
 */
class Collector {
  isComplete = true
  readonly #atspi: Atspi
  readonly #options: TreeOptions
  #done = Promise.withResolvers<void>()
  #pending = 0
  #nodes = 0
  /** Objects that are out of view, and their number is wanted. */
  #out: ObjectDraft[] = []
  /** Boxes that are not SHOWING and may hold something that is. */
  #unplaced: ObjectDraft[] = []
  /** Objects that do not say that they show, with something in them that does. */
  readonly #bridges = new Set<string>()

  constructor(atspi: Atspi, options: TreeOptions) {
    this.#atspi = atspi
    this.#options = options
  }

  /** Resolves when all objects below that answer are read. */
  async collect(root: ObjectDraft, facts: Facts, sight: Sight): Promise<ReadDraft> {
    root.sight = sight
    root.scrolls = root.element.parent !== undefined
    this.#locate(root, facts)
    await this.#quiet()
    while (this.#unplaced.length > 0) await this.#lookIntoUnplaced()
    while (this.#out.length > 0) await this.#countOut()
    if (!isRead(root)) throw new Error("the root of a tree was not read")
    if (root.element.origin.traits.outOfView === "by place") await this.#askPlaces(root)
    return root
  }

  async #quiet(): Promise<void> {
    if (this.#pending === 0) return
    this.#done = Promise.withResolvers()
    await this.#done.promise
  }

  /** Reads the boxes that claim no place and hold something that shows. */
  async #lookIntoUnplaced(): Promise<void> {
    const unplaced = this.#unplaced
    this.#unplaced = []
    await Promise.all(
      unplaced.map(async (draft) => {
        if (!(await this.#expect(holdsShown(draft.source, draft.element.ref)))) return
        this.#bridges.add(draft.key)
        this.#enter(draft)
      }),
    )
    await this.#quiet()
  }

  /** Counts what is out of view. If something in it shows nevertheless, that is read. */
  async #countOut(): Promise<void> {
    const out = this.#out
    this.#out = []
    const { countOutOfView } = await import("./out-of-view.ts")
    const bridges = await countOutOfView(this.#atspi, out, this.#nodes - out.length, this.#expect)
    for (const key of bridges) this.#bridges.add(key)
    for (const draft of out) {
      if (!bridges.has(draft.key)) continue
      draft.look = undefined
      this.#enter(draft)
    }
    await this.#quiet()
  }

  /** Without the places of texts it is not known which of them are out of view. */
  async #askPlaces(root: ObjectDraft): Promise<void> {
    const { placeless } = await import("./scrolled-away.ts")
    await Promise.all(
      placeless(root).map(async ({ element, reading }) => {
        if (reading)
          reading.answers.extents = await this.#expect(
            this.#atspi.extents(element.ref, element.origin.traits.coordinates),
          )
      }),
    )
  }

  /** Step 1: the states, and usually the role, decide whether more questions are needed. */
  #enter(draft: ObjectDraft): void {
    if (this.#nodes++ >= MAX_NODES) {
      this.#miss(draft)
      return
    }
    try {
      const { element, source } = draft
      // The items of a menu that is not open are all hidden; elsewhere most children show.
      const look = source.look(element.ref, MENU_ROLES.has(element.parentRole))
      this.#with(draft, look, (answer) => this.#examine(draft, answer))
    } catch (error) {
      this.#lose(draft, error)
    }
  }

  /** Step 2: the facts. */
  #examine(draft: ObjectDraft, look: Look): void {
    const { element, source } = draft
    if (isDrawnField(element, look)) {
      this.#with(draft, source.facts(element.ref, look), (facts) => this.#unfold(draft, asDrawnField(facts)))
      return
    }
    if (has(look.states, STATE.DEFUNCT) || !this.#admits(draft, look)) return
    const listing = this.#listEarly(draft, look)
    this.#with(draft, source.facts(element.ref, look), (facts) => {
      if (this.#admits(draft, facts)) this.#unfold(draft, facts, listing)
    })
  }

  /** Step 3: an object that claims to show may have no room. */
  #unfold(draft: ObjectDraft, facts: Facts, listing?: Listing): void {
    const { ref, parentRole, origin } = draft.element
    // A tree knows the extents of a label from the cache; an object that is read alone has to ask.
    const isUnproven = draft.spare !== undefined && origin.traits.lacksShowing && !facts.extents
    const isSuspect =
      !this.#options.includeHidden && (isUnproven || mayBeCollapsed(origin.traits, facts.role, parentRole))
    const extents = isSuspect ? this.#expect(this.#atspi.extents(ref)) : undefined
    this.#with(draft, extents, (room) => {
      if (room?.height === 0) return
      if (facts.role !== ROLE.TABLE_CELL || !room) this.#locate(draft, facts, listing)
      else if (room.width > 0) this.#locate(draft, { ...facts, extents: room }, listing)
    })
  }

  /** Step 4: a popover has coordinates of its own. */
  #locate(draft: ObjectDraft, facts: Facts, listing?: Listing): void {
    const { ref, origin, parent, index } = draft.element
    const kind = kindIn(facts, draft.element)
    this.#with(draft, popupOrigin(origin, kind, facts), (own) => {
      const element = own === origin ? draft.element : new Element(ref, own, parent, index)
      this.#read(draft, readingOf(element, facts, kind, draft.sight, this.#options), listing)
    })
  }

  /** Step 5: further questions, and the children at the same time. */
  #read(draft: ObjectDraft, reading: Reading, listing?: Listing): void {
    draft.reading = reading
    const { role, states } = reading.facts
    draft.scrolls =
      draft.scrolls ||
      draft.parent?.scrolls === true ||
      isScroller(draft.element.origin.traits, role, states, draft.sight)
    const asked = askAll(this.#atspi, reading, this.#expect)
    if (asked) this.#with(draft, asked, () => {})
    if (reading.facts.childCount === 0 || this.#isClosedMenu(reading)) return
    const { kind, name, facts } = reading
    const depth = depthBelow(draft, { role: kind.role, name, description: facts.description })
    if (this.#isWithin(draft, depth))
      this.#readChildren(draft, reading, { level: draft.level + 1, depth, spare: undefined }, listing)
    else this.#readContents(draft, reading, depth)
  }

  /** Beyond the depth of the tree: the objects that name this one, and the number of its children. */
  #readContents(draft: ObjectDraft, reading: Reading, depth: number): void {
    draft.isCut = draft.spare === undefined
    const spare = draft.spare ?? (needsContents(reading) ? LABEL_DEPTH : 0)
    if (spare > 0) this.#readChildren(draft, reading, { level: draft.level + 1, depth, spare: spare - 1 })
    if (!draft.isCut) return
    const { childCount } = reading.facts
    const count = childCount >= 0 ? childCount : this.#expect(this.#atspi.childCount(draft.element.ref))
    this.#with(draft, count, (total) => {
      draft.total = total
    })
  }

  #readChildren(draft: ObjectDraft, reading: Reading, below: Step, begun?: Listing): void {
    const { element, facts } = reading
    const origin = originBelow(this.#atspi, element, facts, this.#expect)
    if (has(facts.states, STATE.MANAGES_DESCENDANTS)) {
      this.#with(draft, this.#listManaged(draft, reading), ({ children, source, total }) => {
        if (!draft.isCut) draft.total = total
        this.#enterAll(draft, reading, below, origin, source, children)
      })
      return
    }
    this.#with(draft, begun ?? this.#list(draft), (children) => {
      this.#enterAll(draft, reading, below, origin, draft.source, children)
      this.#countRows(draft, reading, children)
    })
  }

  #enterAll(
    draft: ObjectDraft,
    { element, facts }: Reading,
    below: Step,
    where: Maybe<Origin>,
    source: Source,
    children: readonly Child[] | undefined,
  ): void {
    if (!children) return
    const parent = { ref: element.ref, role: facts.role, states: facts.states, size: children.length }
    this.#with(draft, where, (origin) => {
      const isNew = newBelow<ObjectDraft, string>(draft)
      draft.listed = children.length
      draft.children = children
        .map(
          ({ ref, index }) => new ObjectDraft(new Element(ref, origin, parent, index), source, draft, below),
        )
        .filter(({ key }) => isNew(key))
      for (const child of draft.children) this.#enter(child)
    })
  }

  /** Counts the rows of a list that has objects for some of them only. */
  #countRows(
    draft: ObjectDraft,
    { element, facts }: Reading,
    children: readonly Child[] = NO_CHILDREN,
  ): void {
    const { traits } = element.origin
    if (draft.isCut || !mayHaveMore(traits, facts.role, children.length)) return
    const counted = async (): Promise<number | undefined> => {
      const rows = await Promise.all(children.map(({ ref }) => this.#place(draft.source, ref, traits)))
      const { rowsInModel } = await import("./model-rows.ts")
      return rowsInModel(this.#atspi, { list: element.ref, role: facts.role, rows })
    }
    this.#with(draft, this.#expect(counted()), (total) => {
      draft.total = total
    })
  }

  async #place(source: Source, ref: Ref, { coordinates }: Traits): Promise<Rect | undefined> {
    const { extents } = await source.facts(ref, await source.look(ref, false))
    return extents ?? this.#expect(this.#atspi.extents(ref, coordinates))
  }

  #list({ source, element }: ObjectDraft): Listing {
    const listing = source.children(element.ref, !this.#options.includeHidden)
    return listing instanceof Promise ? this.#expect(listing) : listing
  }

  /** If it is certain that the children are wanted, they are asked for together with the facts. */
  #listEarly(draft: ObjectDraft, { role, states }: Look): Listing {
    if (role === undefined || role === ROLE.MENU || isChildless(role)) return undefined
    if (has(states, STATE.MANAGES_DESCENDANTS) || !this.#isWithin(draft, draft.depth + 1)) return undefined
    return this.#list(draft)
  }

  /** The children of a list or table that makes them as they are asked for: of a large one, those in view. */
  async #listManaged(draft: ObjectDraft, { element, facts }: Reading): Promise<Managed> {
    const total = await this.#expect(this.#atspi.childCount(element.ref))
    const { traits } = element.origin
    if (total === undefined || total <= mostListed(facts.role, traits))
      return { source: alike(draft.source, facts, undefined), children: await this.#list(draft) }
    if (this.#options.skipsSheets && total > MAX_OTHER_CELLS)
      return { source: draft.source, children: NO_CHILDREN, total }
    const visible = await this.#expect(visibleChildren(this.#atspi, element.ref, facts, traits))
    if (!visible) this.isComplete = false
    return { source: alike(draft.source, facts, visible?.columns), children: visible?.children, total }
  }

  #isWithin(draft: ObjectDraft, depth: number): boolean {
    return draft.spare === undefined && isWithin(depth, draft, this.#options)
  }

  /** True if the object is read. One that is out of view may be noted to be counted. */
  #admits(draft: ObjectDraft, look: Look): boolean {
    const sight = sightOf(draft.element.origin, look, draft.parent?.around)
    const isBridge = sight !== "shown" && this.#bridges.has(draft.key)
    draft.isBridge = isBridge
    draft.sight = isBridge ? "shown" : sight
    const { includeHidden, offscreen } = this.#options
    if (includeHidden || draft.sight === "shown") return true
    if (sight === "offscreen" && offscreen === "read") return true
    // In GTK 4 a row out of view has no room, and so looks hidden. Elsewhere its app hides it, and no scrolling shows it.
    const isOut = sight === "offscreen" ? !offscreen : draft.element.origin.traits.lacksShowing
    if (draft.parent && isOut) draft.parent.leavesOut = true
    if (sight === "offscreen" && offscreen === "count" && draft.spare === undefined) {
      draft.look = look
      this.#out.push(draft)
    }
    if (draft.spare === undefined && mayClaimNoPlace(draft.element, look, draft.parent?.around))
      this.#unplaced.push(draft)
    return false
  }

  #isClosedMenu({ element, facts }: Reading): boolean {
    if (this.#options.includeHidden || !element.origin.traits.openMenuIsSelected) return false
    const isItem = facts.role === ROLE.MENU && MENU_ROLES.has(element.parentRole)
    return isItem && !has(facts.states, STATE.SELECTED)
  }

  /** Goes on with an answer, at once if it is there. An error is the loss of the object that was asked. */
  #with<T>(draft: ObjectDraft, answer: Maybe<T>, go: (answer: T) => void): void {
    if (!(answer instanceof Promise)) {
      go(answer)
      return
    }
    this.#pending++
    answer.then(
      (value) => this.#step(draft, () => go(value)),
      (error: unknown) =>
        this.#step(draft, () => {
          throw error
        }),
    )
  }

  #step(draft: ObjectDraft, go: () => void): void {
    try {
      go()
    } catch (error) {
      try {
        this.#lose(draft, error)
      } catch (defect) {
        this.#done.reject(defect)
      }
    }
    if (--this.#pending === 0) this.#done.resolve()
  }

  #lose(draft: ObjectDraft, error: unknown): void {
    if (!draft.parent) throw error
    if (this.#isMissing(error)) this.#miss(draft)
  }

  #miss(draft: ObjectDraft): void {
    this.isComplete = false
    draft.isUnread = true
  }

  /** undefined if the answer did not come, or was an error. */
  readonly #expect = <T>(answer: Promise<T>): Promise<T | undefined> =>
    answer.catch((error: unknown) => {
      if (this.#isMissing(error)) this.isComplete = false
      return undefined
    })

  /** False for an object that went away, or answers nonsense: it is not there. Throws what is not an answer at all. */
  #isMissing(error: unknown): boolean {
    if (error instanceof DBusTimeout || error instanceof DBusClosed || isGone(error)) return true
    if (error instanceof DBusError || error instanceof WireError) return false
    throw error
  }
}

interface Managed {
  readonly children: readonly Child[] | undefined
  readonly source: Source
  readonly total?: number
}

/** Only a sheet has more cells than this. Other large tables may have controls in their cells. */
const MAX_OTHER_CELLS = 100_000_000

/** The items of a list, or of a table's column, are of one kind. */
function alike(source: Source, { role }: Facts, columns: ReadonlyMap<string, number> | undefined): Source {
  if (columns) return new ColumnSource(source, ({ path }) => columns.get(path))
  return role === ROLE.LIST ? new ColumnSource(source, () => 0) : source
}
