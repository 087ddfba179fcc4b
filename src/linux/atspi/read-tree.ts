import type { SeenNode, SeenTree, SeenWindow, TreeOptions } from "../../adapter.ts"
import { readingTime } from "../../deadline.ts"
import { nameByLayout } from "../../describe/layout.ts"
import { AppError, noTree, plainWord, unresponsive } from "../../errors.ts"
import type { Rect, Surface } from "../../node.ts"
import { pause } from "../../until.ts"
import {
  Bus,
  DBusClosed,
  DBusError,
  DBusTimeout,
  type Message,
  type Method,
  method,
  readAs,
  WireError,
} from "../dbus/bus.ts"
import { mutenessOf } from "../host/mute.ts"
import { silentBus } from "../host/session.ts"
import type { TopWindow } from "../windowing/window.ts"
import { type Ahead, type Atspi, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { CachedSource } from "./cache.ts"
import { onScreen } from "./describe.ts"
import { Element, isGone, LineElement, type Origin, unlessRefused } from "./element.ts"
import { type Frame, factsOf, shiftOf } from "./frames.ts"
import { openSource } from "./sources.ts"
import { type Walked, walkTree } from "./walk.ts"

/** The root that a tree is read from, and the title of its surface. */
export interface TreeRoot {
  readonly element: Element
  readonly window: { readonly id: string; readonly title: string }
  readonly surface: Surface
  /** The frame of the root, if it has been read already. */
  readonly frame?: Frame
  /** Popups that belong to it and are not in its tree. */
  readonly popups?: Promise<readonly TreeRoot[]>
}

export async function readTree(atspi: Atspi, root: TreeRoot, options: TreeOptions): Promise<SeenTree> {
  const { element, window, frame } = root
  const hurried = atspi.within(readingTime(atspi.deadline))
  const { app, pid } = element.origin
  const walked = await translatingErrors(
    element.origin,
    pastTheBus(hurried, element, (near) => walkAwake(near, element, options, frame)),
  )
  // A popup without content is one that has just opened.
  if (root.surface === "window" && isMute(element, walked))
    throw noTree({ id: window.id, app_name: app }, "the app was started without accessibility")
  // An open menu of a menu bar is a popup and in the tree as well.
  const popups = await root.popups
  const loose = (popups ?? []).filter((popup) => !holds(walked.root, refKey(popup.element.ref)))
  const shown = await Promise.all(loose.map((popup) => readPopup(atspi, popup, options)))
  const whole = asSurface(walked.root, root)
  const children = [...whole.children, ...shown.flatMap((popup) => popup?.root ?? [])]
  return {
    ...walked,
    root: shown.length > 0 ? { ...whole, children } : whole,
    complete: walked.complete && shown.every((popup) => popup?.complete !== false),
    window,
    app,
    pid,
  }
}

const holds = (node: SeenNode, address: string): boolean =>
  node.address === address || node.children.some((child) => holds(child, address))

/** Reads a popup as a part of its window's tree. undefined: it has closed meanwhile. */
async function readPopup(atspi: Atspi, root: TreeRoot, options: TreeOptions): Promise<Walked | undefined> {
  const hurried = atspi.within(readingTime(atspi.deadline))
  const walked = await unlessRefused(walk(hurried, root.element, options, undefined))
  if (!walked) return undefined
  return { ...walked, root: { ...asSurface(walked.root, root), surfaceId: root.window.id, index: undefined } }
}

/** A popup in the words for its surface: it may hang on an item, or call itself a window. */
function asSurface(root: SeenNode, { surface, window }: TreeRoot): SeenNode {
  if (surface !== "menu" && surface !== "popover") return root
  const { value: _, hint: __, ...rest } = root
  if (surface === "popover" && root.role !== "window") return root
  return { ...rest, role: surface, name: window.title || undefined, states: [], actions: [] }
}

/** Reads the tree until it has content: an app that is just starting shows its window before the page in it. */
async function walkAwake(
  atspi: Atspi,
  element: Element,
  options: TreeOptions,
  frame: Frame | undefined,
): Promise<Walked> {
  const patience = atspi.deadline.slice(AWAKE_MS)
  const first = (asking: Atspi): Promise<Walked> => walk(asking, element, options, frame)
  let walked = await (element.origin.traits.goneObjectsRefuse
    ? readAgain(atspi, element.ref, options, first)
    : first(atspi))
  while ((isMute(element, walked) || isPageMissing(element, walked)) && !patience.expired) {
    await pause(LOOK_AGAIN_MS, patience)
    walked = await walk(atspi, element, options, undefined)
  }
  return walked
}

const AWAKE_MS = 1000
const LOOK_AGAIN_MS = 50

/** True for a window without content, whose app may have been started without accessibility. */
function isMute({ origin, parent }: Element, { root, complete }: Walked): boolean {
  return (
    origin.traits.emptyWindowIsMute === true &&
    !parent &&
    complete &&
    root.children.length === 0 &&
    !root.children_count
  )
}

/** True as long as an app that has just been asked for a page shows its empty frame. */
function isPageMissing({ origin }: Element, { root }: Walked): boolean {
  return origin.traits.pagesComeWhenAsked === true && hasEmptyFrame(root)
}

function hasEmptyFrame({ role, children }: SeenNode): boolean {
  const [only, ...others] = children
  const frame = role === "scrollarea" && only?.role === "group" && others.length === 0 ? only : undefined
  return (frame && isEmpty(frame)) || children.some((child) => isEmptyPage(child) || hasEmptyFrame(child))
}

const isEmpty = ({ children, children_count }: SeenNode): boolean => children.length === 0 && !children_count
const isEmptyPage = (node: SeenNode): boolean => node.role === "webarea" && isEmpty(node)

async function walk(
  atspi: Atspi,
  element: Element,
  options: TreeOptions,
  frame: Frame | undefined,
): Promise<Walked> {
  if (element instanceof LineElement) return walkLine(atspi, element)
  const source = await openSource(atspi, element, options.bounds === "all", frame?.app.cache)
  try {
    if (element.origin.traits.listIsCurrent && source instanceof CachedSource) atspi.listed = source
    const walked = await walkTree(atspi, source, element, options, frame && factsOf(frame))
    return await withNames(atspi, element, walked, options)
  } finally {
    // Later questions are about a later moment.
    atspi.listed = undefined
  }
}

/** The tree of a line is the line alone: its object is the whole page. */
async function walkLine(atspi: Atspi, line: LineElement): Promise<Walked> {
  const { readLine } = await import("./page-texts.ts")
  const seen = await readLine(atspi, line)
  if (seen) return { root: { ...seen, children: [] }, complete: true }
  throw new AppError("ELEMENT_NOT_FOUND", "The text has changed while it was read", {
    suggestion: "Run 'snapshot' to see the text that is there now",
  })
}

/** Adds the texts and names that need more questions. Without time for these, the tree stays as it is, and incomplete. */
async function withNames(
  atspi: Atspi,
  { origin }: Element,
  walked: Walked,
  options: TreeOptions,
): Promise<Walked> {
  const withWeakNames = (root: SeenNode): SeenNode =>
    origin.traits.framesNameFields ? nameByFrame(root) : root
  try {
    const named = origin.traits.structureHoldsText
      ? await withHeldTexts(atspi, walked.root, options)
      : walked.root
    return { ...walked, root: withWeakNames(await nameByLayout(named, (node) => placeOf(atspi, node))) }
  } catch (error) {
    if (!(error instanceof DBusTimeout)) throw error
    return { ...walked, root: withWeakNames(walked.root), complete: false }
  }
}

/** Fields without a label are named by the title of the frame around them, or by their tool tips. */
function nameByFrame(node: SeenNode): SeenNode {
  const { name, inferredName, weakName, description } = node
  const isWeak = weakName !== undefined && !name && inferredName === undefined
  const rest = description === weakName ? undefined : description
  const own = isWeak ? { ...node, inferredName: weakName, description: rest } : node
  if (own.children.length === 0) return own
  const children = own.children.map(nameByFrame)
  return children.some((child, at) => child !== own.children[at]) ? { ...own, children } : own
}

/** Adds the texts of pages, and the names that texts suggest. */
async function withHeldTexts(atspi: Atspi, root: SeenNode, options: TreeOptions): Promise<SeenNode> {
  const [{ nameByHeldText }, { withPageTexts }] = await Promise.all([
    import("./held-texts.ts"),
    import("./page-texts.ts"),
  ])
  return withPageTexts(await nameByHeldText(root, atspi), atspi, options)
}

async function placeOf(atspi: Atspi, { handle }: SeenNode): Promise<Rect | undefined> {
  const { ref, origin } = Element.of(handle)
  const extents = await unlessRefused(atspi.extents(ref, origin.traits.coordinates))
  return extents && onScreen(extents, origin)
}

/** The element of a frame. `popups` is called once the tree has a popover. */
export function frameElement(
  frame: Frame,
  window: TopWindow | undefined,
  popups: () => Promise<readonly TopWindow[] | undefined>,
): Element {
  const { pid, name, traits } = frame.app
  const shift = window ? shiftOf(window, frame) : traits.coordinates ? undefined : { x: 0, y: 0 }
  return new Element(
    frame.ref,
    { pid, app: name, traits, popups, window: window?.id, isNative: window?.isNative, shift },
    undefined,
    frame.index,
  )
}

/** `twins`: the windows of its process with the same title, itself included. */
export function noFrame(
  { id, app_name: app, pid }: Pick<SeenWindow, "id" | "app_name" | "pid">,
  twins: readonly string[],
): AppError {
  if (twins.length > 1) {
    return new AppError(
      "AMBIGUOUS_TARGET",
      `Window '${id}' of '${app}' cannot be distinguished from others of the same title and size`,
      {
        suggestion: `Run 'focus-window ${id}', then retry: the focused one can be distinguished`,
        details: { candidates: twins },
      },
    )
  }
  const why = mutenessOf(pid)
  const reason = why?.reason ?? "no accessible window of its process is provably the same"
  return noTree({ id, app_name: app }, reason, why?.isFinal)
}

export function noSurface(surface: Surface, app: string): AppError {
  const what =
    surface === "focused" ? `'${app}' does not have the focus` : `No ${surface} is open in '${app}'`
  return new AppError("ELEMENT_NOT_FOUND", what, {
    suggestion: `Use 'list-surfaces --app ${plainWord(app)}' to see what is there`,
  })
}

/** For a menu or list that the screen shows and that no accessible object of the app is. */
export function unseenPopup({ x, y, width, height }: Rect, app: string): AppError {
  return new AppError(
    "ELEMENT_NOT_FOUND",
    `'${app}' shows a popup at ${x},${y} (${width}x${height}) that is in no accessibility tree`,
    {
      suggestion: "Look at it with 'screenshot', then use 'press' or 'mouse-click --xy X,Y'",
      details: { kind: "unseen_popup", bounds: { x, y, width, height } },
    },
  )
}

/** Translates failures of an app that is silent or gone into errors of the contract. */
export async function translatingErrors<T>(origin: Pick<Origin, "app">, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (error instanceof DBusTimeout) throw error.silentBus ? silentBus() : unresponsive(origin.app)
    if (isGone(error)) {
      throw new AppError("APP_NOT_FOUND", `App '${origin.app}' ended while it was read`, {
        suggestion: "Use 'list-apps' to see running apps",
      })
    }
    if (error instanceof DBusClosed) throw lostBus(error)
    if (error instanceof DBusError && error.code === NO_OBJECT) throw removed(origin.app, error.message)
    if (error instanceof DBusError || error instanceof WireError) {
      const detail = error instanceof DBusError ? `${error.code}: ${error.message}` : error.message
      throw new AppError("ACTION_FAILED", `App '${origin.app}' returned an invalid reply`, {
        platformDetail: detail,
      })
    }
    throw error
  }
}

const NO_OBJECT = "org.freedesktop.DBus.Error.UnknownObject"

const removed = (app: string, detail: string): AppError =>
  new AppError("ACTION_FAILED", `App '${app}' removed an element while it was read`, {
    suggestion: "Retry; if the element is gone, run 'snapshot' to see the window as it is now",
    platformDetail: detail,
    details: { kind: "removed" },
  })

export function lostBus(error: DBusClosed): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "The accessibility bus went away", {
    suggestion: "Run 'doctor' to see what is missing, then retry",
    platformDetail: error.message,
  })
}

/**
 * Reads by a connection to the app itself, past the bus daemon, if the app needs many questions: each of them then wakes
 * one process less. `read` goes by the bus if the app has no socket.
 */
export async function pastTheBus<T>(
  atspi: Atspi,
  { ref, origin }: Element,
  read: (atspi: Atspi) => Promise<T>,
): Promise<T> {
  const connection = origin.traits.needsManyQuestions ? await openDirect(atspi, ref.bus) : undefined
  if (!connection) return read(atspi)
  try {
    return await read(atspi.past({ name: ref.bus, connection }))
  } catch (error) {
    throw atspi.bus.failure ? error : ofApplication(error)
  } finally {
    connection.close()
  }
}

/** On a connection of its own, only the app can have hung up or fallen silent. */
function ofApplication(error: unknown): unknown {
  if (error instanceof DBusClosed) return new DBusError("org.freedesktop.DBus.Error.NoReply", error.message)
  return error instanceof DBusTimeout ? new DBusTimeout(error.message) : error
}

async function openDirect(atspi: Atspi, app: string): Promise<Bus | undefined> {
  try {
    const address = await atspi.ask({ bus: app, path: ROOT_PATH }, GET_ADDRESS, (reply) =>
      readAs(reply, "s").string(),
    )
    return address === "" ? undefined : await Bus.open(address, atspi.deadline)
  } catch (error) {
    if (error instanceof DBusTimeout) throw error
    // It has no socket of its own, or one in a sandbox that we cannot reach.
    return undefined
  }
}

const GET_ADDRESS = method("org.a11y.atspi.Application.GetApplicationBusAddress")

/**
 * The questions of the last reading of a tree, asked again all at once.
 *
 * A reading asks step by step, because the answers decide what it asks next. While a window stays the same, its next
 * reading asks the same questions. Sent together, they take one round trip instead of a dozen. Only questions are kept from
 * one reading to the next: every answer is new, and one that the reading does not ask for is dropped.
 */
async function readAgain<T>(
  atspi: Atspi,
  { bus, path }: Ref,
  options: object,
  read: (atspi: Atspi) => Promise<T>,
): Promise<T> {
  const known = plans.get(atspi.bus) ?? new Map<string, Plan>()
  plans.set(atspi.bus, known)
  const key = `${refKey({ bus, path })} ${JSON.stringify(options)}`
  const ahead = new SentAhead(atspi, bus, known.get(key) ?? [])
  const result = await read(atspi.ahead(ahead))
  known.delete(key)
  if (ahead.asked.length <= MOST_QUESTIONS) known.set(key, ahead.asked)
  for (const oldest of known.keys()) if (known.size > MOST_PLANS) known.delete(oldest)
  return result
}

type Plan = readonly Question[]

interface Question {
  readonly path: string
  readonly called: Method
}

/** Names on a bus are never given twice, and a bridge numbers its objects: a path means the same object or none. */
const plans = new WeakMap<Bus, Map<string, Plan>>()
const MOST_PLANS = 8
/** A tree that takes more is a page, which rarely stays the same. */
const MOST_QUESTIONS = 1000

class SentAhead implements Ahead {
  /** The questions of this reading. */
  readonly asked: Question[] = []
  readonly #bus: string
  readonly #coming = new Map<string, Coming[]>()

  constructor(atspi: Atspi, bus: string, plan: Plan) {
    this.#bus = bus
    for (const { path, called } of plan) {
      const answer = atspi.bus.call(called, bus, path, atspi.deadline)
      // It may be an answer that is not needed any more.
      answer.catch(() => {})
      const others = this.#coming.get(path)
      if (others) others.push({ called, answer })
      else this.#coming.set(path, [{ called, answer }])
    }
  }

  /** The answer to a question that was asked ahead; undefined if it was not. Each counts for one asking. */
  take({ bus, path }: Ref, called: Method): Promise<Message> | undefined {
    if (bus !== this.#bus) return undefined
    this.asked.push({ path, called })
    const coming = this.#coming.get(path)
    const at = coming?.findIndex((one) => isSame(one.called, called)) ?? -1
    return at < 0 ? undefined : coming?.splice(at, 1)[0]?.answer
  }
}

interface Coming {
  readonly called: Method
  readonly answer: Promise<Message>
}

const isSame = (one: Method, other: Method): boolean =>
  one === other || (one.head === other.head && one.body.equals(other.body))
