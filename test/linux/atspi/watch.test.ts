import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { lastShown, watchEvents } from "../../../src/linux/atspi/watch.ts"
import { type Answer, Bus, DBUS, DBUS_PATH, method } from "../../../src/linux/dbus/bus.ts"
import { until } from "../../support/until.ts"
import { type Daemon, startDaemon } from "../dbus/daemon.ts"

const soon = () => Deadline.in(10_000)
const CHANGED = "org.a11y.atspi.Event.Object.StateChanged"

let daemon: Daemon
let registry: Bus
let asked: string[] = []
/** The signature that the fake registry accepts. Old releases accept only the event. */
let understood = "sass"

beforeAll(async () => {
  daemon = await startDaemon()
  registry = await Bus.open(daemon.address, soon())
  await registry.call(
    method(`${DBUS}.RequestName`, "su", ["org.a11y.atspi.Registry", 0]),
    DBUS,
    DBUS_PATH,
    soon(),
  )
  registry.serve((call): Answer => {
    asked.push(`${call.member} ${call.signature}`)
    const isKnown = call.member === "DeregisterEvent" || call.signature === understood
    return isKnown ? {} : { error: "org.freedesktop.DBus.Error.InvalidArgs" }
  })
})
afterAll(async () => {
  registry.close()
  await daemon[Symbol.asyncDispose]()
})

async function open(): Promise<{ bus: Bus; app: Bus } & Disposable> {
  const [bus, app] = await Promise.all([Bus.open(daemon.address, soon()), Bus.open(daemon.address, soon())])
  asked = []
  return {
    bus,
    app,
    [Symbol.dispose]() {
      bus.close()
      app.close()
    },
  }
}

const happen = (app: Bus, what = "focused", path = "/a"): void =>
  app.emit(path, CHANGED, "siiv", [what, 1, 0, { signature: "i", value: 0 }])

describe("a watch", () => {
  test("wakes on an event, and reports a pause without one", async () => {
    using got = await open()
    const watch = await watchEvents(got.bus, soon(), undefined)
    const waiting = watch.changed(10_000)
    happen(got.app)
    expect(await waiting).toBe(true)
    expect(await watch.changed(20)).toBe(false)
    await watch.close()
  })

  test("reports an event that comes between two calls", async () => {
    using got = await open()
    const watch = await watchEvents(got.bus, soon(), undefined)
    happen(got.app)
    // A reply after the event proves that the event has arrived.
    await got.app.call(method(`${DBUS}.GetId`), DBUS, DBUS_PATH, soon())
    await got.bus.call(method(`${DBUS}.GetId`), DBUS, DBUS_PATH, soon())
    expect(await watch.changed(0)).toBe(true)
    await watch.close()
  })

  test("of other processes ignores events once it knows their process", async () => {
    using got = await open()
    const watch = await watchEvents(got.bus, soon(), [1])
    happen(got.app)
    await watch.changed(10_000)
    await got.bus.call(method(`${DBUS}.GetId`), DBUS, DBUS_PATH, soon())
    await watch.changed(0)
    happen(got.app)
    expect(await watch.changed(300)).toBe(false)
    const own = await watchEvents(got.bus, soon(), [process.pid])
    const waiting = own.changed(10_000)
    happen(got.app)
    expect(await waiting).toBe(true)
    await Promise.all([watch.close(), own.close()])
  })

  test("works with registries of both forms, and unregisters its events", async () => {
    for (const form of ["sass", "s"]) {
      understood = form
      using got = await open()
      const watch = await watchEvents(got.bus, soon(), undefined)
      expect(asked).toContain(`RegisterEvent ${form}`)
      const wishes = asked.filter((one) => one === `RegisterEvent ${form}`).length
      await watch.close()
      await until(() => asked.filter((one) => one.startsWith("DeregisterEvent")).length === wishes)
    }
    understood = "sass"
  })

  test("soon after another one reuses its registrations", async () => {
    using got = await open()
    const told = () => asked.filter((one) => one.startsWith("RegisterEvent")).length
    const first = await watchEvents(got.bus, soon(), undefined)
    const wishes = told()
    await first.close()
    for (let turn = 0; turn < 3; turn++) {
      const watch = await watchEvents(got.bus, soon(), undefined)
      const waiting = watch.changed(10_000)
      happen(got.app)
      expect(await waiting).toBe(true)
      await watch.close()
    }
    expect(told()).toBe(wishes)
    await until(() => asked.filter((one) => one.startsWith("DeregisterEvent")).length === wishes)
  })

  test("only pauses if no registry accepts its events", async () => {
    await using lonely = await startDaemon()
    const bus = await Bus.open(lonely.address, soon())
    const watch = await watchEvents(bus, soon(), undefined)
    expect(await watch.changed(20)).toBe(false)
    await watch.close()
    bus.close()
  })

  test("fails if the bus goes away", async () => {
    await using mortal = await startDaemon()
    const bus = await Bus.open(mortal.address, soon())
    const watch = watchEvents(bus, Deadline.in(2000), undefined)
    mortal.process.kill("SIGKILL")
    await expect(watch).rejects.toThrow()
    bus.close()
  })

  test("remembers the objects that reported to be showing", async () => {
    using got = await open()
    const watch = await watchEvents(got.bus, soon(), undefined)
    const waiting = watch.changed(10_000)
    happen(got.app, "showing", "/menu")
    await waiting
    expect(lastShown(got.bus)).toEqual([{ bus: await got.app.name, path: "/menu" }])
    await watch.close()
  })
})
