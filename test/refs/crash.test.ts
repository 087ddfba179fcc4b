import { expect, test } from "bun:test"
import { killAtRandom } from "../fuzz/crash.ts"

test("commands killed at random moments leave the old or the new map, and the next command works", async () => {
  const figures = await killAtRandom(100, 1)
  expect(figures.kills).toBe(100)
  // Below that, too few commands were still running to prove anything.
  expect(figures.alive).toBeGreaterThan(50)
}, 180_000)
