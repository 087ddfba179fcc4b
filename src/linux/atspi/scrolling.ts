import { ALREADY, type Direction, NOT_DELIVERED, type Performed } from "../../action.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Rect } from "../../node.ts"
import { contains, intersection, middle } from "../../rect.ts"
import { pause } from "../../until.ts"
import { method } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Interfaces, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { type Range, readRange, setNumber } from "./editing.ts"
import { Element, type LineElement, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"
import type { Sender } from "./send.ts"

/** Scrolls by setting the numbers of scroll bars. */

/** A pane around the element, the pane's child that contains the element, and the pane's bars. */
interface Pane {
  readonly ref: Ref
  readonly inside: Ref
  readonly vertical?: Ref
  readonly horizontal?: Ref
}

/** Steps of the bar for one notch of the wheel, as in toolkits. */
const NOTCH = 3
/** A bar without a step moves by this share of its range. */
const SHARE = 20

/** Moves the bar of the nearest pane around the element that has one in this direction. */
export async function scroll(
  to: Sender,
  { ref }: Element,
  direction: Direction,
  amount: number,
): Promise<Performed> {
  const { atspi } = to
  const sideways = direction === "left" || direction === "right"
  for (const pane of await panesAround(atspi, ref)) {
    const bar = sideways ? pane.horizontal : pane.vertical
    const range = bar && (await readRange(atspi, bar))
    if (!bar || !range || range.most <= range.least) continue
    const step = await notchOf(to, pane, range)
    const back = direction === "up" || direction === "left"
    const value = clamp(range.now + (back ? -step : step) * amount, range)
    if (value === range.now) throw atEnd(direction)
    const performed = await move(to, pane, bar, value, range)
    if (performed.delivery !== "delivered_unverified") return performed
    const after = await unlessRefused(atspi.currentValue(bar))
    if (after === range.now && !back && (await isLastPage(to, pane, range, sideways))) throw atEnd(direction)
    return after === undefined || after === range.now
      ? performed
      : { ...performed, delivery: "delivered_verified" }
  }
  return NOT_DELIVERED
}

/** A bar that counts pixels counts those of the view, too: its number is never higher than the start of the last page. */
async function isLastPage(
  { atspi, traits }: Sender,
  pane: Pane,
  range: Range,
  sideways: boolean,
): Promise<boolean> {
  const view = traits.barsCountPixels && (await unlessRefused(atspi.extents(pane.ref, traits.coordinates)))
  return view ? range.now + (sideways ? view.width : view.height) >= range.most : false
}

/** How far one notch of the wheel moves a bar. */
async function notchOf({ atspi, traits }: Sender, pane: Pane, range: Range): Promise<number> {
  if (range.step > 0) return range.step * NOTCH
  const view = traits.barsCountPixels && (await unlessRefused(atspi.extents(pane.ref, traits.coordinates)))
  // As GTK does: gtk_scrolled_window_get_scroll_unit.
  if (view && view.height > 0) return view.height ** (2 / 3)
  return (range.most - range.least) / SHARE
}

/** Sets the bar of a pane. A list that creates no rows for its first jump is moved by a pixel before it. */
async function move(to: Sender, pane: Pane, bar: Ref, value: number, range: Range): Promise<Performed> {
  const { atspi, traits } = to
  const list = traits.jumpsShowNothing ? await listIn(atspi, pane.inside) : undefined
  const view = list && (await unlessRefused(atspi.extents(list, traits.coordinates)))
  if (!view) return setNumber(to, bar, value)
  const { x, y } = middle(view)
  const at = { x: Math.floor(x), y: Math.floor(y) }
  const part = (await unlessRefused(atspi.at(list, at, traits.coordinates))) ?? list
  const before = await unlessRefused(atspi.extents(part, traits.coordinates))
  const first = await setNumber(to, bar, range.now + Math.sign(value - range.now))
  if (first.delivery !== "delivered_unverified") return first
  // Both in one frame would end at a wrong row.
  if (before) await settled(to, part, before, PICTURE_MS)
  return setNumber(to, bar, value)
}

/** How long a list may take to draw itself a pixel further. */
const PICTURE_MS = 200

/** The list itself, or the one below the headers of a list with columns. */
async function listIn(atspi: Atspi, ref: Ref): Promise<Ref | undefined> {
  const role = await atspi.role(ref)
  if (role === ROLE.LIST || role === ROLE.TABLE) return ref
  if (role !== ROLE.TREE_TABLE) return undefined
  const parts = (await atspi.children(ref)).slice(0, MOST_PARTS)
  const roles = await Promise.all(parts.map((part) => unlessRefused(atspi.role(part))))
  return parts.find((_, i) => roles[i] === ROLE.LIST)
}

function atEnd(direction: Direction): AppError {
  const ends = { up: "top", down: "bottom", left: "left end", right: "right end" }
  return new AppError("ACTION_FAILED", `It is scrolled to its ${ends[direction]} already`, {
    details: { kind: "at_end" },
    disposition: NOTHING_DELIVERED,
  })
}

/** ATSPI_SCROLL_… */
const SCROLL = { top: 2, bottom: 3, anywhere: 6 } as const
/** Attempts to set a bar: one is enough if it counts pixels, more are needed if it counts lines or rows. */
const MOST_TRIES = 6

/** Brings the element into view: by its own ScrollTo, else by the bars of the panes around it. */
export async function scrollTo(to: Sender, { ref }: Element, edge?: "top" | "bottom"): Promise<Performed> {
  const { atspi } = to
  if (!(await to.can(ref, INTERFACE.Component))) return NOT_DELIVERED
  const how = "Component.ScrollTo"
  const asked = await to.request(ref, how, method(`org.a11y.atspi.${how}`, "u", [SCROLL[edge ?? "anywhere"]]))
  if (asked.delivery !== "not_delivered" || edge) return asked
  const panes = await panesAround(atspi, ref)
  let moved = false
  for (const pane of panes) {
    const result = await bringInto(to, pane, ref)
    if (result === "unable") return moved ? UNSURE : NOT_DELIVERED
    moved ||= result === "moved"
  }
  if (moved) return { method: "atspi:Value.CurrentValue", delivery: "delivered_verified" }
  // Without a pane, only the app knows whether it shows.
  return panes.length > 0 || has(await atspi.states(ref), STATE.SHOWING) ? ALREADY : NOT_DELIVERED
}

/**
 * Brings a line of a text into view, by the object after it or the one before it: Firefox scrolls to no part of a text.
 * An object that is higher than the view may leave the line beside it out of view.
 */
export async function scrollToLine(
  to: Sender,
  { ref: page, origin, line }: LineElement,
  edge?: "top" | "bottom",
): Promise<Performed> {
  const { atspi, traits } = to
  const placeOf = async (ref: Ref | undefined): Promise<Rect | undefined> =>
    ref && (await unlessRefused(atspi.extents(ref, traits.coordinates)))
  const [view, place, next, previous] = await Promise.all([
    placeOf(page),
    unlessRefused(atspi.rangeExtents(page, line.start, line.end, traits.coordinates)),
    placeOf(line.next),
    placeOf(line.previous),
  ])
  const sides = [
    { ref: line.next, at: next, side: "bottom" },
    { ref: line.previous, at: previous, side: "top" },
  ] as const
  const shows = sides.find(
    ({ at, side }) => at && place && view && contains(view, middle(movedTo(place, at, view, side))),
  )
  const { ref, side } = (!edge && shows) || { ref: line.next ?? line.previous, side: edge }
  return ref ? scrollTo(to, new Element(ref, origin), side) : NOT_DELIVERED
}

/** The place of a line once this edge of the object beside it is at the same edge of the view. */
const movedTo = (line: Rect, object: Rect, view: Rect, edge: "top" | "bottom"): Rect => ({
  ...line,
  y: line.y + view.y - object.y + (edge === "top" ? 0 : view.height - object.height),
})

const UNSURE: Performed = { method: "atspi:Value.CurrentValue", delivery: "delivered_unverified" }

async function bringInto(to: Sender, pane: Pane, ref: Ref): Promise<"moved" | "there" | "unable"> {
  const { atspi } = to
  const { coordinates } = to.traits
  let moved = false
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [element, ...around] = await Promise.all(
      [ref, pane.ref, pane.inside].map((one) => unlessRefused(atspi.extents(one, coordinates))),
    )
    const [outer, inner] = around
    if (!element || !outer || !inner) return "unable"
    const view = intersection(outer, inner)
    if (!isPlaced(element)) {
      if (moved || !(await search(to, pane, ref, view))) return "unable"
      moved = true
      continue
    }
    const dx = distance(element.x, element.width, view.x, view.width)
    const dy = distance(element.y, element.height, view.y, view.height)
    if (dx === 0 && dy === 0) return moved ? "moved" : "there"
    const went = [await shift(to, pane.horizontal, dx), await shift(to, pane.vertical, dy)]
    if (!went.includes(true)) return "unable"
    moved = true
    await settled(to, ref, element)
  }
  return "unable"
}

/** GTK 3 reports the smallest integer for an element that is scrolled away. */
const isPlaced = ({ x }: Rect): boolean => x > -0x7ffffff0

/** Scrolls until the element has a position: first to a guess by its index among its siblings, then page by page. */
async function search(to: Sender, pane: Pane, ref: Ref, view: Rect): Promise<boolean> {
  const bar = pane.vertical ?? pane.horizontal
  const range = bar && (await readRange(to.atspi, bar))
  if (!bar || !range || range.most <= range.least) return false
  const room = range.most - range.least
  const page = Math.max((pane.vertical ? view.height : view.width) * 0.9, room / MOST_PAGES)
  const pages = Array.from({ length: Math.ceil(room / page) + 1 }, (_, at) => range.least + at * page)
  const guess = range.least + (await shareBefore(to.atspi, ref, pane)) * room
  for (const value of [guess, ...pages]) {
    await setNumber(to, bar, clamp(value, range))
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const extents = await unlessRefused(to.atspi.extents(ref, to.traits.coordinates))
      if (extents && isPlaced(extents)) return true
      await pause(LOOK_AGAIN_MS, to.atspi.deadline)
    }
  }
  await setNumber(to, bar, range.now)
  return false
}

const MOST_PAGES = 100
const MOST_LOOKS = 4

/** The share of the pane's content before the element, if all siblings are about the same size. */
async function shareBefore(atspi: Atspi, ref: Ref, pane: Pane): Promise<number> {
  let at = ref
  for (let level = 0; level < MOST_ANCESTORS && refKey(at) !== refKey(pane.inside); level++) {
    const parent = await unlessRefused(atspi.parent(at))
    if (!parent) break
    const [index, count] = await Promise.all([atspi.indexInParent(at), atspi.childCount(parent)])
    if (count > 1 && index >= 0) return index / (count - 1)
    at = parent
  }
  return 0
}

/** false: the bar does not exist, or is at its end. */
async function shift(to: Sender, bar: Ref | undefined, by: number): Promise<boolean> {
  if (!bar || by === 0) return false
  const range = await readRange(to.atspi, bar)
  const value = range && clamp(range.now + by, range)
  if (value === undefined || value === range?.now) return false
  return (await setNumber(to, bar, value)).delivery !== "not_delivered"
}

const SETTLE_MS = 500
const LOOK_AGAIN_MS = 15

/** Waits until the element has moved; apps move it with the next frame. */
async function settled({ atspi, traits }: Sender, ref: Ref, before: Rect, ms = SETTLE_MS): Promise<void> {
  const deadline = atspi.deadline.slice(ms)
  while (!deadline.expired) {
    const now = await unlessRefused(atspi.extents(ref, traits.coordinates))
    if (now && (now.x !== before.x || now.y !== before.y)) return
    await pause(LOOK_AGAIN_MS, deadline)
  }
}

/** Negative: above the view. Positive: below. Taller than the view: align tops. */
function distance(at: number, size: number, view: number, room: number): number {
  if (at < view) return at - view
  const over = at + size - (view + room)
  return over > 0 ? Math.min(over, at - view) : 0
}

const clamp = (value: number, { least, most }: Range): number => Math.min(most, Math.max(least, value))

const MOST_ANCESTORS = 30

/** The panes around the element, the nearest first. */
export async function panesAround(atspi: Atspi, ref: Ref): Promise<readonly Pane[]> {
  const panes: Pane[] = []
  let inside = ref
  for (let level = 0; level < MOST_ANCESTORS; level++) {
    const at = await unlessRefused(atspi.parent(inside))
    if (!at) break
    const role = await atspi.role(at)
    if (role === ROLE.FRAME || role === ROLE.APPLICATION) break
    if (PANES.has(role)) {
      const bars = await barsOf(atspi, at, inside)
      if (bars.vertical || bars.horizontal) panes.push({ ref: at, inside, ...bars })
    }
    inside = at
  }
  return panes
}

/** Roles of GTK's scrolled windows, and of Qt's scroll areas and editors. */
const PANES: ReadonlySet<number> = new Set([
  ROLE.SCROLL_PANE,
  // Thunar's files.
  ROLE.DIRECTORY_PANE,
  ROLE.FILLER,
  ROLE.TEXT,
])
/** A pane has content, two bars and perhaps a corner. */
const MOST_PARTS = 6

async function barsOf(atspi: Atspi, pane: Ref, inside: Ref): Promise<Pick<Pane, "vertical" | "horizontal">> {
  const count = await atspi.childCount(pane)
  if (count < 2 || count > MOST_PARTS) return {}
  const parts = (await atspi.children(pane)).filter((part) => refKey(part) !== refKey(inside))
  const bars = (await Promise.all(parts.map((part) => findBar(atspi, part)))).filter(
    (bar) => bar !== undefined,
  )
  return {
    vertical: bars.find((bar) => bar.vertical)?.ref,
    horizontal: bars.find((bar) => !bar.vertical)?.ref,
  }
}

interface Bar {
  readonly ref: Ref
  readonly vertical: boolean
}

/** Qt puts a box around each bar; GTK 4 keeps the number in a part of it. */
async function findBar(atspi: Atspi, part: Ref): Promise<Bar | undefined> {
  const role = await atspi.role(part)
  if (role === ROLE.FILLER) {
    const children = await atspi.children(part)
    const [only] = children
    return only && children.length === 1 && (await atspi.role(only)) === ROLE.SCROLL_BAR
      ? findBar(atspi, only)
      : undefined
  }
  if (role !== ROLE.SCROLL_BAR) return undefined
  const [states, interfaces, extents] = await Promise.all([
    atspi.states(part),
    atspi.interfaces(part),
    unlessRefused(atspi.extents(part)),
  ])
  const ref = hasValue(interfaces) ? part : await valueWithin(atspi, part)
  if (!ref) return undefined
  // Qt reports neither VERTICAL nor HORIZONTAL; the shape decides.
  const isReported = has(states, STATE.VERTICAL) || has(states, STATE.HORIZONTAL)
  if (!isReported && (!extents || extents.width === 0)) return undefined
  return { ref, vertical: isReported ? has(states, STATE.VERTICAL) : isTall(extents) }
}

const isTall = (rect: Rect | undefined): boolean => rect !== undefined && rect.height > rect.width

const hasValue = (interfaces: Interfaces): boolean => (interfaces & INTERFACE.Value) !== 0

async function valueWithin(atspi: Atspi, bar: Ref): Promise<Ref | undefined> {
  for (const child of (await atspi.children(bar)).slice(0, MOST_PARTS)) {
    if (hasValue(await atspi.interfaces(child))) return child
  }
  return undefined
}
