import type { Env, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { type Bus, DBusError, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { unmarshal } from "../dbus/read.ts"
import { isVariant } from "../dbus/wire.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import { InputCompositor } from "./input-compositor.ts"
import type { BusAccess } from "./session-bus.ts"
import { type DrawnWindow, type View, WindowCompositor, type WindowRequest } from "./window-compositor.ts"

/**
 * GNOME without the extension. Windows come from the accessibility bus, without positions. Pointer input goes to screen
 * points, and keys to the focused window.
 */
export class Gnome extends InputCompositor {
  readonly #access: BusAccess
  readonly #owner: string

  constructor(env: Env, access: BusAccess, owner: string) {
    super(env)
    this.#access = access
    this.#owner = owner
  }

  override async windowAt(_point: Point, _deadline: Deadline): Promise<TopWindow | undefined> {
    throw withoutExtension("GNOME does not report window positions to programs")
  }

  override async operate(_id: string, _op: WindowOp, _deadline: Deadline): Promise<void> {
    throw withoutExtension("GNOME does not let programs focus, move or resize windows")
  }

  protected override async devices(wayland: Wayland): Promise<Devices> {
    const { mutterDevices } = await import("./mutter.ts")
    return mutterDevices(wayland, this.env, this.#access, this.#owner)
  }

  override async picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    return (await import("./portal-picture.ts")).takePortalPicture(this.#access, target, deadline)
  }
}

function withoutExtension(message: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", message, {
    suggestion:
      "Use commands that work by accessibility, or ask the user for the extension: agent-desktop doctor --gnome-extension install",
    disposition: NOTHING_DELIVERED,
  })
}

/** GNOME with our extension, which lists windows with their positions, and operates them. */
export class GnomeWithExtension extends WindowCompositor {
  readonly #access: BusAccess
  readonly #extension: GnomeExtension
  readonly #owner: string

  constructor(env: Env, access: BusAccess, owner: string, extension: GnomeExtension) {
    super(env)
    this.#access = access
    this.#owner = owner
    this.#extension = extension
  }

  override async windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined> {
    const [views, at] = await Promise.all([
      this.#extension.look(deadline),
      this.#extension.windowAt(point, deadline),
    ])
    const view = views.windows.find(({ id }) => id === at)
    return view && this.#window(view, views.isNormal)
  }

  protected override async request(id: string, request: WindowRequest, deadline: Deadline): Promise<boolean> {
    const number = await this.#numberOf(id, deadline)
    return number !== undefined && this.#extension.operate(number, wordsOf(request), deadline)
  }

  override async picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    return (await import("./portal-picture.ts")).takePortalPicture(this.#access, target, deadline)
  }

  protected override async views(deadline: Deadline): Promise<readonly View[]> {
    const { windows, isNormal } = await this.#extension.look(deadline)
    return windows.map((view) => ({
      window: this.#window(view, isNormal),
      isVisible: view.visible && isNormal,
      isPopup: !WINDOW_TYPES.has(view.type),
    }))
  }

  protected override async devices(wayland: Wayland): Promise<Devices> {
    const { mutterDevices } = await import("./mutter.ts")
    return mutterDevices(wayland, this.env, this.#access, this.#owner)
  }

  /** undefined: there is no such window. */
  async #numberOf(id: string, deadline: Deadline): Promise<number | undefined> {
    return (await this.#extension.look(deadline)).windows.find((view) => this.identify(view, "g").id === id)
      ?.id
  }

  #window(view: GnomeView, isNormal: boolean): TopWindow {
    return {
      ...this.identify(view, "g"),
      bounds: view.buffer,
      frame: view.frame,
      // In the overview and behind a system dialog, windows get no keys.
      focused: view.focused && isNormal,
      minimized: view.minimized,
      maximized: view.maximized,
      modal: view.type === MODAL_DIALOG,
      types: [view.type === DIALOG || view.type === MODAL_DIALOG ? "dialog" : "normal"],
      transientFor: view.owner ? `w-g${view.owner}` : undefined,
    }
  }
}

/** The request as the extension spells it. */
function wordsOf(op: WindowRequest): string {
  switch (op.kind) {
    case "move":
      return `move ${op.x} ${op.y}`
    case "resize":
      return `resize ${op.width} ${op.height}`
    default:
      return op.kind
  }
}

/** Meta.WindowType. Other types are menus, tooltips and panels. */
const DIALOG = 3
const MODAL_DIALOG = 4
const WINDOW_TYPES: ReadonlySet<number> = new Set([0, DIALOG, MODAL_DIALOG, 5, 7, 8])

/** Our GNOME Shell extension: an object on the compositor's own bus connection. */
export class GnomeExtension {
  readonly #access: BusAccess
  readonly #owner: string

  constructor(access: BusAccess, owner: string) {
    this.#access = access
    this.#owner = owner
  }

  /** undefined: the extension is missing, or its version does not match this program. */
  static async find(
    access: BusAccess,
    owner: string,
    deadline: Deadline,
  ): Promise<GnomeExtension | undefined> {
    const extension = new GnomeExtension(access, owner)
    try {
      const version = await extension.#call("Version", "", [], deadline)
      return version === EXTENSION_VERSION ? extension : undefined
    } catch (error) {
      if (error instanceof AppError && error.code === "PLATFORM_NOT_SUPPORTED") return undefined
      throw error
    }
  }

  async look(deadline: Deadline): Promise<GnomeLook> {
    return JSON.parse(await this.#call("List", "", [], deadline))
  }

  /** The window that a click would reach; undefined if the shell itself is there. */
  async windowAt({ x, y }: Point, deadline: Deadline): Promise<number | undefined> {
    const at = await this.#call("At", "ii", [Math.round(x), Math.round(y)], deadline)
    return at === "" ? undefined : Number(at)
  }

  /** false: there is no such window. */
  async operate(id: number, words: string, deadline: Deadline): Promise<boolean> {
    return (await this.#call("Operate", "us", [id, words], deadline)) === "done"
  }

  async #call(
    member: string,
    signature: string,
    values: readonly (string | number)[],
    deadline: Deadline,
  ): Promise<string> {
    const call = method(`${EXTENSION_INTERFACE}.${member}`, signature, values)
    try {
      const bus = await this.#access.bus(deadline)
      return readAs(await bus.call(call, this.#owner, EXTENSION_PATH, deadline), "s").string()
    } catch (error) {
      if (error instanceof DBusTimeout)
        throw new AppError("TIMEOUT", "GNOME Shell did not answer in time", {
          details: { kind: "compositor" },
        })
      if (!(error instanceof DBusError)) throw error
      throw new AppError("PLATFORM_NOT_SUPPORTED", "The extension in GNOME Shell does not answer", {
        suggestion: "Run 'doctor' to see what is missing",
        platformDetail: `${error.code}: ${error.message}`,
        disposition: NOTHING_DELIVERED,
      })
    }
  }
}

/** undefined: the shell does not report it. */
export async function shellVersion(bus: Bus, owner: string, deadline: Deadline): Promise<string | undefined> {
  const get = method("org.freedesktop.DBus.Properties.Get", "ss", ["org.gnome.Shell", "ShellVersion"])
  try {
    const reply = await bus.call(get, owner, "/org/gnome/Shell", deadline)
    const [version] = unmarshal(reply.signature, reply.body)
    return version !== undefined && isVariant(version) ? String(version.value) : undefined
  } catch (error) {
    if (error instanceof DBusError) return undefined
    throw error
  }
}

interface GnomeLook {
  /** False while the overview, the lock screen or a system dialog has the keys. */
  readonly isNormal: boolean
  /** Topmost first. */
  readonly windows: readonly GnomeView[]
}

interface GnomeView extends DrawnWindow {
  readonly id: number
  readonly focused: boolean
  readonly type: number
  readonly owner: number
}

/** Must match gnome-service.txt. */
export const EXTENSION_VERSION = "1"
const EXTENSION_PATH = "/dev/agent_desktop/Windows"
const EXTENSION_INTERFACE = "dev.agent_desktop.Windows"
