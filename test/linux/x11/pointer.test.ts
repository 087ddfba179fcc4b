import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Deadline } from "../../../src/deadline.ts"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { isPointerTaken } from "../../../src/linux/x11/last-look.ts"
import {
  clickPointer,
  dragPointer,
  movePointer,
  pathOf,
  pressButton,
  turnWheel,
} from "../../../src/linux/x11/pointer.ts"
import { destroyWindow, queryPointer, setInputFocus } from "../../../src/linux/x11/requests.ts"
import { listWindows } from "../../../src/linux/x11/windows.ts"
import { Request } from "../../../src/linux/x11/wire.ts"
import { until } from "../../support/until.ts"
import { follow, patience, startXvfb, type Xvfb } from "./xvfb.ts"

/** The events that xev's window receives: "press 1 at 10,20". */
async function openXev(desk: Xvfb) {
  const child = desk.spawn([
    "stdbuf",
    "-oL",
    "xev",
    "-geometry",
    "400x300+100+100",
    "-event",
    "button",
    "-event",
    "mouse",
  ])
  const lines = follow(child.stdout)
  await until(async () => (await listWindows(desk.x, patience()))[0])
  const events = () =>
    [
      ...lines
        .text()
        .matchAll(
          /^(ButtonPress|ButtonRelease|MotionNotify) event,[^\n]*\n[^\n]*time (\d+)[^\n]*root:\((\d+),(\d+)\),\n\s+state (0x[0-9a-f]+), (?:button (\d+)|is_hint)/gm,
        ),
    ].map(([, kind, time, x, y, state, button]) => ({
      kind,
      time: Number(time),
      x: Number(x),
      y: Number(y),
      state: Number(state),
      button: Number(button),
    }))
  const buttons = () =>
    events().flatMap(({ kind, button, x, y }) =>
      kind === "MotionNotify"
        ? []
        : [`${kind === "ButtonPress" ? "press" : "release"} ${button} at ${x},${y}`],
    )
  /** All button events, once this many have arrived. */
  const after = async (count: number) => {
    await until(() => buttons().length >= count)
    return buttons()
  }
  return { events, after, buttons }
}

const LEFT_IS_DOWN = 1 << 8

const pointerOf = async (desk: Xvfb) =>
  (await desk.run(["xdotool", "getmouselocation"])).replace(/ screen.*/s, "")

describe("the pointer", () => {
  let desk: Xvfb

  beforeAll(async () => {
    desk = await startXvfb()
  })

  afterAll(() => desk[Symbol.asyncDispose]())

  test("moves to the given point, corners included", async () => {
    for (const at of [
      { x: 0, y: 0 },
      { x: 1279, y: 799 },
      { x: 333, y: 222 },
      { x: 10.4, y: 20.6 },
    ]) {
      await movePointer(desk.x, { kind: "move", at }, patience())
      expect(await pointerOf(desk)).toBe(`x:${Math.round(at.x)} y:${Math.round(at.y)}`)
    }
  })

  test("never leaves the screen", async () => {
    await movePointer(desk.x, { kind: "move", at: { x: 5, y: 6 } }, patience())
    for (const at of [
      { x: -1, y: 0 },
      { x: 1280, y: 0 },
      { x: 5, y: 800 },
    ]) {
      const click = clickPointer(desk.x, { kind: "click", at, button: "left", count: 1 }, patience())
      await expect(click).rejects.toMatchObject({
        code: "INVALID_ARGS",
        disposition: { delivery: "not_delivered" },
      })
    }
    expect(await pointerOf(desk)).toBe("x:5 y:6")
  })

  test("clicks with the given button and count", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const at = { x: 150, y: 160 }
    await clickPointer(own.x, { kind: "click", at, button: "left", count: 1 }, patience())
    await clickPointer(own.x, { kind: "click", at, button: "right", count: 1 }, patience())
    await clickPointer(own.x, { kind: "click", at, button: "middle", count: 2 }, patience())
    const pair = (button: number) => [`press ${button} at 150,160`, `release ${button} at 150,160`]
    expect(await xev.after(8)).toEqual([...pair(1), ...pair(3), ...pair(2), ...pair(2)])
  })

  test("holds the button for a moment, and clicks twice within the time of a double click", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const at = { x: 150, y: 160 }
    await clickPointer(own.x, { kind: "click", at, button: "left", count: 2 }, patience())
    await xev.after(4)
    const [down, up, again] = xev.events().filter(({ kind }) => kind !== "MotionNotify")
    expect(up!.time - down!.time).toBeGreaterThanOrEqual(45)
    expect(again!.time - down!.time).toBeLessThan(400)
  })

  test("reports which client holds it, without any app noticing", async () => {
    await using own = await startXvfb()
    const child = own.spawn(["stdbuf", "-oL", "xev", "-geometry", "400x300+100+100"])
    const lines = follow(child.stdout)
    const window = await until(async () => (await listWindows(own.x, patience()))[0])
    await own.x.check([setInputFocus(window.id)], patience())
    await movePointer(own.x, { kind: "move", at: { x: 200, y: 200 } }, patience())
    await until(() => lines.text().includes("MotionNotify"))
    const before = lines.text()
    for (let i = 0; i < 3; i++) {
      expect(await isPointerTaken(own.x, 1, patience())).toBe(false)
    }
    // All events that the looks could cause arrive before the event of the wheel.
    await turnWheel(own.x, { kind: "wheel", at: { x: 200, y: 200 }, dx: 0, dy: 1 }, patience())
    await until(() => lines.text().includes("ButtonRelease"))
    expect(lines.text().slice(before.length)).not.toMatch(/EnterNotify|LeaveNotify|FocusIn|FocusOut/)
  })

  test("is not pressed if another window has appeared there, or while another app holds it", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const at = { x: 150, y: 160 }
    const owner = { pid: 1 }
    // Not .rejects: it runs a nested event loop, in which xev's output is lost.
    const click = (prove: () => Promise<void>) =>
      clickPointer(own.x, { kind: "click", at, button: "left", count: 1, prove }, patience(), owner).catch(
        (error: unknown) => error,
      )
    const refused = { code: "ACTION_FAILED", disposition: { delivery: "not_delivered", retry: "safe" } }
    const cover = own.x.newId()
    expect(await click(async () => mapAbove(own.x, cover))).toMatchObject(refused)
    await own.x.check([destroyWindow(cover)], patience())
    const push = async () => void (await own.run(["xdotool", "mousemove", "160", "170"]))
    expect(await click(push)).toMatchObject(refused)
    const other = await X11.connect(own.env, patience())
    const grab = new Request(26, 0).u32(other.root).u16(0).u8(1).u8(1).u32(0).u32(0).u32(0)
    expect((await other.ask(grab, patience())).u8(1)).toBe(0)
    expect(await click(async () => {})).toMatchObject(refused)
    other.close()
    expect(xev.buttons()).toEqual([])
    await click(async () => {})
    expect(await xev.after(2)).toEqual(["press 1 at 150,160", "release 1 at 150,160"])
  })

  test("cancels the press and reports it if a window of another process appears while the button is down", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const other = await X11.connect(own.env, patience())
    const coming = until(
      async () => ((await queryPointer(other, patience())).mask & LEFT_IS_DOWN) !== 0,
    ).then(() => mapAbove(other, other.newId()))
    const event = { kind: "click", at: { x: 150, y: 160 }, button: "left", count: 1 } as const
    const error = await clickPointer(own.x, event, patience(), { pid: 1 }).catch((error: unknown) => error)
    await coming
    other.close()
    expect(error).toMatchObject({
      code: "ACTION_FAILED",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(await xev.after(2)).toEqual(["press 1 at 150,160", "release 1 at 1279,799"])
    expect((await queryPointer(own.x, patience())).mask & LEFT_IS_DOWN).toBe(0)
  })

  test("respects swapped buttons", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    await own.run(["xmodmap", "-e", "pointer = 3 2 1 5 4"])
    const at = { x: 150, y: 160 }
    await clickPointer(own.x, { kind: "click", at, button: "left", count: 1 }, patience())
    await turnWheel(own.x, { kind: "wheel", at, dx: 0, dy: 1 }, patience())
    expect(await xev.after(4)).toEqual([
      "press 1 at 150,160",
      "release 1 at 150,160",
      "press 5 at 150,160",
      "release 5 at 150,160",
    ])
  })

  test("scrolls down and right for positive steps", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const at = { x: 200, y: 200 }
    await turnWheel(own.x, { kind: "wheel", at, dx: 0, dy: 3 }, patience())
    await turnWheel(own.x, { kind: "wheel", at, dx: 1, dy: -2 }, patience())
    await turnWheel(own.x, { kind: "wheel", at, dx: -1, dy: 0 }, patience())
    const pressed = (await xev.after(14))
      .filter((line) => line.startsWith("press"))
      .map((line) => Number(line[6]))
    expect(pressed).toEqual([5, 5, 5, 4, 4, 7, 6])
  })

  test("drags through intermediate points, pauses, and releases at the end", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    await dragPointer(
      own.x,
      { kind: "drag", from: { x: 150, y: 150 }, to: { x: 350, y: 250 }, durationMs: 120 },
      patience(),
    )
    expect(await xev.after(2)).toEqual(["press 1 at 150,150", "release 1 at 350,250"])
    const held = xev.events().filter((event) => event.kind === "MotionNotify" && (event.state & 0x100) !== 0)
    expect(held.length).toBeGreaterThanOrEqual(5)
    for (const { x, y } of held) expect(Math.abs(y - 150 - (x - 150) / 2)).toBeLessThan(2)
    const release = xev.events().findLast((event) => event.kind === "ButtonRelease")!
    const arrival = held.find((event) => event.x === 350)!
    expect(release.time - arrival.time).toBeGreaterThanOrEqual(50)
  })

  test("returns to the start and releases if a drag is interrupted", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const interrupt = new AbortController()
    const drag = dragPointer(
      own.x,
      { kind: "drag", from: { x: 150, y: 150 }, to: { x: 350, y: 250 }, durationMs: 10_000 },
      Deadline.in(20_000, interrupt.signal),
    )
    await xev.after(1)
    interrupt.abort()
    await expect(drag).rejects.toMatchObject({ code: "TIMEOUT" })
    expect(await xev.after(2)).toEqual(["press 1 at 150,150", "release 1 at 150,150"])
  })

  test("does not start a drag that cannot fit into the deadline", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const drag = {
      kind: "drag",
      from: { x: 150, y: 150 },
      to: { x: 350, y: 250 },
      durationMs: 60_000,
    } as const
    await expect(dragPointer(own.x, drag, Deadline.in(3000))).rejects.toMatchObject({
      code: "TIMEOUT",
      disposition: { delivery: "not_delivered" },
    })
    await own.x.sync(patience())
    expect(xev.buttons()).toEqual([])
  })

  test("a button held by one command can be released by a later connection", async () => {
    await using own = await startXvfb()
    const xev = await openXev(own)
    const at = { x: 180, y: 190 }
    const first = await X11.connect(own.env, patience())
    await pressButton(first, { kind: "button", at, button: "left", phase: "down" }, patience())
    first.close()
    await movePointer(own.x, { kind: "move", at: { x: 220, y: 230 } }, patience())
    await pressButton(
      own.x,
      { kind: "button", at: { x: 240, y: 250 }, button: "left", phase: "up" },
      patience(),
    )
    expect(await xev.after(2)).toEqual(["press 1 at 180,190", "release 1 at 240,250"])
  })

  test("a missing XTEST extension is named in the error", async () => {
    await using own = await startXvfb({ args: ["-extension", "XTEST"] })
    await expect(movePointer(own.x, { kind: "move", at: { x: 1, y: 1 } }, patience())).rejects.toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      suggestion: expect.stringContaining("XTEST"),
    })
  })
})

/** A window above all others, unknown to the window manager. */
async function mapAbove(x: X11, id: number): Promise<void> {
  const create = new Request(1, 0).u32(id).u32(x.root).i16(0).i16(0).u16(800).u16(600).u16(0).u16(1).u32(0)
  await x.check([create.u32(1 << 9).u32(1), new Request(8).u32(id)], patience())
}

describe("toolkits", () => {
  const GTK = `
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
w = Gtk.Window(); w.set_default_size(300, 200); b = Gtk.EventBox(); b.add_events(Gdk.EventMask.BUTTON_PRESS_MASK); w.add(b)
b.connect("button-press-event", lambda _, e: print("clicks", {4: 1, 5: 2, 6: 3}[int(e.type)], flush=True))
b.connect("map-event", lambda *_: print("ready", flush=True)); b.add_events(Gdk.EventMask.STRUCTURE_MASK)
w.show_all(); Gtk.main()`
  const QT = `
from PyQt5 import QtWidgets
class W(QtWidgets.QWidget):
    def mousePressEvent(self, e): print("clicks 1", flush=True)
    def mouseDoubleClickEvent(self, e): print("clicks 2", flush=True)
    def paintEvent(self, e): print("ready", flush=True)
a = QtWidgets.QApplication([]); w = W(); w.resize(300, 200); w.show(); a.exec_()`

  test.each([
    ["GTK", GTK, ["clicks 1", "clicks 1", "clicks 2"]],
    ["Qt", QT, ["clicks 1", "clicks 2"]],
  ])("%s sees a double click as double, and a single one as single", async (_, program, expected) => {
    await using desk = await startXvfb()
    const child = desk.spawn(["/usr/bin/python3", "-c", program])
    const lines = follow(child.stdout)
    await until(() => lines.text().includes("ready"))
    const window = await until(async () => (await listWindows(desk.x, patience()))[0])
    const at = { x: window.bounds.x + 150, y: window.bounds.y + 100 }
    const clicks = () => lines.text().match(/clicks \d/g) ?? []
    await clickPointer(desk.x, { kind: "click", at, button: "left", count: 1 }, patience())
    await until(() => clicks().length > 0)
    expect(clicks()).toEqual(["clicks 1"])
    // A point far from the first click, which would count as part of a double click.
    const away = { x: at.x - 80, y: at.y - 50 }
    await clickPointer(desk.x, { kind: "click", at: away, button: "left", count: 2 }, patience())
    await until(() => clicks().length >= 1 + expected.length)
    expect(clicks().slice(1)).toEqual(expected)
  })

  test("two clicks at the same point of a list that moved are not a double click", async () => {
    await using desk = await startXvfb()
    const child = desk.spawn(["/usr/bin/python3", "-c", GTK])
    const lines = follow(child.stdout)
    await until(() => lines.text().includes("ready"))
    const window = await until(async () => (await listWindows(desk.x, patience()))[0])
    const at = { x: window.bounds.x + 150, y: window.bounds.y + 100 }
    const clicks = () => lines.text().match(/clicks \d/g) ?? []
    const click = { kind: "click", button: "left", count: 1, inList: true } as const
    await clickPointer(desk.x, { ...click, at }, patience())
    await desk.run(["xdotool", "windowmove", String(window.id), String(window.bounds.x), "300"])
    await clickPointer(desk.x, { ...click, at: { x: at.x, y: 400 } }, patience())
    await until(() => clicks().length >= 2)
    expect(clicks()).toEqual(["clicks 1", "clicks 1"])
  })
})

test("a path starts after its origin, ends at its target and takes the given time", () => {
  const point = fc.record({ x: fc.nat(4000), y: fc.nat(4000) })
  fc.assert(
    fc.property(point, point, fc.integer({ min: 0, max: 5000 }), (from, to, durationMs) => {
      const path = pathOf(from, to, durationMs)
      expect(path.at(-1)?.point).toEqual(to)
      expect(path.length).toBeGreaterThanOrEqual(10)
      const total = path.reduce((sum, { waitMs }) => sum + waitMs, 0)
      expect(total).toBeGreaterThanOrEqual(durationMs)
      expect(total).toBeLessThanOrEqual(durationMs + 151)
    }),
  )
})
