import type { ErrorCode } from "../../src/errors.ts"
import type { FixtureEvent, Toolkit } from "../fixtures/fixture.ts"
import type { FixtureCommand } from "./matrix-stage.ts"

/**
 * The language of cells. A cell is one command on one control, and the outcome that it must have. `Event` is
 * the form in which the application logs what it saw.
 */

/** A command and the control that it acts on. */
export interface Act {
  readonly command: string
  /** The control by its name; its role and number if the name is not enough. */
  readonly on?: string
  readonly role?: string
  readonly nth?: number
  /** "@Name" stands for a control's ref, "#Name" for the point in its middle. */
  readonly args?: readonly string[]
  readonly input?: "semantic" | "physical"
  /** The name in the documentation, if not control and arguments. */
  readonly about?: string
}

/** A cell of the matrix, with an outcome for each toolkit. */
export interface Cell extends Act {
  readonly on: string
  /** True if the command takes no ref. */
  readonly isBare?: boolean
  /** Commands to the fixture before the cell starts. */
  readonly given?: readonly FixtureCommand[]
  /** Options of the snapshot that the ref is from. */
  readonly look?: readonly string[]
  readonly timeoutMs?: number
  readonly want: Want | PerToolkit
}

export type Want = Done | Refused | Absent

export interface Done<Event = FixtureEvent> {
  readonly how: Route
  /** Everything that the application saw. */
  readonly log: readonly Event[]
  /** Absent if it depends on how fast the application shows its change. */
  readonly proof?: "verified" | "unverified"
  /** States that the element has afterwards. */
  readonly states?: readonly string[]
}

export interface Refused<Event = FixtureEvent> {
  readonly code: ErrorCode
  readonly kind?: string
  /** Everything that the application saw before the command failed. */
  readonly log?: readonly Event[]
}

/** The toolkit shows no such control, or not as something to act on. */
export interface Absent {
  readonly absent: string
}

export const ROUTES = ["accessibility", "pointer", "keyboard", "wheel", "nothing"] as const
export type Route = (typeof ROUTES)[number]

export type PerToolkit = { readonly rest: Want } & Partial<Record<Toolkit | "qt", Want>>

export function wanted({ want }: Cell, toolkit: Toolkit): Want {
  if (!("rest" in want)) return want
  const group = toolkit === "qt5" || toolkit === "qt6" ? want.qt : undefined
  return want[toolkit] ?? group ?? want.rest
}

export const on = (event: string, name: string, value?: unknown): FixtureEvent =>
  value === undefined ? { event, name } : { event, name, value }

export const by = <Event = FixtureEvent>(
  how: Route,
  log: readonly Event[],
  more: Pick<Done, "proof" | "states"> = {},
): Done<Event> => ({
  how,
  log,
  ...more,
})
export const verified = <Event = FixtureEvent>(how: Route, ...log: readonly Event[]): Done<Event> =>
  by(how, log, { proof: "verified" })
export const unverified = <Event = FixtureEvent>(how: Route, ...log: readonly Event[]): Done<Event> =>
  by(how, log, { proof: "unverified" })
export const nothing: Done<never> = { how: "nothing", log: [] }
export const refused = <Event = FixtureEvent>(
  code: ErrorCode,
  kind?: string,
  ...log: readonly Event[]
): Refused<Event> => ({
  code,
  kind,
  log,
})
export const unsupported = refused("ACTION_NOT_SUPPORTED")
export const contradicted = refused("ACTION_FAILED", "contradicted")

/** The command, the control, the arguments and the kind of input, in words. */
export function subjectOf({ command, on, role, about, args = [], input }: Act): string {
  const given = args.map((arg) => JSON.stringify(arg)).join(" ")
  const what = about ?? (role ? `${on} (${role})` : on)
  return [command, what, given, input ? `by ${input} input` : ""].filter(Boolean).join(" ")
}

export function titleOf(cell: Cell, toolkit: Toolkit): string {
  const want = wanted(cell, toolkit)
  const becomes = "absent" in want ? want.absent : "code" in want ? want.code : want.how
  return `${subjectOf(cell)}: ${becomes}`
}

export const set = (name: string, value: unknown): FixtureCommand => ({ do: "set", name, value })

export const clicks = (count: number, button = 1): FixtureEvent[] =>
  Array.from({ length: count }, (_, at) => [
    { event: "click", name: "Click area", button, count: at + 1 },
    { event: "release", name: "Click area", button },
  ]).flat()
