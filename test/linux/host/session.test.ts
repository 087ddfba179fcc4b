import { afterEach, describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Session } from "../../../src/linux/host/session.ts"
import { openDesktop } from "../../support/desktop.ts"
import { startDaemon, startPeer } from "../dbus/daemon.ts"

const sessions: Session[] = []
const soon = (): Deadline => Deadline.in(5000)

function sessionOn(env: Readonly<Record<string, string>>): Session {
  const session = new Session(() => env)
  sessions.push(session)
  return session
}

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close()
})

/** The hint of a session for the bus that it found through the display. */
async function hintTo(address: string, display: string): Promise<string> {
  const bus = await sessionOn({ AT_SPI_BUS_ADDRESS: address }).a11y(soon())
  await bus.name
  return `${display} ${bus.guid} ${address}`
}

describe("the accessibility bus that refs come from", () => {
  test("is found on the display, and the hint contains its own id", async () => {
    await using desktop = await openDesktop()
    const session = sessionOn(desktop.env)
    const bus = await session.a11y(soon())
    await bus.name

    const asked = Bun.spawnSync(["xprop", "-root", "-notype", "AT_SPI_BUS"], { env: desktop.env })
    const [, address] = /"(.*)"/.exec(asked.stdout.toString()) ?? []
    expect(address).toContain(`guid=${bus.guid}`)
    expect(session.hintFor(bus)).toBe(`${desktop.display} ${bus.guid} ${address}`)
  })

  test("is reached by the hint without the display, and the hint stays the same", async () => {
    await using daemon = await startDaemon()
    const hint = await hintTo(daemon.address, ":none")
    const session = sessionOn({ DISPLAY: ":none" })
    const bus = await session.a11y(soon(), hint)

    expect(await bus.name).toMatch(/^:1\.\d+$/)
    expect(session.hintFor(bus)).toBe(hint)
  })

  test("is not confused with another bus that now listens at the same address", async () => {
    await using daemon = await startDaemon()
    await using desktop = await openDesktop()
    const hint = (await hintTo(daemon.address, desktop.display)).replace(/ \w+ /, ` ${"0".repeat(32)} `)
    const session = sessionOn(desktop.env)
    const bus = await session.a11y(soon(), hint)
    await bus.name

    expect(session.hintFor(bus)).toContain(`${desktop.env.XDG_RUNTIME_DIR}/at-spi/`)
    expect(session.hintFor(bus)).toContain(` ${bus.guid} `)
  })

  test("is searched on the display if the hinted one ended, refuses, or belongs to another display", async () => {
    await using desktop = await openDesktop()
    using refusing = startPeer({ data: (socket) => void socket.end("REJECTED EXTERNAL\r\n") })
    await using other = await startDaemon()
    for (const hint of [
      `${desktop.display} 12 unix:path=/nowhere/bus`,
      `${desktop.display} 12 ${refusing.address}`,
      await hintTo(other.address, ":other"),
      "nonsense",
      "",
    ]) {
      const session = sessionOn(desktop.env)
      const bus = await session.a11y(soon(), hint)
      await bus.name
      expect(session.hintFor(bus)).toContain(`${desktop.env.XDG_RUNTIME_DIR}/at-spi/`)
    }
  })

  test("is reported in time if it does not answer, and not replaced by another", async () => {
    using silent = startPeer({})
    const opening = sessionOn({ DISPLAY: ":none" }).a11y(Deadline.in(100), `:none 12 ${silent.address}`)

    expect(await opening.catch((error: unknown) => error)).toMatchObject({
      code: "TIMEOUT",
      message: "The accessibility bus did not answer in time",
    })
  })
})

test("a session closes its accessibility bus only after the last work on it, even if some fails", async () => {
  await using daemon = await startDaemon()
  const session = sessionOn({ AT_SPI_BUS_ADDRESS: daemon.address })
  const bus = await session.a11y(soon())
  const work = Promise.withResolvers<string>()
  session.leaveAfter(Promise.reject(new Error("no registry")))
  session.leaveAfter(work.promise.then(() => bus.name))
  const closed = session.close()
  expect(await Promise.race([closed.then(() => "closed"), bus.name.then(() => "open")])).toBe("open")
  work.resolve("done")
  await closed
  expect(bus.failure).toBeDefined()
})
