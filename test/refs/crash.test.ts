import { expect, test } from "bun:test"
import { killAtRandom } from "../fuzz/crash.ts"

test("commands killed at random instants leave the old map or the new one, and the next one works", async () => {
  const figures = await killAtRandom(100, 1)
  expect(figures.kills).toBe(100)
  // Otherwise it was not killed, and nothing is proved.
  expect(figures.alive).toBeGreaterThan(50)
}, 180_000)
