import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { Deadline } from "../../../src/deadline.ts"
import { AppError } from "../../../src/errors.ts"
import { sendInput } from "../../../src/linux/x11/input.ts"
import { lockGroup, openXkb } from "../../../src/linux/x11/keymap.ts"
import { setInputFocus } from "../../../src/linux/x11/requests.ts"
import { operateWindow } from "../../../src/linux/x11/window-ops.ts"
import { listWindows } from "../../../src/linux/x11/windows.ts"
import { until } from "../../support/until.ts"
import { patience, startManager, startXvfb, tapKey, type Xvfb } from "./xvfb.ts"

const TEXT = [
  "Hello, World! The quick brown fox jumps over the lazy dog. 0123456789",
  "~`!@#$%^&*()_+-={}[]|\\:;\"'<>,.?/\tand a tab",
  "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
  "Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis, 5 €.",
  "Flygande bäckasiner söka hwila på mjuka tuvor. ÅÄÖ ÀÉÎÕÜ ñ ß ẞ",
  "Съешь ещё этих мягких французских булок, да выпей чаю. Ελληνικά.",
  "日本語のテキスト。中文字符測試。한국어 ✓ 😀👩‍👩‍👧 e\u0301 n\u0303",
  "",
].join("\n")

const type = (desk: Xvfb, text: string, deadline = patience()) =>
  sendInput(desk.x, { kind: "text", text }, deadline)

/** A terminal whose program records every byte from the keyboard. */
async function openTerminal(desk: Xvfb, name = "sink") {
  const [file, ready] = [join(desk.dir, name), join(desk.dir, `${name}.ready`)]
  const script = `stty raw -echo; : > ${file}; : > ${ready}; exec cat > ${file}`
  const child = desk.spawn([
    "xterm",
    "-u8",
    "-xrm",
    "*waitForWm: false",
    "-T",
    name,
    "-e",
    "sh",
    "-c",
    script,
  ])
  await until(() => Bun.file(ready).exists())
  return { child, read: () => Bun.file(file).text(), window: await focusOn(desk, name) }
}

/** A toolkit's text field that records its content whenever it changes. */
async function openToolkit(desk: Xvfb, kit: "gtk" | "qt") {
  const file = join(desk.dir, "field")
  const GTK = `
import gi, sys; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
w = Gtk.Window(title="sink"); v = Gtk.TextView(); w.add(v); b = v.get_buffer()
b.connect("changed", lambda *_: open(sys.argv[1], "w").write(b.get_text(b.get_start_iter(), b.get_end_iter(), True)))
v.connect("focus-in-event", lambda *_: open(sys.argv[1] + ".ready", "w").close())
w.show_all(); v.grab_focus(); Gtk.main()`
  const QT = `
import sys
from PyQt5 import QtWidgets
a = QtWidgets.QApplication([])
class W(QtWidgets.QPlainTextEdit):
    def focusInEvent(self, e): super().focusInEvent(e); open(sys.argv[1] + ".ready", "w").close()
w = W(); w.setWindowTitle("sink")
w.textChanged.connect(lambda: open(sys.argv[1], "w").write(w.toPlainText()))
w.show(); w.setFocus(); a.exec_()`
  desk.spawn(["/usr/bin/python3", "-c", kit === "gtk" ? GTK : QT, file])
  await focusOn(desk, "sink")
  await until(() => Bun.file(`${file}.ready`).exists())
  return {
    read: () =>
      Bun.file(file)
        .text()
        .catch(() => ""),
  }
}

async function focusOn(desk: Xvfb, title: string) {
  const window = await until(async () =>
    (await listWindows(desk.x, patience())).find((one) => one.title === title),
  )
  return operateWindow(desk.x, window.id, { kind: "focus" }, patience())
}

/** The received text, once it is as long as the sent one; after a timeout, the part that has arrived. */
async function received(read: () => Promise<string>, wanted: string): Promise<string> {
  const deadline = Deadline.in(15_000)
  let text = await read()
  while (Buffer.byteLength(text) < Buffer.byteLength(wanted) && !deadline.expired) {
    await Bun.sleep(15)
    text = await read()
  }
  return text
}

const inTerminal = (text: string) => text.replaceAll("\n", "\r")

/** The meaning of each key, as another client sees it. */
async function keyTable(desk: Xvfb): Promise<Map<string, string>> {
  const lines = (await desk.run(["xmodmap", "-pke"])).trimEnd().split("\n")
  return new Map(
    lines
      .map((line) => line.split(" = "))
      .map(([key = "", symbols = ""]) => [key.trim().replace(/ =$/, ""), symbols]),
  )
}

/** The state of all keyboard lamps, such as Caps Lock and Num Lock. */
const lamps = async (desk: Xvfb) => (await desk.run(["xset", "q"])).match(/\d\d: [\w ]+: +(?:on|off)/g)

const LAYOUTS: readonly (readonly [string, readonly string[], number])[] = [
  ["us", ["us"], 0],
  ["de", ["de"], 0],
  ["fr", ["fr"], 0],
  ["se", ["se"], 0],
  ["dvorak", ["us", "-variant", "dvorak"], 0],
  ["ru", ["ru"], 0],
  ["us,ru in the first", ["us,ru"], 0],
  ["us,ru in the second", ["us,ru"], 1],
  ["us-intl", ["us", "-variant", "intl"], 0],
]

describe.each(LAYOUTS)("with the layout %s", (_, layout, group) => {
  test.each(["off", "on"])(
    "any text arrives unchanged with Caps Lock %s, and the keyboard stays the same",
    async (caps) => {
      await using desk = await startXvfb()
      await startManager(desk, ["openbox"])
      await desk.run(["setxkbmap", ...layout])
      const terminal = await openTerminal(desk)
      if (caps === "on") await desk.run(["xdotool", "key", "Caps_Lock"])
      desk.x.send(lockGroup(await openXkb(desk.x, patience()), group))
      const [before, shining] = [await keyTable(desk), await lamps(desk)]
      expect(shining?.find((lamp) => lamp.includes("Caps Lock"))).toEndWith(` ${caps}`)
      await type(desk, TEXT)
      expect(await received(terminal.read, inTerminal(TEXT))).toBe(inTerminal(TEXT))
      expect(await lamps(desk)).toEqual(shining)
      const after = await keyTable(desk)
      for (const [key, symbols] of before)
        if (symbols !== "") expect([key, after.get(key)]).toEqual([key, symbols])
    },
  )
})

describe.each(["gtk", "qt"] as const)("in a field of %s", (kit) => {
  test.each(["off", "on"])("any text arrives with Caps Lock %s", async (caps) => {
    await using desk = await startXvfb()
    await startManager(desk, ["openbox"])
    await desk.run(["setxkbmap", "fr"])
    const field = await openToolkit(desk, kit)
    if (caps === "on") await desk.run(["xdotool", "key", "Caps_Lock"])
    await type(desk, TEXT)
    expect(await received(field.read, TEXT)).toBe(TEXT)
    // Some characters of this text are on keys that the first text has left bound.
    await type(desk, "é日😀ж")
    expect(await received(field.read, `${TEXT}é日😀ж`)).toBe(`${TEXT}é日😀ж`)
  })
})

describe("typing", () => {
  test("ten thousand characters, a thousand of them different, arrive in order", async () => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    const text = Array.from({ length: 10_000 }, (_, i) =>
      i % 10 === 0 ? String.fromCodePoint(0x4e00 + i / 10) : String.fromCharCode(33 + (i % 90)),
    ).join("")
    await type(desk, text, Deadline.in(50_000))
    expect(await received(terminal.read, text)).toBe(text)
  })

  test("the current layout is restored", async () => {
    await using desk = await startXvfb()
    await desk.run(["setxkbmap", "us,ru"])
    const terminal = await openTerminal(desk)
    desk.x.send(lockGroup(await openXkb(desk.x, patience()), 1))
    await type(desk, "aйb")
    await tapKey(desk, 38)
    expect(await received(terminal.read, "aйbф")).toBe("aйbф")
    // The two layouts contain both alphabets, so no key had to be bound.
    expect(await desk.run(["xprop", "-root"])).not.toContain("SPARE_KEYS")
  })

  test("spare keys are few, and the next command reuses them", async () => {
    await using desk = await startXvfb()
    const before = await keyTable(desk)
    const terminal = await openTerminal(desk)
    await type(desk, "éèê日本語")
    const bound = await keyTable(desk)
    await type(desk, "語本日êèé")
    expect(await keyTable(desk)).toEqual(bound)
    expect(await received(terminal.read, "éèê日本語語本日êèé")).toBe("éèê日本語語本日êèé")
    const all = Array.from({ length: 90 }, (_, i) => String.fromCodePoint(0x5000 + i)).join("")
    await type(desk, all)
    const changed = [...(await keyTable(desk))].filter(([key, symbols]) => before.get(key) !== symbols)
    expect(changed.length).toBeLessThanOrEqual(10)
    for (const [key] of changed) expect(before.get(key)).toBe("")
  })

  test("keys that the user bound meanwhile are not changed", async () => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    await type(desk, "日")
    await desk.run(["setxkbmap", "de"])
    await desk.run(["xmodmap", "-e", "keycode 230 = F30", "-e", "keycode 222 = F31"])
    const before = await keyTable(desk)
    await type(desk, "日本ö")
    expect(await received(terminal.read, "日日本ö")).toBe("日日本ö")
    const after = await keyTable(desk)
    for (const [key, symbols] of before)
      if (symbols !== "") expect([key, after.get(key)]).toEqual([key, symbols])
  })

  test("modifiers held by an earlier command do not change the text and are held afterwards", async () => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    await sendInput(
      desk.x,
      { kind: "key", combo: { modifiers: ["ctrl"], key: "shift" }, phase: "down" },
      patience(),
    )
    await type(desk, "abc é")
    expect(await received(terminal.read, "abc é")).toBe("abc é")
    await sendInput(desk.x, { kind: "key", combo: { modifiers: [], key: "ctrl" }, phase: "up" }, patience())
    await tapKey(desk, 38)
    expect(await received(terminal.read, "abc éA")).toBe("abc éA")
  })

  test("no text is typed if no window has the focus", async () => {
    await using desk = await startXvfb()
    await desk.x.check([setInputFocus(0)], patience())
    await expect(type(desk, "lost")).rejects.toMatchObject({
      code: "ACTION_FAILED",
      disposition: { delivery: "not_delivered" },
    })
  })

  test.each(["\u0007", "a\u001bb", "\ud83d"])("text that no key can type is refused: %j", async (text) => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    await expect(type(desk, text)).rejects.toMatchObject({ code: "INVALID_ARGS" })
    await type(desk, "x")
    expect(await received(terminal.read, "x")).toBe("x")
  })

  test("a stopped program gets no key whose meaning would change before it reads it", async () => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    terminal.child.kill("SIGSTOP")
    const text = Array.from({ length: 60 }, (_, i) => String.fromCodePoint(0x5000 + i)).join("")
    await expect(type(desk, text, Deadline.in(700))).rejects.toMatchObject({ code: "APP_UNRESPONSIVE" })
    terminal.child.kill("SIGCONT")
    await type(desk, "end")
    await until(async () => (await terminal.read()).endsWith("end"))
    expect(text).toStartWith((await terminal.read()).slice(0, -3))
  })

  test("typing stops if another window takes the focus", async () => {
    await using desk = await startXvfb()
    await startManager(desk, ["openbox"])
    const other = await openTerminal(desk, "other")
    const first = await openTerminal(desk, "first")
    const typing = type(desk, "x".repeat(60_000)).then(
      () => undefined,
      (error) => error,
    )
    await until(async () => (await first.read()).length > 0)
    await desk.run(["xdotool", "windowactivate", String(other.window.id)])
    const failure = await typing
    expect(failure).toMatchObject({ code: "ACTION_FAILED", disposition: { retry: "unsafe" } })
    expect(failure.details.typed).toBeLessThan(60_000)
    // The first window has only the text that was sent before the other one got the focus.
    await type(desk, "\n")
    await until(async () => (await other.read()).endsWith("\r"))
    expect(await other.read()).toBe("\r")
    await until(async () => (await first.read()).length >= failure.details.typed)
    expect(await first.read()).toBe("x".repeat(failure.details.typed))
  })

  test("if the X server stops answering, a secret is uncertain, or unsent before its first key", async () => {
    await using desk = await startXvfb()
    const terminal = await openTerminal(desk)
    const secret = { kind: "text", text: "s".repeat(60_000), secret: true } as const
    const stop = (): void => {
      process.kill(desk.pid, "SIGSTOP")
    }
    const fails = async (prove: () => Promise<void>) => {
      try {
        return await sendInput(desk.x, { ...secret, prove }, Deadline.in(2000)).catch((error) => error)
      } finally {
        process.kill(desk.pid, "SIGCONT")
      }
    }
    expect(await fails(async () => stop())).toMatchObject({
      code: "TIMEOUT",
      suggestion: expect.stringContaining("doctor"),
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    expect(await terminal.read()).toBe("")
    const begun = until(async () => (await terminal.read()).length > 0).then(stop)
    const failure = await fails(async () => {})
    await begun
    expect(failure).toMatchObject({
      code: "TIMEOUT",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(JSON.stringify({ ...failure, message: failure.message })).not.toMatch(/s{5}|60000/)
  })

  test("nothing is typed or pressed if another window has the focus from the start", async () => {
    await using desk = await startXvfb()
    await startManager(desk, ["openbox"])
    const first = await openTerminal(desk, "first")
    const other = await openTerminal(desk, "other")
    const owner = { pid: first.child.pid, window: first.window.id }
    for (const event of [
      { kind: "text", text: "hunter2" },
      { kind: "text", text: "hunter2", secret: true },
      { kind: "key", combo: { modifiers: ["ctrl"], key: "a" }, phase: "press" },
    ] as const) {
      await expect(sendInput(desk.x, event, patience(), owner)).rejects.toMatchObject({
        code: "ACTION_FAILED",
        disposition: { delivery: "not_delivered", retry: "safe" },
      })
    }
    const places: boolean[][] = []
    const asSent = (...place: boolean[]) => {
      places.push(place)
      throw new Error("kept back")
    }
    const key = { kind: "key", combo: { modifiers: [], key: "a" }, phase: "press", asSent } as const
    await expect(sendInput(desk.x, key, patience(), owner)).rejects.toThrow("kept back")
    await focusOn(desk, "first")
    await expect(sendInput(desk.x, key, patience(), owner)).rejects.toThrow("kept back")
    expect(places).toEqual([
      [false, true],
      [true, false],
    ])
    await sendInput(desk.x, { kind: "text", text: "hunter2", secret: true }, patience(), owner)
    expect(await received(first.read, "hunter2")).toBe("hunter2")
    expect(await other.read()).toBe("")
  })

  test("a focus that is lost after the last portion of a secret is a failure", async () => {
    await using desk = await startXvfb()
    await startManager(desk, ["openbox"])
    const other = await openTerminal(desk, "other")
    const first = await openTerminal(desk, "first")
    const owner = { pid: first.child.pid, window: first.window.id }
    let looks = 0
    const prove = async () => {
      if (++looks === 2) throw new AppError("STALE_REF", "gone")
    }
    const event = { kind: "text", text: "hunter2", secret: true, prove } as const
    const failure = await sendInput(desk.x, event, patience(), owner).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "focus_lost" },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(JSON.stringify(failure)).not.toContain("7")
    expect(await other.read()).toBe("")
  })
})
