import type { Adapter } from "./adapter.ts"
import { AppError, NOTHING_DELIVERED } from "./errors.ts"

/** Limits that the user sets for agents, whichever door they use. */
export interface Policy {
  /** No command may act. */
  readonly readOnly: boolean
  /** The only apps that may be seen and acted on; absent: all. */
  readonly apps?: readonly string[]
}

/** Reads a list of names such as AGENT_DESKTOP_APPS: `a, b`. A variable that is set and names none allows none. */
export function namesIn(list: string | undefined): readonly string[] | undefined {
  return list
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

export function readOnlyDenied(what: string): AppError {
  return new AppError("POLICY_DENIED", `${what} acts, and only reading is allowed here`, {
    suggestion: "Use commands that only read, or ask the user: only the user can change this limit",
    disposition: NOTHING_DELIVERED,
  })
}

/** For a file that a reading command would replace. */
export function existsAlready(path: string): AppError {
  return new AppError("POLICY_DENIED", `'${path}' exists, and only reading is allowed here`, {
    suggestion: "Name a file that does not exist yet",
    disposition: NOTHING_DELIVERED,
  })
}

/** The adapter within the limits of the policy. Forbidden apps are not listed; forbidden acts throw POLICY_DENIED. */
export async function guard(adapter: Adapter, { readOnly, apps }: Policy): Promise<Adapter> {
  const limited = apps ? (await import("./door/allowed-apps.ts")).limitToApps(adapter, apps) : adapter
  return readOnly ? limitToReading(limited) : limited
}

/**
 * With a list of apps, "not found" and "forbidden" are the same error: it must not reveal whether a hidden app runs.
 */
export function unlessHidden(error: unknown, { apps }: Policy): unknown {
  if (!apps || !(error instanceof AppError)) return error
  if (error.code !== "APP_NOT_FOUND" && error.code !== "WINDOW_NOT_FOUND") return error
  return new AppError("POLICY_DENIED", `${error.message}, or its app is not allowed here`, {
    suggestion:
      apps.length > 0
        ? `Only ${apps.join(", ")} may be seen and acted on (AGENT_DESKTOP_APPS)`
        : "AGENT_DESKTOP_APPS is set and names no app: no app may be seen or acted on",
    details: { apps },
    disposition: NOTHING_DELIVERED,
  })
}

/** The policy judges a command before it runs. This is the second check: no command acts, even if it declares that it only reads. */
function limitToReading(adapter: Adapter): Adapter {
  const refuse = (what: string) => async (): Promise<never> => {
    throw readOnlyDenied(what)
  }
  return {
    ...adapter,
    perform: refuse("An action"),
    keepFocus: refuse("Moving the focus"),
    selectText: refuse("Selecting text"),
    input: refuse("Input"),
    window: refuse("A window operation"),
    launch: refuse("launch"),
    quit: refuse("close-app"),
    notification: refuse("Answering a notification"),
    clipboard: (op) => (op.kind === "get" ? adapter.clipboard(op) : refuse("Writing to the clipboard")()),
    desktops: (op) =>
      op.kind === "list" ? adapter.desktops(op) : refuse("Starting and stopping desktops")(),
    permissions: (request) => (request ? refuse("permissions --request")() : adapter.permissions(false)),
  }
}
