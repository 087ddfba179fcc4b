import type { Seen } from "../adapter.ts"
import { hasTrait, type Role, type State } from "../node.ts"
import { isEmpty } from "../rect.ts"

/** True if the element is visible; undefined if the platform reports neither a state nor bounds. */
export function isVisible(seen: Seen): boolean | undefined {
  if (seen.states.includes("hidden") || seen.states.includes("offscreen")) return false
  return seen.bounds ? !isEmpty(seen.bounds) : seen.isPlaceless
}

/** The opposite of each state. */
const OPPOSITES: Readonly<Record<string, State | undefined>> = {
  enabled: "disabled",
  checked: "unchecked",
  expanded: "collapsed",
}

/** True for a role that can be selected, so that a missing `selected` state means no. */
const isSelectable = (role: Role): boolean =>
  hasTrait(role, "item") || role === "tab" || role === "menuitem" || role === "radiobutton"

/** true or false if there is evidence; undefined if the question does not apply to the element. */
export function flagValue(
  seen: Seen,
  state: "enabled" | "checked" | "focused" | "selected" | "expanded",
): boolean | undefined {
  if (seen.states.includes(state)) return true
  const opposite = OPPOSITES[state]
  if (opposite && seen.states.includes(opposite)) return false
  if (state === "checked" && seen.states.includes("indeterminate")) return false
  if (state === "enabled") return seen.states.includes("disabled") ? false : undefined
  if (state === "focused") return false
  return state === "selected" && isSelectable(seen.role) ? false : undefined
}
