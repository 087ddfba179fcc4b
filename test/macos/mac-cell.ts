import type { Act, Done, Refused } from "../e2e/matrix-cell.ts"

/** Commands over scenes of the stand-in for macOS, in the form of the matrix. */

export interface MacCell extends Act {
  /** The expected answer. Its log has one line for each act that the scene saw. */
  readonly want: Done<string> | Refused<string> | Answered
  /** Expected attributes of elements after the command; undefined for an element that is gone. */
  readonly after?: Readonly<Record<string, object | undefined>>
  /** Expected state of the Mac after the command. */
  readonly world?: object
}

/** Expected answer of a command that reads, or that acts on no element. */
interface Answered {
  /** Expected members of the answer. */
  readonly data: object
  readonly log: readonly string[]
}

export const answers = (data: object, ...log: readonly string[]): Answered => ({ data, log })

export const clicks = (at: string, count: number) => [
  `post mouse_moved ${at}`,
  ...Array.from({ length: count }, (_, i) => [
    `post left_down ${at} x${i + 1}`,
    `post left_up ${at} x${i + 1}`,
  ]).flat(),
]
export const drags = (...points: readonly string[]) => points.map((at) => `post left_dragged ${at} x1`)

export const WORKSHOP = ["--app", "Workshop"]
