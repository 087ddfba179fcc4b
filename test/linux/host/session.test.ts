import { afterEach, describe, expect, test } from "bun:test"
import type { Way } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { Session } from "../../../src/linux/host/session.ts"
import { openDesktop } from "../../support/desktop.ts"
import { startDaemon, startPeer } from "../dbus/daemon.ts"

const sessions: Session[] = []
const soon = (): Deadline => Deadline.in(5000)

function sessionOn(env: Readonly<Record<string, string>>, way: Way): Session {
  const session = new Session(() => env, way)
  sessions.push(session)
  return session
}

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close()
})

/** What a session that found the bus by itself would remember of it. */
async function wayTo(address: string, display: string): Promise<string> {
  const bus = await sessionOn({ AT_SPI_BUS_ADDRESS: address }, {}).a11y(soon())
  await bus.name
  return `${display} ${bus.guid} ${address}`
}

describe("the accessibility bus that refs are from", () => {
  test("is found on the display once, and remembered with the name that it calls itself", async () => {
    await using desktop = await openDesktop()
    const way: Way = {}
    const bus = await sessionOn(desktop.env, way).a11y(soon())
    await bus.name

    const asked = Bun.spawnSync(["xprop", "-root", "-notype", "AT_SPI_BUS"], { env: desktop.env })
    const [, address] = /"(.*)"/.exec(asked.stdout.toString()) ?? []
    expect(address).toContain(`guid=${bus.guid}`)
    expect(way.known).toBe(`${desktop.display} ${bus.guid} ${address}`)
  })

  test("is reached without the display", async () => {
    await using daemon = await startDaemon()
    const way = { known: await wayTo(daemon.address, ":none") }
    const bus = await sessionOn({ DISPLAY: ":none" }, way).a11y(soon())

    expect(await bus.name).toMatch(/^:1\.\d+$/)
  })

  test("is not another bus that listens in its place by now", async () => {
    await using daemon = await startDaemon()
    await using desktop = await openDesktop()
    const known = (await wayTo(daemon.address, desktop.display)).replace(/ \w+ /, ` ${"0".repeat(32)} `)
    const way = { known }
    const bus = await sessionOn(desktop.env, way).a11y(soon())
    await bus.name

    expect(way.known).toContain(`${desktop.env.XDG_RUNTIME_DIR}/at-spi/`)
    expect(way.known).toContain(` ${bus.guid} `)
  })

  test("is looked for anew where it ended, was refused, or was that of another display", async () => {
    await using desktop = await openDesktop()
    using refusing = startPeer({ data: (socket) => void socket.end("REJECTED EXTERNAL\r\n") })
    await using other = await startDaemon()
    for (const known of [
      `${desktop.display} 12 unix:path=/nowhere/bus`,
      `${desktop.display} 12 ${refusing.address}`,
      await wayTo(other.address, ":other"),
      "nonsense",
      "",
    ]) {
      const way = { known }
      const bus = await sessionOn(desktop.env, way).a11y(soon())
      await bus.name
      expect(way.known).toContain(`${desktop.env.XDG_RUNTIME_DIR}/at-spi/`)
    }
  })

  test("that does not answer is reported in time, and not taken for another", async () => {
    using silent = startPeer({})
    const way = { known: `:none 12 ${silent.address}` }
    const opening = sessionOn({ DISPLAY: ":none" }, way).a11y(Deadline.in(100))

    expect(await opening.catch((error: unknown) => error)).toMatchObject({ code: "TIMEOUT" })
  })
})
