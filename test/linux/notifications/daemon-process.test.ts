import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { type Bus, DBUS, DBUS_PATH, method } from "../../../src/linux/dbus/bus.ts"
import { openDesktop, PROGRAM, runProgram, type TestDesktop } from "../../support/desktop.ts"
import { within } from "../../support/pace.ts"
import { temporary } from "../../support/temporary.ts"
import { until } from "../../support/until.ts"
import { firstLine } from "../dbus/daemon.ts"
import { NOTIFICATIONS, notify, openBus, ownerOf, pidOf, soon } from "./notify.ts"

let desktop: TestDesktop
let bus: Bus & Disposable

beforeAll(async () => {
  desktop = await openDesktop()
  bus = await openBus(desktop.env.DBUS_SESSION_BUS_ADDRESS!)
})
afterEach(() => desktop.run("dismiss-all-notifications"))
afterAll(async () => {
  bus.close()
  await desktop.close()
})

const list = async (...args: string[]) =>
  (await desktop.run("list-notifications", ...args)).json.data.notifications
const titles = async () => (await list()).map(({ title }: { title: string }) => title)

test("an index means the notification that was listed with it, even after another one has arrived", async () => {
  await notify(desktop.env, "first")
  expect(await list()).toMatchObject([{ index: 0, title: "first" }])
  await notify(desktop.env, "second")
  const { json } = await desktop.run("dismiss-notification", "0")
  expect(json.data).toMatchObject({ title: "first" })
  const again = await desktop.run("dismiss-notification", "0")
  expect(again.json.error.code).toBe("NOTIFICATION_NOT_FOUND")
  expect(await titles()).toEqual(["second"])
})

describe("without a usable daemon", () => {
  test("a hanging one takes no more than the command's timeout", async () => {
    await notify(desktop.env, "before")
    const pid = await pidOf(bus)
    process.kill(pid, "SIGSTOP")
    try {
      const results = await within(700, () =>
        Promise.all([
          desktop.run("list-notifications", "--timeout-ms", "700"),
          desktop.run("dismiss-notification", "0", "--timeout-ms", "700"),
          desktop.run("wait", "--notification", "--timeout", "700"),
        ]),
      )
      const [listed, dismissed, waited] = results.map(({ json }) => json.error.code)
      expect([listed, dismissed]).toEqual(["APP_UNRESPONSIVE", "APP_UNRESPONSIVE"])
      expect(["APP_UNRESPONSIVE", "TIMEOUT"]).toContain(waited)
    } finally {
      process.kill(pid, "SIGCONT")
    }
    expect(await titles()).toEqual(["before"])
  })

  test("a bus without a daemon is not supported", async () => {
    await using bare = await startBareBus()

    const { json } = await runProgram(["list-notifications"], {
      ...desktop.env,
      DBUS_SESSION_BUS_ADDRESS: bare.address,
    })

    expect(json.error).toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      message: "No notification daemon runs in this session",
    })
    expect(json.error.suggestion).toContain("desktop-start")
  })

  test("a session without a bus is not supported", async () => {
    const { json } = await runProgram(["list-notifications"], {
      ...desktop.env,
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere",
    })

    expect(json.error).toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
  })

  test("an unknown one is named in the error, with one that would work", async () => {
    await using bare = await startBareBus()
    using server = await openBus(bare.address)
    server.serve(({ member }) =>
      member === "GetServerInformation"
        ? { signature: "ssss", values: ["gnome-shell", "GNOME", "43.9", "1.2"] }
        : { error: "org.freedesktop.DBus.Error.UnknownMethod" },
    )
    await server.call(method(`${DBUS}.RequestName`, "su", [NOTIFICATIONS, 4]), DBUS, DBUS_PATH, soon())

    const { json } = await runProgram(["list-notifications"], {
      ...desktop.env,
      DBUS_SESSION_BUS_ADDRESS: bare.address,
    })

    expect(json.error).toMatchObject({ code: "PLATFORM_NOT_SUPPORTED", platform_detail: "gnome-shell 43.9" })
    expect(json.error.message).toContain("gnome-shell")
    expect(json.error.suggestion).toContain("dunst")
  })
})

describe("the daemon process", () => {
  test("ends with its bus", async () => {
    await using bare = await startBareBus()
    const daemon = serve(bare.address)
    using client = await openBus(bare.address)
    await until(() => ownerOf(client))

    bare.end()

    expect(await daemon.exited).toBe(0)
  })

  test("ends at once if another one is running", async () => {
    await using bare = await startBareBus()
    const first = serve(bare.address)
    using client = await openBus(bare.address)
    const owner = await until(() => ownerOf(client))

    expect(await serve(bare.address).exited).toBe(0)

    expect(await ownerOf(client)).toBe(owner)
    first.kill()
    await first.exited
  })

  test("is the compiled program on a desktop that it started, and ends with that desktop", async () => {
    using home = temporary()
    const base = { ...desktop.env, AGENT_DESKTOP_HOME: home.path }
    const start = await runProgram(["desktop-start", "--name", "own"], base)
    try {
      const env = { ...desktop.env, ...start.json.data.env }
      await notify(env, "hello")
      using client = await openBus(env.DBUS_SESSION_BUS_ADDRESS)
      const pid = await pidOf(client)
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBe(`${PROGRAM}\0__notification-daemon\0`)

      await runProgram(["desktop-stop", "own"], base)

      await until(() => !existsSync(`/proc/${pid}`))
    } finally {
      await runProgram(["desktop-stop", "--all"], base)
    }
  })
})

function serve(address: string): Bun.Subprocess {
  return Bun.spawn([PROGRAM, "__notification-daemon"], {
    env: { PATH: process.env.PATH, DBUS_SESSION_BUS_ADDRESS: address },
    stdio: ["ignore", "ignore", "inherit"],
  })
}

/** A bus that cannot start services. */
async function startBareBus(): Promise<AsyncDisposable & { readonly address: string; end(): void }> {
  const place = temporary()
  const directory = place.path
  const address = `unix:path=${directory}/bus`
  writeFileSync(
    `${directory}/bus.conf`,
    `<busconfig><type>session</type><listen>${address}</listen><auth>EXTERNAL</auth>
     <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
     </busconfig>`,
  )
  const child = Bun.spawn(
    ["dbus-daemon", `--config-file=${directory}/bus.conf`, "--nofork", "--print-address=1"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  )
  // The socket has its name a moment before it accepts connections.
  await firstLine(child.stdout)
  return {
    address,
    end: () => child.kill("SIGKILL"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await child.exited
      place[Symbol.dispose]()
    },
  }
}
