import type { Adapter, InputEvent, SeenWindow } from "./adapter.ts"
import { AppError, NOTHING_DELIVERED } from "./errors.ts"
import { isNamed } from "./match.ts"
import type { Point, Rect } from "./node.ts"
import { contains, overlaps } from "./rect.ts"

/** What the user lets agents do, whichever door they come through. */
export interface Policy {
  /** Nothing may act. */
  readonly readOnly: boolean
  /** The only apps that may be seen and acted on; without it, all. */
  readonly apps?: readonly string[]
}

/** `a, b` of AGENT_DESKTOP_APPS. */
export function appsOf(list: string | undefined): readonly string[] | undefined {
  const names = (list ?? "").split(",").map((name) => name.trim())
  const given = names.filter((name) => name !== "")
  return given.length > 0 ? given : undefined
}

export function readOnlyDenied(what: string): AppError {
  return new AppError("POLICY_DENIED", `${what} acts, and only reading is allowed here`, {
    suggestion: "Leave out --read-only, or unset AGENT_DESKTOP_READ_ONLY",
    disposition: NOTHING_DELIVERED,
  })
}

/** The adapter as far as the policy goes. What is not allowed is not there, or is refused. */
export function guarded(adapter: Adapter, { readOnly, apps }: Policy): Adapter {
  const limited = apps ? limitedTo(adapter, apps) : adapter
  return readOnly ? reading(limited) : limited
}

/** A not-found under a policy that hides apps says no more than that: what is hidden cannot be told from nothing. */
export function unlessHidden(error: unknown, { apps }: Policy): unknown {
  if (!apps || !(error instanceof AppError)) return error
  if (error.code !== "APP_NOT_FOUND" && error.code !== "WINDOW_NOT_FOUND") return error
  return new AppError("POLICY_DENIED", `${error.message}, or its app is not allowed here`, {
    suggestion: `Only ${apps.join(", ")} may be seen and acted on (AGENT_DESKTOP_APPS)`,
    details: { apps },
    disposition: NOTHING_DELIVERED,
  })
}

/** Commands are judged before they run; this holds for what they do all the same. */
function reading(adapter: Adapter): Adapter {
  const refuse = (what: string) => async (): Promise<never> => {
    throw readOnlyDenied(what)
  }
  return {
    ...adapter,
    perform: refuse("An action"),
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

function limitedTo(adapter: Adapter, apps: readonly string[]): Adapter {
  const isAllowed = (name: string, aliases: readonly string[] = []) =>
    apps.some((one) => isNamed(name, aliases, one))
  const isOwn = (window: SeenWindow) => isAllowed(window.app_name, window.aliases)
  const denied = (what: string): AppError =>
    new AppError("POLICY_DENIED", `${what} not allowed: only ${apps.join(", ")} may be seen and acted on`, {
      suggestion: "Keep to these apps, or change AGENT_DESKTOP_APPS",
      details: { apps },
      disposition: NOTHING_DELIVERED,
    })
  const ownApps = async () =>
    (await adapter.apps()).filter((app) => isAllowed(app.name, [...app.aliases, app.bundle_id ?? ""]))
  const requirePid = async (pid: number, what: string): Promise<void> => {
    if (!(await ownApps()).some((app) => app.pid === pid)) throw denied(what)
  }
  const requireWindow = async (id: string): Promise<void> => {
    if (!(await adapter.windows()).some((window) => window.id === id && isOwn(window)))
      throw denied(`Window '${id}' is`)
  }
  /** Where a click was found to reach an element of an allowed app, which may be in a menu beside its window. */
  let cleared: Point | undefined
  const requirePoint = async (point: Point): Promise<void> => {
    if (cleared && cleared.x === point.x && cleared.y === point.y) return
    const top = (await adapter.windows()).find(
      (window) => !window.minimized && window.bounds !== undefined && contains(window.bounds, point),
    )
    if (!top || !isOwn(top))
      throw denied(`The point ${point.x},${point.y} is in no window of an allowed app: it is`)
  }
  const requireFocus = async (): Promise<void> => {
    const focused = (await adapter.windows("focused")).find((window) => window.is_focused)
    if (!focused || !isOwn(focused)) throw denied("The keyboard focus is in another app, and keys are")
  }

  return {
    ...adapter,
    apps: ownApps,
    windows: async (only) => (await adapter.windows(only)).filter(isOwn),
    surfaces: async (pid) => {
      await requirePid(pid, "Its surfaces are")
      return adapter.surfaces(pid)
    },
    open: async (entry, route) => {
      await requirePid(entry.pid, `'${entry.source_app ?? `pid ${entry.pid}`}' is`)
      return adapter.open(entry, route)
    },
    hit: async (handle, point) => {
      const hit = await adapter.hit(handle, point)
      cleared = hit.kind === "hit" ? point : undefined
      // The name of what is above could be another app's.
      return hit.kind === "occluded" ? { kind: "occluded", by: "another window" } : hit
    },
    input: async (event) => {
      for (const point of pointsOf(event)) await requirePoint(point)
      if (isTyped(event)) await requireFocus()
      return adapter.input(event)
    },
    window: async (id, op) => {
      await requireWindow(id)
      return adapter.window(id, op)
    },
    launch: async (app, args) => {
      if (!isAllowed(app)) throw denied(`'${app}' is`)
      return adapter.launch(app, args)
    },
    clipboard: async () => {
      throw denied("The clipboard belongs to all apps: it is")
    },
    screenshot: async (target) => {
      if (target.kind === "screen") throw denied("A picture of the whole screen is")
      await requireUncovered(await adapter.windows(), target.window, isOwn, denied)
      return adapter.screenshot(target)
    },
    notifications: async () => (await adapter.notifications()).filter((one) => isAllowed(one.app_name)),
    // Whose they are is not known.
    unlistedNotifications: undefined,
    desktops: async (op) => {
      if (op.kind === "stop") throw denied("Ending a desktop with all its apps is")
      return adapter.desktops(op)
    },
    diagnose: async (options) =>
      (await adapter.diagnose(options)).filter(({ name }) => {
        const app = /^app (.*)$/s.exec(name)?.[1]
        return app === undefined || isAllowed(app)
      }),
  }
}

/** A picture of a window is a part of the screen: what is above it is in it. */
async function requireUncovered(
  windows: readonly SeenWindow[],
  { id, bounds }: SeenWindow,
  isOwn: (window: SeenWindow) => boolean,
  denied: (what: string) => AppError,
): Promise<void> {
  const at = windows.findIndex((window) => window.id === id)
  const window = windows[at]
  if (!window || !isOwn(window)) throw denied(`Window '${id}' is`)
  const above = windows.slice(0, at).filter((one) => !one.minimized && !isOwn(one))
  if (above.some((one) => mayOverlap(one.bounds, window.bounds ?? bounds)))
    throw denied(
      `Window '${id}' is covered by another app's (use 'focus-window ${id}' first), whose picture is`,
    )
}

/** What is let go must be let go anywhere. */
function pointsOf(event: InputEvent): readonly Point[] {
  switch (event.kind) {
    case "move":
    case "click":
    case "wheel":
      return [event.at]
    case "button":
      return event.phase === "up" ? [] : [event.at]
    case "drag":
      return [event.from, event.to]
    default:
      return []
  }
}

const isTyped = (event: InputEvent): boolean =>
  event.kind === "text" || (event.kind === "key" && event.phase !== "up")

/** A window whose place is unknown may be anywhere. */
const mayOverlap = (a: Rect | undefined, b: Rect | undefined): boolean => !a || !b || overlaps(a, b)
