import { afterAll, describe, expect, test } from "bun:test"
import type { Launched } from "../../src/adapter.ts"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"

afterAll(clearDesks)

const never = new Promise<number>(() => {})

/** A world where Editor runs already, with one window that does not have the focus. */
function desktop() {
  const it = desk()
  const other = it.world.app("Other", { pid: 5 }).window("Other", [], { id: "w-5" })
  const editor = it.world.app("Editor", { pid: 10, aliases: ["editor.desktop"] })
  const open = editor.window("Open", [], { id: "w-1" })
  it.world.focused = other
  const started: (readonly string[])[] = []
  /** Starts process 99 and then does this. */
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
  test("answers with the first window of the process that it started", async () => {
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

  test("takes a new window of that name from another process: a launcher starts others", async () => {
    const { ok, world, launches } = desktop()
    launches({ names: ["Paint"] }, () =>
      world.app("Paint", { pid: 98 }).window("Untitled", [], { id: "w-9" }),
    )
    expect((await ok("launch", { app: "paint" })).id).toBe("w-9")
  })

  test("that is handed over to a running instance answers with the window which that opens", async () => {
    const { ok, world, launches, editor, open } = desktop()
    // The running one has the focus already, which says nothing about the new start.
    world.focused = open
    const exited = Promise.withResolvers<number>()
    launches({ exited: exited.promise }, () => {
      exited.resolve(0)
      setTimeout(() => editor.window("Second", [], { id: "w-2" }), 60)
    })
    expect((await ok("launch", { app: "editor" })).id).toBe("w-2")
  })

  test("or with the one that comes to the front", async () => {
    const { ok, world, launches, open } = desktop()
    launches({ exited: Promise.resolve(0) }, () => {
      world.focused = open
      world.emit()
    })
    expect(await ok("launch", { app: "editor" })).toMatchObject({ id: "w-1", is_focused: true })
  })

  test("or, where neither shows, with one of its windows after a while", async () => {
    const { ok, launches } = desktop()
    launches({ exited: Promise.resolve(0) })
    expect((await ok("launch", { app: "editor" })).id).toBe("w-1")
  })

  test("of a program that ends with an error is a failure that tells its exit code", async () => {
    const { error, launches } = desktop()
    launches({ exited: Promise.resolve(3), names: ["Nothing"] })
    expect(await error("launch", { app: "broken" })).toMatchObject({
      code: "ACTION_FAILED",
      message: "'broken' ended with exit code 3 before it showed a window",
      details: { kind: "exited", exit_code: 3 },
    })
  })

  test("of a program whose end cannot be watched still waits for its window", async () => {
    const { ok, world, launches } = desktop()
    launches({}, () => world.app("Paint", { pid: 99 }).window("Untitled", [], { id: "w-9" }))
    const launch = world.launch
    world.launch = (app, args) => ({
      ...launch(app, args),
      exited: Promise.reject(new Error("not our child")),
    })
    expect((await ok("launch", { app: "paint" })).id).toBe("w-9")
  })

  test("that shows no window in time says that it was started", async () => {
    const { error, launches } = desktop()
    launches({ names: ["Daemon"] })
    expect(await error("launch", { app: "daemon", timeout: 600 })).toMatchObject({
      code: "TIMEOUT",
      message: "'daemon' was started (process 99) but showed no window in time",
      details: { kind: "window", pid: 99 },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("never answers with a window that was there before, or is another app's", async () => {
    const { error, world, launches } = desktop()
    launches({}, () => world.app("Clock", { pid: 70 }).window("Clock", [], { id: "w-7" }))
    expect((await error("launch", { app: "editor", timeout: 600 })).code).toBe("TIMEOUT")
  })

  test("of an app that there is none of is refused as the platform says it", async () => {
    const { error, world } = desktop()
    world.launch = () => {
      throw new AppError("APP_NOT_FOUND", "No app 'x'")
    }
    expect((await error("launch", { app: "x" })).code).toBe("APP_NOT_FOUND")
  })
})

describe.concurrent("close-app", () => {
  test("says closed once the process is gone, and how it was asked", async () => {
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

  test("is done when another process has the pid", async () => {
    const { ok, world, editor } = desktop()
    world.quit = () => {
      editor.restart()
      return "signal"
    }
    expect((await ok("close-app", { app: "Editor", force: true })).closed).toBe(true)
  })

  test("does not say closed while the process runs, and names the window that may be asking", async () => {
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

  test("of an app that does not run is refused, and of two of one name too", async () => {
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

  test("are listed with what can be done about them, all or some", async () => {
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

  test("one is acted on by its identity, not by a place that shifts", async () => {
    const { ok, world } = notified()
    const before = world.notifications
    const reading = Object.getOwnPropertyDescriptor(world, "notifications")!
    // Another one arrives between the look and the act, and pushes the rest down.
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

  test("the index of another app's, or of none, is not found", async () => {
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

  test("an action must be one that it has", async () => {
    const { ok, error, world } = notified()
    expect((await error("notification-action", { index: 0, action: "Archive" })).suggestion).toBe(
      "Use one of: Reply, Delete",
    )
    expect((await error("notification-action", { index: 1, action: "Reply" })).code).toBe(
      "ACTION_NOT_SUPPORTED",
    )
    expect(world.deliveries).toEqual([])
    expect((await ok("notification-action", { index: 0, action: "Reply" })).pressed).toBe("Reply")
    expect(world.sent("Lunch?")).toEqual(["semantic action"])
  })

  test("all of one app are dismissed, and one that is gone meanwhile is no failure", async () => {
    const { ok, world } = notified()
    world.fail("notification", undefined, new AppError("NOTIFICATION_NOT_FOUND", "gone"))
    expect((await ok("dismiss-all-notifications", { app: "Mail" })).dismissed).toBe(1)
    expect(world.notifications.map((one) => one.id)).toEqual(["b", "c"])
    expect((await ok("dismiss-all-notifications")).dismissed).toBe(2)
    expect(world.notifications).toEqual([])
  })
})
