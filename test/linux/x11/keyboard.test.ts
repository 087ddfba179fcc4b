import { describe, expect, test } from "bun:test"
import { parseCombo } from "../../../src/keys.ts"
import { charOf, keysymOf } from "../../../src/linux/windowing/keysyms.ts"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { sendInput } from "../../../src/linux/x11/input.ts"
import { lockGroup, openXkb } from "../../../src/linux/x11/keymap.ts"
import { operateWindow } from "../../../src/linux/x11/window-ops.ts"
import { listWindows } from "../../../src/linux/x11/windows.ts"
import { Request } from "../../../src/linux/x11/wire.ts"
import { until } from "../../support/until.ts"
import { follow, patience, startManager, startXvfb, tapKey, type Xvfb } from "./xvfb.ts"

const send = (x: X11, combo: string, phase: "press" | "down" | "up" = "press") =>
  sendInput(x, { kind: "key", combo: parseCombo(combo, { modifiersAlone: true }), phase }, patience())

/** The key events that xev receives: "+c 4" means c goes down while Control is held. */
async function openXev(desk: Xvfb) {
  const child = desk.spawn(["stdbuf", "-oL", "xev", "-event", "keyboard"])
  const lines = follow(child.stdout)
  const window = await until(async () => (await listWindows(desk.x, patience()))[0])
  await operateWindow(desk.x, window.id, { kind: "focus" }, patience())
  const events = () =>
    [
      ...lines
        .text()
        .matchAll(
          /^Key(Press|Release) event,[\s\S]*?state (0x[0-9a-f]+), keycode \d+ \(keysym 0x[0-9a-f]+, (\w+)\)/gm,
        ),
    ].map(
      ([, kind, state, name]) =>
        `${kind === "Press" ? "+" : "-"}${name} ${(Number(state) & 0xff).toString(16)}`,
    )
  const after = async (count: number) => {
    await until(() => events().length >= count)
    await desk.x.sync(patience())
    return events()
  }
  return { after, events }
}

const SHIFT = "1"
const CTRL = "4"

describe("press", () => {
  test.each([
    ["a", ["+a 0", "-a 0"]],
    ["return", ["+Return 0", "-Return 0"]],
    ["backspace", ["+BackSpace 0", "-BackSpace 0"]],
    ["forwarddelete", ["+Delete 0", "-Delete 0"]],
    ["pagedown", ["+Next 0", "-Next 0"]],
    ["f12", ["+F12 0", "-F12 0"]],
    ["ctrl+c", ["+Control_L 0", `+c ${CTRL}`, `-c ${CTRL}`, `-Control_L ${CTRL}`]],
    ["shift+tab", ["+Shift_L 0", `+ISO_Left_Tab ${SHIFT}`, `-ISO_Left_Tab ${SHIFT}`, `-Shift_L ${SHIFT}`]],
    ["cmd+l", ["+Super_L 0", "+l 40", "-l 40", "-Super_L 40"]],
    ["alt+f4", ["+Alt_L 0", "+F4 8", "-F4 8", "-Alt_L 8"]],
    // A character of the second level needs Shift.
    ["ctrl++", ["+Control_L 0", "+Shift_L 4", "+plus 5", "-plus 5", "-Shift_L 5", "-Control_L 4"]],
    ["!", ["+Shift_L 0", `+exclam ${SHIFT}`, `-exclam ${SHIFT}`, `-Shift_L ${SHIFT}`]],
    ["shift", ["+Shift_L 0", `-Shift_L ${SHIFT}`]],
    [
      "ctrl+alt+shift+f1",
      ["+Control_L 0", "+Alt_L 4", "+Shift_L c", "+F1 d", "-F1 d", "-Shift_L d", "-Alt_L c", "-Control_L 4"],
    ],
  ])("%p sends the expected keys in order", async (combo, expected) => {
    await using desk = await startXvfb()
    const xev = await openXev(desk)
    await send(desk.x, combo)
    expect(
      (await xev.after(expected.length)).map((line) =>
        line.replace("+Meta_L", "+Alt_L").replace("-Meta_L", "-Alt_L"),
      ),
    ).toEqual(expected)
  })

  test("a key is found in the current layout", async () => {
    await using desk = await startXvfb()
    await desk.run(["setxkbmap", "fr"])
    const xev = await openXev(desk)
    await send(desk.x, "ctrl+a")
    expect((await xev.after(4))[1]).toBe(`+a ${CTRL}`)
    await send(desk.x, "1")
    expect((await xev.after(8)).slice(4, 6)).toEqual(["+Shift_L 0", `+1 ${SHIFT}`])
    await send(desk.x, "@")
    expect((await xev.after(12)).slice(8, 10)).toEqual(["+ISO_Level3_Shift 0", "+at 80"])
  })

  test("a shortcut uses a key of another layout, and the current layout stays", async () => {
    await using desk = await startXvfb()
    await desk.run(["setxkbmap", "us,ru"])
    desk.x.send(lockGroup(await openXkb(desk.x, patience()), 1))
    const xev = await openXev(desk)
    await send(desk.x, "ctrl+c")
    expect((await xev.after(4)).slice(1, 3)).toEqual([`+c ${CTRL}`, `-c ${CTRL}`])
    await tapKey(desk, 54)
    expect((await xev.after(6))[4]).toBe("+Cyrillic_es 0")
  })

  test.each([
    ["ru", "ctrl+c", `+c ${CTRL}`],
    ["us", "ctrl+é", `+eacute ${CTRL}`],
    ["us", "f24", "+F24 0"],
  ])("the layout %s has no key for it, so a spare one is bound: %s", async (layout, combo, expected) => {
    await using desk = await startXvfb()
    await desk.run(["setxkbmap", layout])
    const xev = await openXev(desk)
    await send(desk.x, combo)
    await until(() => xev.events().includes(expected))
    await send(desk.x, combo)
    await until(() => xev.events().filter((line) => line === expected).length === 2)
  })

  test("Caps Lock does not change a shortcut", async () => {
    await using desk = await startXvfb()
    const xev = await openXev(desk)
    await desk.run(["xdotool", "key", "Caps_Lock"])
    const before = (await xev.after(2)).length
    await send(desk.x, "ctrl+s")
    const [ctrl, s] = (await xev.after(before + 4)).slice(before)
    expect(ctrl).toBe("+Control_L 2")
    expect(s?.toLowerCase()).toBe("+s 6")
  })

  test("GTK accepts shortcuts with a layout without Latin letters", async () => {
    await using desk = await startXvfb()
    await startManager(desk, ["openbox"])
    await desk.run(["setxkbmap", "ru"])
    const program = `
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
w = Gtk.Window(title="keys"); g = Gtk.AccelGroup(); w.add_accel_group(g)
g.connect(Gdk.KEY_k, Gdk.ModifierType.CONTROL_MASK, 0, lambda *_: print("ctrl+k", flush=True) or True)
w.connect("focus-in-event", lambda *_: print("ready", flush=True)); w.show_all(); Gtk.main()`
    const lines = follow(desk.spawn(["/usr/bin/python3", "-c", program]).stdout)
    await until(() => lines.text().includes("ready"))
    await send(desk.x, "ctrl+k")
    await until(() => lines.text().includes("ctrl+k"))
  })
})

describe("key-down and key-up", () => {
  test("a key held by one connection can be released by another", async () => {
    await using desk = await startXvfb()
    const xev = await openXev(desk)
    const first = await X11.connect(desk.env, patience())
    await send(first, "ctrl+shift", "down")
    first.close()
    await send(desk.x, "right")
    await send(desk.x, "ctrl+shift", "up")
    expect(await xev.after(6)).toEqual([
      "+Control_L 0",
      "+Shift_L 4",
      "+Right 5",
      "-Right 5",
      "-Shift_L 5",
      "-Control_L 4",
    ])
  })
})

describe("a locked screen", () => {
  const lock = async (x: X11, grab: boolean) => {
    const id = x.newId()
    const { width, height } = x.setup.screen
    const create = new Request(1, 0)
      .u32(id)
      .u32(x.root)
      .i16(0)
      .i16(0)
      .u16(width)
      .u16(height)
      .u16(0)
      .u16(1)
      .u32(0)
      .u32(1 << 9)
      .u32(1)
    await x.check([create, new Request(8).u32(id)], patience())
    if (grab)
      expect((await x.ask(new Request(31, 0).u32(id).u32(0).u8(1).u8(1).u16(0), patience())).u8(1)).toBe(0)
  }

  test("gets no input, and the error says why", async () => {
    await using desk = await startXvfb()
    const xev = await openXev(desk)
    const locker = await X11.connect(desk.env, patience())
    await lock(locker, true)
    await expect(send(desk.x, "a")).rejects.toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "locked" },
    })
    await expect(sendInput(desk.x, { kind: "text", text: "secret" }, patience())).rejects.toMatchObject({
      code: "ACTION_FAILED",
    })
    locker.close()
    // The server may notice late that the locker has gone.
    await until(async () => {
      await send(desk.x, "b").catch(() => {})
      return xev.events().length >= 2
    })
    expect(xev.events()[0]).toBe("+b 0")
  })

  test("is not confused with a full-screen window that does not grab the keyboard", async () => {
    await using desk = await startXvfb()
    const xev = await openXev(desk)
    const viewer = await X11.connect(desk.env, patience())
    await lock(viewer, false)
    await send(desk.x, "a")
    expect((await xev.after(2))[0]).toBe("+a 0")
    viewer.close()
  })
})

test("keysyms mean the same characters as in GTK", async () => {
  const program = `
import gi, json; gi.require_version("Gdk", "3.0")
from gi.repository import Gdk
print(json.dumps([Gdk.keyval_to_unicode(sym) for sym in range(0x2100)]))`
  const child = Bun.spawn(["/usr/bin/python3", "-c", program], { stdout: "pipe", stderr: "ignore" })
  const codes: number[] = JSON.parse(await child.stdout.text())
  const known = codes.map((_, keysym) => keysym).filter((keysym) => charOf(keysym) !== undefined)
  expect(known.length).toBeGreaterThan(600)
  for (const keysym of known)
    expect([keysym, charOf(keysym)?.codePointAt(0)]).toEqual([keysym, codes[keysym]])
  for (const char of ["a", "é", "ж", "€", "日", "😀"]) expect(charOf(keysymOf(char))).toBe(char)
})
