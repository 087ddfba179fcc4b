import { afterAll, beforeAll, expect, test } from "bun:test"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { listWindows, managerAnswers, watchWindows } from "../../../src/linux/x11/windows.ts"
import { until } from "../../support/until.ts"
import { patience, startManager, startXvfb, type Xvfb } from "./xvfb.ts"

let desk: Xvfb
/** A connection for the watch alone, so that it sees no other events. */
let own: X11

beforeAll(async () => {
  desk = await startXvfb()
  await startManager(desk, ["openbox"])
  own = await X11.connect(desk.env, patience())
})
afterAll(async () => {
  own?.close()
  await desk?.[Symbol.asyncDispose]()
})

const terminal = (title: string) => desk.spawn(["xterm", "-T", title, "-geometry", "30x8+40+40"])
const idOf = (title: string) =>
  until(
    async () => (await listWindows(desk.x, patience())).find((one) => one.title === title && one.focused)?.id,
  )

test("a watch reports windows that open, change their title, lose the focus and close", async () => {
  let changes = 0
  using _watch = await watchWindows(own, patience(), () => {
    changes++
  })
  /** Does something and waits until the watch reports it. */
  const wakes = async (act: () => unknown) => {
    await quiet(() => changes)
    const before = changes
    await act()
    await until(async () => changes > before)
  }
  const first = { child: terminal("One"), id: 0 }
  await until(async () => changes > 0)
  first.id = await idOf("One")
  await wakes(() => desk.run(["xdotool", "set_window", "--name", "Uno", String(first.id)]))
  const second = terminal("Two")
  await idOf("Two")
  await wakes(() => desk.run(["xdotool", "windowactivate", String(first.id)]))
  await wakes(() => second.kill())
  await wakes(() => first.child.kill())
})

test("a watch does not report keys and moves, nor anything after it is closed", async () => {
  const child = terminal("Three")
  const id = await idOf("Three")
  let changes = 0
  const watch = await watchWindows(own, patience(), () => {
    changes++
  })
  await quiet(() => changes)
  const before = changes
  await desk.run(["xdotool", "windowmove", String(id), "200", "150", "type", "--window", String(id), "abc"])
  await own.sync(patience())
  expect(changes).toBe(before)
  watch[Symbol.dispose]()
  child.kill()
  await until(async () => (await listWindows(desk.x, patience())).length === 0)
  await own.sync(patience())
  expect(changes).toBe(before)
})

/** Waits until the window manager has answered three times without an event in between. */
async function quiet(count: () => number): Promise<void> {
  let last = count()
  for (let same = 0; same < 3; same++) {
    await managerAnswers(desk.x, patience())
    await own.sync(patience())
    if (count() !== last) same = -1
    last = count()
  }
}
