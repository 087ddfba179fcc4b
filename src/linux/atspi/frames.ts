import type { Point, Rect } from "../../node.ts"
import type { Extents, TopWindow } from "../windowing/window.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { unlessRefused } from "./element.ts"
import { type Facts, listChildren } from "./facts.ts"
import { cleanName } from "./names.ts"
import type { A11yApp } from "./registry.ts"
import { MENU_ROLES, ROLE, WINDOW_ROLES } from "./roles.ts"
import { beginCache, type Cache } from "./sources.ts"
import { type Traits, traitsOf } from "./toolkits.ts"

/** The facts about an app that its frames share. */
export interface FrameApp {
  readonly pid: number
  readonly name: string
  readonly traits: Traits
  /** Its cache, if it was asked for together with the frames. */
  readonly cache?: Promise<Cache>
}

/** A top-level object of an app, which may be a window on the screen. */
export interface Frame {
  readonly app: FrameApp
  readonly ref: Ref
  readonly index: number
  readonly role: number
  readonly states: StateSet
  readonly name: string
  /** In the app's own coordinates. */
  readonly extents: Rect | undefined
}

/** The top-level objects of an app; none if it refuses to list them. */
export async function readFrames(
  atspi: Atspi,
  { ref: app, pid, name: known, responsive, begun }: A11yApp,
  withCache = false,
): Promise<readonly Frame[]> {
  // A busy app did not report its name while the apps were listed; its traits depend on the name.
  const [toolkit = "", children, name = ""] = await Promise.all([
    begun?.toolkit ?? unlessRefused(atspi.toolkit(app)),
    begun?.children ?? unlessRefused(atspi.children(app)),
    responsive ? known : unlessRefused(atspi.name(app)),
  ])
  const { promise: cache, resolve } = Promise.withResolvers<Cache>()
  const traits = traitsOf(toolkit, name, await atspi.isNative?.(pid))
  const owner = { pid, name, traits, cache: withCache ? cache : undefined }
  const reading = listChildren(children ?? []).map(({ ref, index }) =>
    unlessRefused(readFrame(atspi, owner, ref, index)),
  )
  // After the frames: the app makes its list while we match frames to windows.
  if (withCache) resolve(beginCache(atspi, app.bus, traits))
  // Only a caller that awaits it sees its failure.
  cache.catch(() => {})
  return (await Promise.all(reading)).filter((frame) => frame !== undefined)
}

async function readFrame(atspi: Atspi, app: FrameApp, ref: Ref, index: number): Promise<Frame> {
  const [role, states, name, extents] = await Promise.all([
    atspi.role(ref),
    atspi.states(ref),
    atspi.name(ref),
    unlessRefused(atspi.extents(ref, app.traits.coordinates)),
  ])
  return { app, ref, index, role, states, name: cleanName(name) ?? "", extents }
}

/** The facts that the frame was matched by, if a tree needs no more of it. An unusual window may hold more. */
export function factsOf({ app, role, states, name, extents }: Frame): Facts | undefined {
  if (app.traits.windowIsReadAgain || !WINDOW_ROLES.has(role)) return undefined
  return { role, states, name, extents, interfaces: extents ? INTERFACE.Component : 0, childCount: -1 }
}

/** The top-level objects of one window's process, and the windows that they match. */
export async function readProcessFrames(
  atspi: Atspi,
  pid: number | undefined,
  { apps, windows }: { readonly apps: readonly A11yApp[]; readonly windows: readonly TopWindow[] },
  withCache = false,
): Promise<{ readonly frames: readonly Frame[]; readonly matches: ReadonlyMap<string, Frame> }> {
  const own = apps.filter((app) => app.pid === pid)
  // In a sandbox or on another machine, a window's process has another pid here, or none.
  const candidates = own.length > 0 ? own : apps.filter((app) => !windows.some((one) => one.pid === app.pid))
  const frames = (await Promise.all(candidates.map((app) => readFrames(atspi, app, withCache)))).flat()
  return { frames, matches: matchFrames(windows, frames) }
}

/**
 * Matches frames to windows on the screen by evidence alone: the same process, then title and geometry, if they fit
 * exactly one pair. A frame that fits several windows gets none.
 */
export function matchFrames(windows: readonly TopWindow[], frames: readonly Frame[]): Map<string, Frame> {
  const matches = new Map<string, Frame>()
  // A window may be any widget: Qt shows a bare list or picture as one.
  const open = new Set(frames.filter((frame) => !isPopupFrame(frame)))
  const known = new Set([...open].map((frame) => frame.app.pid))
  const rounds: ((window: TopWindow, frame: Frame) => boolean)[] = [
    (window, frame) => window.object === refKey(frame.ref),
    (window, frame) => isSameProcess(window, frame) && hasTitle(window, frame) && hasGeometry(window, frame),
    (window, frame) =>
      isSameProcess(window, frame) &&
      hasTitle(window, frame) &&
      hasGeometry(window, frame) &&
      window.focused === has(frame.states, STATE.ACTIVE),
    (window, frame) => isSameProcess(window, frame) && hasTitle(window, frame),
    (window, frame) =>
      isSameProcess(window, frame) && hasGeometry(window, frame) && isUntitled(window, frame),
    (window, frame) => isSameProcess(window, frame) && hasGeometry(window, frame),
    (window, frame) => !known.has(window.pid ?? 0) && hasTitle(window, frame) && hasGeometry(window, frame),
  ]
  for (const fits of rounds) {
    const free = windows.filter((window) => !matches.has(window.id))
    const pairs = free.flatMap((window) =>
      [...open].filter((frame) => fits(window, frame)).map((frame) => ({ window, frame })),
    )
    for (const { window, frame } of pairs) {
      const isOnly = pairs.every((pair) => (pair.window === window) === (pair.frame === frame))
      if (!isOnly) continue
      matches.set(window.id, frame)
      open.delete(frame)
    }
  }
  return matches
}

/**
 * The frame of each popup: the only one of the same process in the same place. A popup inside a window's tree, such as
 * a GTK 4 popover, has no separate frame.
 */
export function matchPopups(popups: readonly TopWindow[], frames: readonly Frame[]): Map<Frame, TopWindow> {
  const pairs = popups.flatMap((popup) =>
    frames
      .filter((frame) => isSameProcess(popup, frame) && frame.app.traits.coordinates !== "window")
      .filter((frame) => has(frame.states, STATE.SHOWING) && hasGeometry(popup, frame))
      .map((frame) => ({ popup, frame })),
  )
  const isOnly = ({ popup, frame }: (typeof pairs)[number]): boolean =>
    pairs.every((pair) => (pair.popup === popup) === (pair.frame === frame))
  return new Map(pairs.filter(isOnly).map(({ popup, frame }) => [frame, popup]))
}

/** Added to the app's coordinates to get screen coordinates; undefined if the position of the window is unknown. */
export function shiftOf(window: TopWindow, frame: Frame): Point | undefined {
  const { bounds, gtkFrameExtents: shadow } = window
  if (!frame.app.traits.coordinates) return { x: 0, y: 0 }
  if (!bounds) return undefined
  if (window.isNative) return nativeShift(bounds, window.frame ?? bounds, frame)
  // The app's coordinates count from the visible corner of the window, inside its shadow.
  if (shadow && (shadow.left || shadow.top)) return { x: bounds.x + shadow.left, y: bounds.y + shadow.top }
  const width = frame.extents?.width ?? bounds.width
  const height = frame.extents?.height ?? bounds.height
  return {
    x: bounds.x + Math.max(0, Math.round((bounds.width - width) / 2)),
    y: bounds.y + Math.max(0, Math.round((bounds.height - height) / 2)),
  }
}

/**
 * The same for a native Wayland window. The compositor knows the surface, or at least the visible window. The extents
 * must have one of their sizes to the pixel: unchanged, with the shadow added, or without the frame that the app draws.
 */
function nativeShift(surface: Rect, visible: Rect, { app, extents }: Frame): Point | undefined {
  if (!extents) return undefined
  const { shadow = NONE, ownFrame = NONE } = app.traits
  const borders: readonly (readonly [Rect, Extents])[] = [
    [surface, NONE],
    [visible, NONE],
    [surface, shadow],
    [surface, inward(ownFrame)],
    [visible, inward(ownFrame)],
  ]
  const found = borders.find(
    ([rect, { left, right, top, bottom }]) =>
      extents.width === rect.width + left + right && extents.height === rect.height + top + bottom,
  )
  if (!found) return undefined
  const [rect, { left, top }] = found
  return { x: rect.x - left - extents.x, y: rect.y - top - extents.y }
}

const NONE: Extents = { left: 0, right: 0, top: 0, bottom: 0 }

const inward = ({ left, right, top, bottom }: Extents): Extents => ({
  left: -left,
  right: -right,
  top: -top,
  bottom: -bottom,
})

export const isPopupFrame = ({ role }: Pick<Frame, "role">): boolean => POPUP_ROLES.has(role)

const POPUP_ROLES: ReadonlySet<number> = new Set([...MENU_ROLES, ROLE.TOOL_TIP])

function isSameProcess(window: TopWindow, frame: Frame): boolean {
  return window.pid === frame.app.pid
}

function hasTitle(window: TopWindow, frame: Frame): boolean {
  return frame.name !== "" && cleanName(window.title) === frame.name
}

function isUntitled(window: TopWindow, frame: Frame): boolean {
  return frame.name === "" || window.title === ""
}

/** The extents that an app reports are those of the client window, of the decorated one, or of the one without shadows. */
function hasGeometry(window: TopWindow, frame: Frame): boolean {
  const { extents } = frame
  const { bounds, gtkFrameExtents: shadow } = window
  if (!extents || extents.width <= 0 || !bounds) return false
  const bare = shadow && {
    x: bounds.x + shadow.left,
    y: bounds.y + shadow.top,
    width: bounds.width - shadow.left - shadow.right,
    height: bounds.height - shadow.top - shadow.bottom,
  }
  const rects = [bounds, window.frame ?? bounds, ...(bare ? [bare] : [])]
  if (frame.app.traits.coordinates) {
    return rects.some(
      (rect) => near(rect.width, extents.width, 120) && near(rect.height, extents.height, 120),
    )
  }
  return rects.some(
    (rect) =>
      near(rect.x, extents.x, 2) &&
      near(rect.y, extents.y, 2) &&
      near(rect.width, extents.width, 2) &&
      near(rect.height, extents.height, 2),
  )
}

function near(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= tolerance
}
