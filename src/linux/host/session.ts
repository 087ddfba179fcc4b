import { statSync } from "node:fs"
import type { Env, Way } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { parseAddresses } from "../dbus/auth.ts"
import { Bus, DBusClosed, DBusError, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import type { X11 } from "../x11/connection.ts"

export const A11Y_BUS = "org.a11y.Bus"
export const A11Y_BUS_PATH = "/org/a11y/bus"

/** The connections of one desktop: opened when first needed, shared, and opened anew after they died. */
export class Session {
  readonly #readEnv: () => Env
  readonly #way: Way
  #env: Env | undefined
  readonly #a11y = new Shared<Bus>((bus) => bus.failure !== undefined)
  readonly #user = new Shared<Bus>((bus) => bus.failure !== undefined)
  readonly #x11 = new Shared<X11>((x) => x.closed)
  readonly #endings: (() => void)[] = []
  #isClosed = false

  constructor(readEnv: () => Env, way: Way = {}) {
    this.#readEnv = readEnv
    this.#way = way
  }

  get env(): Env {
    this.#env ??= this.#readEnv()
    return this.#env
  }

  /** The accessibility bus, where applications show their trees. */
  a11y(deadline: Deadline): Promise<Bus> {
    return this.#a11y.get(() => this.#openA11y(deadline))
  }

  /** The session bus, where the accessibility bus and notifications are found. */
  user(deadline: Deadline): Promise<Bus> {
    return this.#user.get(async () => {
      this.#refuseLate()
      return openUserBus(this.env, deadline)
    })
  }

  x11(deadline: Deadline): Promise<X11> {
    return this.#x11.get(async () => {
      const { X11 } = await import("../x11/connection.ts")
      this.#refuseLate()
      return X11.connect(this.env, deadline)
    })
  }

  /** Another connection to the session bus, for one that cannot be shared; it ends with the session. */
  async openUser(deadline: Deadline): Promise<Bus> {
    const bus = await openUserBus(this.env, deadline)
    this.#endings.push(() => bus.close())
    return bus
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const end of this.#endings.splice(0)) end()
    // Whoever is on the way to the accessibility bus may have opened one of the others meanwhile.
    await this.#a11y.close((bus) => bus.close())
    await Promise.all([this.#user.close((bus) => bus.close()), this.#x11.close((x) => x.close())])
  }

  #refuseLate(): void {
    if (this.#isClosed) throw new DBusClosed("the session was closed")
  }

  async #openA11y(deadline: Deadline): Promise<Bus> {
    const given = this.env.AT_SPI_BUS_ADDRESS
    try {
      if (given) return await Bus.open(given, deadline)
      return (
        (await this.#openKnown(deadline)) ??
        (await this.#openOnDisplay(deadline)) ??
        (await this.#openActivated(deadline))
      )
    } catch (error) {
      throw noAccessibility(error)
    }
  }

  /** The very bus that refs are from, if it still runs: then the display need not be asked where it is. */
  async #openKnown(deadline: Deadline): Promise<Bus | undefined> {
    const [display, guid, address] = this.#way.known?.split(" ") ?? []
    if (!display || !guid || !address || display !== this.env.DISPLAY) return undefined
    const bus = await Bus.open(address, deadline).catch(() => undefined)
    if (!bus || ((await isLetIn(bus)) && bus.guid === guid)) return bus
    bus.close()
    return undefined
  }

  /** The session bus knows the accessibility bus, and starts it where it does not run yet. */
  async #openActivated(deadline: Deadline): Promise<Bus> {
    const bus = await this.user(deadline)
    const reply = await bus.call(GET_ADDRESS, A11Y_BUS, A11Y_BUS_PATH, deadline)
    return Bus.open(readAs(reply, "s").string(), deadline)
  }

  /**
   * The display says where the bus is as soon as it runs; toolkits look there first too. It spares us a
   * connection, and a login over ssh has no session bus at all. What is left of a bus that ended leads nowhere,
   * and another user's lets us in no further than its door.
   */
  async #openOnDisplay(deadline: Deadline): Promise<Bus | undefined> {
    if (!this.env.DISPLAY) return undefined
    const address = await this.#addressOnDisplay(deadline).catch(() => undefined)
    const bus = address ? await Bus.open(address, deadline).catch(() => undefined) : undefined
    if (!bus || !address || !(isOwn(address) || (await isLetIn(bus)))) return undefined
    this.#remember(bus, address)
    return bus
  }

  #remember(bus: Bus, address: string): void {
    const way = this.#way
    way.known = undefined
    const known = () => {
      // One blank too many, and it could not be taken apart again.
      if (bus.guid && !/\s/.test(address)) way.known = `${this.env.DISPLAY} ${bus.guid} ${address}`
    }
    bus.name.then(known, () => {})
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

/** Closes it if not. */
async function isLetIn(bus: Bus): Promise<boolean> {
  try {
    await bus.name
    return true
  } catch (error) {
    bus.close()
    // It is there, and asking the session bus for the way to it would not make it answer.
    if (error instanceof DBusTimeout) throw error
    return false
  }
}

/** Whether the socket is ours: then we are let in, and need not wait to hear it. */
function isOwn(address: string): boolean {
  const [only, ...others] = parseAddresses(address)
  // A name in the abstract namespace has no owner.
  if (!only || others.length > 0 || only.unix.startsWith("\0")) return false
  return statSync(only.unix, { throwIfNoEntry: false })?.uid === process.geteuid?.()
}

/** Asking starts the bus where it does not run yet. */
const GET_ADDRESS = method("org.a11y.Bus.GetAddress", "", [], true)

async function openUserBus(env: Env, deadline: Deadline): Promise<Bus> {
  const address =
    env.DBUS_SESSION_BUS_ADDRESS || (env.XDG_RUNTIME_DIR ? `unix:path=${env.XDG_RUNTIME_DIR}/bus` : "")
  if (!address) throw new DBusClosed("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
  return Bus.open(address, deadline)
}

function noAccessibility(cause: unknown): AppError {
  const detail = cause instanceof DBusError ? `${cause.code}: ${cause.message}` : String(cause)
  return new AppError(
    cause instanceof DBusTimeout ? "TIMEOUT" : "PLATFORM_NOT_SUPPORTED",
    "The accessibility bus of this session cannot be reached",
    {
      suggestion:
        "Run inside the desktop session with at-spi2-core installed, or use 'desktop-start'; 'doctor' shows what is missing",
      platformDetail: detail,
    },
  )
}

/** Whether the application would answer cannot be known. */
export function silentBus(detail?: string): AppError {
  return new AppError("TIMEOUT", "The accessibility bus did not answer in time", {
    suggestion: "Run 'doctor' to see which link hangs, or retry with a larger --timeout-ms",
    platformDetail: detail,
    details: { kind: "accessibility_bus" },
  })
}

/** One resource for many askers; a failed or dead one is forgotten. */
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
