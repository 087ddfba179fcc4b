import { expect } from "bun:test"
import type { Json } from "../support/json.ts"
import type { Done, Refused, Route } from "./matrix-cell.ts"

/** Compares the answer of a command with what a cell wants. */

/** The route that the answer reports, or its error. */
export function outcomeOf(envelope: Json): object {
  if (!envelope.ok) return { code: envelope.error.code, kind: envelope.error.details?.kind }
  const { method, action } = envelope.data
  return { how: method ? routeOf(method) : (ROUTE_OF[action] ?? action) }
}

export function wantedOutcome(want: Done<unknown> | Refused<unknown>): object {
  return "code" in want ? { code: want.code, kind: want.kind } : { how: want.how }
}

/** Commands that have only one route, and do not report it. */
const ROUTE_OF: Readonly<Record<string, Route>> = {
  press: "keyboard",
  "key-down": "keyboard",
  "key-up": "keyboard",
  "mouse-wheel": "wheel",
  "mouse-move": "pointer",
  "mouse-click": "pointer",
  "mouse-down": "pointer",
  "mouse-up": "pointer",
  hover: "pointer",
  drag: "pointer",
}

const routeOf = (method: string): Route | string =>
  /^(atspi:|AX)/.test(method) ? "accessibility" : method === "none" ? "nothing" : method

/** Expects that the answer claims what happened, and no more. */
export function checkStory({ data }: Json, want: Done<unknown>): void {
  const { disposition, post_state } = data
  if (want.proof) expect(disposition.delivery).toBe(`delivered_${want.proof}`)
  if (want.how === "nothing") expect(disposition).toEqual({ delivery: "not_delivered", retry: "safe" })
  const changedNothing = want.log.length === 0 && !want.states
  if (disposition && changedNothing && !want.proof)
    expect(disposition.delivery).not.toBe("delivered_verified")
  const last = Object(want.log.at(-1)).value
  if (post_state?.value !== undefined && last !== undefined && want.proof === "verified")
    expect(post_state.value).toBe(String(last))
}
