import type { SeenTree, SeenWindow, TreeOptions, TreeTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import { Atspi } from "./atspi.ts"
import { DBusClosed, DBusError, DBusTimeout, WireError } from "./dbus.ts"
import { Element, isGone, type Place } from "./element.ts"
import { type Frame, shiftOf } from "./frames.ts"
import type { Session } from "./session.ts"
import { openSource } from "./sources.ts"
import { type Walked, walkTree } from "./walk.ts"
import type { XWindow } from "./x11-windows.ts"

/** The tree of a window, surface or element. `find` gives the frame of a window of the screen. */
export async function readTree(
  session: Session,
  deadline: Deadline,
  target: TreeTarget,
  options: TreeOptions,
  find: (window: SeenWindow) => Promise<Element>,
): Promise<SeenTree> {
  const atspi = new Atspi(await session.a11y(deadline), readingTime(deadline))
  const element = target.kind === "element" ? Element.of(target.handle) : await find(target.window)
  const walked = await answering(element.place, walk(atspi, element, options))
  const { app, pid } = element.place
  const { id = "", title = "" } = target.window ?? {}
  return { ...walked, window: { id, title }, app, pid }
}

async function walk(atspi: Atspi, element: Element, options: TreeOptions): Promise<Walked> {
  const source = await openSource(atspi, element, options.bounds === "all")
  return walkTree(atspi, source, element, { ...options, counts: true })
}

export function frameElement(window: XWindow, { app, ref, index, ...frame }: Frame): Element {
  const { pid, name, toolkit } = app
  const shift = shiftOf(window, { app, ref, index, ...frame })
  return new Element(ref, { pid, app: name, toolkit, window: window.id, shift }, undefined, index)
}

/** What is left after reading has to do for shaping, storing and printing. */
function readingTime(deadline: Deadline): Deadline {
  return deadline.slice(deadline.remaining - Math.min(200, deadline.remaining / 5))
}

export function noFrame(id: string, app: string): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `Window '${id}' of '${app}' exposes no accessibility tree: no accessible window of its process is provably the same`,
    {
      suggestion:
        "Restart the app with accessibility enabled ('permissions --request', then 'launch'), or use 'screenshot' and mouse commands",
    },
  )
}

/** A silent or vanished application, in the contract's words. */
export async function answering<T>(place: Pick<Place, "app">, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (error instanceof DBusTimeout) throw unresponsive(place.app)
    if (isGone(error)) {
      throw new AppError("APP_NOT_FOUND", `App '${place.app}' ended while it was read`, {
        suggestion: "Use 'list-apps' to see running apps",
      })
    }
    if (error instanceof DBusClosed) throw lostBus(error)
    if (error instanceof DBusError || error instanceof WireError) {
      const detail = error instanceof DBusError ? `${error.code}: ${error.message}` : error.message
      throw new AppError("ACTION_FAILED", `App '${place.app}' gave no usable answer`, {
        platformDetail: detail,
      })
    }
    throw error
  }
}

export function lostBus(error: DBusClosed): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "The accessibility bus went away", {
    suggestion: "Run 'doctor' to see what is missing, then retry",
    platformDetail: error.message,
  })
}

function unresponsive(app: string): AppError {
  return new AppError("APP_UNRESPONSIVE", `App '${app}' did not answer in time`, {
    suggestion: "Retry with a larger --timeout-ms, or end it with 'close-app --force'",
  })
}
