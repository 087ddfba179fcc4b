import { AppError } from "./errors.ts"
import type { ActionName, Rect, Role, State } from "./node.ts"

/**
 * The stored description of the element that a ref names. The contract fixes the first nine members; they are
 * always written, with null for an absent one. The rest is evidence for finding the same element again, and is
 * written only if known.
 */
export interface RefEntry {
  readonly pid: number
  readonly role: Role
  readonly name?: string
  readonly value?: string
  readonly states: readonly State[]
  readonly bounds?: Rect
  readonly bounds_hash?: bigint
  readonly available_actions: readonly ActionName[]
  readonly source_app?: string
  /** Distinguishes the process from an earlier one with the same pid. */
  readonly process_start?: string
  readonly window_id?: string
  /** The platform's own name for the object: bus name and object path on Linux. */
  readonly address?: string
  /** Child indexes from the window down. Hidden siblings count. */
  readonly path?: readonly number[]
  /** The application's own id for the element. */
  readonly identifier?: string
  /** Names above the element and texts around it; identity.ts makes and compares them. */
  readonly context?: Surroundings
  /** True if nothing in the window distinguished this element from another one. */
  readonly has_twin?: true
  /** The address of the row that `context.around` describes. */
  readonly row?: string
  /** The address of the web page that it is part of. Browsers also keep pages that they do not show. */
  readonly page?: string
  /** For a twin in a row: a fingerprint of the whole list. */
  readonly neighbours?: string
  /** True if the toolkit sometimes gives the element a new address, or its address to another element. */
  readonly is_recycled?: true
}

/** The surroundings of an element. Both texts are fingerprints. */
export type Surroundings =
  | { readonly above: string; readonly around?: undefined; readonly levels?: undefined }
  | {
      /** The names of its ancestors. */
      readonly above: string
      /** The texts of its row, or of the nearest ancestor that distinguishes it from its look-alikes. */
      readonly around: string
      /** How many levels above the element that row or ancestor is. */
      readonly levels: number
    }

export const sameSurroundings = (a: Surroundings, b: Surroundings): boolean =>
  a.above === b.above && a.around === b.around && a.levels === b.levels

/**
 * How the desktop was reached when the tree was read, in the platform's words: on Linux, the display and the
 * accessibility bus. A later command goes straight to that bus, once it has proved to be the same one.
 */
export type BusHint = string

export interface RefMap {
  readonly inner: ReadonlyMap<string, RefEntry>
  readonly counter: number
  readonly snapshot_id?: string
  readonly reached_by?: BusHint
}

export interface Ref {
  /** As written in the map: `@e3`. */
  readonly ref: string
  readonly snapshotId?: string
}

/** `@e3`, `e3` or `@<snapshot_id>:e3`. */
export const REF_SYNTAX = /^@?(?:([A-Za-z0-9_-]{1,64}):)?(e[1-9][0-9]{0,9})$/

/** The target for the element that has the keyboard focus. */
export const FOCUSED = "@focused"

/** Parses `@e3`, `e3` or `@<snapshot_id>:e3`. The store decides whether the snapshot exists. */
export function parseRef(text: string): Ref {
  const [, snapshotId, ref] = REF_SYNTAX.exec(text) ?? []
  if (ref === undefined)
    throw new AppError("INVALID_ARGS", `Invalid ref '${cut(text, 80)}'`, {
      suggestion: "Give a ref as 'snapshot' prints it: @e3, or @<snapshot_id>:e3",
    })
  return snapshotId === undefined ? { ref: `@${ref}` } : { ref: `@${ref}`, snapshotId }
}

export const EMPTY_MAP: RefMap = { inner: new Map(), counter: 0 }

/** Keys of the places where an element can be. Two entries that sameElement considers equal share a place. */
export const placesOf = ({ address, path }: RefEntry) => [
  ...(address === undefined ? [] : [`address ${address}`]),
  ...(path === undefined ? [] : [`path ${path}`]),
]

/**
 * True if two entries describe the same native object. Toolkits give the address of a destroyed object to a new
 * one, so an address counts only together with the same role, name and identifier.
 */
export function sameElement(a: RefEntry, b: RefEntry): boolean {
  if (a.pid !== b.pid || a.role !== b.role) return false
  if (a.process_start !== b.process_start || a.identifier !== b.identifier) return false
  // Lists reuse the widgets of one row for the next: the same "Delete" then deletes something else.
  if (a.context && b.context && !sameSurroundings(a.context, b.context)) return false
  if (a.address !== undefined && b.address !== undefined)
    return a.address === b.address && nameForIdentity(a.name) === nameForIdentity(b.name)
  // Without a place in a window, two nameless buttons would look like one.
  if (a.window_id === undefined || a.path === undefined || b.path === undefined) return false
  return (
    a.window_id === b.window_id &&
    a.path.length === b.path.length &&
    a.path.every((index, depth) => index === b.path?.[depth]) &&
    a.bounds_hash === b.bounds_hash &&
    nameForIdentity(a.name) === nameForIdentity(b.name)
  )
}

const LONGEST_NAME = 512
const LONGEST_VALUE = 256

/**
 * The form of a name in the map. A long name is cut; its length and a hash replace the rest. Pass a live name through
 * here before comparing it with a stored one.
 */
export function nameForIdentity(name: string): string
export function nameForIdentity(name: string | undefined): string | undefined
export function nameForIdentity(name: string | undefined): string | undefined {
  if (name === undefined || name.length <= LONGEST_NAME) return name
  const hash = new Bun.CryptoHasher("sha256").update(Buffer.from(name, "utf16le")).digest("hex").slice(0, 16)
  const tail = `…${name.length}:${hash}`
  // The whole stays within the limit, so that a stored name passes through unchanged.
  return cut(name, LONGEST_NAME - tail.length) + tail
}

/** The form of a value in the map: its first characters. Nothing is stored of a secure field. */
export function valueForMap(entry: Pick<RefEntry, "value" | "states">): string | undefined {
  return entry.value === undefined || entry.states.includes("secure")
    ? undefined
    : cut(entry.value, LONGEST_VALUE)
}

export const MAX_REF = 9_999_999_999

/** At most `length` UTF-16 units, never half of a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
