import type { Handle, Seen } from "../adapter.ts"
import { INTERACTIVE_ROLES, type Rect } from "../node.ts"
import { isInteractive } from "../tree.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { actionsOf, statesOf, VALUE_ROLES } from "./claims.ts"
import { DBusError, WireError } from "./dbus.ts"
import type { Facts } from "./facts.ts"
import { cleanName, cleanValue, formatNumber, isClassName, TEXT_LIMIT } from "./names.ts"
import { type Kind, kindOf, ROLE } from "./roles.ts"
import { has, STATE } from "./states.ts"

/** What all elements of one window share. */
export interface Place {
  readonly pid: number
  readonly app: string
  readonly toolkit: string
  /** Added to the extents that the toolkit reports; undefined: its coordinates mean nothing on the screen. */
  readonly shift: { readonly x: number; readonly y: number } | undefined
}

/** What a handle is on Linux: an object of the accessibility bus, and what is needed to read it the same way again. */
export class Element {
  readonly ref: Ref
  readonly place: Place
  readonly parentRole: number
  readonly index: number | undefined

  constructor(ref: Ref, place: Place, parentRole: number, index?: number) {
    this.ref = ref
    this.place = place
    this.parentRole = parentRole
    this.index = index
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

export interface DetailOptions {
  readonly bounds: "all" | "interactive"
}

/** Waits for an answer that may be missing; a walk and a single read differ in what they forgive. */
export type Expect = <T>(read: Promise<T>) => Promise<T | undefined>

/** Reads what its kind calls for (text, number, bounds, label) and says all of it in contract words. */
export async function describe(
  atspi: Atspi,
  element: Element,
  kind: Kind,
  facts: Facts,
  options: DetailOptions,
  expect: Expect = unlessRefused,
): Promise<Seen> {
  const { ref, place } = element
  const name = nameOf(place, facts)
  const interactive = INTERACTIVE_ROLES.has(kind.role)
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  const [offers, value, label, extents] = await Promise.all([
    !interactive && can(INTERFACE.Action) ? expect(atspi.actionNames(ref)) : undefined,
    readValue(atspi, ref, kind, facts, expect),
    interactive && name === undefined ? labelledBy(atspi, ref, expect) : undefined,
    can(INTERFACE.Component) && (interactive || options.bounds === "all")
      ? expect(atspi.extents(ref))
      : undefined,
  ])
  const actions = actionsOf(kind, facts.states, facts.interfaces, offers)
  const worthRef = isInteractive({ role: kind.role, actions })
  const late = !extents && worthRef && can(INTERFACE.Component) ? await expect(atspi.extents(ref)) : extents
  return {
    handle: element.handle,
    role: kind.role,
    name: name ?? label,
    value,
    description: cleanName(facts.description),
    states: statesOf(facts.states, kind, worthRef, isShowing(place, facts)),
    bounds: late && onScreen(late, place),
    actions,
    address: refKey(ref),
    index: element.index,
  }
}

export function kindIn(facts: Facts, parentRole: number): Kind {
  return kindOf(facts.role, facts.states, (facts.interfaces & INTERFACE.Selection) !== 0, parentRole)
}

/** The accessible name, unless it is none. */
export function nameOf(place: Place, facts: Facts): string | undefined {
  const name = cleanName(facts.name)
  return name !== undefined && place.toolkit === "GTK" && isClassName(name) ? undefined : name
}

/** GTK 4 before 4.10 has no SHOWING at all; there, nothing is known to be hidden. */
export function isShowing(place: Pick<Place, "toolkit">, facts: Pick<Facts, "states">): boolean {
  return has(facts.states, STATE.SHOWING) || place.toolkit === "GTK"
}

export function onScreen(extents: Rect, { shift }: Pick<Place, "shift">): Rect | undefined {
  // What is not on the screen: GTK 3 answers with the smallest integer, Qt with nothing at all.
  if (!shift || extents.x <= -0x7ffffff0 || extents.width < 0 || extents.height < 0) return undefined
  return { x: extents.x + shift.x, y: extents.y + shift.y, width: extents.width, height: extents.height }
}

/** undefined for what the object refused or does not understand; a silent or dead application still fails. */
export async function unlessRefused<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if ((error instanceof DBusError && !isGone(error)) || error instanceof WireError) return undefined
    throw error
  }
}

/** Whether the error says that the process is not on the bus (any more). */
export function isGone(error: unknown): boolean {
  return error instanceof DBusError && GONE.has(error.code)
}

const GONE: ReadonlySet<string> = new Set([
  "org.freedesktop.DBus.Error.ServiceUnknown",
  "org.freedesktop.DBus.Error.NameHasNoOwner",
  "org.freedesktop.DBus.Error.NoReply",
  "org.freedesktop.DBus.Error.Disconnected",
])

const LABELLED_BY = 2

async function labelledBy(atspi: Atspi, ref: Ref, expect: Expect): Promise<string | undefined> {
  const relations = await expect(atspi.relations(ref))
  const labels = relations?.find(({ type }) => type === LABELLED_BY)?.targets ?? []
  const names = await Promise.all(labels.slice(0, 5).map((label) => expect(atspi.name(label))))
  return cleanName(names.filter(Boolean).join(" "))
}

/** Never of a password field: it is not even asked for. */
async function readValue(
  atspi: Atspi,
  ref: Ref,
  kind: Kind,
  facts: Facts,
  expect: Expect,
): Promise<string | undefined> {
  if (kind.native === ROLE.PASSWORD_TEXT) return undefined
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  if (can(INTERFACE.Text) && TEXT_ROLES.has(kind.role)) {
    return expect(readText(atspi, ref))
  }
  if (can(INTERFACE.Value) && (VALUE_ROLES.has(kind.role) || NUMBER_ROLES.has(kind.role))) {
    const value = await expect(atspi.currentValue(ref))
    return value === undefined ? undefined : formatNumber(value)
  }
  return undefined
}

const TEXT_ROLES: ReadonlySet<string> = new Set([
  "textfield",
  "incrementor",
  "combobox",
  "datefield",
  "terminal",
])
const NUMBER_ROLES: ReadonlySet<string> = new Set(["progressbar", "levelindicator"])

async function readText(atspi: Atspi, ref: Ref): Promise<string> {
  const count = await atspi.characterCount(ref)
  return count <= 0 ? "" : cleanValue(await atspi.text(ref, 0, Math.min(count, TEXT_LIMIT)))
}
