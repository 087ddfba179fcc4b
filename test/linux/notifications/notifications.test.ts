import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { type Bus, DBusError, method } from "../../../src/linux/dbus/bus.ts"
import { Session } from "../../../src/linux/host/session.ts"
import { listNotifications, operateNotification } from "../../../src/linux/notifications/notifications.ts"
import { openDesktop, type TestDesktop } from "../../support/desktop.ts"
import { shortTimeout } from "../../support/pace.ts"
import { until } from "../../support/until.ts"
import {
  closed,
  NOTIFICATIONS,
  notify,
  openBus,
  overhear,
  ownerOf,
  PATH,
  pidOf,
  SIGNALS,
  send,
  soon,
} from "./notify.ts"

let desktop: TestDesktop
let bus: Bus & Disposable
let session: Session

beforeAll(async () => {
  desktop = await openDesktop()
  bus = await openBus(desktop.env.DBUS_SESSION_BUS_ADDRESS!)
  session = new Session(() => desktop.env)
})
afterEach(() => desktop.run("dismiss-all-notifications"))
afterAll(async () => {
  await session.close()
  bus.close()
  await desktop.close()
})

const list = async (...args: string[]) =>
  (await desktop.run("list-notifications", ...args)).json.data.notifications
const titles = async () => (await list()).map(({ title }: { title: string }) => title)
const reportsOf = (heard: { messages(): readonly string[] }, pattern: RegExp) =>
  until(() => heard.messages().some((line) => pattern.test(line)))

describe("on an isolated desktop", () => {
  test("the list is empty before the first notification, and no daemon is started", async () => {
    await using untouched = await openDesktop()
    using own = await openBus(untouched.env.DBUS_SESSION_BUS_ADDRESS!)

    const { json } = await untouched.run("list-notifications")

    expect(json).toEqual({
      version: "1.0",
      ok: true,
      command: "list-notifications",
      data: { count: 0, notifications: [] },
    })
    expect(await ownerOf(own)).toBeUndefined()
  })

  test("notifications are listed with sender, text and buttons, the newest first", async () => {
    await notify(desktop.env, "-a", "Mail", "Two messages", "from <b>Ann</b> &amp; Bob")
    const pressed = notify(
      desktop.env,
      "-a",
      "Chat",
      "-A",
      "reply=Reply",
      "-A",
      "mute=Mute",
      "Hello",
      "you\nthere",
    )
    await until(async () => (await titles()).length === 2)

    expect(await list()).toEqual([
      { index: 0, app_name: "Chat", title: "Hello", body: "you\nthere", actions: ["Reply", "Mute"] },
      { index: 1, app_name: "Mail", title: "Two messages", body: "from Ann & Bob" },
    ])
    expect(await list("--app", "mail")).toMatchObject([{ index: 1 }])
    expect(await list("--text", "THERE")).toMatchObject([{ index: 0 }])

    await desktop.run("dismiss-notification", "0")
    expect(await pressed).toBe("")
  })

  test("a dismissed notification is closed as its user would, and no other", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    const [first, second] = [
      await notify(desktop.env, "-p", "first"),
      await notify(desktop.env, "-p", "second"),
    ]

    // An index means the notification that was listed with it.
    expect(await titles()).toEqual(["second", "first"])
    const { json } = await desktop.run("dismiss-notification", "1")

    expect(json.data).toEqual({
      action: "dismiss-notification",
      index: 1,
      app_name: "notify-send",
      title: "first",
    })
    await reportsOf(heard, closed(first, 2))
    expect(heard.messages().filter((line) => line.includes("NotificationClosed"))).toHaveLength(1)
    expect(await titles()).toEqual(["second"])
    expect(second).not.toBe(first)
  })

  test("the sender is notified of a pressed button", async () => {
    const pressed = notify(desktop.env, "-A", "yes=Yes, please", "-A", "no=No", "Update?")
    await until(async () => (await titles()).length === 1)

    const { json } = await desktop.run("notification-action", "0", "Yes, please")

    expect(json.data).toMatchObject({
      action: "notification-action",
      pressed: "Yes, please",
      title: "Update?",
    })
    expect(await pressed).toBe("yes")
    expect(await titles()).toEqual([])
  })

  test("a resident notification stays after its button was pressed", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    const hints = new Map([["resident", { signature: "b", value: true }]])
    const id = await send(bus, { title: "player", actions: ["next", "Next"], hints })

    expect(await titles()).toEqual(["player"])
    await desktop.run("notification-action", "0", "Next")
    await desktop.run("notification-action", "0", "Next")

    await until(
      () => heard.messages().filter((line) => line.endsWith(`uint32 ${id} string "next"`)).length === 2,
    )
    expect(await titles()).toEqual(["player"])
  })

  test("all of one app, then all, can be dismissed together", async () => {
    for (const [app, title] of [
      ["A", "a1"],
      ["B", "b1"],
      ["A", "a2"],
    ] as const)
      await notify(desktop.env, "-a", app, title)

    expect((await desktop.run("dismiss-all-notifications", "--app", "A")).json.data.dismissed).toBe(2)
    expect(await titles()).toEqual(["b1"])
    expect((await desktop.run("dismiss-all-notifications")).json.data.dismissed).toBe(1)
    expect(await titles()).toEqual([])
  })

  test("an unknown index or button is refused", async () => {
    await notify(desktop.env, "only")
    expect(await titles()).toEqual(["only"])

    expect((await desktop.run("dismiss-notification", "1")).json.error.code).toBe("NOTIFICATION_NOT_FOUND")
    expect((await desktop.run("dismiss-notification", "0", "--app", "other")).json.error.code).toBe(
      "NOTIFICATION_NOT_FOUND",
    )
    expect((await desktop.run("notification-action", "0", "Go")).json.error.code).toBe("ACTION_NOT_SUPPORTED")
    expect(await titles()).toEqual(["only"])
  })
})

describe("a wait for a notification", () => {
  const looks = `type='method_call',member='List'`

  test("ends with one that comes after its start, not with an older one", async () => {
    await notify(desktop.env, "before")
    using heard = await overhear(desktop.env, looks)
    const waiting = desktop.run("wait", "--notification", "--timeout", "20000")
    // Only the second look can find a new notification.
    await until(() => heard.messages().filter((line) => line.includes("member=List")).length >= 2)
    await notify(desktop.env, "-a", "New", "after", "text")

    const { json } = await waiting

    expect(json.data).toMatchObject({
      found: true,
      notification: { index: 0, app_name: "New", title: "after", body: "text" },
    })
  })

  test("also ends if the daemon has to be started first", async () => {
    await using untouched = await openDesktop()
    using heard = await overhear(untouched.env, `member='ListActivatableNames'`)
    const waiting = untouched.run("wait", "--notification", "--timeout", "20000")
    await until(() => heard.messages().filter((line) => line.includes("ListActivatableNames")).length >= 2)
    await notify(untouched.env, "the very first")

    expect((await waiting).json.data.notification.title).toBe("the very first")
  })

  test("fails with TIMEOUT if none comes", async () => {
    await notify(desktop.env, "before")

    const { json } = await desktop.run("wait", "--notification", "--timeout", String(shortTimeout(400)))

    expect(json.error).toMatchObject({ code: "TIMEOUT", details: { kind: "notification" } })
  })

  test("finds one that an earlier command of its batch caused", async () => {
    await notify(desktop.env, "before")
    const script = "notify-send caused; exec sleep 60"
    const { json } = await desktop.run(
      "batch",
      JSON.stringify([
        { command: "launch", args: { app: "xterm", args: ["-e", "sh", "-c", script] } },
        // The notification exists now, but did not exist when the batch started.
        { command: "wait", args: { notification: true, text: "caused", timeout: 20_000 } },
        { command: "wait", args: { notification: true, text: "caused", timeout: 20_000 } },
      ]),
    )

    expect(json.data.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, true])
    expect(json.data.results[2].data.notification.title).toBe("caused")
  })

  test("counts changed content as new", async () => {
    const id = await notify(desktop.env, "-p", "10 %")
    using heard = await overhear(desktop.env, looks)
    const waiting = desktop.run("wait", "--notification", "--timeout", "20000")
    await until(() => heard.messages().filter((line) => line.includes("member=List")).length >= 2)
    await notify(desktop.env, "-r", id, "20 %")

    expect((await waiting).json.data.notification.title).toBe("20 %")
    expect(await titles()).toEqual(["20 %"])
  })
})

describe("if notifications change between listing and acting", () => {
  test("the chosen one is still hit", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    const id = await notify(desktop.env, "-p", "meant")
    await notify(desktop.env, "soon gone")
    const [, meant] = await listNotifications(session, soon())
    expect(await titles()).toEqual(["soon gone", "meant"])
    await desktop.run("dismiss-notification", "0")
    for (const title of ["x", "y", "z"]) await notify(desktop.env, title)

    await operateNotification(session, meant!, { kind: "dismiss" }, soon())

    await reportsOf(heard, closed(id, 2))
    expect(await titles()).toEqual(["z", "y", "x"])
  })

  test.each([
    ["dismiss", { kind: "dismiss" }],
    ["press", { kind: "action", action: "OK" }],
  ] as const)("a replaced one is not hit: %s", async (_, op) => {
    const id = await send(bus, { title: "Delete one file?", actions: ["ok", "OK"] })
    const [meant] = await listNotifications(session, soon())
    await send(bus, { replaces: id, title: "Delete all files?", actions: ["ok", "OK"] })

    const done = operateNotification(session, meant!, op, soon())

    expect(await done.catch((error) => error)).toMatchObject({ code: "NOTIFICATION_NOT_FOUND" })
    expect(await titles()).toEqual(["Delete all files?"])
  })

  test("one replaced by the same text is not hit either, since it may mean something else", async () => {
    const id = await send(bus, { title: "Again?" })
    const [meant] = await listNotifications(session, soon())
    await send(bus, { replaces: id, title: "Again?" })

    const done = operateNotification(session, meant!, { kind: "dismiss" }, soon())

    expect(await done.catch((error) => error)).toMatchObject({ code: "NOTIFICATION_NOT_FOUND" })
  })

  test("a restarted daemon has none of the old notifications", async () => {
    await send(bus, { title: "same words" })
    const [meant] = await listNotifications(session, soon())
    const owner = await ownerOf(bus)
    process.kill(await pidOf(bus), "SIGKILL")
    await until(async () => (await ownerOf(bus)) !== owner)
    await send(bus, { title: "same words" })

    const done = operateNotification(session, meant!, { kind: "dismiss" }, soon())

    expect(await done.catch((error) => error)).toMatchObject({ code: "NOTIFICATION_NOT_FOUND" })
    expect(await titles()).toEqual(["same words"])
  })
})

describe("the daemon", () => {
  const call = (name: string, signature: string, ...args: (number | string)[]) =>
    bus.call(method(`${NOTIFICATIONS}.${name}`, signature, args), NOTIFICATIONS, PATH, soon())

  test("closes a notification for its application, and rejects an unknown id", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    const id = await send(bus, { title: "never mind" })

    await call("CloseNotification", "u", id)

    await reportsOf(heard, closed(id, 3))
    expect(await titles()).toEqual([])
    expect(await call("CloseNotification", "u", id).catch((error) => error)).toBeInstanceOf(DBusError)
  })

  test("lets transient ones expire, and keeps the others beyond their timeout", async () => {
    using heard = await overhear(desktop.env, SIGNALS)
    await notify(desktop.env, "-t", "1", "kept")
    const id = await notify(desktop.env, "-p", "-e", "-t", "200", "passing")

    await reportsOf(heard, closed(id, 1))
    expect(await titles()).toEqual(["kept"])
  })

  test("supports introspection", async () => {
    const object = ["--session", "--dest", NOTIFICATIONS, "--object-path", PATH]
    const gdbus = Bun.spawn(
      [
        "gdbus",
        "call",
        ...object,
        "--method",
        `${NOTIFICATIONS}.Notify`,
        "gdbus",
        "0",
        "",
        "typed",
        "",
        "[]",
        "{}",
        "@i -1",
      ],
      {
        env: { ...desktop.env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    )

    expect(await new Response(gdbus.stdout).text()).toMatch(/^\(uint32 \d+,\)/)
    expect(await list()).toEqual([{ index: 0, app_name: "gdbus", title: "typed" }])
  })

  test("rejects invalid calls, and continues", async () => {
    await send(bus, { title: "still here" })

    for (const [name, signature, args] of [
      ["Notify", "s", ["too little"]],
      ["CloseNotification", "s", ["1"]],
      ["toString", "", []],
      ["Missing", "", []],
    ] as const)
      expect(await call(name, signature, ...args).catch((error) => error)).toBeInstanceOf(DBusError)
    expect(await titles()).toEqual(["still here"])
  })

  test("accepts any text, and returns it short and without control characters", async () => {
    const image = { signature: "(iiibiiay)", value: [500, 500, 2000, true, 8, 4, new Uint8Array(1_000_000)] }
    await send(bus, { title: "\x1b[31mred\x07\nline", body: "<b>é\x1b]0;x\x07</b>&lt;script&gt;\u202e" })
    await send(bus, {
      title: "t".repeat(100_000),
      body: "x".repeat(1_000_000),
      hints: new Map([["image-data", image]]),
    })

    const { stdout, json } = await desktop.run("list-notifications")

    expect(json.data.notifications).toEqual([
      { index: 0, app_name: "", title: `${"t".repeat(999)}…`, body: `${"x".repeat(9999)}…` },
      { index: 1, app_name: "", title: "[31mred line", body: "é ]0;x <script>\u202e" },
    ])
    expect(stdout.slice(0, -1)).not.toMatch(/[\x00-\x1f]/)
  })

  test("keeps the newest 200, with little memory", async () => {
    const flood = Array.from({ length: 400 }, (_, i) =>
      send(bus, { title: `n${i}`, body: "y".repeat(200_000) }),
    )
    await Promise.all(flood)

    const { json } = await desktop.run("list-notifications", "--limit", "1000")

    expect(json.data.count).toBe(200)
    expect(json.data.notifications[0].title).toBe("n399")
    const status = readFileSync(`/proc/${await pidOf(bus)}/status`, "utf8")
    // Most of the memory is the program itself, which all its processes share.
    expect(Number(/RssAnon:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(200_000)
  })
})
