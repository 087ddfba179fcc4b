import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { contains } from "../../rect.ts"
import { type Bus, DBusError, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { unmarshal } from "../dbus/read.ts"
import { isVariant, type Value } from "../dbus/wire.ts"
import type { Wayland } from "./connection.ts"
import type { Axis, Devices } from "./devices.ts"
import type { Output } from "./displays.ts"
import { type Remote, RemoteKeyboard, RemotePointer } from "./remote.ts"
import { seatWith } from "./seat.ts"
import type { BusAccess } from "./session-bus.ts"

/** GNOME's pointer and keyboard, by the compositor's own D-Bus interface. No dialog asks for consent. */
export function mutterDevices(wayland: Wayland, env: Env, access: BusAccess, owner: string): Devices {
  const open = async (deadline: Deadline) => MutterRemote.open(await access.bus(deadline), owner, deadline)
  return {
    pointer: async (outputs, deadline) => {
      await seatWith(wayland, "pointer", deadline)
      return MutterPointer.open(await open(deadline), outputs, deadline)
    },
    keyboard: async (deadline) => {
      await seatWith(wayland, "keyboard", deadline)
      const remote = await open(deadline)
      await remote.start(deadline)
      if (await remote.hasCapsLock(deadline)) {
        await remote.close(deadline)
        throw refused("Caps Lock is on, which would change letters", "Ask the user to switch it off")
      }
      return RemoteKeyboard.open(env, remote, deadline)
    },
  }
}

/** A session of org.gnome.Mutter.RemoteDesktop. It ends with our bus connection at the latest. */
class MutterRemote implements Remote {
  readonly isOrdered = true
  readonly #bus: Bus
  readonly #owner: string
  readonly #path: string

  private constructor(bus: Bus, owner: string, path: string) {
    this.#bus = bus
    this.#owner = owner
    this.#path = path
  }

  static async open(bus: Bus, owner: string, deadline: Deadline): Promise<MutterRemote> {
    return inWords(async () => {
      const create = method(`${REMOTE}.CreateSession`)
      const reply = await bus.call(create, owner, "/org/gnome/Mutter/RemoteDesktop", deadline)
      return new MutterRemote(bus, owner, readAs(reply, "o").string())
    })
  }

  async start(deadline: Deadline): Promise<void> {
    await inWords(() => this.#call("Start", "", [], deadline))
  }

  /**
   * Ties a screen cast of a display to the session: pointer positions are relative to it. Its pictures are not read.
   */
  async addStream(connector: string, deadline: Deadline): Promise<string> {
    return inWords(async () => {
      const id = await this.#property("SessionId", deadline)
      const link = new Map([["remote-desktop-session-id", { signature: "s", value: String(id) }]])
      const create = method(`${CAST}.CreateSession`, "a{sv}", [link])
      const made = await this.#bus.call(create, this.#owner, "/org/gnome/Mutter/ScreenCast", deadline)
      const record = method(`${CAST}.Session.RecordMonitor`, "sa{sv}", [connector, new Map()])
      const reply = await this.#bus.call(record, this.#owner, readAs(made, "o").string(), deadline)
      return readAs(reply, "o").string()
    })
  }

  async hasCapsLock(deadline: Deadline): Promise<boolean> {
    return (await this.#property("CapsLockState", deadline).catch(() => false)) === true
  }

  async key(code: number, isDown: boolean, deadline: Deadline): Promise<void> {
    await this.#call("NotifyKeyboardKeycode", "ub", [code, isDown], deadline)
  }

  async button(code: number, isDown: boolean, deadline: Deadline): Promise<void> {
    await this.#call("NotifyPointerButton", "ib", [code, isDown], deadline)
  }

  async wheel(axis: Axis, steps: number, deadline: Deadline): Promise<void> {
    await this.#call("NotifyPointerAxisDiscrete", "ui", [axis === "vertical" ? 0 : 1, steps], deadline)
  }

  async moveTo(stream: string, { x, y }: Point, deadline: Deadline): Promise<void> {
    await this.#call("NotifyPointerMotionAbsolute", "sdd", [stream, x, y], deadline)
  }

  async close(deadline: Deadline): Promise<void> {
    await this.#call("Stop", "", [], deadline)
  }

  async #property(name: string, deadline: Deadline): Promise<Value> {
    const get = method("org.freedesktop.DBus.Properties.Get", "ss", [`${REMOTE}.Session`, name])
    const reply = await this.#bus.call(get, this.#owner, this.#path, deadline)
    const [value] = unmarshal(reply.signature, reply.body)
    return value !== undefined && isVariant(value) ? value.value : ""
  }

  async #call(
    member: string,
    signature: string,
    values: readonly Value[],
    deadline: Deadline,
  ): Promise<void> {
    const call = method(`${REMOTE}.Session.${member}`, signature, values)
    await this.#bus.call(call, this.#owner, this.#path, deadline)
  }
}

class MutterPointer extends RemotePointer {
  readonly #remote: MutterRemote
  /** A stream for each display. */
  readonly #streams: readonly (readonly [Output, string])[]

  private constructor(remote: MutterRemote, streams: readonly (readonly [Output, string])[]) {
    super(remote)
    this.#remote = remote
    this.#streams = streams
  }

  static async open(
    remote: MutterRemote,
    outputs: readonly Output[],
    deadline: Deadline,
  ): Promise<MutterPointer> {
    try {
      // On scaled displays, streams count pixels differently, which is untested.
      if (outputs.some(({ info }) => info.scale !== 1))
        throw refused(
          "A display is scaled, and the pointer's position on it cannot be verified",
          "Use commands that work by accessibility, or set the display's scale to 100 %",
        )
      const streams: (readonly [Output, string])[] = []
      for (const output of outputs)
        streams.push([output, await remote.addStream(output.info.id, deadline)] as const)
      await remote.start(deadline)
      return new MutterPointer(remote, streams)
    } catch (error) {
      await remote.close(deadline).catch(() => {})
      throw error
    }
  }

  async moveTo(point: Point, deadline: Deadline): Promise<void> {
    const found = this.#streams.find(([{ info }]) => contains(info.bounds, point))
    if (!found) throw refused(`${point.x},${point.y} is not on any display`, "Run 'list-displays'")
    const [{ info }, stream] = found
    await this.#remote.moveTo(stream, { x: point.x - info.bounds.x, y: point.y - info.bounds.y }, deadline)
  }
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DBusTimeout)
      throw new AppError("TIMEOUT", "GNOME Shell did not answer in time", {
        details: { kind: "compositor" },
        disposition: NOTHING_DELIVERED,
      })
    if (!(error instanceof DBusError)) throw error
    throw new AppError("PLATFORM_NOT_SUPPORTED", "GNOME takes no input from programs in this session", {
      suggestion: "The pointer needs PipeWire to run: start it, or use commands that work by accessibility",
      platformDetail: `${error.code}: ${error.message}`,
      disposition: NOTHING_DELIVERED,
    })
  }
}

function refused(message: string, suggestion: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", message, { suggestion, disposition: NOTHING_DELIVERED })
}

const REMOTE = "org.gnome.Mutter.RemoteDesktop"
const CAST = "org.gnome.Mutter.ScreenCast"
