import { detailsOf, mayBeActedOn, natureOf, STRUCTURE, VALUES, valuesOf } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { Failure, isUnread } from "./failure.ts"
import { readHierarchy } from "./hierarchy.ts"
import { type Attributes, asText, Element, type Value } from "./value.ts"

/** A round trip costs as much as so many attributes. */
const TRIP = 20

/** Asked once more, to tell whether what answers is still what it was. */
const KIND = ["AXRole", "AXSubrole"] as const
const QUESTION = [...KIND, "AXChildren", ...VALUES] as const

/**
 * What the walk would ask for, element by element, in a few round trips. Nothing of it is needed: what
 * is missing, incomplete or odd is left to the walk, so that a tree is the same with and without it.
 *
 * The values are a second question, to subtrees of which every node is known to be no secure field.
 * A field that turns into one, or comes, between the two questions may answer; that is not looked at.
 */
export function prefetch(ax: Ax, root: Element, texts: boolean): ReadonlyMap<Element, Attributes> {
  const known = new Map<Element, Attributes>()
  readHierarchy(ax, root, STRUCTURE, (element, lookup) => {
    const values = STRUCTURE.flatMap((name) => {
      const found = lookup(name)
      return found ? [[name, found.value] as const] : []
    })
    if (values.length === STRUCTURE.length) known.set(element, Object.fromEntries(values))
  })
  for (const top of worthAsking(known, root, texts)) {
    readHierarchy(ax, top, QUESTION, (element, lookup) => {
      const structure = known.get(element)
      if (!structure) return
      // What is something else by now is read anew.
      if (!KIND.every((name) => same(structure[name], lookup(name)?.value))) return void known.delete(element)
      const values = valuesOf(natureOf(structure), texts).flatMap((name) => {
        const found = lookup(name)
        return found && !isUnread(found.value) ? [[name, found.value] as const] : []
      })
      if (values.length > 0) known.set(element, { ...structure, ...Object.fromEntries(values) })
    })
  }
  return known
}

function same(before: Value, now: Value): boolean {
  return asText(before) === asText(now) && !isUnread(now)
}

interface Subtree {
  readonly nodes: number
  /** Round trips that its values would take one by one. */
  readonly trips: number
  /** Every node is known, and none can be a secure field. */
  readonly open: boolean
}

/** The largest subtrees that may be asked for values, and where that costs less than asking node by node. */
function worthAsking(known: ReadonlyMap<Element, Attributes>, root: Element, texts: boolean): Element[] {
  const subtrees = new Map<Element, Subtree>()
  const measure = (element: Element): Subtree => {
    const done = subtrees.get(element)
    if (done) return done
    // Until it is known, so that what is inside itself is not open.
    subtrees.set(element, CLOSED)
    const structure = known.get(element)
    const inside = childrenIn(structure)
    const below = (inside ?? []).map(measure)
    const sum = (of: (one: Subtree) => number) => below.reduce((total, one) => total + of(one), 0)
    const measured = {
      nodes: 1 + sum(({ nodes }) => nodes),
      trips: (structure && takesTrip(structure, texts) ? 1 : 0) + sum(({ trips }) => trips),
      open:
        structure !== undefined &&
        inside !== undefined &&
        !natureOf(structure).hides &&
        below.every(({ open }) => open),
    }
    subtrees.set(element, measured)
    return measured
  }
  measure(root)
  const chosen = new Set<Element>()
  const looked = new Set<Element>()
  const choose = (element: Element): void => {
    const subtree = subtrees.get(element)
    if (!subtree || looked.has(element)) return
    looked.add(element)
    const pays = subtree.trips * TRIP > TRIP + subtree.nodes * QUESTION.length
    if (subtree.open && pays) chosen.add(element)
    else if (subtree.trips > 1) for (const child of childrenIn(known.get(element)) ?? []) choose(child)
  }
  choose(root)
  return [...chosen]
}

const CLOSED: Subtree = { nodes: 0, trips: 0, open: false }

/** The children of a node; undefined where the answer leaves open what there is below. */
function childrenIn(structure: Attributes | undefined): readonly Element[] | undefined {
  const children = structure?.AXChildren
  if (children instanceof Failure) return isUnread(children) ? undefined : []
  if (!Array.isArray(children)) return undefined
  const elements = children.filter((child) => child instanceof Element)
  return elements.length === children.length ? elements : undefined
}

/** Whether the values would save the walk its second question to this node. */
function takesTrip(structure: Attributes, texts: boolean): boolean {
  const nature = natureOf(structure)
  const wanted = valuesOf(nature, texts)
  if (wanted.length === 0) return false
  if (mayBeActedOn(nature.role, false, nature.named !== undefined) === "no") return true
  const rest = detailsOf(nature, false, (name) => name in structure || wanted.includes(name))
  return rest.length === 0
}
