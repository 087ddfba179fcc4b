import { statSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { BusHint } from "../../refmap.ts"
import { inTime } from "../../until.ts"
import { parseAddresses } from "../dbus/auth.ts"
import { Bus, DBusClosed, DBusError, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import type { WindowSystem } from "../windowing/system.ts"
import type { X11 } from "../x11/connection.ts"

/** How long an app that does not answer may delay the end of a command. */
const FAREWELL_MS = 40

export const A11Y_BUS = "org.a11y.Bus"
export const A11Y_BUS_PATH = "/org/a11y/bus"

/** The connections of one desktop: opened when first needed, shared, and opened again after they died. */
export class Session {
  readonly #readEnv: () => Env
  #env: Env | undefined
  #isCurrent = false
  readonly #a11y = new Shared<Bus>((bus) => bus.failure !== undefined)
  readonly #user = new Shared<Bus>((bus) => bus.failure !== undefined)
  readonly #x11 = new Shared<X11>((x) => x.closed)
  readonly #wayland = new Shared<WindowSystem>(() => false)
  /** Addresses of accessibility buses, for the hints that lead to them. */
  readonly #addresses = new WeakMap<Bus, string>()
  readonly #endings: (() => void)[] = []
  #leaving: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(readEnv: () => Env) {
    this.#readEnv = readEnv
  }

  get env(): Env {
    if (this.#env && this.#isCurrent) return this.#env
    const env = this.#readEnv()
    if (this.#env && !isSameDesktop(this.#env, env)) this.#disconnect()
    this.#env = env
    this.#isCurrent = true
    return env
  }

  /** Looks up the desktop again at its next use: a restarted desktop has other addresses. */
  renew(): void {
    this.#isCurrent = false
    // A restarted compositor has another name on the bus.
    void this.#wayland.close(() => {})
  }

  /** The accessibility bus, where apps expose their trees. The hint counts only if the bus is not open yet. */
  a11y(deadline: Deadline, hint?: BusHint): Promise<Bus> {
    return this.#connect(this.#a11y, () => this.#openA11y(deadline, hint))
  }

  /** The hint by which a later session finds this bus; undefined if it was not found through the display. */
  hintFor(bus: Bus): BusHint | undefined {
    const address = this.#addresses.get(bus)
    // The parts of a hint are separated by blanks, so that none of them may contain one.
    if (!address || !bus.guid || /\s/.test(address)) return undefined
    return `${this.env.DISPLAY} ${bus.guid} ${address}`
  }

  /** The session bus, where the accessibility bus and notifications are found. */
  user(deadline: Deadline): Promise<Bus> {
    return this.#connect(this.#user, async (env) => {
      this.#refuseLate()
      return openUserBus(env, deadline)
    })
  }

  x11(deadline: Deadline): Promise<X11> {
    return this.#connect(this.#x11, async (env) => {
      const { X11 } = await import("../x11/connection.ts")
      this.#refuseLate()
      return X11.connect(env, deadline)
    })
  }

  /** True if the session has a window system. */
  get hasWindows(): boolean {
    return Boolean(this.env.DISPLAY || this.env.WAYLAND_DISPLAY)
  }

  /** The display and the compositor's socket. */
  get places(): readonly string[] {
    const { DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR } = this.env
    return [
      // The display without the number of its screen.
      ...(DISPLAY ? [`x11 ${DISPLAY.replace(/^unix(?=:)/, "").replace(/(:\d+)\.\d+$/, "$1")}`] : []),
      ...(WAYLAND_DISPLAY ? [`wayland ${XDG_RUNTIME_DIR} ${WAYLAND_DISPLAY}`] : []),
    ]
  }

  /** True if an app of this session may be a native Wayland client. */
  get mayBeNative(): boolean {
    return Boolean(this.env.WAYLAND_DISPLAY)
  }

  async windowing(deadline: Deadline): Promise<WindowSystem> {
    const { env } = this
    if (!env.WAYLAND_DISPLAY) return this.#xWindows(deadline)
    const { openWayland, withXwayland } = await import("../wayland/system.ts")
    const native = await this.#wayland.get(() =>
      openWayland(env, { bus: (until) => this.user(until) }, deadline),
    )
    return env.DISPLAY ? withXwayland(native, await this.#xWindows(deadline)) : native
  }

  async #xWindows(deadline: Deadline): Promise<WindowSystem> {
    const [x, { XWindowSystem }] = await Promise.all([this.x11(deadline), import("../x11/system.ts")])
    return new XWindowSystem(x, this.env)
  }

  /** A separate connection to the session bus, for uses that cannot share one; it ends with the session. */
  async openUser(deadline: Deadline): Promise<Bus> {
    const bus = await openUserBus(this.env, deadline)
    this.#endings.push(() => bus.close())
    return bus
  }

  /** Reads the environment first, since that closes the connections to a desktop that has ended. */
  async #connect<T>(shared: Shared<T>, open: (env: Env) => Promise<T>): Promise<T> {
    const { env } = this
    return shared.get(() => open(env))
  }

  /** `close` waits for this work on the accessibility bus, but not for long. It may fail. */
  leaveAfter(work: Promise<unknown>): void {
    // Without the results, which a server would collect for as long as it runs.
    this.#leaving = Promise.allSettled([this.#leaving, work]).then(() => {})
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await inTime(this.#leaving, FAREWELL_MS, () => {})
    for (const end of this.#endings.splice(0)) end()
    // Opening the accessibility bus may have opened one of the others.
    await this.#a11y.close((bus) => bus.close())
    await this.#closeOthers()
  }

  /** Drops all connections at once: new ones may be opened before these are closed. */
  #disconnect(): void {
    for (const end of this.#endings.splice(0)) end()
    void this.#a11y.close((bus) => bus.close())
    void this.#closeOthers()
  }

  async #closeOthers(): Promise<void> {
    void this.#wayland.close(() => {})
    await Promise.all([this.#user.close((bus) => bus.close()), this.#x11.close((x) => x.close())])
  }

  #refuseLate(): void {
    if (this.#isClosed) throw new DBusClosed("the session was closed")
  }

  async #openA11y(deadline: Deadline, hint: BusHint | undefined): Promise<Bus> {
    const given = this.env.AT_SPI_BUS_ADDRESS
    try {
      if (given) return await Bus.open(given, deadline)
      return (
        (await this.#openByHint(hint, deadline)) ??
        (await this.#openOnDisplay(deadline)) ??
        (await this.#openActivated(deadline))
      )
    } catch (error) {
      throw noAccessibility(error, error instanceof DBusTimeout || deadline.expired)
    }
  }

  /** The same bus that refs are from, if it still runs: then the display need not be asked for it. */
  async #openByHint(hint: BusHint | undefined, deadline: Deadline): Promise<Bus | undefined> {
    const [display, guid, address] = hint?.split(" ") ?? []
    if (!display || !guid || !address || display !== this.env.DISPLAY) return undefined
    const bus = await Bus.open(address, deadline).catch(() => undefined)
    if (!bus) return undefined
    if ((await isLetIn(bus)) && bus.guid === guid) {
      this.#addresses.set(bus, address)
      return bus
    }
    bus.close()
    return undefined
  }

  /** The session bus knows the accessibility bus, and starts it if it does not run yet. */
  async #openActivated(deadline: Deadline): Promise<Bus> {
    const bus = await this.user(deadline)
    const reply = await bus.call(GET_ADDRESS, A11Y_BUS, A11Y_BUS_PATH, deadline)
    return Bus.open(readAs(reply, "s").string(), deadline)
  }

  /**
   * The display names the bus as soon as it runs; toolkits look there first too. This saves a connection, and a
   * login over ssh has no session bus at all. The name may be left over from a bus that ended, or belong to
   * another user, whose bus refuses us.
   */
  async #openOnDisplay(deadline: Deadline): Promise<Bus | undefined> {
    if (!this.env.DISPLAY) return undefined
    const address = await this.#addressOnDisplay(deadline).catch(() => undefined)
    const bus = address ? await Bus.open(address, deadline).catch(() => undefined) : undefined
    if (!bus || !address || !(isOwn(address) || (await isLetIn(bus)))) return undefined
    this.#addresses.set(bus, address)
    return bus
  }

  async #addressOnDisplay(deadline: Deadline): Promise<string | undefined> {
    const [x, { getProperty, propertyText }] = await Promise.all([
      this.x11(deadline),
      import("../x11/requests.ts"),
    ])
    await x.intern(["AT_SPI_BUS"], deadline)
    return propertyText(x, await getProperty(x, x.root, x.atom("AT_SPI_BUS"), deadline))
  }
}

/** Every desktop has a different session bus, even if it reuses a display number. */
const isSameDesktop = (one: Env, other: Env): boolean =>
  one.DISPLAY === other.DISPLAY &&
  one.WAYLAND_DISPLAY === other.WAYLAND_DISPLAY &&
  one.DBUS_SESSION_BUS_ADDRESS === other.DBUS_SESSION_BUS_ADDRESS

/** True once the bus has accepted us; closes the connection otherwise. */
async function isLetIn(bus: Bus): Promise<boolean> {
  try {
    await bus.name
    return true
  } catch (error) {
    bus.close()
    // The bus is there. Asking the session bus for its address would not make it answer.
    if (error instanceof DBusTimeout) throw error
    return false
  }
}

/** True if the socket belongs to this user: then the bus accepts us, and we need not wait for its answer. */
function isOwn(address: string): boolean {
  const [only, ...others] = parseAddresses(address)
  // A name in the abstract namespace has no owner.
  if (!only || others.length > 0 || only.unix.startsWith("\0")) return false
  return statSync(only.unix, { throwIfNoEntry: false })?.uid === process.geteuid?.()
}

/** Asking starts the bus if it does not run yet. */
const GET_ADDRESS = method("org.a11y.Bus.GetAddress", "", [], true)

async function openUserBus(env: Env, deadline: Deadline): Promise<Bus> {
  const address =
    env.DBUS_SESSION_BUS_ADDRESS || (env.XDG_RUNTIME_DIR ? `unix:path=${env.XDG_RUNTIME_DIR}/bus` : "")
  if (!address) throw new DBusClosed("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
  return Bus.open(address, deadline)
}

/** `isLate`: the bus may be there, since the time was up before it could be reached. */
function noAccessibility(cause: unknown, isLate: boolean): AppError {
  const detail = cause instanceof DBusError ? `${cause.code}: ${cause.message}` : String(cause)
  if (isLate) return silentBus(detail)
  return new AppError("PLATFORM_NOT_SUPPORTED", "The accessibility bus of this session cannot be reached", {
    suggestion:
      "Run inside the desktop session with at-spi2-core installed, or use 'desktop-start'; 'doctor' shows what is missing",
    platformDetail: detail,
  })
}

/** The bus is silent, so it is unknown whether the app would answer. */
export function silentBus(detail?: string): AppError {
  return new AppError("TIMEOUT", "The accessibility bus did not answer in time", {
    suggestion: "Run 'doctor' to see which link hangs, or retry with a larger --timeout-ms",
    platformDetail: detail,
    details: { kind: "accessibility_bus" },
  })
}

/** One resource for many callers; a failed or dead one is forgotten. */
class Shared<T> {
  readonly #isDead: (value: T) => boolean
  #value: Promise<T> | undefined

  constructor(isDead: (value: T) => boolean) {
    this.#isDead = isDead
  }

  async get(open: () => Promise<T>): Promise<T> {
    const held = this.#value
    if (held) {
      const value = await held.catch(() => undefined)
      if (value !== undefined && !this.#isDead(value)) return value
      if (this.#value === held) this.#value = undefined
    }
    this.#value ??= open()
    return this.#value
  }

  async close(end: (value: T) => void): Promise<void> {
    const held = this.#value
    this.#value = undefined
    const value = await held?.catch(() => undefined)
    if (value !== undefined) end(value)
  }
}
