import type { Point, Rect } from "../../node.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { Element, type Origin, type Parent, unlessRefused } from "./element.ts"
import { type Facts, listChildren, type Maybe } from "./facts.ts"
import type { Expect } from "./names.ts"
import { type Kind, kindOf, ROLE } from "./roles.ts"

/** Origins that differ within one window: those of LibreOffice's drawn widgets, and of popups. */

/** The origin of elements that the app draws itself, within a native window. */
export interface DrawnOrigin extends Origin {
  readonly native: Origin
}

/**
 * The origin of an element's children. LibreOffice reports coordinates below its root pane as if there were no native
 * menu bar above it. Native widgets inside report the right ones again.
 */
export function originBelow(atspi: Atspi, element: Element, facts: Facts, expect: Expect): Maybe<Origin> {
  const { origin, parent } = element
  if (isDrawn(origin)) return isNativeBox(facts) ? origin.native : origin
  if (facts.role !== ROLE.ROOT_PANE || !origin.traits.rootPaneIgnoresMenuBar || !parent || !origin.shift)
    return origin
  return drawnOrigin(atspi, element, parent, origin.shift, expect)
}

async function drawnOrigin(
  atspi: Atspi,
  element: Element,
  parent: Parent,
  shift: Point,
  expect: Expect,
): Promise<Origin> {
  const { origin } = element
  const [own, around] = await Promise.all([
    expect(atspi.extents(element.ref)),
    expect(atspi.extents(parent.ref)),
  ])
  const dy = own && around ? around.y - own.y : 0
  if (dy <= 0 || dy > 200) return origin
  const drawn: DrawnOrigin = { ...origin, shift: { x: shift.x, y: shift.y + dy }, native: origin }
  return drawn
}

/** The origin of one element that was opened without a walk down to it. */
export async function originWithin(
  atspi: Atspi,
  ref: Ref,
  origin: Origin,
  findFrame: () => Promise<Element | undefined>,
): Promise<Origin> {
  const { coordinates, rootPaneIgnoresMenuBar, mixesCoordinates } = origin.traits
  if (coordinates) return originInPopup(atspi, ref, origin)
  const mayBeDrawn = rootPaneIgnoresMenuBar && mixesCoordinates
  if (!mayBeDrawn || !(await isDrawnBySuite(atspi, ref))) return origin
  const frame = await findFrame()
  const pane = frame && (await findRootPane(atspi, frame, 3))
  if (!pane) return { ...origin, shift: undefined }
  const facts = { role: ROLE.ROOT_PANE, states: 0, interfaces: 0, name: "", childCount: -1 }
  return originBelow(atspi, pane, facts, unlessRefused)
}

/** An element can be in a popup only while its process has one open, if the window system reports that. */
async function originInPopup(atspi: Atspi, ref: Ref, origin: Origin): Promise<Origin> {
  // Without a position there is nothing to correct.
  if (!origin.shift) return origin
  const windows = await origin.popups?.()
  if (windows && !windows.some(({ pid }) => pid === origin.pid)) return origin
  let at: Ref | undefined = ref
  for (let level = 0; at && level < 50; level++) {
    const [role, name, above]: [number, string, Ref | undefined] = await Promise.all([
      atspi.role(at),
      atspi.name(at),
      atspi.parent(at),
    ])
    const kind = kindOf(role, 0, false, ROLE.INVALID, { traits: origin.traits, name })
    if (kind.role === "menu" || kind.role === "popover") {
      return popupOrigin(origin, kind, { extents: await atspi.extents(at, origin.traits.coordinates) })
    }
    if (role === ROLE.FRAME || role === ROLE.APPLICATION) return origin
    at = above
  }
  return origin
}

/** The ancestors of a drawn widget end in a root pane without a native parent. */
async function isDrawnBySuite(atspi: Atspi, ref: Ref): Promise<boolean> {
  let at = await atspi.parent(ref)
  for (let level = 0; at && level < 50; level++) {
    const [role, states, above] = await Promise.all([atspi.role(at), atspi.states(at), atspi.parent(at)])
    if (role === ROLE.ROOT_PANE) return true
    if (role === ROLE.FRAME || role === ROLE.APPLICATION || isNativeBox({ role, states })) return false
    at = above
  }
  return false
}

async function findRootPane(atspi: Atspi, element: Element, levels: number): Promise<Element | undefined> {
  const [role, states, children] = await Promise.all([
    atspi.role(element.ref),
    atspi.states(element.ref),
    atspi.children(element.ref),
  ])
  const parent = { ref: element.ref, role, states, size: children.length }
  const elements = listChildren(children).map(
    ({ ref, index }) => new Element(ref, element.origin, parent, index),
  )
  const roles = await Promise.all(elements.map(({ ref }) => atspi.role(ref)))
  const pane = elements[roles.indexOf(ROLE.ROOT_PANE)]
  if (pane || levels === 0) return pane
  const panels = elements.filter((_, at) => roles[at] === ROLE.PANEL)
  const found = await Promise.all(panels.map((panel) => findRootPane(atspi, panel, levels - 1)))
  return found.find((one) => one !== undefined)
}

function isDrawn(origin: Origin): origin is DrawnOrigin {
  return "native" in origin
}

/** A native box has a direction; LibreOffice's own panels have none. */
function isNativeBox({ role, states }: Pick<Facts, "role" | "states">): boolean {
  const isBox = role === ROLE.PANEL || role === ROLE.FILLER
  return isBox && (has(states, STATE.HORIZONTAL) || has(states, STATE.VERTICAL))
}

/**
 * The origin of a popover and its content. GTK 4 gives it a separate window but counts from the widget that it belongs
 * to. The only window of the same process and size shows where it is.
 */
export function popupOrigin(origin: Origin, kind: Kind, { extents }: Pick<Facts, "extents">): Maybe<Origin> {
  const isPopup = kind.role === "menu" || kind.role === "popover"
  if (!isPopup || !origin.traits.coordinates || !origin.popups) return origin
  if (!extents) return { ...origin, shift: undefined }
  return origin.popups().then((windows = []) => ({ ...origin, shift: shiftOf(extents, windows, origin.pid) }))
}

/** A popover's margin is part of its window, but not of its extents. */
const MOST_MARGIN = 16

function shiftOf(extents: Rect, windows: readonly TopWindow[], pid: number): Origin["shift"] {
  const margins = windows
    .flatMap(({ bounds, ...window }) => (bounds && window.pid === pid ? [bounds] : []))
    .map((bounds) => ({
      bounds,
      x: bounds.width - extents.width,
      y: bounds.height - extents.height,
    }))
    .filter(({ x, y }) => x >= -2 && y >= -2 && x <= MOST_MARGIN && y <= MOST_MARGIN)
  const [only, ...others] = margins
  if (!only || others.length > 0) return undefined
  const { bounds, x, y } = only
  return { x: bounds.x + Math.trunc(x / 2) - extents.x, y: bounds.y + Math.trunc(y / 2) - extents.y }
}
