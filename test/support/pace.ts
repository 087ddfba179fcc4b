import { expect } from "bun:test"

/** Time limits of tests that take into account how busy the machine is at that moment. */

export interface Timed<T> {
  readonly result: T
  readonly ms: number
  /** The time that a busy machine adds: nearly constant on a quiet one, seconds on an overloaded one. */
  readonly slackMs: number
}

/** Runs the work, and measures meanwhile how long this machine takes to start a trivial program. */
export async function timed<T>(work: () => T | Promise<T>): Promise<Timed<T>> {
  const metronome = await startMetronome()
  try {
    const start = performance.now()
    const result = await work()
    const ms = performance.now() - start
    return { result, ms, slackMs: LEAST_SLACK_MS + STARTS * (await metronome.worstMs()) }
  } finally {
    metronome.stop()
  }
}

/** Runs the work, and expects that it ends within this time and the slack of the machine. */
export async function within<T>(limitMs: number, work: () => T | Promise<T>): Promise<T> {
  const { result, ms, slackMs } = await timed(work)
  expect(ms).toBeLessThan(limitMs + slackMs)
  return result
}

/**
 * A timeout for a command that waits for something that never happens: this long on a quiet machine, so that
 * the test ends soon, and longer on a busy one, so that the command can do the rest of its work.
 */
export function shortTimeout(ms: number): number {
  const starts = Array.from({ length: 3 }, () => {
    const start = performance.now()
    Bun.spawnSync(["true"])
    return performance.now() - start
  })
  return Math.round(Math.min(Math.max(ms, 4 * STARTS * Math.max(...starts)), 10 * ms))
}

const LEAST_SLACK_MS = 300
/** The time of one of our commands, in starts of a trivial program; far above the measured value. */
const STARTS = 25
const PAUSE_MS = 50

/**
 * A shell that writes the time, pauses, and writes it again: each line is two starts of trivial programs. It is a
 * process of its own, so that it continues while a native call blocks the test. It ends once its output has no reader.
 */
async function startMetronome() {
  const shell = Bun.spawn(["sh", "-c", `while date +%s%N; do sleep ${PAUSE_MS / 1000}; done`], {
    stdio: ["ignore", "pipe", "ignore"],
  })
  const reader = shell.stdout.getReader()
  const decoder = new TextDecoder()
  let text = ""
  const beat = async () => {
    for (const before = beats().length; beats().length === before; ) {
      const { value, done } = await reader.read()
      if (done) throw new Error("The metronome ended")
      text += decoder.decode(value, { stream: true })
    }
  }
  const beats = () => text.split("\n").slice(0, -1).map(Number)
  await beat()
  return {
    /** The longest pause so far, minus its intended length. */
    worstMs: async () => {
      // Wait for two lines: the first may have been written before the work ended.
      await beat()
      await beat()
      const times = beats()
      return Math.max(...times.slice(1).map((time, i) => (time - times[i]!) / 1e6 - PAUSE_MS), 0)
    },
    stop: () => shell.kill("SIGKILL"),
  }
}
