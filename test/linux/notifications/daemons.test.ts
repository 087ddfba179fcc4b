import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { NotificationOp } from "../../../src/desktop.ts"
import { Session } from "../../../src/linux/host/session.ts"
import {
  countUnlisted,
  listNotifications,
  operateNotification,
} from "../../../src/linux/notifications/notifications.ts"
import { openDesktop, type RunResult, type TestDesktop } from "../../support/desktop.ts"
import { within } from "../../support/pace.ts"
import { until } from "../../support/until.ts"
import { closed, notify, type Overheard, openBus, overhear, ownerOf, pidOf, SIGNALS, soon } from "./notify.ts"

let desktop: TestDesktop
let session: Session

beforeEach(async () => {
  desktop = await openDesktop()
  session = new Session(() => desktop.env)
})
afterEach(async () => {
  await session.close()
  await desktop.close()
})

/** Starts an installed daemon before ours can start. */
async function start(program: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  desktop.spawnApp([program], { env })
  using bus = await openBus(desktop.env.DBUS_SESSION_BUS_ADDRESS!)
  await until(() => ownerOf(bus))
}

async function stopped<T>(work: () => Promise<T>): Promise<T> {
  using bus = await openBus(desktop.env.DBUS_SESSION_BUS_ADDRESS!)
  const pid = await pidOf(bus)
  process.kill(pid, "SIGSTOP")
  try {
    return await work()
  } finally {
    process.kill(pid, "SIGCONT")
  }
}

const list = async () => (await desktop.run("list-notifications")).json.data.notifications
const titles = async () => (await list()).map(({ title }: { title: string }) => title)

/** Lists from this process, which remembers the notifications that it has heard. */
const look = () => listNotifications(session, soon())
const lookFor = (title: string) => until(async () => (await look()).find((one) => one.title === title))
const operate = (target: Awaited<ReturnType<typeof look>>[number], op: NotificationOp) =>
  operateNotification(session, target, op, soon()).catch((error) => error)

const reported = (heard: Overheard, pattern: RegExp) =>
  until(() => heard.messages().some((line) => pattern.test(line)))

const LONG = ["--timeout", "40000"]

/** Starts a wait; resolves once it knows the existing notifications. */
async function startWaiting(...args: string[]): Promise<{ readonly result: Promise<RunResult> }> {
  using heard = await overhear(desktop.env, "type='method_call',member='GetServerInformation'")
  const result = desktop.run("wait", "--notification", ...(args.includes("--timeout") ? [] : LONG), ...args)
  // The first look collects the existing notifications.
  await until(() => heard.messages().filter((line) => line.includes("GetServerInformation")).length >= 2)
  return { result }
}

describe("dunst", () => {
  beforeEach(() => start("dunst"))

  const dunstctl = async (...args: string[]) => {
    const child = Bun.spawn(["dunstctl", ...args], {
      env: { ...desktop.env },
      stdio: ["ignore", "pipe", "ignore"],
    })
    return (await new Response(child.stdout).text()).trim()
  }
  const counts = (what: string, wanted: number) =>
    until(async () => Number(await dunstctl("count", what)) === wanted)

  test("lists notifications that it no longer shows, the newest first", async () => {
    for (const title of ["one", "two"])
      await notify(desktop.env, "-a", "Mail", title, "<i>text</i> &amp; more")
    await counts("displayed", 2)
    await dunstctl("close-all")
    await counts("history", 2)

    expect(await list()).toEqual([
      { index: 0, app_name: "Mail", title: "two", body: "text & more" },
      { index: 1, app_name: "Mail", title: "one", body: "text & more" },
    ])
  })

  test("reports how many it shows, but not their content", async () => {
    for (const title of ["one", "two", "three"]) await notify(desktop.env, "-t", "0", title)
    await counts("displayed", 3)
    await dunstctl("close")
    await counts("history", 1)
    const { json } = await desktop.run("list-notifications")
    expect(json.data).toMatchObject({ count: 1, unlisted: 2 })

    await until(async () => (await look()).length === 1)
    await notify(desktop.env, "-t", "0", "four")
    await lookFor("four")
    expect(await countUnlisted(session, soon())).toBe(2)
  })

  test("ends a wait with a new notification, even if it is only on the screen", async () => {
    await notify(desktop.env, "-t", "0", "before")
    const waiting = await startWaiting()
    await notify(desktop.env, "-a", "New", "after", "<b>text</b>")

    expect((await waiting.result).json.data.notification).toEqual({
      index: 0,
      app_name: "New",
      title: "after",
      body: "text",
    })
  })

  test("does not end a wait with an older one that expires meanwhile", async () => {
    const before = await notify(desktop.env, "-p", "-t", "0", "before")
    const waiting = await startWaiting()
    await dunstctl("close")
    await counts("history", 1)
    const after = await notify(desktop.env, "-p", "after")

    expect((await waiting.result).json.data.notification.title).toBe("after")
    expect(Number(after)).toBeGreaterThan(Number(before))
  })

  test("closes the chosen one of those sent while we were listening", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    expect(await look()).toEqual([])
    const id = await notify(desktop.env, "-p", "-t", "0", "-a", "A", "meant", "body")
    await notify(desktop.env, "-t", "0", "other")
    const meant = await lookFor("meant")
    expect(meant).toMatchObject({ index: 1, app_name: "A", body: "body" })
    await notify(desktop.env, "-t", "0", "another")

    await operate(meant, { kind: "dismiss" })

    await reported(heard, closed(id, 3))
    await counts("displayed", 2)
    expect(heard.messages().filter((line) => line.includes("NotificationClosed"))).toHaveLength(1)
  })

  test("does not close one whose content changed", async () => {
    await look()
    const id = await notify(desktop.env, "-p", "-t", "0", "Delete one?")
    const meant = await lookFor("Delete one?")
    await notify(desktop.env, "-r", id, "-t", "0", "Delete all?")
    await lookFor("Delete all?")

    expect(await operate(meant, { kind: "dismiss" })).toMatchObject({ code: "NOTIFICATION_NOT_FOUND" })
    await counts("displayed", 1)
  })

  test("cannot press a button, and reports that instead of pressing another one", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    await look()
    const pressed = notify(desktop.env, "-t", "0", "-A", "yes=Yes", "-A", "no=No", "Sure?")
    const asking = await lookFor("Sure?")
    expect(asking.actions).toEqual(["Yes", "No"])

    expect(await operate(asking, { kind: "action", action: "Yes" })).toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      disposition: { delivery: "not_delivered" },
    })
    await operate(asking, { kind: "dismiss" })
    expect(await pressed).toBe("")
    expect(heard.messages().filter((line) => line.includes("ActionInvoked"))).toEqual([])
  })

  test("removes a dismissed one from its history, or reports that it cannot", async () => {
    await notify(desktop.env, "past")
    await counts("displayed", 1)
    await dunstctl("close-all")
    await counts("history", 1)

    const { json } = await desktop.run("dismiss-notification", "0")

    if (json.ok) await counts("history", 0)
    else expect(json.error.code).toBe("PLATFORM_NOT_SUPPORTED")
    expect(await titles()).toEqual(json.ok ? [] : ["past"])
  })

  test("may hang during a wait: the wait ends in time, and says why", async () => {
    const waiting = await startWaiting("--timeout", "8000")
    const { json } = await within(8000, () => stopped(() => waiting.result))
    expect(json.error).toMatchObject({ code: "TIMEOUT", details: { kind: "notification" } })
    expect(json.error.message).toContain("The notification daemon does not answer")
  })

  test("may hang: the command ends in time", async () => {
    const { json } = await stopped(() => desktop.run("list-notifications", "--timeout-ms", "700"))

    expect(json.error.code).toBe("APP_UNRESPONSIVE")
    expect(await list()).toEqual([])
  })
})

describe("xfce4-notifyd", () => {
  const SERVICE = "/usr/share/dbus-1/services/org.xfce.xfce4-notifyd.Notifications.service"
  const program = () => /^Exec=(.*)$/m.exec(readFileSync(SERVICE, "utf8"))![1]!
  const shows = (...wanted: string[]) => until(async () => (await titles()).join() === wanted.join())

  test("shows title, body and buttons of its popups, the newest first, but not their sender", async () => {
    await start(program())
    expect(await list()).toEqual([])
    await notify(desktop.env, "-t", "0", "-a", "Mail", "Two <b>messages</b>", "from <b>Ann</b> &amp; Bob")
    await shows("Two <b>messages</b>")
    const pressed = notify(desktop.env, "-t", "0", "-A", "yes=Yes", "-A", "no=No", "Sure?")
    await shows("Sure?", "Two <b>messages</b>")

    expect(await list()).toEqual([
      { index: 0, app_name: "", title: "Sure?", actions: ["Yes", "No"] },
      { index: 1, app_name: "", title: "Two <b>messages</b>", body: "from Ann & Bob" },
    ])

    await desktop.run("dismiss-notification", "0")
    expect(await pressed).toBe("")
  })

  test("closes the chosen one as its user would, and leaves the pointer in place", async () => {
    await start(program())
    using heard = await overhear(desktop.env, SIGNALS)
    await notify(desktop.env, "-t", "0", "one")
    const id = await notify(desktop.env, "-p", "-t", "0", "two", '<a href="file:///">a link</a>')
    await notify(desktop.env, "-t", "0", "three")
    await shows("three", "two", "one")
    await desktop.run("mouse-move", "--xy", "200,300")

    expect((await desktop.run("dismiss-notification", "1")).json).toMatchObject({
      ok: true,
      data: { title: "two" },
    })

    await reported(heard, closed(id, 2))
    expect(heard.messages().filter((line) => line.includes("NotificationClosed"))).toHaveLength(1)
    await shows("three", "one")
    const where = Bun.spawn(["xdotool", "getmouselocation"], {
      env: { ...desktop.env },
      stdio: ["ignore", "pipe", "ignore"],
    })
    expect(await new Response(where.stdout).text()).toStartWith("x:200 y:300 ")

    expect((await desktop.run("dismiss-all-notifications")).json.data.dismissed).toBe(2)
    await shows()
  })

  test("presses the chosen button", async () => {
    await start(program())
    const others = ["no", "yes"].map((title) => notify(desktop.env, "-t", "0", "-A", `${title}=Go`, title))
    await until(async () => (await titles()).length === 2)
    const index = (await titles()).indexOf("yes")

    expect((await desktop.run("notification-action", String(index), "Go")).json.ok).toBe(true)

    expect(await others[1]).toBe("yes")
    await shows("no")
    await desktop.run("dismiss-notification", "0")
    expect(await others[0]).toBe("")
  })

  test("does not touch one whose content changed", async () => {
    await start(program())
    await look()
    const id = await notify(desktop.env, "-p", "-t", "0", "Delete one?")
    const meant = await lookFor("Delete one?")
    await notify(desktop.env, "-r", id, "-t", "0", "Delete all?")
    await lookFor("Delete all?")

    expect(await operate(meant, { kind: "dismiss" })).toMatchObject({ code: "NOTIFICATION_NOT_FOUND" })
    expect(await titles()).toEqual(["Delete all?"])
  })

  test("ends a wait with a new notification of the named app", async () => {
    await start(program())
    await notify(desktop.env, "-t", "0", "-a", "New", "before")
    const waiting = await startWaiting("--app", "New")
    await notify(desktop.env, "-t", "0", "-a", "Other", "not this")
    await notify(desktop.env, "-t", "0", "-a", "New", "after", "<b>text</b>")

    expect((await waiting.result).json.data.notification).toMatchObject({
      app_name: "New",
      title: "after",
      body: "text",
    })
  })

  test("is refused if it is not accessible", async () => {
    await start(program(), { NO_AT_BRIDGE: "1", GTK_A11Y: "none" })

    const { json } = await desktop.run("list-notifications")

    expect(json.error).toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
    expect(json.error.message).toContain("xfce4-notifyd")
  })

  test("may hang: the command ends in time", async () => {
    await start(program())

    const { json } = await stopped(() => desktop.run("list-notifications", "--timeout-ms", "700"))

    expect(json.error.code).toBe("APP_UNRESPONSIVE")
    expect(await list()).toEqual([])
  })
})
