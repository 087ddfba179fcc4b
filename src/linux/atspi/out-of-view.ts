import { type Beyond, hasTrait } from "../../node.ts"
import { isEmpty } from "../../rect.ts"
import { isInteractive } from "../../tree.ts"
import { type Atspi, INTERFACE, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { actionsOf } from "./capabilities.ts"
import { Element } from "./element.ts"
import type { Child, Look, Maybe, Source } from "./facts.ts"
import type { Expect } from "./names.ts"
import { mayOffer, offersOf } from "./questions.ts"
import { type Kind, kindOf, ROLE } from "./roles.ts"
import { type Around, isScroller, sightOf } from "./sight.ts"
import { MAX_MANAGED } from "./virtual.ts"

/**
 * Counts the elements with a ref that are scrolled out of view, without asking for names, values and positions. The
 * count stops before it slows the snapshot down by more than a fifth; the rest is reported without a number.
 */

/** An object that is out of view, in a parent that is read. */
export interface OutDraft {
  readonly element: Element
  readonly source: Source
  readonly key: string
  readonly look: Look | undefined
  readonly parent: OutParent | undefined
}

interface Sibling {
  readonly look: Look | undefined
  readonly reading: unknown
  readonly element: Element
}

interface OutParent {
  readonly around: Around | undefined
  readonly children: readonly Sibling[]
  beyond: Beyond | undefined
}

/**
 * Adds the numbers to the parents. Returns the keys of objects that are not out of view after all, since something in
 * them shows. `shown`: the number of objects in view.
 */
export async function countOutOfView(
  atspi: Atspi,
  out: readonly OutDraft[],
  shown: number,
  expect: Expect,
): Promise<ReadonlySet<string>> {
  const counter = new Counter(atspi, expect, {
    questions: Math.max(LEAST_QUESTIONS, Math.floor(atspi.asked * QUESTIONS_SHARE)),
    objects: Math.max(LEAST_OBJECTS, shown * OBJECTS_SHARE),
  })
  const suspects = await suspectsAmong(atspi, out, expect)
  // Suspects come first, and have a separate limit of questions.
  if (suspects.length > 0) await counter.count(suspects, SUSPECT_QUESTIONS)
  const doubtful = new Set(suspects)
  await counter.count(out.filter((one) => !doubtful.has(one)))
  await Promise.all(
    [...Map.groupBy(out, ({ parent }) => parent)].map(async ([parent, children]) => {
      const left = children.filter(({ key }) => !counter.bridges.has(key))
      if (parent && left.length > 0)
        parent.beyond = await sidesOf(atspi, parent, left, counter.tallies, expect)
    }),
  )
  return counter.bridges
}

/**
 * The objects that may hold something visible: none of their siblings shows, or a later one does. Objects above the
 * window or to the left of it do not count.
 */
async function suspectsAmong(
  atspi: Atspi,
  out: readonly OutDraft[],
  expect: Expect,
): Promise<readonly OutDraft[]> {
  const odd = [...Map.groupBy(out, ({ parent }) => parent)].flatMap(([parent, children]) => {
    const mayHold = children.filter(({ element }) => element.origin.traits.unshownMayHoldShown)
    if (!parent || mayHold.length === 0) return []
    const last = parent.children.findLastIndex(isShown)
    const place = placesIn(parent)
    return mayHold.filter(({ element }) => last < 0 || place(element) < last)
  })
  const asked = odd.slice(0, MOST_SUSPECTS)
  const extents = await Promise.all(asked.map(({ element }) => expect(atspi.extents(element.ref))))
  return asked.filter((_, i) => {
    const rect = extents[i]
    // An element that only wraps its children reports an empty rectangle, or theirs.
    return rect !== undefined && (isEmpty(rect) || (rect.x + rect.width > 0 && rect.y + rect.height > 0))
  })
}

const MOST_SUSPECTS = 100
const SUSPECT_QUESTIONS = 100

function placesIn({ children }: OutParent): (element: Element) => number {
  const places = new Map(children.map(({ element }, at) => [element, at]))
  return (element) => places.get(element) ?? -1
}

const isShown = (one: Sibling): boolean => one.reading !== undefined && one.look === undefined

/** The fraction of the questions that the snapshot itself has asked. */
const QUESTIONS_SHARE = 0.12
const LEAST_QUESTIONS = 20
const FEWEST_AT_ONCE = 3
/** Cached objects cost no question, but each takes time: a tenth of that of an object in view. */
const OBJECTS_SHARE = 4
const LEAST_OBJECTS = 300

interface Tally {
  refs: number
  isLeast: boolean
  hasTexts: boolean
}

/** An object on the way down. */
interface Visited {
  readonly element: Element
  readonly source: Source
  readonly look: Look
  readonly around: Around
  readonly tally: Tally
  /** The keys of the objects out of view above it, and its own. */
  readonly chain: readonly string[]
}

class Counter {
  readonly tallies = new Map<string, Tally>()
  readonly bridges = new Set<string>()
  readonly #atspi: Atspi
  readonly #expect: Expect
  #questions: number
  #objects: number

  constructor(atspi: Atspi, expect: Expect, most: { readonly questions: number; readonly objects: number }) {
    this.#atspi = atspi
    this.#expect = expect
    this.#questions = most.questions
    this.#objects = most.objects
  }

  /** Counts in parts, since a few objects counted completely are more useful than a list of each one's children. */
  async count(out: readonly OutDraft[], more = 0): Promise<void> {
    this.#questions += more
    let size = Math.max(FEWEST_AT_ONCE, this.#questions >> 4)
    for (let from = 0; from < out.length; size *= 2) {
      await this.#countSome(out.slice(from, from + size))
      from += size
    }
  }

  async #countSome(out: readonly OutDraft[]): Promise<void> {
    let level = out.flatMap(({ element, source, key, look, parent }): Visited[] => {
      const around = parent?.around
      const tally = { refs: 0, isLeast: false, hasTexts: false }
      this.tallies.set(key, tally)
      if (!look || !around || this.#isSpent(tally)) return []
      this.#objects--
      return [{ element, source, look, around, tally, chain: [key] }]
    })
    const clickable: Visited[] = []
    while (level.length > 0) {
      for (const one of level) if (this.#tell(one)) clickable.push(one)
      level = await this.#below(level)
    }
    await this.#askActions(clickable)
  }

  /** True if only its actions decide whether it gets a ref. */
  #tell({ element, look, tally }: Visited): boolean {
    const kind = kindIn(element, look)
    tally.hasTexts ||= hasTrait(kind.role, "text")
    if (getsRef(element, kind, look)) {
      tally.refs++
      return false
    }
    const { traits } = element.origin
    return traits.asksForActions === "of page content" && mayOffer(traits, kind)
  }

  /** The objects one level down that are also out of view. */
  async #below(level: readonly Visited[]): Promise<Visited[]> {
    const listed = await all(level.map((one) => this.#list(one)))
    const children = listed.flatMap((refs, i) => (refs ?? []).map((child) => ({ child, above: level[i]! })))
    const looks = await all(
      children.map(({ child, above }) => {
        if (this.#isSpent(above.tally)) return undefined
        this.#objects--
        const look = above.source.look(child.ref, false)
        if (!(look instanceof Promise)) return look
        this.#questions -= 2
        return this.#expect(look)
      }),
    )
    return children.flatMap(({ child, above }, i) => {
      const look = looks[i]
      return look ? this.#enter(above, child, look) : []
    })
  }

  /** True if the count ends here. The tally says so. */
  #isSpent(tally: Tally): boolean {
    const isSpent = this.#questions <= 0 || this.#objects <= 0
    tally.isLeast ||= isSpent
    return isSpent
  }

  #enter(above: Visited, { ref, index }: Child, look: Look): Visited[] {
    const { element, source, tally, chain, around } = above
    const { role = ROLE.INVALID, states } = above.look
    const parent = { ref: element.ref, role, states, size: -1 }
    const child = new Element(ref, element.origin, parent, index)
    const { traits } = element.origin
    const scrolls = around.scrolls || isScroller(traits, role, states, "offscreen")
    const inner: Around = { sight: "offscreen", role, states, scrolls }
    const sight = sightOf(element.origin, look, inner)
    if (sight === "shown") for (const key of chain) this.bridges.add(key)
    if (sight !== "offscreen") return []
    return [{ element: child, source, look, around: inner, tally, chain: [...chain, refKey(ref)] }]
  }

  #list({ element, source, look, tally }: Visited): Maybe<readonly Child[] | undefined> {
    const { role = ROLE.INVALID } = look
    if (LEAVES.has(role) || ("childCount" in look && look.childCount === 0)) return undefined
    if (this.#isSpent(tally)) return undefined
    if (!has(look.states, STATE.MANAGES_DESCENDANTS)) return this.#spend(source.children(element.ref, true))
    return this.#spend(
      this.#atspi.childCount(element.ref).then((total) => {
        if (total <= MAX_MANAGED && total * 2 <= this.#questions) return source.children(element.ref, true)
        tally.isLeast = true
        return undefined
      }),
    )
  }

  #spend<T>(answer: Maybe<T>): Maybe<T | undefined> {
    if (!(answer instanceof Promise)) return answer
    this.#questions--
    return this.#expect(answer)
  }

  async #askActions(clickable: readonly Visited[]): Promise<void> {
    const asked = clickable.slice(0, Math.max(0, this.#questions))
    for (const { tally } of clickable.slice(asked.length)) tally.isLeast = true
    this.#questions -= asked.length
    await Promise.all(
      asked.map(async ({ element, look, tally }) => {
        const offers = await this.#expect(offersOf(this.#atspi, element))
        if (offers && getsRef(element, kindIn(element, look), look, offers)) tally.refs++
      }),
    )
  }
}

/** Objects that have no elements with a ref inside. */
const LEAVES: ReadonlySet<number> = new Set([
  ROLE.CHECK_BOX,
  ROLE.IMAGE,
  ROLE.MENU_ITEM,
  ROLE.PROGRESS_BAR,
  ROLE.PUSH_BUTTON,
  ROLE.RADIO_BUTTON,
  ROLE.SCROLL_BAR,
  ROLE.SEPARATOR,
  ROLE.SLIDER,
  ROLE.STATIC,
])

/** Waits only if one of the answers has to come. */
function all<T>(answers: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return answers.some((answer) => answer instanceof Promise)
    ? Promise.all(answers)
    : (answers as readonly T[])
}

function kindIn({ origin, parentRole }: Element, { role = ROLE.INVALID, states, interfaces }: Look): Kind {
  const holdsSelection = ((interfaces ?? 0) & INTERFACE.Selection) !== 0
  return kindOf(role, states, holdsSelection, parentRole, { traits: origin.traits, interfaces })
}

function getsRef({ origin }: Element, kind: Kind, look: Look, offers?: readonly string[]): boolean {
  const { states, interfaces = 0 } = look
  return isInteractive({
    role: kind.role,
    actions: actionsOf(origin.traits, kind, states, interfaces, offers),
  })
}

/** The sides of a parent on which elements are out of view. */
async function sidesOf(
  atspi: Atspi,
  parent: OutParent,
  out: readonly OutDraft[],
  tallies: ReadonlyMap<string, Tally>,
  expect: Expect,
): Promise<Beyond | undefined> {
  const order = parent.children
  const first = order.findIndex(isShown)
  const place = placesIn(parent)
  const isBefore = ({ element }: OutDraft): boolean => first >= 0 && place(element) < first
  const before = out.filter(isBefore)
  const after = out.filter((one) => !isBefore(one))
  const sum = (some: readonly OutDraft[]): number | undefined => {
    const own = some.flatMap(({ key }) => tallies.get(key) ?? [])
    const refs = own.reduce((total, { refs }) => total + refs, 0)
    return refs > 0 || own.some(({ isLeast, hasTexts }) => isLeast || hasTexts) ? refs : undefined
  }
  const [fore, aft] = [sum(before), sum(after)]
  if (fore === undefined && aft === undefined) return undefined
  const isLeast = out.some(({ key }) => tallies.get(key)?.isLeast)
  const [near] = first < 0 ? [] : order.filter(isShown).slice(-1)
  const isSideways = await liesBeside(atspi, parent, near?.element, after[0] ?? before.at(-1), expect)
  const [ahead, behind] = isSideways ? (["left", "right"] as const) : (["above", "below"] as const)
  return {
    ...(fore === undefined ? {} : { [ahead]: fore }),
    ...(aft === undefined ? {} : { [behind]: aft }),
    ...(isLeast ? { at_least: true } : {}),
  }
}

/** True if the content of a parent runs from left to right. */
async function liesBeside(
  atspi: Atspi,
  { around }: OutParent,
  shown: Element | undefined,
  out: OutDraft | undefined,
  expect: Expect,
): Promise<boolean> {
  const states = around?.states ?? 0
  if (has(states, STATE.HORIZONTAL) || has(states, STATE.VERTICAL)) return has(states, STATE.HORIZONTAL)
  if (!shown || !out) return false
  const { coordinates } = shown.origin.traits
  const [near, far] = await Promise.all(
    [shown, out.element].map(({ ref }) => expect(atspi.extents(ref, coordinates))),
  )
  if (!near || !far || far.x <= -0x7ffffff0) return false
  return far.y < near.y + near.height && near.y < far.y + far.height && far.x > near.x
}
