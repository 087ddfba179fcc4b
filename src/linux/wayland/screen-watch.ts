import { closeSync, ftruncateSync, readSync } from "node:fs"
import { memoryFile } from "../../../ffi/descriptors.ts"
import type { Env } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { ScreenPart, ScreenWatch } from "../../watch.ts"
import { Wayland } from "./connection.ts"
import { readOutputs } from "./displays.ts"
import {
  asBgrx,
  BUFFER,
  CAPTURE_OUTPUT,
  COPY,
  CREATE_BUFFER,
  CREATE_POOL,
  FAILED,
  FLAGS,
  type Layout,
  READY,
  Y_INVERT,
} from "./picture.ts"
import { WaylandMessage } from "./wire.ts"

/**
 * Follows the pixels of a compositor with a single unscaled output. The compositor copies the next picture only when
 * something has changed. undefined: it cannot, or it has several outputs.
 */
export async function watchScreen(env: Env, deadline: Deadline): Promise<ScreenWatch | undefined> {
  const wayland = await Wayland.connect(env, deadline)
  const watch = await Copies.open(wayland, deadline).catch(() => undefined)
  if (!watch) wayland.close()
  return watch
}

class Copies implements ScreenWatch {
  readonly #wayland: Wayland
  readonly #manager: number
  readonly #shm: number
  readonly #output: number
  #buffer: { readonly file: number; readonly id: number; readonly layout: Layout } | undefined
  /** The state of the copy that was asked for last. */
  #copy: "none" | "asked" | "ready" | "failed" = "none"
  #isFlipped = false

  static async open(wayland: Wayland, deadline: Deadline): Promise<Copies | undefined> {
    const version = wayland.globals.get("zwlr_screencopy_manager_v1")?.version ?? 0
    const manager = wayland.bind("zwlr_screencopy_manager_v1", 2)
    const shm = wayland.bind("wl_shm", 1)
    const [output, ...others] = await readOutputs(wayland, deadline)
    if (version < 2 || manager === undefined || shm === undefined || !output || others.length > 0)
      return undefined
    const { bounds, scale } = output.info
    if (bounds.x !== 0 || bounds.y !== 0 || scale !== 1) return undefined
    const copies = new Copies(wayland, manager, shm, output.object)
    copies.#ask(false)
    await wayland.wait(() => copies.#copy !== "asked", deadline)
    return copies.#copy === "ready" ? copies : undefined
  }

  private constructor(wayland: Wayland, manager: number, shm: number, output: number) {
    this.#wayland = wayland
    this.#manager = manager
    this.#shm = shm
    this.#output = output
  }

  get size(): { readonly width: number; readonly height: number } {
    const { width = 0, height = 0 } = this.#buffer?.layout ?? {}
    return { width, height }
  }

  async changed(maxMs: number): Promise<boolean> {
    try {
      await this.#wayland.wait(() => this.#copy !== "asked", Deadline.in(maxMs))
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === "TIMEOUT") return false
      throw error
    }
  }

  async take(): Promise<readonly ScreenPart[]> {
    const isReady = this.#copy === "ready"
    const part = isReady && this.#buffer ? partOf(this.#buffer, this.#isFlipped) : undefined
    // Nothing is lost in between: the compositor tracks changes since the last copy.
    if (this.#copy !== "asked") this.#ask(true)
    return part ? [part] : []
  }

  close(): void {
    if (this.#buffer) closeSync(this.#buffer.file)
    this.#buffer = undefined
    this.#wayland.close()
  }

  /** Asks for a copy: at once, or when something has changed. */
  #ask(whenChanged: boolean): void {
    const wayland = this.#wayland
    this.#copy = "asked"
    const frame = wayland.create((event) => {
      if (event.opcode === BUFFER) {
        const layout = { format: event.u32(), width: event.u32(), height: event.u32(), stride: event.u32() }
        const buffer = this.#bufferFor(layout)
        wayland.send(new WaylandMessage(frame, whenChanged ? COPY_WITH_DAMAGE : COPY).u32(buffer))
      }
      if (event.opcode === FLAGS) this.#isFlipped = (event.u32() & Y_INVERT) !== 0
      if (event.opcode !== READY && event.opcode !== FAILED) return
      this.#copy = event.opcode === READY ? "ready" : "failed"
      wayland.send(new WaylandMessage(frame, DESTROY_FRAME))
    })
    wayland.send(new WaylandMessage(this.#manager, CAPTURE_OUTPUT).u32(frame).i32(1).u32(this.#output))
  }

  /** The buffer of the last copy, or a new one if the screen size has changed. */
  #bufferFor(layout: Layout): number {
    const { width, height, stride, format } = layout
    const known = this.#buffer
    if (known && known.layout.stride === stride && known.layout.height === height) return known.id
    if (known) closeSync(known.file)
    const file = memoryFile("agent-desktop-screen")
    if (file === undefined)
      throw new AppError("ACTION_FAILED", "The kernel could not allocate memory for a picture")
    ftruncateSync(file, stride * height)
    const [pool, id] = [this.#wayland.create(), this.#wayland.create()]
    const create = new WaylandMessage(this.#shm, CREATE_POOL).u32(pool).fd(file)
    this.#wayland.send(create.i32(stride * height))
    const buffer = new WaylandMessage(pool, CREATE_BUFFER).u32(id).i32(0).i32(width).i32(height)
    this.#wayland.send(buffer.i32(stride).u32(format))
    this.#buffer = { file, id, layout }
    return id
  }
}

function partOf(
  { file, layout }: { readonly file: number; readonly layout: Layout },
  isFlipped: boolean,
): ScreenPart {
  const bytes = new Uint8Array(layout.stride * layout.height)
  readSync(file, bytes, 0, bytes.length, 0)
  const pixels = asBgrx(bytes, { ...layout, isFlipped })
  return { x: 0, y: 0, width: layout.width, height: layout.height, bgrx: new Uint8Array(pixels.buffer) }
}

const DESTROY_FRAME = 1
const COPY_WITH_DAMAGE = 2
