import type { Action, ActionName, Seen } from "./adapter.ts"
import { AppError, type Delivery, type Disposition, NOTHING_DELIVERED } from "./errors.ts"

/** The capability that each action asks of an element. */
export const ACTION_OF: Readonly<Record<Action["kind"], ActionName>> = {
  click: "Click",
  "double-click": "DoubleClick",
  "triple-click": "TripleClick",
  "right-click": "RightClick",
  toggle: "Toggle",
  check: "Check",
  uncheck: "Uncheck",
  expand: "Expand",
  collapse: "Collapse",
  select: "Select",
  "set-value": "SetValue",
  type: "TypeText",
  clear: "Clear",
  focus: "SetFocus",
  scroll: "Scroll",
  "scroll-to": "ScrollTo",
}

export function notSupported(ref: string, seen: Seen, action: Action): AppError {
  const name = ACTION_OF[action.kind].replace(/(?<=[a-z])(?=[A-Z])/g, " ")
  return new AppError("ACTION_NOT_SUPPORTED", `${name} action not supported by ${seen.role} elements`, {
    suggestion: `Use 'get ${ref} actions' to see what it supports`,
    disposition: NOTHING_DELIVERED,
  })
}

/** Whatever is in a field that is not secure, the next snapshot shows. */
export function notSecure(ref: string, seen: Seen): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `${ref} is no secure field: a secret would show in it`, {
    suggestion: `Choose one that is: agent-desktop find --role ${seen.role} --state secure; what may be seen needs no --secret`,
    details: { kind: "not_secure" },
    disposition: NOTHING_DELIVERED,
  })
}

/** Doing it again leaves things as doing it once. */
const IDEMPOTENT: ReadonlySet<Action["kind"]> = new Set([
  "check",
  "uncheck",
  "expand",
  "collapse",
  "focus",
  "select",
  "set-value",
  "clear",
  "scroll-to",
])

export function dispositionOf(action: Action, delivery: Delivery): Disposition {
  if (delivery === "not_delivered" || IDEMPOTENT.has(action.kind)) return { delivery, retry: "safe" }
  return { delivery, retry: delivery === "delivery_uncertain" ? "unknown" : "unsafe" }
}
