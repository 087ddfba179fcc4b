import type { Seen, SeenNode, TreeOptions } from "../../adapter.ts"
import type { Rect } from "../../node.ts"
import { overlaps } from "../../rect.ts"
import { cut, isCut } from "../../shown-text.ts"
import type { Atspi } from "./atspi.ts"
import { onScreen } from "./describe.ts"
import { Element, LineElement, unlessRefused } from "./element.ts"
import { type Held, readHeld } from "./held-texts.ts"
import { cleanName } from "./names.ts"

/**
 * Text that stands directly in a page. Firefox has no objects for it, only the text of the page with a placeholder for
 * each object. Each line of it becomes a text between the objects.
 */
export async function withPageTexts(root: SeenNode, atspi: Atspi, options: TreeOptions): Promise<SeenNode> {
  const pages = pagesIn(root)
  if (pages.length === 0) return root
  const filled = new Map<SeenNode, SeenNode>()
  await Promise.all(
    pages.map(async (page) => {
      const whole = await withTexts(page, atspi, options)
      if (whole) filled.set(page, whole)
    }),
  )
  return filled.size > 0 ? replaced(root, filled) : root
}

/** The pages that show and were read. One below the depth of the tree has no children here. */
const pagesIn = (node: SeenNode): readonly SeenNode[] => [
  ...(node.role === "webarea" && !node.children_count && !node.states.includes("hidden") ? [node] : []),
  ...node.children.flatMap(pagesIn),
]

/** The page with its texts. undefined: it has none, or changes meanwhile. */
async function withTexts(page: SeenNode, atspi: Atspi, options: TreeOptions): Promise<SeenNode | undefined> {
  const { ref, origin } = Element.of(page.handle)
  const held = await readHeld(atspi, ref, MOST_CHARACTERS)
  const spans = held && spansIn(held)
  if (!spans || spans.length === 0) return undefined
  const { coordinates } = origin.traits
  const [area, ...places] = await Promise.all([
    unlessRefused(atspi.extents(ref, coordinates)),
    ...spans
      .slice(0, MOST_SPANS)
      .map(({ line: { start, end } }) => unlessRefused(atspi.rangeExtents(ref, start, end, coordinates))),
  ])
  const shows = (line: Seen): boolean =>
    options.includeHidden || options.offscreen === "read" || !line.states.includes("offscreen")
  const texts = places.flatMap((place, at) => {
    const { before, line } = spans[at]!
    const node = lineNode(new LineElement(Element.of(page.handle), line), area, place)
    return shows(node) ? [{ before, node: { ...node, children: [] } }] : []
  })
  const before = Map.groupBy(texts, (text) => text.before)
  const read = new Map(page.children.map((child) => [child.address, child]))
  const children = [...held.keys, END].flatMap((key): readonly SeenNode[] => {
    const child = read.get(key)
    return [...(before.get(key) ?? []).map(({ node }) => node), ...(child ? [child] : [])]
  })
  const others = page.children.filter(({ address }) => !held.keys.includes(address ?? END))
  const isShort = spans.length > places.length && { children_count: page.children.length + spans.length }
  return { ...page, ...isShort, children: [...children, ...others] }
}

/** A page of plain text has a line for each of its lines. */
const MOST_SPANS = 5000
const MOST_CHARACTERS = 1_000_000

/** A line of text, without the spaces around it. */
interface Span {
  readonly line: LineElement["line"]
  /** The key of the child that follows. */
  readonly before: string
}

const END = ""

function spansIn({ pieces, refs, keys }: Held): readonly Span[] {
  const spans: Span[] = []
  let offset = 0
  for (const [at, piece] of pieces.entries()) {
    for (const { 0: text, index } of piece.matchAll(LINE)) {
      const start = offset + index
      const line = { text, start, end: start + text.length, previous: refs[at - 1], next: refs[at] }
      spans.push({ line, before: keys[at] ?? END })
    }
    offset += piece.length + 1
  }
  return spans
}

const LINE = /\S(?:[^\n]*\S)?/g

function lineNode(element: LineElement, area: Rect | undefined, place: Rect | undefined): Seen {
  const { line, origin } = element
  const bounds = place && onScreen(place, origin)
  return {
    handle: element.handle,
    role: "statictext",
    name: cleanName(line.text),
    ...(isCut(cut(line.text)) ? { valueLength: line.text.length } : {}),
    states: area && place && !overlaps(place, area) ? ["offscreen"] : [],
    ...(bounds ? { bounds } : {}),
    actions: [],
    ...(origin.traits.tellsLate ? { tellsLate: origin.traits.tellsLate } : {}),
  }
}

/** Reads a line again. undefined: the page has another text there now. */
export async function readLine(atspi: Atspi, element: LineElement): Promise<Seen | undefined> {
  const { ref, origin, line } = element
  const { coordinates } = origin.traits
  const [text, area, place] = await Promise.all([
    unlessRefused(atspi.text(ref, line.start, line.end)),
    unlessRefused(atspi.extents(ref, coordinates)),
    unlessRefused(atspi.rangeExtents(ref, line.start, line.end, coordinates)),
  ])
  return text === line.text ? lineNode(element, area, place) : undefined
}

function replaced(node: SeenNode, by: ReadonlyMap<SeenNode, SeenNode>): SeenNode {
  const own = by.get(node) ?? node
  if (own.children.length === 0) return own
  const children = own.children.map((child) => replaced(child, by))
  return children.some((child, at) => child !== own.children[at]) ? { ...own, children } : own
}
