/** Messages of the Wayland protocol: 32-bit words in the machine's order, strings and arrays with their length. */

export class WaylandMessage {
  readonly fds: number[] = []
  readonly #words: number[] = []
  readonly #object: number
  readonly #opcode: number

  constructor(object: number, opcode: number) {
    this.#object = object
    this.#opcode = opcode
  }

  u32(value: number): this {
    this.#words.push(value >>> 0)
    return this
  }

  i32(value: number): this {
    return this.u32(value | 0)
  }

  /** A number with 8 bits after the point. */
  fixed(value: number): this {
    return this.i32(Math.round(value * 256))
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(`${value}\0`)
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
    padded.set(bytes)
    this.u32(bytes.length)
    this.#words.push(...new Uint32Array(padded.buffer))
    return this
  }

  fd(fd: number): this {
    this.fds.push(fd)
    return this
  }

  bytes(): Uint8Array {
    const size = 8 + this.#words.length * 4
    return new Uint8Array(new Uint32Array([this.#object, (size << 16) | this.#opcode, ...this.#words]).buffer)
  }
}

/** One event, read word by word. */
export class WaylandEvent {
  readonly object: number
  readonly opcode: number
  readonly #view: DataView
  #at = 8

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.object = this.#view.getUint32(0, true)
    this.opcode = this.#view.getUint32(4, true) & 0xffff
  }

  u32(): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4, true)
  }

  i32(): number {
    return this.u32() | 0
  }

  text(): string {
    const length = this.u32()
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#at, Math.max(0, length - 1))
    this.#at += Math.ceil(length / 4) * 4
    return new TextDecoder().decode(bytes)
  }
}

/** Cuts a stream into events. */
export class EventReader {
  #rest: Uint8Array = new Uint8Array(0)

  /** The events that are complete now. */
  read(chunk: Uint8Array): readonly WaylandEvent[] {
    const events: WaylandEvent[] = []
    const all = new Uint8Array(this.#rest.length + chunk.length)
    all.set(this.#rest)
    all.set(chunk, this.#rest.length)
    const view = new DataView(all.buffer)
    let at = 0
    while (all.length - at >= 8) {
      const size = view.getUint32(at + 4, true) >>> 16
      if (size < 8) throw new RangeError(`a Wayland event of ${size} bytes`)
      if (all.length - at < size) break
      events.push(new WaylandEvent(all.subarray(at, at + size)))
      at += size
    }
    this.#rest = all.slice(at)
    return events
  }
}
