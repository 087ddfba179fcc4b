import type { Deadline } from "../deadline.ts"

/** The time between two looks at a condition, or what is left of the deadline. */
export function pause(ms: number, deadline: Deadline): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, deadline.remaining)))
}
