import { FIXED, messageLength } from "./dbus-message.ts"
import { viewOf } from "./dbus-read.ts"

export type Take = (bytes: Buffer, view: DataView, start: number, end: number) => void

/**
 * Cuts a stream of chunks into whole messages. A message within one chunk is not copied; a longer one
 * is collected in a buffer of its own size, whatever the size of the chunks.
 */
export class MessageStream {
  #partial: Buffer | undefined
  #filled = 0

  push(chunk: Buffer, take: Take): void {
    let at = 0
    while (this.#partial) {
      at += this.#fill(this.#partial, chunk, at)
      if (this.#filled < this.#partial.length) return
      const whole = this.#partial
      const view = viewOf(whole)
      const length = messageLength(whole, view, 0)
      this.#partial = undefined
      if (length > whole.length) this.#begin(length, whole, 0)
      else take(whole, view, 0, length)
    }
    const view = viewOf(chunk)
    while (chunk.length - at >= FIXED) {
      const length = messageLength(chunk, view, at)
      if (length > chunk.length - at) {
        this.#begin(length, chunk, at)
        return
      }
      take(chunk, view, at, at + length)
      at += length
    }
    if (at < chunk.length) this.#begin(FIXED, chunk, at)
  }

  #begin(length: number, chunk: Buffer, at: number): void {
    this.#partial = Buffer.allocUnsafeSlow(length)
    this.#filled = 0
    this.#fill(this.#partial, chunk, at)
  }

  #fill(partial: Buffer, chunk: Buffer, at: number): number {
    const size = Math.min(partial.length - this.#filled, chunk.length - at)
    partial.set(chunk.subarray(at, at + size), this.#filled)
    this.#filled += size
    return size
  }
}
