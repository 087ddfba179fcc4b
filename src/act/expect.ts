import type { Action } from "../action.ts"
import type { Seen } from "../adapter.ts"
import { isSameDate } from "../content/dates.ts"
import { AppError, type Delivery, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { type ActionName, hasTrait, type State } from "../node.ts"

/** The effect that an element must show after an action. */
export interface Expectation {
  /** true: it shows. false: it does not show (yet). undefined: no evidence either way. */
  met(now: Seen): boolean | undefined
  /** True if its absence contradicts the action, instead of only leaving it unproven. */
  decides(now: Seen): boolean
  /** True if it may never show, so that it is not worth a long wait. */
  readonly isOptional?: boolean
}

/** The states that an action can change; an element with none of them cannot take it. */
export const SETTABLE_STATES: Readonly<Partial<Record<Action["kind"], readonly State[]>>> = {
  toggle: ["checked", "unchecked", "indeterminate", "pressed"],
  check: ["checked", "unchecked", "indeterminate", "pressed"],
  uncheck: ["checked", "unchecked", "indeterminate", "pressed"],
  expand: ["expanded", "collapsed"],
  collapse: ["expanded", "collapsed"],
}

/** The expected effect; undefined if it is not known in advance. */
export function expectationOf(action: Action, before: Seen): Expectation | undefined {
  switch (action.kind) {
    case "check":
    case "uncheck":
    case "expand":
    case "collapse":
      return { met: (now) => unlessUnread(now, isDone(action, now)), decides: showsAny(action, before) }
    case "toggle":
      return {
        met: (now) => unlessUnread(before, true) && unlessUnread(now, onOff(now) !== onOff(before)),
        decides: showsAny(action, before),
      }
    case "focus":
      return { met: (now) => isDone(action, now), decides: always }
    case "set-value":
      return setTo(action.value, before)
    case "clear":
      if (before.isTypedOver) return filledWith("", before)
      return { met: ({ value }) => (value === undefined ? undefined : value === ""), decides: always }
    case "select":
      return {
        met: (now) => selected(action.value, before, now),
        decides: ({ value }) => value !== undefined,
      }
    case "type":
      return typed(action.text, before)
    default:
      return undefined
  }
}

/** True if the element is already as the action wants it, so that nothing has to be delivered. */
export function isDone(action: Action, seen: Seen): boolean {
  switch (action.kind) {
    case "check":
      return onOff(seen) === "on"
    case "uncheck":
      return onOff(seen) === "off"
    case "expand":
      return seen.states.includes("expanded")
    case "collapse":
      return seen.states.includes("collapsed")
    case "focus":
      return seen.states.includes("focused")
    case "select":
      return seen.role === "combobox" && seen.value !== undefined && seen.value === action.value
    default:
      return false
  }
}

const always = () => true

/** The answer about a box, which is off if it has none of its states. undefined: they could not be read. */
function unlessUnread(now: Seen, isMet: boolean): boolean | undefined {
  const isShown = SETTABLE_STATES.toggle?.some((state) => now.states.includes(state))
  return now.isPartial && !isShown ? undefined : isMet
}

/** An element that shows none of the states, before or after, proves nothing. */
function showsAny(action: Action, before: Seen): (now: Seen) => boolean {
  const states = SETTABLE_STATES[action.kind] ?? []
  return (now) => states.some((state) => before.states.includes(state) || now.states.includes(state))
}

function onOff({ states }: Seen): "on" | "off" | "mixed" {
  if (states.includes("indeterminate")) return "mixed"
  // A checkbox is also "pressed" while the mouse button is down on it.
  if (states.includes("checked") || states.includes("unchecked"))
    return states.includes("checked") ? "on" : "off"
  return states.includes("pressed") ? "on" : "off"
}

/** In a multiple-choice list the value is only one of the options, and the adapter has checked the options. */
function selected(value: string, before: Seen, now: Seen): boolean | undefined {
  if (before.states.includes("multiselectable")) return undefined
  // Some comboboxes report no value for a moment.
  if (now.value === undefined) return before.value === undefined ? undefined : false
  if (now.value === value) return true
  return now.value === before.value ? false : undefined
}

function setTo(want: string, before: Seen): Expectation {
  const read = hasTrait(before.role, "number") ? numberIn : Number
  if (before.isTypedOver) return filledWith(want, before)
  if (before.date) {
    // An empty field may have parts that are filled in.
    const isEmpty = want === "" && before.value === ""
    return {
      met: ({ value }) => (value === undefined ? undefined : isSameDate(value, want) && !isEmpty),
      decides: () => !isEmpty,
    }
  }
  return {
    met: ({ value }) => (value === undefined ? undefined : value === want || sameNumber(read, value, want)),
    // A number field may round the value or add a unit, so another text is not a contradiction. Neither are the first
    // of several lines: an editable part of a page may report its first paragraph only.
    decides: ({ value = "" }) =>
      value === before.value ||
      (!isFirstLines(want, value) &&
        (!isNumber(want) || isNumber(value) || !hasTrait(before.role, "number"))),
  }
}

const isFirstLines = (want: string, value: string): boolean =>
  value.trim() !== "" && want.startsWith(`${value.trimEnd()}\n`)

/**
 * A cell may show the result of a formula, or a text in another format. A cell that was to be filled and is unchanged
 * has taken nothing. But LibreOffice keeps reporting the old text of a cell that was cleared.
 */
function filledWith(want: string, before: Seen): Expectation {
  const isSet = ({ value = "" }: Seen) => value === want || sameNumber(Number, value, want)
  const isKnown = !isSet(before)
  return {
    met: (now) => (isKnown && isSet(now)) || (isKnown && now.value === before.value ? false : undefined),
    decides: ({ value }) => want !== "" && value === before.value && !want.startsWith("="),
    isOptional: want === "",
  }
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text))

/** Compares as numbers: a slider that was set to 75 may report 75.0. */
function sameNumber(read: (text: string) => number, have: string, want: string): boolean {
  if (have.trim() === "" || !isNumber(want)) return false
  return Math.abs(read(have) - Number(want)) <= 1e-6 * Math.max(1, Math.abs(Number(want)))
}

/** Reads a number that may have a unit: 1.50 cm. */
export function numberIn(text: string): number {
  const [, number] = /^\s*([-+]?\d+(?:[.,]\d+)?)\s*\D*$/.exec(text) ?? []
  return number === undefined ? Number(text) : Number(number.replace(",", "."))
}

function typed(whole: string, before: Seen): Expectation | undefined {
  const was = before.value
  // The rest of the text goes into other cells.
  const text = before.isTypedOver ? whole.replace(/[\n\r\t].*/s, "") : whole
  if (was === undefined || text === "") return undefined
  // A terminal shows what its program prints, and a program that asks for a password prints nothing. A sheet cell shows
  // its old content until the new one is complete.
  const isOptional = before.role === "terminal" || before.isTypedOver
  return {
    // The field may show the first half of the text before the rest arrives.
    met: ({ value: now }) => (now === undefined ? undefined : now !== was && isReplacement(was, now, text)),
    // Text typed over a selection of the same text changes nothing, and some fields reformat text. But if the
    // field only lost something, or is unchanged, none of the text has arrived.
    decides: ({ value: now = was }) => !isOptional && isReplacement(was, now, "") && !was.includes(text),
    isOptional,
  }
}

/** True if `now` is `was` with `text` in place of some part of it, which may be empty. */
function isReplacement(was: string, now: string, text: string): boolean {
  const most = Math.min(was.length, now.length)
  let prefix = 0
  while (prefix < most && was[prefix] === now[prefix]) prefix++
  let suffix = 0
  while (suffix < most && was.at(-1 - suffix) === now.at(-1 - suffix)) suffix++
  const first = Math.max(0, now.length - text.length - suffix)
  const last = Math.min(prefix, now.length - text.length)
  for (let at = first; at <= last; at++)
    if (now.startsWith(text, at)) return now.length - text.length <= was.length
  return false
}

/** The capability that an element needs for each action. */
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
    suggestion: isEditedInPlace(seen, action)
      ? `If users edit it in place: agent-desktop double-click ${ref}, then type @focused TEXT, then press return`
      : `Use 'get ${ref} actions' to see what it supports`,
    disposition: NOTHING_DELIVERED,
  })
}

/** GTK and Qt tables do not report which cells a user can edit. A double click on a read-only one may open its row. */
const isEditedInPlace = ({ role }: Seen, { kind }: Action): boolean =>
  (role === "cell" || role === "treeitem") && (kind === "set-value" || kind === "type" || kind === "clear")

/** In a field that is not secure, the next snapshot would show the secret. */
export function notSecure(ref: string, seen: Seen): AppError {
  return new AppError(
    "ACTION_NOT_SUPPORTED",
    `${ref} is not a secure field: a secret would be visible in it`,
    {
      suggestion: `Find a secure one: agent-desktop find --role ${seen.role} --state secure; text that may be seen needs no --secret`,
      details: { kind: "not_secure" },
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** Actions that can be repeated: doing one twice has the same result as doing it once. */
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
