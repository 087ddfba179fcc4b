import type { Combo } from "../action.ts"
import type { Adapter, InputEvent, InputTarget, SeenApp, SeenWindow } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { comboText, holdsGlobal, isGlobal } from "../keys.ts"
import { isNamed } from "../match.ts"
import type { Point, Rect } from "../node.ts"
import { contains, overlaps } from "../rect.ts"

/** The adapter, restricted to these apps. Each method finds out during the call to which app its target belongs. */
export function limitToApps(adapter: Adapter, apps: readonly string[]): Adapter {
  const allowed = new AllowedApps(adapter, apps)
  return {
    ...adapter,
    apps: () => allowed.running(),
    windows: async (only) => (await adapter.windows(only)).filter((window) => allowed.owns(window)),
    surfaces: async (pid) => {
      await allowed.requireProcess(pid, "Its surfaces are")
      return adapter.surfaces(pid)
    },
    open: async (entry, route, hint) => {
      await allowed.requireProcess(entry.pid, `'${entry.source_app ?? `pid ${entry.pid}`}' is`)
      return adapter.open(entry, route, hint)
    },
    hit: async (handle, point, care) => {
      const hit = await adapter.hit(handle, point, care)
      // The covering element may belong to another app, so its name is not returned.
      return hit.kind === "occluded" ? { ...hit, by: "another window" } : hit
    },
    input: async (event) => {
      for (const aim of aimsOf(event)) await allowed.requirePoint(aim)
      if (event.kind === "key" && event.phase !== "up") allowed.requireOwnKeys(event.combo, event.phase)
      if (isTyped(event)) await allowed.requireFocus()
      return adapter.input(event)
    },
    window: async (id, op) => {
      await allowed.requireWindow(id)
      return adapter.window(id, op)
    },
    launch: async (app, args) => {
      if (!allowed.has(app)) throw allowed.denied(`'${app}' is`)
      // An option can name another program to run: chromium --renderer-cmd-prefix=PROGRAM, xterm -e PROGRAM.
      const option = args.find((arg) => /^[-+]/.test(arg))
      if (option !== undefined) throw allowed.denied(`An option of the app ('${option}') is`)
      return adapter.launch(app, args)
    },
    clipboard: async () => {
      throw allowed.denied("The clipboard belongs to all apps: it is")
    },
    screenshot: async (target) => {
      if (target.kind === "screen") throw allowed.denied("A picture of the whole screen is")
      await allowed.requireUncovered(target.window)
      return adapter.screenshot(target)
    },
    watchScreen: async () => {
      throw allowed.denied("A picture of the whole screen is")
    },
    notifications: async () => (await adapter.notifications()).filter((one) => allowed.has(one.app_name)),
    // The apps that sent them are unknown.
    unlistedNotifications: async () => 0,
    desktops: async (op) => {
      if (op.kind === "stop") throw allowed.denied("Ending a desktop with all its apps is")
      return adapter.desktops(op)
    },
    diagnose: async (options) =>
      (await adapter.diagnose(options)).filter(({ name }) => {
        const app = /^app (.*)$/s.exec(name)?.[1]
        return app === undefined || allowed.has(app)
      }),
  }
}

/** The apps that may be seen and acted on. No answer is kept for the next question. */
class AllowedApps {
  readonly #adapter: Adapter
  readonly #apps: readonly string[]

  constructor(adapter: Adapter, apps: readonly string[]) {
    this.#adapter = adapter
    this.#apps = apps
  }

  has(name: string, aliases: readonly string[] = []): boolean {
    return this.#apps.some((one) => isNamed(name, aliases, one))
  }

  owns(window: SeenWindow): boolean {
    return this.has(window.app_name, window.aliases)
  }

  denied(what: string): AppError {
    const apps = this.#apps
    return new AppError(
      "POLICY_DENIED",
      `${what} not allowed: only ${apps.join(", ") || "no app"} may be seen and acted on`,
      {
        suggestion: "Use only these apps, or ask the user: only the user can change this limit",
        details: { apps },
        disposition: NOTHING_DELIVERED,
      },
    )
  }

  async running(): Promise<readonly SeenApp[]> {
    const running = await this.#adapter.apps()
    return running.filter((app) => this.has(app.name, [...app.aliases, app.bundle_id ?? ""]))
  }

  async requireProcess(pid: number, what: string): Promise<void> {
    if (!(await this.#isRunning(pid))) throw this.denied(what)
  }

  async requireWindow(id: string): Promise<void> {
    if (!(await this.#adapter.windows()).some((window) => window.id === id && this.owns(window)))
      throw this.denied(`Window '${id}' is`)
  }

  /** The point must be in a window of an allowed app, or hit its target element, which may be in a menu. */
  async requirePoint({ point, target }: Aim): Promise<void> {
    const windows = await this.#adapter.windows()
    const top = windows.find(({ minimized, bounds }) => !minimized && bounds && contains(bounds, point))
    if (top && this.owns(top) && (await this.#ownsPoint(top, point))) return
    if (target && (await this.#isRunning(target.pid)) && (await this.#reaches(target, point))) return
    throw this.denied(`The point ${point.x},${point.y} is in no window of an allowed app: it is`)
  }

  async requireFocus(): Promise<void> {
    const focused = (await this.#adapter.windows("focused")).find((window) => window.is_focused)
    if (!focused || !this.owns(focused))
      throw this.denied("The keyboard focus is in another app, and keys are")
  }

  /** A window's picture is part of the screen, and includes everything that covers the window. */
  async requireUncovered({ id, bounds }: SeenWindow): Promise<void> {
    const windows = await this.#adapter.windows()
    const at = windows.findIndex((window) => window.id === id)
    const window = windows[at]
    if (!window || !this.owns(window)) throw this.denied(`Window '${id}' is`)
    const above = windows.slice(0, at).filter((one) => !one.minimized && !this.owns(one))
    if (above.some((one) => mayOverlap(one.bounds, window.bounds ?? bounds)))
      throw this.denied(
        `Window '${id}' is covered by another app's (use 'focus-window ${id}' first), whose picture is`,
      )
  }

  /** Refuses keys that the desktop itself handles: they would act on other apps. */
  requireOwnKeys(combo: Combo, phase: "press" | "down"): void {
    if (isGlobal(combo) || (phase === "down" && holdsGlobal(combo)))
      throw this.denied(`'${comboText(combo)}' may go to the system instead of the app, and is`)
  }

  /** Popups of other apps may cover the window, and no list contains them. */
  async #ownsPoint(window: SeenWindow, point: Point): Promise<boolean> {
    const pid = await this.#adapter.ownerAt(point)
    return pid === undefined || pid === window.pid || this.#isRunning(pid)
  }

  async #isRunning(pid: number): Promise<boolean> {
    return (await this.running()).some((app) => app.pid === pid)
  }

  async #reaches({ handle }: InputTarget, point: Point): Promise<boolean> {
    // Read again: a menu may have moved since the element was last seen.
    const now = await this.#adapter.read(handle)
    return now !== undefined && (await this.#adapter.hit(now.handle, point)).kind === "hit"
  }
}

/** A point that input goes to, and the element that it is meant for. */
interface Aim {
  readonly point: Point
  readonly target?: InputTarget
}

/** The points that must be allowed. The release of a button counts, because it may drop something. */
function aimsOf(event: InputEvent): readonly Aim[] {
  switch (event.kind) {
    case "move":
    case "click":
    case "wheel":
      return [{ point: event.at, target: event.target }]
    case "button":
      return [{ point: event.at }]
    case "drag":
      return [
        { point: event.from, target: event.fromTarget },
        { point: event.to, target: event.toTarget },
      ]
    default:
      return []
  }
}

const isTyped = (event: InputEvent): boolean =>
  event.kind === "text" || (event.kind === "key" && event.phase !== "up")

/** A window without known bounds may be anywhere. */
const mayOverlap = (a: Rect | undefined, b: Rect | undefined): boolean => !a || !b || overlaps(a, b)
