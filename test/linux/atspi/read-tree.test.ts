import { describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element, isGone } from "../../../src/linux/atspi/element.ts"
import { readFrames } from "../../../src/linux/atspi/frames.ts"
import { frameElement, pastTheBus, readTree, translatingErrors } from "../../../src/linux/atspi/read-tree.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { DBusError, DBusTimeout } from "../../../src/linux/dbus/bus.ts"
import { startPeer } from "../dbus/daemon.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"
import { bus, daemon, OPTIONS, withBus } from "./walked.ts"

withBus()

/** The path of the cache is outside the objects' paths; the fake serves it as an object with an empty id. */
const SILENT_CACHE: FakeNode = { role: "PANEL", id: "", silent: ["GetItems"] }

async function treeOf(app: FakeApp, ms: number) {
  const atspi = new Atspi(bus, Deadline.in(ms))
  const owner = { ref: app.ref("root"), pid: process.pid, name: "fake", responsive: true }
  const [frame] = await readFrames(atspi, owner, true)
  const element = frameElement(frame!, undefined, async () => [])
  return readTree(
    atspi,
    { element, window: { id: "w-1", title: "Window" }, surface: "window", frame },
    OPTIONS,
  )
}

describe("the tree of a window", () => {
  test("is returned in part, with complete: false, if the cache does not answer in time", async () => {
    const button: FakeNode = { role: "PUSH_BUTTON", name: "Save" }
    using app = await FakeApp.start(
      daemon.address,
      { role: "FRAME", name: "Window", id: "window", children: [button, SILENT_CACHE] },
      { toolkit: "Chromium" },
    )
    const { complete, root } = await treeOf(app, 800)
    expect({ complete, role: root.role, name: root.name }).toEqual({
      complete: false,
      role: "window",
      name: "Window",
    })
  })

  test("asks its frame for each property once", async () => {
    using app = await FakeApp.start(
      daemon.address,
      { role: "FRAME", name: "Window", id: "window", children: [{ role: "PUSH_BUTTON", name: "Save" }] },
      { toolkit: "Qt" },
    )
    const { complete, root } = await treeOf(app, 10_000)
    expect({ complete, names: root.children.map(({ name }) => name) }).toEqual({
      complete: true,
      names: ["Save"],
    })
    const asked = app.asked("window")
    expect(asked.length).toBe(new Set(asked).size)
  })
})

test("an object that an app removes while it is read is reported as removed, not as an invalid reply", async () => {
  const error = new DBusError("org.freedesktop.DBus.Error.UnknownObject", "no /7")
  await expect(translatingErrors({ app: "fake" }, Promise.reject(error))).rejects.toMatchObject({
    code: "ACTION_FAILED",
    message: "App 'fake' removed an element while it was read",
    platformDetail: "no /7",
    details: { kind: "removed" },
  })
})

describe("an application with a direct socket", () => {
  const frame: FakeNode = { role: "FRAME", name: "Window", id: "window" }
  /** The result of asking the window for its name through that socket. */
  async function outcome(address: string, ms = 10_000): Promise<unknown> {
    using app = await FakeApp.start(daemon.address, frame, { toolkit: "Chromium", address })
    const place = {
      pid: process.pid,
      app: "fake",
      traits: TRAITS.chromium,
      shift: undefined,
    }
    const element = new Element(app.ref("window"), place)
    const atspi = new Atspi(bus, Deadline.in(ms))
    return await pastTheBus(atspi, element, (near) => near.name(element.ref)).catch((error: unknown) => error)
  }

  test("is asked through the bus if nothing listens on the socket", async () => {
    expect(await outcome("unix:path=/nonexistent/socket")).toBe("Window")
    expect(await outcome("")).toBe("Window")
  })

  test("counts as gone if it closes the connection, and the bus stays usable", async () => {
    using peer = startPeer({ data: (socket) => void socket.end() })
    expect(isGone(await outcome(peer.address))).toBe(true)
    expect(bus.failure).toBeUndefined()
  })

  test("causes a timeout that does not blame the bus if it does not answer", async () => {
    using peer = startPeer({})
    const error = await outcome(peer.address, 500)
    expect(error).toBeInstanceOf(DBusTimeout)
    expect(error).toHaveProperty("silentBus", false)
  })
})
