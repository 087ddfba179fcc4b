import type { FakeMac } from "./fake.ts"

/**
 * Runs the program by the scene's virtual clock. No wait takes real time, neither in the app nor in the program, and
 * timers end in the right order. So a scene may have the delays and time limits of a Mac.
 */
export async function inSceneTime<T>(mac: FakeMac, work: () => Promise<T>): Promise<T> {
  const timers = new Map<object, { readonly at: number; readonly run: () => void }>()
  let isTurning = false
  const turn = (): void => {
    isTurning = timers.size > 0
    if (!isTurning) return
    // Ready work comes first. Time passes only if everything waits.
    setImmediate(() =>
      setImmediate(() => {
        const [next] = [...timers].sort(([, a], [, b]) => a.at - b.at)
        if (next) {
          timers.delete(next[0])
          mac.sleep(Math.max(0, next[1].at - mac.now()))
          next[1].run()
        }
        turn()
      }),
    )
  }
  const later = (run: () => void, ms = 0): object => {
    const timer = { unref: () => timer, ref: () => timer }
    timers.set(timer, { at: mac.now() + ms, run })
    if (!isTurning) turn()
    return timer
  }
  const replaced: readonly (readonly [object, string, unknown])[] = [
    [performance, "now", () => mac.now()],
    [globalThis, "setTimeout", later],
    [globalThis, "clearTimeout", (timer: object) => timers.delete(timer)],
    [Bun, "sleep", (ms: number) => new Promise<void>((resolve) => later(resolve, ms))],
    [Bun, "sleepSync", (ms: number) => mac.sleep(ms)],
  ]
  const before = replaced.map(([owner, name]) => [owner, name, Reflect.get(owner, name)] as const)
  for (const [owner, name, value] of replaced) Reflect.set(owner, name, value)
  try {
    return await work()
  } finally {
    for (const [owner, name, value] of before) Reflect.set(owner, name, value)
  }
}
