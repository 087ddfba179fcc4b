import type { Adapter, SeenWindow } from "../adapter.ts"
import { Deadline } from "../deadline.ts"
import type { Rect } from "../node.ts"
import { decodePng } from "../picture/png.ts"
import { around, encloses, intersection, isEmpty, isSameRect, overlaps, partOnScreen } from "../rect.ts"
import { pause } from "../until.ts"
import type { ScreenWatch, Watch } from "../watch.ts"
import { ShownScreen } from "./shown-screen.ts"
import { readContent, type WindowContent } from "./window-content.ts"

/** Ten pictures a second at most. */
const ROUND_MS = 100
/** Time limit for apps to describe their windows. */
const READ_MS = 4000
/** Wait before an outline is read after a change without pixels, or a window is asked again that did not answer. */
const OUTLINE_MS = 400
const RETRY_MS = 2000
/** A change of fewer pixels, such as a blinking caret, cannot show a new field. */
const SMALL = 800
/** A change of more pixels may be a scroll. Browsers report the new places of fields some time after it. */
const LARGE = 4 * SMALL
const LATE_MS = 700
/** How long the place of a closed window stays covered, and everything that was drawn while a window moved. */
const LEAVING_MS = 400
/** The margin of a cover around its field. */
const MARGIN = 2

/** A window and the known facts about it. */
export interface KnownWindow extends Pick<SeenWindow, "id" | "title" | "app_name" | "bounds" | "is_focused"> {
  readonly content: WindowContent
  readonly readAt: number
}

export interface LiveEvents {
  /** These areas of the shown picture have changed. */
  pictureChanged(areas: readonly Rect[]): void
  windowsChanged(): void
}

/**
 * A changing desktop. A pixel is shown only if the secure fields around it are known. Windows are read after their
 * pixels were taken. A window whose fields moved in between is covered until it is read again.
 */
export class LiveDesktop {
  readonly screen = new ShownScreen()
  readonly #open: (deadline: Deadline) => Promise<Adapter>
  readonly #events: LiveEvents
  readonly #signal: AbortSignal
  #windows: readonly SeenWindow[] = []
  #known: ReadonlyMap<string, KnownWindow> = new Map()
  /** Areas that were drawn and are not shown yet. */
  #pending: readonly Rect[] = []
  /** For each window, the area that was drawn since the window was read. */
  readonly #touched = new Map<string, Rect>()
  /** For each window, the last time that a large part of it was drawn. */
  readonly #drawnAt = new Map<string, number>()
  /** Windows that had secure fields. These may come back into view. */
  readonly #secretive = new Set<string>()
  #covers: readonly Rect[] = []
  /** Places of windows with secure fields that have just closed or been minimised. Their pixels may still show. */
  #left: readonly { readonly bounds: Rect; readonly at: number }[] = []
  /** Areas that were drawn while a window with secure fields moved. The window may have been anywhere in them. */
  #veiled: readonly Rect[] = []
  #movedAt = Number.NEGATIVE_INFINITY
  /** True if apps have reported changes since the focused window was read. */
  #hasStirred = false
  /** Windows that are covered until a second look finds their secure fields in the same places. */
  readonly #unconfirmed = new Set<string>()
  #wake: (() => void) | undefined

  constructor(open: (deadline: Deadline) => Promise<Adapter>, events: LiveEvents, signal: AbortSignal) {
    this.#open = open
    this.#events = events
    this.#signal = signal
  }

  /** All visible windows, the frontmost first. */
  get windows(): readonly KnownWindow[] {
    return [...this.#known.values()]
  }

  get covers(): readonly Rect[] {
    return this.#covers
  }

  /** Shows the desktop once. Returns a promise that resolves when the desktop ends or the signal aborts. */
  async start(): Promise<{ readonly ended: Promise<void> }> {
    const adapter = await this.#open(Deadline.in(READ_MS, this.#signal))
    const screen = (await adapter.watchScreen()) ?? pollScreen(this.#open)
    const watch = await adapter.watch()
    const close = async (): Promise<void> => {
      screen.close()
      await watch.close()
      await adapter.close()
    }
    try {
      await this.#round(screen)
    } catch (error) {
      await close()
      throw error
    }
    return { ended: this.#follow(screen, watch).finally(close) }
  }

  async #follow(screen: ScreenWatch, watch: Watch): Promise<void> {
    let hasEnded = false
    const end = (): void => {
      hasEnded = true
      this.#wake?.()
    }
    this.#signal.addEventListener("abort", end, { once: true })
    let isDrawn = false
    const isOver = (): boolean => hasEnded || this.#signal.aborted
    // The screen's connection ends with the desktop.
    void (async () => {
      while (!isOver()) {
        if (isDrawn || !(await screen.changed(IDLE_MS))) await this.#nextRound()
        else {
          isDrawn = true
          this.#wake?.()
        }
      }
    })().catch(end)
    void (async () => {
      while (!isOver())
        if (await watch.changed(IDLE_MS)) {
          this.#hasStirred = true
          this.#wake?.()
        }
    })().catch(end)
    while (!isOver()) {
      if (!isDrawn) await this.#sleep(this.#patience)
      if (isOver()) break
      const next = Deadline.in(ROUND_MS, this.#signal)
      isDrawn = false
      // A failed read is repeated. `changed` reports the end of the connection.
      await this.#round(screen).catch(() => {
        this.#hasStirred = true
      })
      this.#rounds.resolve()
      this.#rounds = Promise.withResolvers()
      await pause(next.remaining, next)
    }
    this.#rounds.resolve()
  }

  #rounds = Promise.withResolvers<void>()

  #nextRound(): Promise<void> {
    return this.#rounds.promise
  }

  /** Time until the next work, if nothing is drawn before. */
  get #patience(): number {
    if (this.#unconfirmed.size > 0) return 0
    if (this.#left.length > 0 || this.#veiled.length > 0) return LEAVING_MS / 2
    const isUnknown = this.windows.some(({ content }) => content.secure === "unknown")
    return this.#hasStirred ? OUTLINE_MS : isUnknown ? RETRY_MS : IDLE_MS
  }

  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }

  /** One look: first the pixels, then the windows that were drawn, then the places of all windows again. */
  async #round(screen: ScreenWatch): Promise<void> {
    const deadline = Deadline.in(READ_MS, this.#signal)
    const adapter = await this.#open(deadline)
    try {
      const before = this.#windows
      const parts = await screen.take(deadline)
      const drawn = this.screen.take(screen.size, parts)
      this.#pending = [...this.#pending, ...drawn]
      const now = await this.#list(adapter)
      for (const { id, bounds } of now)
        if (drawn.some((area) => areaOf(bounds ? shared(area, bounds) : area) > LARGE))
          this.#drawnAt.set(id, performance.now())
      const due = this.#due(now, drawn)
      const isCovering = this.#left.length > 0 || this.#veiled.length > 0
      if (this.#pending.length === 0 && due.length === 0 && !isCovering && sameList(before, now)) return
      const old = this.#known
      const read = await this.#read(adapter, due)
      const after = due.length > 0 || !sameList(before, now) ? await this.#listAgain() : now
      this.#windows = after
      this.#known = new Map(
        after.flatMap((window) => {
          const content = read.get(window.id) ?? old.get(window.id)?.content
          const readAt = read.has(window.id) ? performance.now() : (old.get(window.id)?.readAt ?? 0)
          return content ? [[window.id, { ...window, content, readAt }] as const] : []
        }),
      )
      this.#show([before, now, after], old)
      this.#events.windowsChanged()
    } finally {
      await adapter.close()
    }
  }

  async #list(adapter: Adapter): Promise<readonly SeenWindow[]> {
    return (await adapter.windows()).filter(({ minimized }) => !minimized)
  }

  /** Has its own time limit: an app that hangs may have used up the time for reading. */
  async #listAgain(): Promise<readonly SeenWindow[]> {
    const adapter = await this.#open(Deadline.in(READ_MS, this.#signal))
    try {
      return await this.#list(adapter)
    } finally {
      await adapter.close()
    }
  }

  /** The windows that must be read before the new pixels may be shown. */
  #due(now: readonly SeenWindow[], drawn: readonly Rect[]): readonly SeenWindow[] {
    const isOutside = drawn.some(
      (area) => areaOf(area) > SMALL && !now.some(({ bounds }) => bounds && encloses(bounds, area)),
    )
    return now.filter((window) => {
      const { id, bounds, is_focused } = window
      const known = this.#known.get(id)
      if (!known || this.#unconfirmed.has(id) || !isSameRect(known.content.bounds, bounds)) return true
      const parts = bounds
        ? drawn.map((area) => intersection(area, bounds)).filter((one) => !isEmpty(one))
        : drawn
      for (const part of parts) this.#touched.set(id, around([this.#touched.get(id) ?? part, part]))
      const touched = this.#touched.get(id)
      const age = performance.now() - known.readAt
      if (known.content.secure === "unknown" && age > RETRY_MS) return true
      if (parts.length > 0 && (this.#hasStirred || (touched && areaOf(touched) > SMALL))) return true
      // A popup of the window may have been drawn beside it.
      return is_focused && (isOutside || (this.#hasStirred && age > OUTLINE_MS))
    })
  }

  async #read(
    adapter: Adapter,
    due: readonly SeenWindow[],
  ): Promise<ReadonlyMap<string, WindowContent | undefined>> {
    for (const { id } of due) this.#touched.delete(id)
    if (due.some(({ is_focused }) => is_focused)) this.#hasStirred = false
    const contents = await Promise.all(due.map((window) => readContent(adapter, window)))
    return new Map(due.map(({ id }, i) => [id, contents[i]]))
  }

  /** `looks`: the windows in the last round, right after the pixels were taken, and now. */
  #show(looks: readonly (readonly SeenWindow[])[], old: ReadonlyMap<string, KnownWindow>): void {
    const [before = [], after = []] = [looks[0], looks.at(-1)]
    const whole = { x: 0, y: 0, width: this.screen.width, height: this.screen.height }
    const time = performance.now()
    this.#unconfirmed.clear()
    const wanted = after.flatMap((window): readonly Rect[] => {
      const known = this.#known.get(window.id)
      const last = before.find(({ id }) => id === window.id)
      const [was, is] = [old.get(window.id)?.content.secure, known?.content.secure ?? "unknown"]
      const hasMoved =
        !isSameRect(window.bounds, known?.content.bounds) || (last && !isSameRect(last.bounds, window.bounds))
      const hadNone = was === undefined || was === "unknown" || was.length === 0
      const isQuiet = time - (this.#drawnAt.get(window.id) ?? 0) > LATE_MS
      if (is !== "unknown" && is.length > 0) this.#secretive.add(window.id)
      if (is.length === 0 && hadNone && (isQuiet || !this.#secretive.has(window.id))) return []
      if (is !== "unknown" && !hasMoved && !hadNone && isQuiet && sameRects(was, is)) return is.map(grown)
      // The fields are unknown, or were elsewhere a moment ago. Covers the whole window, and its old place.
      if (is !== "unknown" || hasMoved) this.#unconfirmed.add(window.id)
      return [window.bounds ?? whole, ...(last?.bounds ? [last.bounds] : [])]
    })
    const leaving = before.flatMap(({ id, bounds }) => {
      const hasSecrets = (old.get(id)?.content.secure ?? "unknown").length > 0
      return hasSecrets && bounds && !after.some((window) => window.id === id) ? [{ bounds, at: time }] : []
    })
    this.#left = [...this.#left.filter(({ at }) => time - at < LEAVING_MS), ...leaving]
    if (this.#hasSecretMove(looks, old)) this.#movedAt = time
    const isMoving = time - this.#movedAt < LEAVING_MS
    this.#veiled = isMoving ? merged([...this.#veiled, ...this.#pending]) : []
    const covers = [...wanted, ...this.#left.map(({ bounds }) => bounds), ...this.#veiled].flatMap(
      (area) => partOnScreen(area, this.screen) ?? [],
    )
    const changedCovers = [
      ...covers.filter((cover) => !this.#covers.some((one) => isSameRect(one, cover))),
      ...this.#covers.filter((cover) => !covers.some((one) => isSameRect(one, cover))),
    ]
    const areas = merged(
      [...this.#pending, ...changedCovers].flatMap((area) => partOnScreen(area, this.screen) ?? []),
    )
    this.#pending = []
    this.#covers = covers
    if (areas.length === 0) return
    this.screen.show(areas, covers)
    this.#events.pictureChanged(areas)
  }

  /** True if a window that has or may have secure fields was not in the same place in all looks. */
  #hasSecretMove(looks: readonly (readonly SeenWindow[])[], old: ReadonlyMap<string, KnownWindow>): boolean {
    const ids = new Set(looks.flatMap((windows) => windows.map(({ id }) => id)))
    return [...ids].some((id) => {
      const contents = [old.get(id)?.content, this.#known.get(id)?.content]
      const places = looks.map((windows) => windows.find((one) => one.id === id)?.bounds)
      return (
        (this.#secretive.has(id) || contents.some((one) => one && one.secure.length > 0)) &&
        places.some((place) => !isSameRect(place, places[0]))
      )
    })
  }
}

/** Longest time that a watch waits. */
const IDLE_MS = 60_000

/** The common part of two rectangles; empty if there is none. */
const shared = (a: Rect, b: Rect): Rect => {
  const both = intersection(a, b)
  return isEmpty(both) ? { ...both, width: 0, height: 0 } : both
}

const areaOf = ({ width, height }: Rect): number => width * height

const grown = ({ x, y, width, height }: Rect): Rect => ({
  x: x - MARGIN,
  y: y - MARGIN,
  width: width + 2 * MARGIN,
  height: height + 2 * MARGIN,
})

/** Covers the same area with fewer rectangles: joins those that overlap. */
export function merged(areas: readonly Rect[]): readonly Rect[] {
  const result: Rect[] = []
  for (const area of areas) {
    let joined = area
    for (let i = result.findIndex((one) => overlaps(one, joined)); i >= 0; ) {
      joined = around([...result.splice(i, 1), joined])
      i = result.findIndex((one) => overlaps(one, joined))
    }
    result.push(joined)
  }
  return result
}

const sameRects = (a: readonly Rect[], b: readonly Rect[]): boolean =>
  a.length === b.length && a.every((one, i) => isSameRect(one, b[i]))

const sameList = (a: readonly SeenWindow[], b: readonly SeenWindow[]): boolean =>
  a.length === b.length &&
  a.every((one, i) => {
    const other = b[i]
    return (
      one.id === other?.id &&
      one.title === other.title &&
      one.is_focused === other.is_focused &&
      isSameRect(one.bounds, other.bounds)
    )
  })

/** The interval between pictures of a screen that does not report its changes. */
const POLL_MS = 1000

/** Follows the screen by taking pictures. A picture that equals the last one causes no further work. */
function pollScreen(open: (deadline: Deadline) => Promise<Adapter>): ScreenWatch {
  let size = { width: 0, height: 0 }
  let last: Uint8Array | undefined
  const closing = new AbortController()
  return {
    get size() {
      return size
    },
    async changed(maxMs) {
      if (!last) return true
      const end = Deadline.in(Math.min(POLL_MS, maxMs), closing.signal)
      await pause(end.remaining, end)
      return !closing.signal.aborted
    },
    async take(deadline) {
      const adapter = await open(deadline)
      try {
        const { png } = await adapter.screenshot({ kind: "screen" })
        if (last && Buffer.compare(last, png) === 0) return []
        last = png
        const pixels = decodePng(png)
        size = { width: pixels.width, height: pixels.height }
        return [{ ...pixels, x: 0, y: 0 }]
      } finally {
        await adapter.close()
      }
    },
    close: () => closing.abort(),
  }
}
