import { sendWith } from "../../../ffi/descriptors.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { EventReader, type WaylandEvent, WaylandMessage } from "./wire.ts"

/** A connection to a Wayland compositor: requests, events by object, and the compositor's globals. */
export class Wayland {
  readonly globals = new Map<string, Global>()
  readonly outputs: Global[] = []
  #socket: Bun.Socket | undefined
  readonly #reader = new EventReader()
  readonly #listeners = new Map<number, (event: WaylandEvent) => void>()
  #nextId = 2
  #failure: string | undefined
  #waiting: (() => void)[] = []
  readonly #ended = Promise.withResolvers<void>()

  static async connect(env: Env, deadline: Deadline): Promise<Wayland> {
    const path = socketPath(env)
    const wayland = new Wayland()
    wayland.#socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_, chunk) => wayland.#receive(chunk),
        close: () => wayland.#fail("the compositor hung up"),
        error: (_, error) => wayland.#fail(String(error)),
      },
    }).catch((error: unknown) => {
      throw new AppError("PLATFORM_NOT_SUPPORTED", `The Wayland compositor at ${path} cannot be reached`, {
        suggestion: "Run inside the desktop session; 'doctor' shows what is missing",
        platformDetail: String(error),
      })
    })
    try {
      await wayland.#readGlobals(deadline)
    } catch (error) {
      wayland.close()
      throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
    }
    return wayland
  }

  get closed(): boolean {
    return this.#failure !== undefined
  }

  /** Resolves when the connection has ended. */
  get closing(): Promise<void> {
    return this.#ended.promise
  }

  /** Creates an object id whose events go to `listener`. */
  create(listener: (event: WaylandEvent) => void = () => {}): number {
    const id = this.#nextId++
    this.#listeners.set(id, listener)
    return id
  }

  /** Listens to the events of an object that the compositor has created. */
  adopt(id: number, listener: (event: WaylandEvent) => void): void {
    this.#listeners.set(id, listener)
  }

  send(message: WaylandMessage): void {
    if (this.#failure || !this.#socket) throw lost(this.#failure ?? "it is not open")
    const bytes = message.bytes()
    // The socket buffer is far larger than everything that one command sends.
    const sent = sendWith(fdOf(this.#socket), bytes, message.fds)
    if (sent !== bytes.length) {
      this.#fail("a request could not be sent")
      throw lost("a request could not be sent")
    }
  }

  /** Binds a global. undefined: the compositor does not have it. */
  bind(name: string, version: number, listener?: (event: WaylandEvent) => void): number | undefined {
    const global = this.globals.get(name)
    return global && this.bindGlobal(name, global, version, listener)
  }

  bindGlobal(
    name: string,
    global: Global,
    version: number,
    listener?: (event: WaylandEvent) => void,
  ): number {
    const id = this.create(listener)
    const bound = Math.min(version, global.version)
    this.send(new WaylandMessage(REGISTRY, BIND).u32(global.name).text(name).u32(bound).u32(id))
    return id
  }

  /** Resolves when the compositor has handled everything that was sent before. */
  async sync(deadline: Deadline): Promise<void> {
    let isDone = false
    const id = this.create(() => {
      isDone = true
      this.#wake()
    })
    this.send(new WaylandMessage(DISPLAY, SYNC).u32(id))
    await this.wait(() => isDone, deadline)
  }

  /** Waits until events make the condition true. */
  async wait(isTrue: () => boolean, deadline: Deadline): Promise<void> {
    while (!isTrue()) {
      if (this.#failure) throw lost(this.#failure)
      if (deadline.expired)
        throw new AppError("TIMEOUT", "The Wayland compositor did not answer in time", {
          details: { kind: "compositor" },
        })
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      const timer = setTimeout(resolve, deadline.remaining)
      deadline.signal?.addEventListener("abort", () => resolve(), { once: true })
      await promise
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#fail("it was closed")
    // Not `end`, which waits for a compositor that may hang. The kernel already has everything that was sent.
    this.#socket?.terminate()
  }

  async #readGlobals(deadline: Deadline): Promise<void> {
    const registry = this.create((event) => {
      if (event.opcode !== GLOBAL) return
      const name = event.u32()
      const type = event.text()
      const global = { name, version: event.u32() }
      if (type === "wl_output") this.outputs.push(global)
      else this.globals.set(type, global)
    })
    this.send(new WaylandMessage(DISPLAY, GET_REGISTRY).u32(registry))
    await this.sync(deadline)
  }

  #receive(chunk: Uint8Array): void {
    try {
      for (const event of this.#reader.read(chunk)) this.#handle(event)
    } catch (error) {
      this.#fail(String(error))
    }
    this.#wake()
  }

  #handle(event: WaylandEvent): void {
    if (event.object !== DISPLAY) {
      this.#listeners.get(event.object)?.(event)
      return
    }
    if (event.opcode === ERROR) {
      const [object, code] = [event.u32(), event.u32()]
      this.#fail(`object ${object}: error ${code}: ${event.text()}`)
    } else if (event.opcode === DELETE_ID) this.#listeners.delete(event.u32())
  }

  #fail(reason: string): void {
    this.#failure ??= reason
    this.#ended.resolve()
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

export interface Global {
  /** The compositor's number for it. */
  readonly name: number
  readonly version: number
}

/** WAYLAND_DISPLAY may be a path. */
export function socketPath({
  WAYLAND_DISPLAY: name = "wayland-0",
  XDG_RUNTIME_DIR: runtime = "",
}: Env): string {
  return name.startsWith("/") ? name : `${runtime}/${name}`
}

// Bun's socket has its descriptor, though its types do not say so.
const fdOf = (socket: Bun.Socket): number => Number(Reflect.get(socket, "fd"))

function lost(reason: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "The connection to the Wayland compositor was lost", {
    suggestion: "Run 'doctor' to see what is missing, then retry",
    platformDetail: reason,
  })
}

const DISPLAY = 1
const REGISTRY = 2
const SYNC = 0
const GET_REGISTRY = 1
const BIND = 0
const GLOBAL = 0
const ERROR = 0
const DELETE_ID = 1
