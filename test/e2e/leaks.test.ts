import { expect, test } from "bun:test"
import { askServer, cycleDesktops } from "./leaks.ts"

// The long runs of both are in bench/leaks.ts.

test("desktops that are stopped leave nothing, also when a part of theirs was killed", async () => {
  const { killed, left } = await cycleDesktops(10)
  expect(left).toEqual([])
  expect(killed).toBe(5)
})

test("a server that is asked hundreds of times keeps no more open than at first", async () => {
  const { failed, descriptors, memory } = await askServer(400)
  expect(failed).toBe(120)
  expect(descriptors.late).toBeLessThanOrEqual(descriptors.early + 1)
  expect(memory.late - memory.middle).toBeLessThan(60)
})
