import type { ErrorCode } from "../../src/errors.ts"
import type { FixtureEvent, Toolkit } from "../fixtures/fixture.ts"
import type { FixtureCommand } from "./matrix-stage.ts"

/** One command on one control, and what becomes of it in each toolkit. */

export interface Cell {
  readonly command: string
  /** The control by its name in the fixtures; its role and number where the name alone is not enough. */
  readonly on: string
  readonly role?: string
  readonly nth?: number
  /** "@Name" stands for a control's ref, "#Name" for the point in its middle. */
  readonly args?: readonly string[]
  /** Whether the command takes no ref. */
  readonly isBare?: boolean
  readonly input?: "semantic" | "physical"
  /** How the fixture is brought where the cell begins. */
  readonly given?: readonly FixtureCommand[]
  /** Options of the snapshot that the ref is from. */
  readonly look?: readonly string[]
  readonly timeoutMs?: number
  readonly want: Want | PerToolkit
  /** What the documentation calls it, if not by name and arguments. */
  readonly about?: string
}

export type Want = Done | Refused | Absent

export interface Done {
  readonly how: Route
  /** All that the application saw. */
  readonly log: readonly FixtureEvent[]
  /** Absent where it depends on how fast the application shows it. */
  readonly proof?: "verified" | "unverified"
  /** States that the element has afterwards. */
  readonly states?: readonly string[]
}

export interface Refused {
  readonly code: ErrorCode
  readonly kind?: string
  /** What reached the application all the same. */
  readonly log?: readonly FixtureEvent[]
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

export const by = (
  how: Route,
  log: readonly FixtureEvent[],
  more: Pick<Done, "proof" | "states"> = {},
): Done => ({
  how,
  log,
  ...more,
})
export const verified = (how: Route, ...log: readonly FixtureEvent[]): Done =>
  by(how, log, { proof: "verified" })
export const unverified = (how: Route, ...log: readonly FixtureEvent[]): Done =>
  by(how, log, { proof: "unverified" })
export const nothing: Done = { how: "nothing", log: [] }
export const refused = (code: ErrorCode, kind?: string, ...log: readonly FixtureEvent[]): Refused => ({
  code,
  kind,
  log,
})
export const unsupported = refused("ACTION_NOT_SUPPORTED")
export const contradicted = refused("ACTION_FAILED", "contradicted")

/** What it is about, in words: the control, the arguments and the input that was asked for. */
export function subjectOf({ command, on, role, about, args = [], input }: Cell): string {
  const given = args.map((arg) => JSON.stringify(arg)).join(" ")
  const what = about ?? (role ? `${on} (${role})` : on)
  return [command, what, given, input ? `by ${input} input` : ""].filter(Boolean).join(" ")
}

export function titleOf(cell: Cell, toolkit: Toolkit): string {
  const want = wanted(cell, toolkit)
  const becomes = "absent" in want ? want.absent : "code" in want ? want.code : want.how
  return `${subjectOf(cell)}: ${becomes}`
}
