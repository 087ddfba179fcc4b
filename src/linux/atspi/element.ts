import type { Handle } from "../../adapter.ts"
import type { Point } from "../../node.ts"
import { DBusError, WireError } from "../dbus/bus.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Ref } from "./atspi.ts"
import type { StateSet } from "./bits.ts"
import { ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** The app and window of an element, and the origin of its coordinates. */
export interface Origin {
  readonly pid: number
  readonly app: string
  readonly traits: Traits
  /** Windows that the window manager does not manage: menus and popovers. undefined: unknown. */
  readonly popups?: () => Promise<readonly TopWindow[] | undefined>
  /** The id of the window that its frame was matched to. */
  readonly window?: string
  /** True for a native Wayland window: the positions of its popups are unknown. */
  readonly isNative?: boolean
  /** Added to the extents that the app reports; undefined: they do not map to the screen. */
  readonly shift: Point | undefined
}

/** The parent's part in an element's kind, e.g. a menu within a menu is an item. */
export interface Parent {
  readonly ref: Ref
  readonly role: number
  readonly states: StateSet
  /** The number of its children; −1: not known. */
  readonly size: number
}

/** A handle on Linux: an object of the accessibility bus, with everything needed to read it the same way again. */
export class Element {
  readonly ref: Ref
  readonly origin: Origin
  readonly parent: Parent | undefined
  readonly index: number | undefined

  constructor(ref: Ref, origin: Origin, parent?: Parent, index?: number) {
    this.ref = ref
    this.origin = origin
    this.parent = parent
    this.index = index
  }

  get parentRole(): number {
    return this.parent?.role ?? ROLE.INVALID
  }

  get handle(): Handle {
    // Handle is opaque by a phantom member that no value has; this is the one place that makes it.
    return this as unknown as Handle
  }

  static of(handle: Handle): Element {
    if (handle instanceof Element) return handle
    throw new TypeError("a handle of another adapter")
  }
}

/** A line of the text of an element, which has no object of its own. */
export class LineElement extends Element {
  readonly line: {
    readonly text: string
    readonly start: number
    readonly end: number
    /** The objects before and after it. */
    readonly previous?: Ref
    readonly next?: Ref
  }

  constructor({ ref, origin, parent, index }: Element, line: LineElement["line"]) {
    super(ref, origin, parent, index)
    this.line = line
  }
}

/** undefined for a question that the object refuses or does not understand; a silent or dead app still fails. */
export async function unlessRefused<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if ((error instanceof DBusError && !isGone(error)) || error instanceof WireError) return undefined
    throw error
  }
}

/** True if the error says that the process is not on the bus (any more). */
export function isGone(error: unknown): boolean {
  return error instanceof DBusError && GONE.has(error.code)
}

const GONE: ReadonlySet<string> = new Set(
  ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected"].map(
    (name) => `org.freedesktop.DBus.Error.${name}`,
  ),
)
