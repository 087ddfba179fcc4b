import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { changeProperty, words } from "../../../src/linux/x11/requests.ts"
import { operateWindow, requestClose } from "../../../src/linux/x11/window-ops.ts"
import {
  listOverrideWindows,
  listWindows,
  readManager,
  readWindow,
  windowAt,
  type XWindow,
} from "../../../src/linux/x11/windows.ts"
import { encodeLatin1, Request } from "../../../src/linux/x11/wire.ts"
import { until } from "../../support/until.ts"
import { patience, startManager, startXvfb, type Xvfb } from "./xvfb.ts"

const findWindow = (desk: Xvfb, title: string) =>
  until(async () => {
    const window = (await listWindows(desk.x, patience())).find((one) => one.title === title)
    const managed = await readManager(desk.x, patience())
    return window && (!managed || window.frameExtents) ? window : undefined
  })

async function openTerminal(desk: Xvfb, title: string, geometry = "40x10+50+60") {
  const child = desk.spawn(["xterm", "-xrm", "*waitForWm: false", "-T", title, "-geometry", geometry])
  const window = await findWindow(desk, title)
  // xterm ignores a request to close until its shell runs.
  await until(() => Bun.file(`/proc/${child.pid}/task/${child.pid}/children`).text())
  return { window, child }
}

// GTK accepts any size, a terminal only whole cells.
const openDialog = (desk: Xvfb, title: string, env: Record<string, string> = {}) => {
  const child = desk.spawn(["zenity", "--text-info", `--title=${title}`], { env })
  return findWindow(desk, title).then((window) => ({ window, child }))
}

async function closeAndWait(desk: Xvfb, id: number) {
  await requestClose(desk.x, id, patience())
  await until(async () => !(await readWindow(desk.x, id, patience())))
}

/** The client window's rectangle according to xwininfo. */
async function clientRect(desk: Xvfb, id: number) {
  const text = await desk.run(["xwininfo", "-id", String(id)])
  const read = (label: string) => Number(new RegExp(`${label}:\\s+(-?\\d+)`).exec(text)?.[1])
  return {
    x: read("Absolute upper-left X"),
    y: read("Absolute upper-left Y"),
    width: read("Width"),
    height: read("Height"),
  }
}

/** The rectangle that the user sees, with decorations and without shadow, according to xprop. */
async function seenFrame(desk: Xvfb, id: number) {
  const client = await clientRect(desk, id)
  const extents = async (property: string) => {
    const text = await desk.run(["xprop", "-id", String(id), property])
    return (/= (.+)$/m.exec(text)?.[1] ?? "0,0,0,0").split(",").map(Number)
  }
  const [frame, shadow] = await Promise.all([extents("_NET_FRAME_EXTENTS"), extents("_GTK_FRAME_EXTENTS")])
  const [left = 0, right = 0, top = 0, bottom = 0] = frame.map((value, i) => value - (shadow[i] ?? 0))
  return {
    x: client.x - left,
    y: client.y - top,
    width: client.width + left + right,
    height: client.height + top + bottom,
  }
}

const activeWindow = async (desk: Xvfb) => Number(await desk.run(["xdotool", "getactivewindow"]))
const focusedWindow = async (desk: Xvfb) => Number(await desk.run(["xdotool", "getwindowfocus"]))
const netState = (desk: Xvfb, id: number) =>
  desk.run(["xprop", "-id", String(id), "_NET_WM_STATE", "WM_STATE"])

describe.each([["openbox"], ["xfwm4", "--compositor=off"]])("under %s", (...manager) => {
  let desk: Xvfb
  let one: XWindow
  let two: XWindow

  beforeAll(async () => {
    desk = await startXvfb()
    await startManager(
      desk,
      manager.filter((word) => typeof word === "string"),
    )
    one = (await openDialog(desk, "one")).window
    two = (await openTerminal(desk, "two")).window
  })

  afterAll(() => desk[Symbol.asyncDispose]())

  const operate = (id: number, op: Parameters<typeof operateWindow>[2]) =>
    operateWindow(desk.x, id, op, patience())

  test("windows are listed topmost first, with the facts that xwininfo, xprop and xdotool report", async () => {
    await operate(two.id, { kind: "focus" })
    const windows = await listWindows(desk.x, patience())
    expect(windows.map((window) => window.title)).toEqual(["two", "one"])
    for (const window of windows) {
      expect(window.bounds).toEqual(await clientRect(desk, window.id))
      expect(window.frame).toEqual(await seenFrame(desk, window.id))
      expect(window.pid).toBe(Number(await desk.run(["xdotool", "getwindowpid", String(window.id)])))
    }
    expect(windows[0]).toMatchObject({ wmClass: { instance: "xterm", className: "XTerm" }, focused: true })
    expect(windows[1]).toMatchObject({ focused: false, minimized: false, maximized: false })
    expect(await activeWindow(desk)).toBe(two.id)
  })

  test("focus activates a window and gives it the keys, even if it was minimised", async () => {
    await operate(one.id, { kind: "focus" })
    expect(await activeWindow(desk)).toBe(one.id)
    await operate(two.id, { kind: "minimize" })
    const after = await operate(two.id, { kind: "focus" })
    expect(after).toMatchObject({ focused: true, minimized: false })
    expect(await activeWindow(desk)).toBe(two.id)
    expect(await focusedWindow(desk)).toBe(two.id)
    expect((await listWindows(desk.x, patience()))[0]?.id).toBe(two.id)
  })

  test("move puts the visible frame at the given point, and list-windows agrees", async () => {
    for (const [x, y] of [
      [100, 120],
      [0, 0],
      [400, 33],
    ] as const) {
      for (const { id } of [one, two]) {
        const after = await operate(id, { kind: "move", x, y })
        expect(after.frame).toMatchObject({ x, y })
        expect(await seenFrame(desk, id)).toEqual(after.frame)
        expect((await listWindows(desk.x, patience())).find((window) => window.id === id)?.frame).toEqual(
          after.frame,
        )
      }
    }
  })

  test("resize sets the size of the visible frame and keeps its corner", async () => {
    await operate(one.id, { kind: "move", x: 60, y: 70 })
    const after = await operate(one.id, { kind: "resize", width: 640, height: 480 })
    expect(after.frame).toEqual({ x: 60, y: 70, width: 640, height: 480 })
    expect(await seenFrame(desk, one.id)).toEqual(after.frame)
  })

  test("resize to a size the window does not accept reports the actual one", async () => {
    await operate(one.id, { kind: "resize", width: 640, height: 480 })
    const after = await operate(one.id, { kind: "resize", width: 20, height: 20 })
    expect(after.frame.width).toBeGreaterThan(20)
    expect(after.frame).toEqual(await seenFrame(desk, one.id))
  })

  test("xprop sees maximise, minimise and restore", async () => {
    const before = await operate(one.id, { kind: "move", x: 80, y: 90 })
    const big = await operate(one.id, { kind: "maximize" })
    expect(big).toMatchObject({ maximized: true, frame: { x: 0, y: 0, width: 1280, height: 800 } })
    expect(await netState(desk, one.id)).toContain("_NET_WM_STATE_MAXIMIZED_VERT")
    const back = await operate(one.id, { kind: "restore" })
    expect(back).toMatchObject({ maximized: false, frame: before.frame })
    expect(await netState(desk, one.id)).not.toContain("_NET_WM_STATE_MAXIMIZED")
    expect(await operate(one.id, { kind: "minimize" })).toMatchObject({ minimized: true })
    expect(await netState(desk, one.id)).toContain("window state: Iconic")
    expect((await listWindows(desk.x, patience())).find((window) => window.id === one.id)?.minimized).toBe(
      true,
    )
    expect(await operate(one.id, { kind: "restore" })).toMatchObject({ minimized: false })
    expect(await netState(desk, one.id)).toContain("window state: Normal")
  })

  test("an operation that the window manager refuses fails", async () => {
    await operate(one.id, { kind: "maximize" })
    await expect(operate(one.id, { kind: "move", x: 300, y: 300 })).rejects.toMatchObject({
      code: "ACTION_FAILED",
    })
    await operate(one.id, { kind: "restore" })
  })

  test("close closes the window", async () => {
    const { window, child } = await openDialog(desk, "three")
    await closeAndWait(desk, window.id)
    await child.exited
    await expect(operate(window.id, { kind: "focus" })).rejects.toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: `Window 'w-${window.id}' not found`,
    })
  })

  test("a stopped application does not block operations on its window", async () => {
    const { window, child } = await openTerminal(desk, "stopped")
    child.kill("SIGSTOP")
    const after = await operate(window.id, { kind: "move", x: 222, y: 111 })
    expect(after.frame).toMatchObject({ x: 222, y: 111 })
    child.kill("SIGKILL")
    await child.exited
  })

  test("the window at a point is the topmost one there, title bars included", async () => {
    await operate(one.id, { kind: "resize", width: 400, height: 300 })
    const { frame: a } = await operate(one.id, { kind: "move", x: 20, y: 20 })
    await operate(two.id, { kind: "move", x: 100, y: 100 })
    const { frame: b } = await operate(two.id, { kind: "focus" })
    const at = async (x: number, y: number) => (await windowAt(desk.x, { x, y }, patience()))?.id
    expect(await at(b.x + 50, b.y + 100)).toBe(two.id)
    expect(await at(b.x + 60, b.y + 8)).toBe(two.id)
    expect(await at(a.x + 30, a.y + 60)).toBe(one.id)
    expect(await at(1270, 790)).toBeUndefined()
  })
})

describe("client-side decorations", () => {
  test("are measured without their shadow, in lists and in moves", async () => {
    await using desk = await startXvfb()
    await startManager(desk, ["xfwm4", "--compositor=on"])
    const { window } = await openDialog(desk, "shadowed", { GTK_CSD: "1" })
    const shadowed = await until(async () => {
      const now = await readWindow(desk.x, window.id, patience())
      return now?.gtkFrameExtents && now.gtkFrameExtents.left > 0 ? now : undefined
    })
    expect(shadowed.frame).toEqual(await seenFrame(desk, window.id))
    expect(shadowed.frame.width).toBeLessThan(shadowed.bounds.width)
    const moved = await operateWindow(desk.x, window.id, { kind: "move", x: 200, y: 150 }, patience())
    expect(moved.frame).toMatchObject({ x: 200, y: 150 })
    const sized = await operateWindow(
      desk.x,
      window.id,
      { kind: "resize", width: 500, height: 400 },
      patience(),
    )
    expect(sized.frame).toEqual({ x: 200, y: 150, width: 500, height: 400 })
    expect(await seenFrame(desk, window.id)).toEqual(sized.frame)
  })
})

describe("without a window manager", () => {
  let desk: Xvfb
  let one: XWindow

  beforeAll(async () => {
    desk = await startXvfb()
    one = (await openTerminal(desk, "alone")).window
  })

  afterAll(() => desk[Symbol.asyncDispose]())

  test("top-level windows can be listed, focused, moved and closed", async () => {
    const focused = await operateWindow(desk.x, one.id, { kind: "focus" }, patience())
    expect(focused.focused).toBe(true)
    expect(await focusedWindow(desk)).toBe(one.id)
    const moved = await operateWindow(desk.x, one.id, { kind: "move", x: 70, y: 80 }, patience())
    expect(moved.frame).toMatchObject({ x: 70, y: 80 })
    expect(await clientRect(desk, one.id)).toMatchObject({ x: 70, y: 80 })
    const { window } = await openDialog(desk, "brief")
    await closeAndWait(desk, window.id)
    expect((await listWindows(desk.x, patience())).map((now) => now.title)).toEqual(["alone"])
  })

  test("operations that need one fail and say so", async () => {
    for (const kind of ["minimize", "maximize", "restore"] as const) {
      await expect(operateWindow(desk.x, one.id, { kind }, patience())).rejects.toMatchObject({
        code: "PLATFORM_NOT_SUPPORTED",
        suggestion: expect.stringContaining("window manager"),
      })
    }
  })

  test("the list still works after the window manager dies", async () => {
    const manager = await startManager(desk, ["openbox"])
    await until(async () => (await listWindows(desk.x, patience()))[0]?.frameExtents)
    manager.kill("SIGKILL")
    await until(async () => !(await readManager(desk.x, patience())))
    const later = await openTerminal(desk, "later")
    const titles = (await listWindows(desk.x, patience())).map((window) => window.title)
    expect(titles.toSorted()).toEqual(["alone", "later"])
    await closeAndWait(desk, later.window.id)
  })

  test("titles may contain any text", async () => {
    const setName = async (property: string, type: string, bytes: Uint8Array) => {
      await desk.x.intern([property, type], patience())
      await desk.x.check(
        [changeProperty(one.id, desk.x.atom(property), desk.x.atom(type), 8, bytes)],
        patience(),
      )
      return (await readWindow(desk.x, one.id, patience()))?.title
    }
    const utf8 = (text: string) => new TextEncoder().encode(text)
    await desk.run(["xprop", "-id", String(one.id), "-remove", "_NET_WM_NAME"])
    expect(await setName("WM_NAME", "STRING", encodeLatin1("Grüße"))).toBe("Grüße")
    expect(await setName("WM_NAME", "STRING", utf8("Grüße 日本"))).toBe("Grüße 日本")
    expect(await setName("WM_NAME", "COMPOUND_TEXT", utf8("\x1b%G日本\x1b%@"))).toBe("日本")
    expect(await setName("_NET_WM_NAME", "UTF8_STRING", utf8("a\nb\x07c\0"))).toBe("a b c")
    expect(await setName("_NET_WM_NAME", "UTF8_STRING", utf8("🗂 files"))).toBe("🗂 files")
    expect(await setName("_NET_WM_NAME", "UTF8_STRING", Uint8Array.of(0x41, 0xff, 0xfe))).toBe(
      "A\ufffd\ufffd",
    )
  })

  test("the pid of a window comes from its connection if the window names another machine", async () => {
    const { window, child } = await openTerminal(desk, "remote")
    await desk.run([
      "xprop",
      "-id",
      String(window.id),
      "-f",
      "WM_CLIENT_MACHINE",
      "8s",
      "-set",
      "WM_CLIENT_MACHINE",
      "elsewhere",
    ])
    await desk.run([
      "xprop",
      "-id",
      String(window.id),
      "-f",
      "_NET_WM_PID",
      "32c",
      "-set",
      "_NET_WM_PID",
      "7",
    ])
    expect((await readWindow(desk.x, window.id, patience()))?.pid).toBe(child.pid)
    child.kill()
  })

  test("menus and tooltips are listed separately, without managed windows", async () => {
    const other = await X11.connect(desk.env, patience())
    const popup = openPopup(other, { x: 300, y: 200, width: 90, height: 40 })
    const hidden = openPopup(other, { x: 0, y: 0, width: 10, height: 10 }, false)
    await other.intern(["_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_POPUP_MENU", "ATOM"], patience())
    const type = words(other.atom("_NET_WM_WINDOW_TYPE_POPUP_MENU"))
    await other.check(
      [changeProperty(popup, other.atom("_NET_WM_WINDOW_TYPE"), other.atom("ATOM"), 32, type)],
      patience(),
    )
    const found = await listOverrideWindows(desk.x, patience())
    expect(found.map((window) => window.id)).toEqual([popup])
    expect(found[0]).toMatchObject({
      types: ["popup-menu"],
      bounds: { x: 300, y: 200, width: 90, height: 40 },
      pid: process.pid,
    })
    expect((await windowAt(desk.x, { x: 310, y: 210 }, patience()))?.id).toBe(popup)
    const listed = (await listWindows(desk.x, patience())).map((window) => window.id)
    expect(listed).not.toContain(popup)
    expect(listed).not.toContain(hidden)
    other.close()
  })

  test("windows that disappear during the read are left out", async () => {
    const other = await X11.connect(desk.env, patience())
    let stop = false
    const churn = (async () => {
      while (!stop) {
        const ids = Array.from({ length: 20 }, () =>
          openPopup(other, { x: 0, y: 0, width: 5, height: 5 }, true, false),
        )
        await other.sync(patience())
        for (const id of ids) other.send(new Request(4).u32(id))
        await other.sync(patience())
      }
    })()
    for (let i = 0; i < 40; i++) {
      const windows = await listWindows(desk.x, patience())
      expect(windows.map((window) => window.id)).toContain(one.id)
    }
    stop = true
    await churn
    other.close()
  })
})

function openPopup(
  x: X11,
  at: { x: number; y: number; width: number; height: number },
  map = true,
  override = true,
): number {
  const id = x.newId()
  x.send(
    new Request(1, 0)
      .u32(id)
      .u32(x.root)
      .i16(at.x)
      .i16(at.y)
      .u16(at.width)
      .u16(at.height)
      .u16(0)
      .u16(1)
      .u32(0)
      .u32(1 << 9)
      .u32(override ? 1 : 0),
  )
  if (map) x.send(new Request(8).u32(id))
  return id
}
