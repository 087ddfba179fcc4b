import { expect, test } from "bun:test"
import { askServer, cycleDesktops } from "./leaks.ts"

// bench/leaks.ts has longer runs of both tests.

test("a stopped desktop leaves no process, socket or file, even if one of its processes was killed", async () => {
  const { killed, left } = await cycleDesktops(10)
  expect(left).toEqual([])
  expect(killed).toBe(5)
})

test("an MCP server has no more open files after hundreds of calls than at the start", async () => {
  const { failed, descriptors, memory } = await askServer(400)
  expect(failed).toBe(120)
  expect(descriptors.late).toBeLessThanOrEqual(descriptors.early + 1)
  expect(memory.late - memory.middle).toBeLessThan(60)
})
