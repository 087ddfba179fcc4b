import { expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { caughtUp, settled } from "../../../src/linux/x11/wait-for-reader.ts"
import { startXvfb } from "./xvfb.ts"

test("a wait for a reader ends without an error when its time is over, even if the X server is silent", async () => {
  await using server = await startXvfb()
  const { x } = server
  await x.intern(["WM_PROTOCOLS", "_NET_WM_PING"], Deadline.in(20_000))
  process.kill(server.pid, "SIGSTOP")
  try {
    const window = x.newId()
    expect(await caughtUp(x, window, Deadline.in(50))).toBe(false)
    expect(await settled(x, window, Deadline.in(50))).toBe(false)
  } finally {
    process.kill(server.pid, "SIGCONT")
  }
})
