import { afterAll, describe, expect, test } from "bun:test"
import type { Launched } from "../../src/desktop.ts"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"

afterAll(clearDesks)

const never = new Promise<number>(() => {})

/** A world where Editor is running, with one window that does not have the focus. */
function desktop() {
  const it = desk()
  const other = it.world.app("Other", { pid: 5 }).window("Other", [], { id: "w-5" })
  const editor = it.world.app("Editor", { pid: 10, aliases: ["editor.desktop"] })
  const open = editor.window("Open", [], { id: "w-1" })
  it.world.focused = other
  const started: (readonly string[])[] = []
  /** Makes launch start process 99, then runs this function. */
  const launches = (facts: Partial<Launched>, then: () => void = () => {}) => {
    it.world.launch = (app, args) => {
      started.push([app, ...args])
      it.world.later(then)
      return { pid: 99, names: ["Editor"], exited: never, ...facts }
    }
  }
  return { ...it, editor, open, other, launches, started }
}

describe.concurrent("launch", () => {
  test("returns the first window of the process it started", async () => {
    const { ok, world, launches, started } = desktop()
    launches({ names: ["Paint"] }, () => {
      world.app("Clock", { pid: 70 }).window("Clock", [], { id: "w-7" })
      world.app("Paint", { pid: 99 }).window("Untitled", [], { id: "w-9" })
    })
    expect(await ok("launch", { app: "paint", arg: ["a b", "--x"] })).toEqual({
      id: "w-9",
      title: "Untitled",
      app_name: "Paint",
      pid: 99,
      bounds: { x: 0, y: 0, width: 1000, height: 800 },
      is_focused: false,
    })
    expect(started).toEqual([["paint", "a b", "--x"]])
  })

  test("accepts a new window of that name from another process, since a launcher may start one", async () => {
    const { ok, world, launches } = desktop()
    launches({ names: ["Paint"] }, () =>
      world.app("Paint", { pid: 98 }).window("Untitled", [], { id: "w-9" }),
    )
    expect((await ok("launch", { app: "paint" })).id).toBe("w-9")
  })

  test("returns the window behind the splash screen, even one of a process that the started one hands over to", async () => {
    for (const pid of [99, 98]) {
      const { ok, world, launches } = desktop()
      const exited = Promise.withResolvers<number>()
      launches(
        { names: ["Paint"], exited: exited.promise, isOwn: (one) => one === pid, isRunning: () => true },
        () => {
          const splash = world.app("oosplash", { pid: 99 }).window("Paint", [], { id: "w-8", isSplash: true })
          setTimeout(() => {
            splash.close()
            exited.resolve(0)
            world.app("canvas", { pid }).window("Untitled", [], { id: "w-9" })
          }, 60)
        },
      )
      expect((await ok("launch", { app: "paint" })).id).toBe("w-9")
    }
  })

  test("treats a window as new if its id belonged to another process before", async () => {
    const { ok, world, launches } = desktop()
    const old = world.app("Old", { pid: 50 }).window("Old", [], { id: "w-9" })
    launches({ names: ["Paint"] }, () => {
      old.close()
      world.app("Paint", { pid: 99 }).window("Untitled", [], { id: "w-9" })
    })
    expect((await ok("launch", { app: "paint" })).title).toBe("Untitled")
  })

  test("that hands over to its own process does not return a window of another instance", async () => {
    const { error, launches } = desktop()
    launches({ exited: Promise.resolve(0), isRunning: () => true })
    // Editor has a window, and its second start would be answered with it after two seconds.
    expect((await error("launch", { app: "editor", timeout: 2500 })).code).toBe("TIMEOUT")
  })

  test("that shows only a splash screen in time says so", async () => {
    const { error, world, launches } = desktop()
    launches({ names: ["Paint"] }, () =>
      world.app("Paint", { pid: 99 }).window("P", [], { id: "w-8", isSplash: true }),
    )
    expect(await error("launch", { app: "paint", timeout: 600 })).toMatchObject({
      code: "TIMEOUT",
      message: "'paint' was started (process 99) but showed only its splash screen in time",
      details: { kind: "window", pid: 99, splash: "w-8" },
    })
  })

  test("of a program that ends early quotes its last output as the program's words", async () => {
    const { error, launches } = desktop()
    const stderr = "Traceback:\n  line 1\nSystemExit: no file 'x'"
    launches({
      exited: Promise.resolve(134),
      names: ["Nothing"],
      lastWords: () => ({ signal: "SIGABRT", stderr }),
    })
    expect(await error("launch", { app: "broken" })).toMatchObject({
      code: "ACTION_FAILED",
      message: "'broken' was ended by SIGABRT before it showed a window; it wrote 'SystemExit: no file 'x''",
      suggestion: "Read details.stderr, then launch it again with other arguments (--arg)",
      details: { kind: "exited", exit_code: 134, signal: "SIGABRT", stderr },
    })
    launches({ exited: Promise.resolve(0), names: ["Nothing"], lastWords: () => ({ stderr }) })
    expect(await error("launch", { app: "silent", timeout: 600 })).toMatchObject({
      code: "TIMEOUT",
      message:
        "'silent' was started (process 99) but showed no window in time; it ended with exit code 0; it wrote 'SystemExit: no file 'x''",
      details: { kind: "window", exit_code: 0, stderr },
    })
  })

  test("stops watching the process after the command has ended, in every case", async () => {
    const { ok, error, world, launches } = desktop()
    let left = 0
    const leave = () => {
      left++
    }
    launches({ names: ["Paint"], leave }, () =>
      world.app("Paint", { pid: 99 }).window("U", [], { id: "w-9" }),
    )
    await ok("launch", { app: "paint" })
    launches({ exited: Promise.resolve(3), names: ["Nothing"], leave })
    await error("launch", { app: "broken" })
    expect(left).toBe(2)
  })

  test("that is handed over to a running instance returns the window that the instance opens", async () => {
    const { ok, world, launches, editor, open } = desktop()
    // The running instance has the focus already, so the focus is not evidence of the launch.
    world.focused = open
    const exited = Promise.withResolvers<number>()
    launches({ exited: exited.promise }, () => {
      exited.resolve(0)
      setTimeout(() => editor.window("Second", [], { id: "w-2" }), 60)
    })
    expect((await ok("launch", { app: "editor" })).id).toBe("w-2")
  })

  test("that is handed over to a running instance returns its window that comes to the front", async () => {
    const { ok, world, launches, open } = desktop()
    launches({ exited: Promise.resolve(0) }, () => {
      world.focused = open
      world.emit()
    })
    expect(await ok("launch", { app: "editor" })).toMatchObject({ id: "w-1", is_focused: true })
  })

  test("that is handed over to a running instance without effect returns one of its windows after a while", async () => {
    const { ok, launches } = desktop()
    launches({ exited: Promise.resolve(0) })
    expect((await ok("launch", { app: "editor" })).id).toBe("w-1")
  })

  test("of a program that ends with an error fails and reports its exit code", async () => {
    const { error, launches } = desktop()
    launches({ exited: Promise.resolve(3), names: ["Nothing"] })
    expect(await error("launch", { app: "broken" })).toMatchObject({
      code: "ACTION_FAILED",
      message: "'broken' ended with exit code 3 before it showed a window",
      disposition: { delivery: "delivered_unverified", retry: "unknown" },
      details: { kind: "exited", exit_code: 3 },
    })
  })

  test("of a program whose exit cannot be watched still waits for its window", async () => {
    const { ok, world, launches } = desktop()
    launches({}, () => world.app("Paint", { pid: 99 }).window("Untitled", [], { id: "w-9" }))
    const launch = world.launch
    world.launch = (app, args) => ({
      ...launch(app, args),
      exited: Promise.reject(new Error("not our child")),
    })
    expect((await ok("launch", { app: "paint" })).id).toBe("w-9")
  })

  test("that shows no window in time reports that the program was started", async () => {
    const { error, launches } = desktop()
    launches({ names: ["Daemon"] })
    expect(await error("launch", { app: "daemon", timeout: 600 })).toMatchObject({
      code: "TIMEOUT",
      message: "'daemon' was started (process 99) but showed no window in time",
      details: { kind: "window", pid: 99 },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("never returns a window that existed before, or one of another app", async () => {
    const { error, world, launches } = desktop()
    launches({}, () => world.app("Clock", { pid: 70 }).window("Clock", [], { id: "w-7" }))
    expect((await error("launch", { app: "editor", timeout: 600 })).code).toBe("TIMEOUT")
  })

  test("of an unknown app fails with the platform's error", async () => {
    const { error, world } = desktop()
    world.launch = () => {
      throw new AppError("APP_NOT_FOUND", "No app 'x'")
    }
    expect((await error("launch", { app: "x" })).code).toBe("APP_NOT_FOUND")
  })
})

describe.concurrent("close-app", () => {
  test("reports closed once the process is gone, and the method used", async () => {
    const { ok, world, editor } = desktop()
    world.quit = () => {
      world.later(() => editor.end())
      return "close request"
    }
    expect(await ok("close-app", { app: "editor.desktop" })).toEqual({
      app: "Editor",
      closed: true,
      method: "close request",
    })
    expect(editor.start).toBeUndefined()
  })

  test("succeeds if another process has taken the pid", async () => {
    const { ok, world, editor } = desktop()
    world.quit = () => {
      editor.restart()
      return "signal"
    }
    expect((await ok("close-app", { app: "Editor", force: true })).closed).toBe(true)
  })

  test("does not report closed while the process runs, and names the window that may be asking", async () => {
    const { ok, world, editor } = desktop()
    world.quit = (app, force) => {
      expect([app.name, force]).toEqual(["Editor", false])
      editor.windows[0]!.title = "Save changes?"
      return "close request"
    }
    expect(await ok("close-app", { app: "Editor", timeout: 600 })).toEqual({
      app: "Editor",
      closed: false,
      method: "close request",
      window: "w-1",
      title: "Save changes?",
    })
  })

  test("closes one of two apps with the same name by its process id, and prefers a name", async () => {
    const { ok, error, world } = desktop()
    const second = world.app("Editor", { pid: 11 })
    const numbered = world.app("10", { pid: 12 })
    world.quit = ({ pid }) => {
      const closing = [second, numbered].find((app) => app.pid === pid)
      closing?.end()
      return "close request"
    }
    expect(await ok("close-app", { app: "11" })).toMatchObject({ app: "Editor", closed: true })
    expect(second.start).toBeUndefined()
    expect(await ok("close-app", { app: "10" })).toMatchObject({ app: "10", closed: true })
    expect((await error("close-app", { app: "99" })).code).toBe("APP_NOT_FOUND")
  })

  test("of an app that is not running fails, and so does an ambiguous name", async () => {
    const { error, world } = desktop()
    expect((await error("close-app", { app: "Nothing" })).code).toBe("APP_NOT_FOUND")
    world.app("editor", { pid: 11 })
    const refused = await error("close-app", { app: "Editor" })
    expect(refused.code).toBe("AMBIGUOUS_TARGET")
    expect(refused.details.candidates).toEqual([
      { name: "Editor", pid: 10 },
      { name: "editor", pid: 11 },
    ])
    expect(world.calls).not.toContain("quit")
  })
})

describe("notifications", () => {
  function notified() {
    const it = desk()
    it.world.notifications = [
      { id: "a", index: 0, app_name: "Mail", title: "Lunch?", body: "At noon", actions: ["Reply", "Delete"] },
      { id: "b", index: 1, app_name: "CI", title: "Build failed", actions: [] },
      { id: "c", index: 2, app_name: "Mail", title: "Re: Lunch?" },
    ]
    return it
  }

  test("are listed with their actions, all or filtered", async () => {
    const { ok } = notified()
    expect((await ok("list-notifications")).notifications).toEqual([
      { index: 0, app_name: "Mail", title: "Lunch?", body: "At noon", actions: ["Reply", "Delete"] },
      { index: 1, app_name: "CI", title: "Build failed" },
      { index: 2, app_name: "Mail", title: "Re: Lunch?" },
    ])
    const mail = await ok("list-notifications", { app: "mail", limit: 1 })
    expect({ count: mail.count, shown: mail.notifications.length }).toEqual({ count: 2, shown: 1 })
    expect((await ok("list-notifications", { text: "NOON" })).count).toBe(1)
    expect(await ok("list-notifications", { app: "Chat" })).toEqual({ count: 0, notifications: [] })
  })

  test("are acted on by identity, not by an index that shifts", async () => {
    const { ok, world } = notified()
    const before = world.notifications
    const reading = Object.getOwnPropertyDescriptor(world, "notifications")!
    // A new notification arrives between the look and the act and shifts the others.
    let looks = 0
    Object.defineProperty(world, "notifications", {
      configurable: true,
      set: (value) => Object.assign(reading, { value }),
      get: () => (looks++ === 0 ? before : reading.value.map((one: object) => ({ ...one, index: 9 }))),
    })
    expect(await ok("dismiss-notification", { index: 1, app: "ci" })).toEqual({
      action: "dismiss-notification",
      index: 1,
      app_name: "CI",
      title: "Build failed",
    })
    expect(world.sent("Build failed")).toEqual(["semantic dismiss"])
  })

  test("are the listed ones: a new one that takes the index of another is not acted on", async () => {
    const { ok, error, world } = notified()
    await ok("list-notifications", { app: "CI" })
    const [first, build] = world.notifications
    world.notifications = [
      { id: "d", index: 0, app_name: "Bank", title: "Pay 900 €?", actions: ["Reply"] },
      { ...first!, index: 1 },
      { ...build!, index: 2 },
    ]
    expect(await ok("notification-action", { index: 0, action: "Reply" })).toMatchObject({ title: "Lunch?" })
    expect(await ok("dismiss-notification", { index: 1 })).toMatchObject({ title: "Build failed" })
    expect(await error("dismiss-notification", { index: 2 })).toMatchObject({
      code: "NOTIFICATION_NOT_FOUND",
      message: "Notification 2 of the last list is gone",
    })
    expect(await error("dismiss-notification", { index: 3 })).toMatchObject({
      message: "Notification 3 not found",
    })
    expect(world.sent("Pay 900 €?")).toEqual([])
    await ok("list-notifications")
    expect(await ok("dismiss-notification", { index: 0 })).toMatchObject({ title: "Pay 900 €?" })
  })

  test("are the listed ones even if a daemon counts from the start again", async () => {
    const { ok, error, world } = notified()
    await ok("list-notifications")
    world.notifications = [{ id: "a", index: 0, app_name: "Bank", title: "Pay 900 €?", actions: ["Reply"] }]
    expect((await error("notification-action", { index: 0, action: "Reply" })).code).toBe(
      "NOTIFICATION_NOT_FOUND",
    )
    expect(world.deliveries).toEqual([])
  })

  test("with an index of another app, or an unknown index, are not found", async () => {
    const { error, world } = notified()
    expect((await error("dismiss-notification", { index: 1, app: "Mail" })).message).toBe(
      "Notification 1 is of 'CI', not of 'Mail'",
    )
    expect(await error("dismiss-notification", { index: 7 })).toMatchObject({
      code: "NOTIFICATION_NOT_FOUND",
      message: "Notification 7 not found",
    })
    expect(world.deliveries).toEqual([])
  })

  test("only accept an action that they have", async () => {
    const { ok, error, world } = notified()
    expect(await error("notification-action", { index: 0, action: "Archive" })).toMatchObject({
      suggestion: "Use one of details.candidates",
      details: { candidates: ["Reply", "Delete"] },
    })
    expect((await error("notification-action", { index: 1, action: "Reply" })).code).toBe(
      "ACTION_NOT_SUPPORTED",
    )
    expect(world.deliveries).toEqual([])
    expect((await ok("notification-action", { index: 0, action: "Reply" })).pressed).toBe("Reply")
    expect(world.sent("Lunch?")).toEqual(["semantic action"])
  })

  test("of one app are dismissed together; one that disappears meanwhile is not a failure", async () => {
    const { ok, world } = notified()
    world.fail("notification", undefined, new AppError("NOTIFICATION_NOT_FOUND", "gone"))
    expect((await ok("dismiss-all-notifications", { app: "Mail" })).dismissed).toBe(1)
    expect(world.notifications.map((one) => one.id)).toEqual(["b", "c"])
    expect((await ok("dismiss-all-notifications")).dismissed).toBe(2)
    expect(world.notifications).toEqual([])
  })
})
