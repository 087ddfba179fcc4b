import { AppError, type Delivery, type Disposition, NOTHING_DELIVERED } from "../errors.ts"

/** An AXError instead of a value. */
export class Failure {
  readonly code: number

  constructor(code: number) {
    this.code = code
  }
}

export const FAILURE = -25200
export const ILLEGAL_ARGUMENT = -25201
export const INVALID_ELEMENT = -25202
export const CANNOT_COMPLETE = -25204
export const ATTRIBUTE_UNSUPPORTED = -25205
const ACTION_UNSUPPORTED = -25206
const NOT_IMPLEMENTED = -25208
export const API_DISABLED = -25211
export const NO_VALUE = -25212
/** An attribute that takes a parameter, such as a range. */
const PARAMETERIZED_UNSUPPORTED = -25213

const WORDS: Readonly<Record<number, string>> = {
  [FAILURE]: "Failure",
  [ILLEGAL_ARGUMENT]: "Illegal argument",
  [INVALID_ELEMENT]: "Invalid UI element",
  [CANNOT_COMPLETE]: "Cannot complete",
  [ATTRIBUTE_UNSUPPORTED]: "Attribute not supported",
  [ACTION_UNSUPPORTED]: "Action not supported",
  [NOT_IMPLEMENTED]: "Not implemented",
  [API_DISABLED]: "API disabled",
  [NO_VALUE]: "No value",
  [PARAMETERIZED_UNSUPPORTED]: "Parameterized attribute not supported",
}

/**
 * Codes for "there is no such attribute or action". All other codes mean that it could not be read. AppKit answers
 * "Failure" for everything that a custom element does not implement.
 */
const ABSENCES: ReadonlySet<number> = new Set([
  FAILURE,
  ATTRIBUTE_UNSUPPORTED,
  ACTION_UNSUPPORTED,
  NOT_IMPLEMENTED,
  NO_VALUE,
  PARAMETERIZED_UNSUPPORTED,
])

export function isAbsent(value: unknown): boolean {
  return value instanceof Failure && ABSENCES.has(value.code)
}

/** True for a failed read, which proves neither presence nor absence. */
export function isUnread(value: unknown): value is Failure {
  return value instanceof Failure && !ABSENCES.has(value.code)
}

/** True for an answer that may mean an absence or a failed read. */
export function isVague(value: unknown): boolean {
  return value instanceof Failure && value.code === FAILURE
}

export function wordFor(code: number): string {
  return `AXError ${code}: ${WORDS[code] ?? "unknown"}`
}

/** Codes of an action or a write that never reached the element. */
const REFUSALS: ReadonlySet<number> = new Set([ILLEGAL_ARGUMENT, INVALID_ELEMENT, API_DISABLED])

/**
 * Delivery of an action or a write that the element offers, by its return code. Success is only a claim, and so are
 * most errors. Contacts and Finder act and answer "attribute not supported" or "action not supported". An app that does
 * not answer in time may still act. Only a look at the element decides.
 */
export function deliveryOf(code: number): Delivery {
  if (code === 0) return "delivered_unverified"
  return REFUSALS.has(code) ? "not_delivered" : "delivery_uncertain"
}

/** For a read that failed without proving absence. */
export function readFailed(what: string, code: number): AppError {
  return new AppError("ACTION_FAILED", `${what} could not be read`, {
    suggestion: "Run 'snapshot' to see what the app shows now",
    platformDetail: wordFor(code),
    disposition: NOTHING_DELIVERED,
  })
}

export function refused(what: string, code: number, disposition: Disposition = NOTHING_DELIVERED): AppError {
  return new AppError("ACTION_FAILED", `The app refused ${what}`, {
    suggestion: "Run 'snapshot' to see what the app shows now",
    platformDetail: wordFor(code),
    disposition,
  })
}

export function outOfTime(): AppError {
  return new AppError("TIMEOUT", "The time for the command ran out", {
    suggestion: "Retry with a longer --timeout-ms",
    details: { kind: "deadline" },
  })
}

export function accessibilityDenied(): AppError {
  return new AppError("PERM_DENIED", "Accessibility permission not granted", {
    suggestion:
      "Open System Settings > Privacy & Security > Accessibility and add the program that 'agent-desktop permissions' names",
    disposition: NOTHING_DELIVERED,
  })
}
