export const ERROR_CODES = [
  "PERM_DENIED",
  "APP_NOT_FOUND",
  "WINDOW_NOT_FOUND",
  "ELEMENT_NOT_FOUND",
  "STALE_REF",
  "AMBIGUOUS_TARGET",
  "SNAPSHOT_NOT_FOUND",
  "ACTION_FAILED",
  "ACTION_NOT_SUPPORTED",
  "APP_UNRESPONSIVE",
  "TIMEOUT",
  "PLATFORM_NOT_SUPPORTED",
  "NOTIFICATION_NOT_FOUND",
  "POLICY_DENIED",
  "INVALID_ARGS",
  "INTERNAL",
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** Says whether an action has reached the app, if that is known. */
export type Delivery = "not_delivered" | "delivery_uncertain" | "delivered_unverified" | "delivered_verified"

export interface Disposition {
  readonly delivery: Delivery
  readonly retry: "safe" | "unsafe" | "unknown"
}

export interface ErrorFacts {
  /** A command the agent can run next. */
  readonly suggestion?: string
  /** The operating system's own wording: an AXError, a D-Bus error name, an X error. */
  readonly platformDetail?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly disposition?: Disposition
}

/** Every failure that an agent may see; anything else that is thrown becomes INTERNAL. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly suggestion?: string
  readonly platformDetail?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly disposition?: Disposition

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message)
    this.name = "AppError"
    this.code = code
    this.suggestion = facts.suggestion
    this.platformDetail = facts.platformDetail
    this.details = facts.details
    this.disposition = facts.disposition
  }

  /** The same failure with more facts. Facts that it already has win. */
  with(facts: ErrorFacts): AppError {
    return new AppError(this.code, this.message, {
      suggestion: this.suggestion ?? facts.suggestion,
      platformDetail: this.platformDetail ?? facts.platformDetail,
      details: this.details ?? facts.details,
      disposition: this.disposition ?? facts.disposition,
    })
  }
}

/** The same failure, with a disposition that the caller knows better. */
export function withDisposition(error: AppError, disposition: Disposition): AppError {
  const { code, message, suggestion, platformDetail, details } = error
  return new AppError(code, message, { suggestion, platformDetail, details, disposition })
}

const REFRESH = "Run 'snapshot' to refresh, then retry with updated ref"

/** The ref is not in the map, or its element has changed: then `evidence` says how. */
export function staleRef(ref: string, evidence?: string): AppError {
  return new AppError(
    "STALE_REF",
    evidence ? `${ref} is stale: ${evidence}` : `${ref} not found in current RefMap`,
    {
      suggestion: REFRESH,
      ...(evidence ? { details: { evidence } } : {}),
      disposition: NOTHING_DELIVERED,
    },
  )
}

/**
 * The error of a command that acts on a ref. If it is ACTION_FAILED, the message begins with the action and the ref,
 * then says why: `Click action failed on @e5: it is disabled`. Any other error stays as it is.
 */
export function failedOn(given: string, command: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "ACTION_FAILED") return error
  // A ref may be written without its @; a description has none.
  const ref = /^e[1-9]\d*$/.test(given) ? `@${given}` : given
  const action = command.replaceAll("-", " ").replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
  const { message, suggestion, platformDetail, details, disposition } = error
  const why = message.startsWith(`${ref} `) ? `it${message.slice(ref.length)}` : uncapitalized(message)
  return new AppError("ACTION_FAILED", `${action} action failed on ${ref}: ${why}`, {
    suggestion:
      suggestion ??
      `Use 'get ${ref} actions' to see what it offers, and 'get ${ref} states' to see how it is now`,
    platformDetail,
    details,
    disposition,
  })
}

/** Lower-cases the start of a sentence that follows a colon. A first word such as "AT-SPI" stays as it is. */
const uncapitalized = (text: string): string =>
  /^[A-Z](?:[a-z]|\s)/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text

export const NOTHING_DELIVERED: Disposition = { delivery: "not_delivered", retry: "safe" }

export function windowNotFound(id: string): AppError {
  return new AppError("WINDOW_NOT_FOUND", `Window '${id}' not found`, {
    suggestion: "Use 'list-windows' to see available windows",
  })
}

export function unresponsive(app: string, facts: Omit<ErrorFacts, "suggestion"> = {}): AppError {
  return new AppError("APP_UNRESPONSIVE", `App '${app}' did not answer in time`, {
    ...facts,
    suggestion: `Retry with a larger --timeout-ms, or end it: agent-desktop close-app ${plainWord(app)} --force`,
  })
}

/**
 * A name as an argument of a suggested command; the placeholder unless it is one plain word. Names come from
 * applications: a shell could run a part of one, and a model could read it as an instruction.
 */
export function plainWord(name: string | undefined, placeholder = "APP"): string {
  return name !== undefined && /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) ? name : placeholder
}

/** The same for the path of a directory. */
export const plainPath = (path: string): string => (/^\/[A-Za-z0-9_./-]+$/.test(path) ? path : "DIRECTORY")

/** An element that is not part of a window any more has no ancestors to read. */
export function parentNotFound(): AppError {
  return new AppError("ELEMENT_NOT_FOUND", "The element no longer has a parent", {
    suggestion: "Run 'snapshot' to see what is there now",
  })
}

/** Suggests commands that work without a tree. */
export const workBySight = (id: string): string =>
  `Work from pictures: 'screenshot --window-id ${id}', 'mouse-click --xy X,Y', 'type @focused TEXT --window-id ${id}', 'press KEYS --window-id ${id}'`

/** `isFinal`: no restart would make the app expose its content. */
export function noTree(
  { id, app_name }: { readonly id: string; readonly app_name: string },
  reason: string | undefined,
  isFinal = false,
): AppError {
  const restart = `'close-app ${plainWord(app_name)}' and 'launch ${plainWord(app_name)}' may switch it on`
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `Window '${id}' of '${app_name}' exposes no accessibility tree${reason ? `: ${reason}` : ""}`,
    {
      suggestion: [...(isFinal ? [] : [restart]), workBySight(id)].join(". "),
    },
  )
}
