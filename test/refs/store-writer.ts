// A process that writes to a ref store, for store-writers.test.ts.
// Usage: store-writer.ts ROOT (save|append|both|hold) TAG COUNT
import { tryLock } from "../../ffi/libsystem.ts"
import { AppError } from "../../src/errors.ts"
import { openLockFile } from "../../src/private-files.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { openRefStore } from "../../src/refs/store.ts"

/** A map whose every entry says how many there are, and which save they are of. */
export function generation(tag: number, turn: number): RefEntry[] {
  const count = 20 + ((tag * 7 + turn * 13) % 60)
  return Array.from({ length: count }, (_, index) => ({
    ...appended(tag, turn),
    name: `generation ${tag}.${turn} of ${count}`,
    address: `saved ${index}`,
  }))
}

export const appended = (tag: number, turn: number): RefEntry => ({
  pid: tag,
  role: "button",
  name: `appended ${tag}.${turn}`,
  value: "x".repeat(100),
  states: ["enabled"],
  available_actions: ["Click"],
  address: `appended ${tag}.${turn}`,
})

if (import.meta.main) {
  const [root = "", mode = "", tag = "0", count = "Infinity"] = process.argv.slice(2)
  if (mode === "hold") {
    if (!tryLock(openLockFile(`${root}/.lock`))) throw new Error("another process holds the lock")
    console.log("held")
    await new Promise((resolve) => setTimeout(resolve, 600_000))
  }
  const store = openRefStore({ root })
  const refs: Record<string, string> = {}
  for (let turn = 0; turn < Number(count); turn++) {
    if (mode !== "append") await patiently(() => store.save(generation(Number(tag), turn)))
    if (mode !== "save") {
      const [ref] = await patiently(() => store.append([appended(Number(tag), turn)]))
      refs[`appended ${tag}.${turn}`] = String(ref)
    }
    if (turn === 0) console.log("started")
  }
  console.log(JSON.stringify(refs))
}

// A slow disk under many writers may let a turn run out; the error says to retry.
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError && error.code === "TIMEOUT")) throw error
    }
  }
}
