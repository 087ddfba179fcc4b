import { existsSync } from "node:fs"

/** The sockets of this user's viewers (desktop-view). The directory exists only while a viewer runs. */
export const viewersDirectory = (): string => `/tmp/agent-desktop-viewers-${process.geteuid?.()}`

/** Cheap, because every command asks. */
export const hasViewers = (): boolean => existsSync(viewersDirectory())

/** The name of a viewer's socket. It names the desktops that the viewer shows, so commands on other desktops never wait for it. */
export const socketNameFor = (places: readonly string[]): string =>
  `${process.pid}-${crypto.randomUUID().slice(0, 8)}${places.map((place) => `.${markOf(place)}`).join("")}.sock`

/** True for the socket of a viewer of one of these places. */
export function isSocketFor(name: string, places: readonly string[]): boolean {
  const marks = name.split(".").slice(1, -1)
  return name.endsWith(".sock") && places.some((place) => marks.includes(markOf(place)))
}

const markOf = (place: string): string => Bun.hash(place).toString(36)

/** The first line that a command sends to a viewer of its desktop. */
export type Call =
  | ({ readonly kind: "report" } & Begun)
  /** `wait`: the command waits until it may continue. Otherwise it acts now or not at all. */
  | { readonly kind: "ask"; readonly wait: boolean; readonly pid: number }

/** A command that has begun, without the texts that a trace hides. */
export interface Begun {
  readonly id: string
  readonly time: string
  readonly pid: number
  readonly command: string
  readonly arguments: unknown
  readonly door?: string
  readonly session?: string
}

/** The second line of a report. */
export interface Ended {
  readonly ok: boolean
  readonly duration_ms: number
  /** Some members of the result, or the error. */
  readonly result: unknown
}

/** A viewer's answer. */
export type Answer = "go" | "paused"
