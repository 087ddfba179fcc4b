import { Deadline } from "../../src/deadline.ts"

type Truthy<T> = Exclude<T, false | null | undefined | "" | 0>

const LOOK_AGAIN_MS = 15

/**
 * Waits until the condition returns something truthy, and returns that. Tests wait with this and never
 * for a fixed time. The limit is far beyond what a busy machine needs.
 */
export async function until<T>(condition: () => T | Promise<T>, ms = 20_000): Promise<Truthy<T>> {
  const deadline = Deadline.in(ms)
  for (;;) {
    const result = await condition()
    // TypeScript does not narrow a type parameter by truthiness.
    if (result) return result as Truthy<T>
    if (deadline.expired) throw new Error(`Not within ${ms} ms: ${condition}`)
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}
