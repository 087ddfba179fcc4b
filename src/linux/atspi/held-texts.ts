import type { SeenNode } from "../../adapter.ts"
import {
  endsWithColon,
  hasWords,
  isBox,
  isInView,
  isNamelessField,
  LEVELS,
  mayBeBehind,
  mayBeLabel,
} from "../../describe/layout.ts"
import { hasTrait, isSurface, type Role } from "../../node.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { Element, unlessRefused } from "./element.ts"
import { cleanName } from "./names.ts"

/**
 * Names from texts without objects. Firefox has one text for a paragraph, with a placeholder for each object in it. The
 * words right before the placeholder of a nameless field are its label, and those right behind a nameless check box.
 */

/** An object that holds a field: its parent, or the parent of the box that starts with the field, and so on. */
interface Hold {
  readonly holder: SeenNode
  readonly child: SeenNode
}

/** The text of an object, in pieces: those before, between and behind its children. */
export interface Held {
  readonly pieces: readonly string[]
  readonly refs: readonly Ref[]
  /** The keys of the children. */
  readonly keys: readonly string[]
}

/** Adds the names that such texts suggest. Only what holds a nameless field is asked for its text. */
export async function nameByHeldText(root: SeenNode, atspi: Atspi): Promise<SeenNode> {
  const all = new Map<SeenNode, readonly Hold[]>()
  collect(root, [], all)
  const fields = withinLimit(all)
  if (fields.size === 0) return root
  const holders = holdersOf(fields)
  const texts = new Map<SeenNode, Held>()
  await Promise.all(
    [...holders].map(async (holder) => {
      const held = await readHeld(atspi, Element.of(holder.handle).ref)
      if (held) texts.set(holder, held)
    }),
  )
  const names = new Map<SeenNode, string>()
  for (const [field, holds] of fields) {
    const name = isBox(field) ? nameOfBox(field, holds[0]!, texts) : nameIn(holds, texts)
    if (name !== undefined) names.set(field, name)
  }
  return names.size > 0 ? withNames(root, names) : root
}

type Fields = ReadonlyMap<SeenNode, readonly Hold[]>

/** All of them, or if these are too many, the fields in view. */
function withinLimit(all: Fields): Fields {
  if (holdersOf(all).size <= MOST_HOLDERS) return all
  const inView = new Map([...all].filter(([field]) => isInView(field)))
  return holdersOf(inView).size <= MOST_HOLDERS ? inView : new Map()
}

const holdersOf = (fields: Fields): ReadonlySet<SeenNode> =>
  new Set([...fields.values()].flatMap((holds) => holds.map(({ holder }) => holder)))

/** A form has dozens of fields. */
const MOST_HOLDERS = 400

/** Finds the nameless fields, each with what holds it, from the inside out. */
function collect(node: SeenNode, above: readonly Hold[], fields: Map<SeenNode, readonly Hold[]>): void {
  if (isNamelessField(node)) {
    const near = above.slice(-LEVELS).toReversed()
    const inner = near.findIndex(({ child }, at) => at > 0 && !isBlock(child))
    const holds = near.slice(0, inner < 0 ? undefined : inner)
    if (holds.length > 0) fields.set(node, holds)
    return
  }
  if (hasTrait(node.role, "control")) return
  for (const child of node.children) collect(child, [...above, { holder: node, child }], fields)
}

/** True for an object that belongs to the text around it. */
const isBlock = (node: SeenNode): boolean => BOXES.has(node.role) && !isSurface(node)

/** Objects that stand on lines of their own. */
const BOXES: ReadonlySet<Role> = new Set(["group", "paragraph", "region"])

export async function readHeld(atspi: Atspi, ref: Ref, most = MOST_CHARACTERS): Promise<Held | undefined> {
  const [children, count] = await Promise.all([
    unlessRefused(atspi.children(ref)),
    unlessRefused(atspi.characterCount(ref)),
  ])
  if (!children || !count || count > most) return undefined
  // Its text consists of placeholders only.
  if (count === children.length)
    return { pieces: Array(count + 1).fill(""), refs: children, keys: children.map(refKey) }
  const pieces = (await unlessRefused(atspi.text(ref, 0, count)))?.split(PLACEHOLDER)
  // Otherwise the page has changed meanwhile, or the placeholder character is part of its text.
  return pieces?.length === children.length + 1
    ? { pieces, refs: children, keys: children.map(refKey) }
    : undefined
}

const PLACEHOLDER = "\ufffc"
const MOST_CHARACTERS = 20_000

/** The words right before a field, or before the box that starts with it. */
function nameIn(holds: readonly Hold[], texts: ReadonlyMap<SeenNode, Held>): string | undefined {
  for (const [level, { holder, child }] of holds.entries()) {
    const held = texts.get(holder)
    const at = held?.keys.indexOf(child.address ?? "") ?? -1
    const before = held?.pieces[at]
    if (!held || before === undefined) return undefined
    const last = holder.children.find(({ address }) => address === held.keys[at - 1])
    const words = wordsBefore(level > 0 ? `${before}\n` : before, at === 0 ? "start" : last)
    if (words !== undefined) {
      const label = cleanName(at === 0 && holder.role === "group" ? words.replace(MARKER, "") : words)
      return label !== undefined && mayBeLabel(label) ? label : undefined
    }
    if (at > 0 || before.trim() !== "") return undefined
  }
  return undefined
}

/** The words right behind a box, or else before it, on its line. undefined if it may be either. */
function nameOfBox(box: SeenNode, { holder }: Hold, texts: ReadonlyMap<SeenNode, Held>): string | undefined {
  const held = texts.get(holder)
  const at = held?.keys.indexOf(box.address ?? "") ?? -1
  if (!held || at < 0 || isBesideBox(holder, held, at)) return undefined
  const { isLabelled, isAlone } = runAt(holder, held, at)
  const [before, behind] = [lineBefore(held, at).replace(MARKER, ""), lineBehind(held, at)]
  // Words with a colon are about what comes next.
  const isBehind = hasWords(behind) && !endsWithColon(behind)
  if (isBehind && !isLabelled) {
    if (isAlone && hasWords(before) && !endsWithColon(before)) return undefined
    const words = cleanName(behind)
    return words !== undefined && mayBeBehind(words) ? words : undefined
  }
  const last = held.pieces[at]!.includes("\n") ? undefined : childAt(holder, held, at - 1)
  // The end of a sentence, or the unit of a number.
  if (last && hasTrait(last.role, "interactive") && !isNamelessBox(last)) return undefined
  if (last && isNamelessBox(last) && !isLabelled) return undefined
  const words = cleanName(before)
  return words !== undefined && mayBeLabel(words) ? words : undefined
}

const childAt = (holder: SeenNode, { keys }: Held, at: number): SeenNode | undefined =>
  holder.children.find(({ address }) => address === keys[at])

/** True for a box next to another one, without words between them. Neither is what the words around them name. */
const isBesideBox = (holder: SeenNode, held: Held, at: number): boolean =>
  [at - 1, at + 1].some((other) => {
    const gap = held.pieces[Math.max(at, other)]!
    const child = childAt(holder, held, other)
    return child !== undefined && isNamelessBox(child) && !hasWords(gap) && !gap.includes("\n")
  })

const lineBehind = ({ pieces }: Held, at: number): string => pieces[at + 1]!.split("\n", 1)[0]!
const lineBefore = ({ pieces }: Held, at: number): string => pieces[at]!.split("\n").at(-1)!

/**
 * The boxes of a line, with words between them. isLabelled: in a line such as `Red ( ) Green ( )`, where each text belongs
 * to the box after it.
 */
function runAt(holder: SeenNode, held: Held, at: number): { isLabelled: boolean; isAlone: boolean } {
  const boxes = new Set(holder.children.filter(isNamelessBox).map(({ address }) => address))
  const goesOn = (gap: number): boolean => hasWords(held.pieces[gap]) && !held.pieces[gap]!.includes("\n")
  let [first, last] = [at, at]
  while (boxes.has(held.keys[last + 1]) && goesOn(last + 1)) last++
  while (boxes.has(held.keys[first - 1]) && goesOn(first)) first--
  const isLabelled =
    !hasWords(lineBehind(held, last)) && hasWords(lineBefore(held, first).replace(MARKER, ""))
  return { isLabelled, isAlone: first === last }
}

const isNamelessBox = (node: SeenNode): boolean => isBox(node) && !node.name

/** The mark of a list item. */
const MARKER = /^\s*(?:[•◦▪▸▾]|\p{N}+\.)\s+/u

/**
 * The words of the field's own line, or else of the line above if that has nothing but words. `last`: what stands
 * before them; undefined if that is unknown.
 */
export function wordsBefore(
  text: string,
  last: Pick<SeenNode, "role" | "name"> | "start" | undefined,
): string | undefined {
  const lines = text.split("\n")
  const own = lines.at(-1)!.trim()
  if (own !== "") return lines.length === 1 && isLabelledBehind(last, own) ? undefined : own
  const above = lines.at(-2)?.trim()
  const startsLine = lines.length > 2 || last === "start" || (last && BLOCKS.has(last.role))
  return above && startsLine ? above : undefined
}

/** True if the words belong to the check box before them. */
const isLabelledBehind = (last: Parameters<typeof wordsBefore>[1], words: string): boolean =>
  last !== undefined &&
  last !== "start" &&
  !last.name &&
  hasTrait(last.role, "checkable") &&
  !endsWithColon(words)

/** Objects that end a line. */
const BLOCKS: ReadonlySet<Role> = new Set([...BOXES, "heading", "list", "table", "separator", "form"])

function withNames(node: SeenNode, names: ReadonlyMap<SeenNode, string>): SeenNode {
  const inferredName = names.get(node)
  if (inferredName !== undefined) return { ...node, inferredName }
  if (node.children.length === 0) return node
  const children = node.children.map((child) => withNames(child, names))
  return children.some((child, at) => child !== node.children[at]) ? { ...node, children } : node
}
