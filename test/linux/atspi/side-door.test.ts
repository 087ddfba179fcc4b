import { expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { openSideDoor } from "../../../src/linux/atspi/side-door.ts"
import { Bus } from "../../../src/linux/dbus/bus.ts"
import { until } from "../../support/until.ts"
import { startDaemon, startPeer } from "../dbus/daemon.ts"

test("the direct connection to an app is closed if the object is gone: it would keep the command alive", async () => {
  await using daemon = await startDaemon()
  let opens = 0
  using door = startPeer({ open: () => opens++ })
  const app = await Bus.open(daemon.address, Deadline.in(10_000))
  app.serve(({ member }) => {
    if (member === "GetApplicationBusAddress") return { signature: "s", values: [door.address] }
    if (member === "GetChildren") return { signature: "a(so)", values: [[]] }
    return { error: "org.freedesktop.DBus.Error.UnknownObject" }
  })
  const bus = await Bus.open(daemon.address, Deadline.in(10_000))
  const ref = { bus: await app.name, path: "/org/a11y/atspi/accessible/7" }

  const opened = openSideDoor(new Atspi(bus, Deadline.in(5000)), ref)
  expect(await opened.catch((error: Error) => error.name)).toBe("DBusError")
  expect(opens).toBe(1)
  await until(() => door.sockets.size === 0)
  app.close()
  bus.close()
})
