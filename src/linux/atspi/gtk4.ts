import type { Rect } from "../../node.ts"
import { isSameRect, overlaps } from "../../rect.ts"
import { type Atspi, INTERFACE, type Ref, ROOT_PATH } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import type { Item } from "./cache.ts"
import { CachedSource, readCache } from "./cache.ts"
import type { Child, LiveSource, Source } from "./facts.ts"
import { ROLE } from "./roles.ts"

/**
 * GTK 4 answers calls only between two frames of its drawing, so the number of round trips matters: one for the whole
 * cache, one for the children that do not exist yet, one or two for all extents.
 */
export async function prepareGtk4(
  atspi: Atspi,
  root: Ref,
  live: LiveSource,
  first: ReadonlyMap<string, Item>,
): Promise<Source> {
  const listed = await listMissing(new CachedSource(root.bus, first, live), root, live)
  const isWhole = [...listed.values()].every((children) => children.every(({ ref }) => first.has(ref.path)))
  const items = isWhole ? first : ((await readCache(atspi, root.bus)) ?? first)
  const source = new CachedSource(root.bus, items, live, { listed })
  // GTK 4.10 and later report SHOWING.
  const isPart = ({ parent }: Item): boolean => parent !== ROOT_PATH && items.has(parent)
  if ([...items.values()].some((item) => isPart(item) && has(item.states, STATE.SHOWING))) return source
  const extents = await readExtents(atspi, root, source)
  await hidePages(atspi, root, source, extents)
  return new CachedSource(root.bus, items, live, { listed, extents, saysShowing: false })
}

const MAX_LEVELS = 60

/** Requests the children that the cache lacks. GTK 4 creates them on request. */
async function listMissing(
  source: CachedSource,
  root: Ref,
  live: LiveSource,
): Promise<Map<string, readonly Child[]>> {
  const listed = new Map<string, readonly Child[]>()
  const visit = async (ref: Ref, level: number): Promise<void> => {
    if (level > MAX_LEVELS || ref.bus !== root.bus || listed.has(ref.path)) return
    const cached = source.cachedChildren(ref)
    const children = cached ?? (await live.children(ref).catch(() => []))
    if (!cached) listed.set(ref.path, children)
    await Promise.all(children.map((child) => visit(child.ref, level + 1)))
  }
  await visit(root, 0)
  return listed
}

/** The root of a subtree of this size is asked first: if it has no room, its parts need no question. */
const HEAVY = 20

/** Rows that are asked before their parts: most of them are out of view. */
const LONG = 20

function isLongList(source: CachedSource, { ref, role }: Item): boolean {
  const isList = role === ROLE.LIST || role === ROLE.TABLE
  return isList && (source.cachedChildren(ref)?.length ?? 0) >= LONG
}

/** The extents of all objects that have any. Objects inside one without room are not asked. */
async function readExtents(atspi: Atspi, root: Ref, source: CachedSource): Promise<Map<string, Rect>> {
  const extents = new Map<string, Rect>()
  const ask = async (refs: readonly Ref[]): Promise<void> => {
    await Promise.all(
      refs.map(async (ref) => {
        const rect = await atspi.extents(ref, "window").catch(() => undefined)
        if (rect) extents.set(ref.path, rect)
      }),
    )
  }
  const weights = new Map<string, number>()
  const nodes = flatten(source, root, weights)
  const hasBounds = ({ interfaces }: Item): boolean => (interfaces & INTERFACE.Component) !== 0
  const lists = nodes.flatMap(({ item }) => (isLongList(source, item) ? [item] : []))
  const rows = lists.flatMap(({ ref }) => (source.cachedChildren(ref) ?? []).map((row) => row.ref))
  const heavy = nodes.filter(({ item }) => hasBounds(item) && (weights.get(item.path) ?? 0) >= HEAVY)
  await ask([...heavy.map(({ item }) => item.ref), ...rows])
  await hideStrays(atspi, source, lists, extents)
  const isShut = (path: string): boolean => {
    const rect = extents.get(path)
    return rect !== undefined && (rect.width <= 0 || rect.height <= 0)
  }
  const rest = nodes.filter(
    ({ item, above }) => hasBounds(item) && !extents.has(item.path) && !above.some(isShut),
  )
  await ask(rest.map(({ item }) => item.ref))
  return extents
}

interface Placed {
  readonly item: Item
  readonly above: readonly string[]
}

/** All objects below, each with the paths of its ancestors. `weights` gets the number of objects below each. */
function flatten(source: CachedSource, root: Ref, weights: Map<string, number>): readonly Placed[] {
  const nodes: Placed[] = []
  const seen = new Set<string>()
  const visit = (ref: Ref, above: readonly string[]): number => {
    const item = source.item(ref)
    if (!item || seen.has(ref.path) || above.length > MAX_LEVELS) return 0
    seen.add(ref.path)
    nodes.push({ item, above })
    const inner = [...above, ref.path]
    const children = source.cachedChildren(ref) ?? []
    const weight = children.reduce((sum, child) => sum + 1 + visit(child.ref, inner), 0)
    weights.set(ref.path, weight)
    return weight
  }
  visit(root, [])
  return nodes
}

const STACKS = /(?:Stack|Leaflet|TabView|Squeezer)$/
/** Points of a stack at which a hit test finds the visible page. Some of them may be between widgets. */
const TOUCHES = [
  [0.5, 0.5],
  [0.25, 0.25],
  [0.75, 0.25],
  [0.25, 0.75],
  [0.75, 0.75],
  [0.1, 0.5],
] as const

/** Sets pages of a stack that no longer show to size 0. A hit test finds the one that shows. */
async function hidePages(
  atspi: Atspi,
  root: Ref,
  source: CachedSource,
  extents: Map<string, Rect>,
): Promise<void> {
  const stacks = flatten(source, root, new Map()).flatMap(({ item }) => {
    const view = extents.get(item.path)
    const rooms = (source.cachedChildren(item.ref) ?? []).filter(({ ref }) => hasRoom(extents.get(ref.path)))
    // Pages lie on top of each other; children side by side all show.
    const pages = rooms.filter((one) =>
      rooms.some((other) => one !== other && isSamePlace(extents, one, other)),
    )
    const isStack = STACKS.test(item.name) || pages.some(({ ref }) => source.item(ref)?.parent !== item.path)
    return view && isStack && pages.length > 1 ? [{ item, view, pages }] : []
  })
  await Promise.all(
    stacks.map(async ({ item, view, pages }) => {
      const touched = await Promise.all(TOUCHES.map((at) => touch(atspi, item.ref, view, at)))
      const showing = touched
        .map((ref) => ref && pageOf(source, ref, pages))
        .find((page) => page !== undefined)
      if (!showing) return
      for (const { ref } of pages) {
        if (ref.path !== showing) extents.set(ref.path, { ...view, width: 0, height: 0 })
      }
    }),
  )
}

async function touch(
  atspi: Atspi,
  stack: Ref,
  { x, y, width, height }: Rect,
  [right, down]: (typeof TOUCHES)[number],
): Promise<Ref | undefined> {
  const point = { x: Math.round(x + width * right), y: Math.round(y + height * down) }
  return atspi.at(stack, point, "window").catch(() => undefined)
}

/** The page among the ancestors of an object. */
function pageOf(source: CachedSource, ref: Ref, pages: readonly Child[]): string | undefined {
  let path: string | undefined = ref.path
  for (let level = 0; path !== undefined && level < MAX_LEVELS; level++) {
    if (pages.some((page) => page.ref.path === path)) return path
    path = source.item({ bus: ref.bus, path })?.parent
  }
  return undefined
}

/**
 * Sets rows of a list view that are out of view to size 0: GTK leaves them at the places where they showed last,
 * which other rows have now. Hit tests find the first and the last row that show.
 */
async function hideStrays(
  atspi: Atspi,
  source: CachedSource,
  lists: readonly Item[],
  extents: Map<string, Rect>,
): Promise<void> {
  await Promise.all(
    lists.map(async ({ ref, path }) => {
      const view = extents.get(path)
      const rows = source.cachedChildren(ref) ?? []
      const rooms = rows.filter((row) => hasRoom(extents.get(row.ref.path)))
      if (!view || !hasOverlaps(rooms.map((row) => extents.get(row.ref.path)!))) return
      const [first, last] = await Promise.all(
        EDGES.map((edge) => firstHit(rooms, (at) => touchRow(atspi, source, ref, view, at), edge)),
      )
      if (first === undefined || last === undefined || last < first) return
      for (const [at, row] of rooms.entries())
        if (at < first || at > last) extents.set(row.ref.path, { ...view, width: 0, height: 0 })
    }),
  )
}

/** Distances from the top and from the bottom of a list, in pixels, at which a row may be; and shares of its width. */
const DEPTHS = [1, 8, 20, 40]
const SHARES = [0.02, 0.25, 0.5, 0.75]
type Spot = readonly [share: number, down: number]
const EDGES: readonly (readonly Spot[])[] = [1, -1].map((side) =>
  DEPTHS.flatMap((depth) => SHARES.map((share) => [share, side * depth] as const)),
)

/** The place of the row that the first successful hit test finds. */
async function firstHit(
  rows: readonly Child[],
  touched: (at: Spot) => Promise<string | undefined>,
  spots: readonly Spot[],
): Promise<number | undefined> {
  const paths = await Promise.all(spots.map(touched))
  const found = paths.map((path) => rows.findIndex(({ ref }) => ref.path === path)).find((at) => at >= 0)
  return found
}

/** The row at a point of a list. */
async function touchRow(
  atspi: Atspi,
  source: CachedSource,
  list: Ref,
  { x, y, width, height }: Rect,
  [share, down]: Spot,
): Promise<string | undefined> {
  const point = { x: Math.round(x + width * share), y: down > 0 ? y + down : y + height + down }
  let path = (await atspi.at(list, point, "window").catch(() => undefined))?.path
  for (let level = 0; path !== undefined && level < MAX_LEVELS; level++) {
    const parent: string | undefined = source.item({ bus: list.bus, path })?.parent
    if (parent === list.path) return path
    path = parent
  }
  return undefined
}

/** True if two of these rectangles overlap. */
function hasOverlaps(rooms: readonly Rect[]): boolean {
  const sorted = rooms.toSorted((a, b) => a.y - b.y || a.x - b.x)
  return sorted.some((room, at) => sorted[at + 1] !== undefined && overlaps(room, sorted[at + 1]!))
}

function isSamePlace(extents: ReadonlyMap<string, Rect>, one: Child, other: Child): boolean {
  return isSameRect(extents.get(one.ref.path), extents.get(other.ref.path))
}

function hasRoom(rect: Rect | undefined): boolean {
  return rect !== undefined && rect.width > 0 && rect.height > 0
}
