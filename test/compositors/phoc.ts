import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, underCompositor } from "./session.ts"
import { type Form, openForm, testFloor } from "./toolkits.ts"

/** phoc, a plain wlroots compositor: input and pictures, but no places. Not part of check: `bun run compositors phoc`. */

let desktop: TestDesktop
let phoc: TestDesktop

beforeAll(async () => {
  ;[desktop, phoc] = await openPhoc()
  await hold(phoc)
}, 90_000)
afterAll(() => desktop.close())

async function openPhoc(): Promise<[TestDesktop, TestDesktop]> {
  const around = await openDesktop()
  const env = { WLR_BACKENDS: "headless", WLR_LIBINPUT_NO_DEVICES: "1", WLR_RENDERER: "pixman" }
  return [around, await underCompositor(around, { socket: "wayland-0", command: ["phoc"], env })]
}

/** Gives the seat the pointer and the keyboard that a real desk has. */
async function hold(desk: TestDesktop): Promise<void> {
  desk.spawnApp(["sh", "-c", `exec ${PROGRAM} __hold-input 3>/dev/null`])
  await until(async () => (await check(desk, "input")).ok, 30_000)
}

const check = async (desk: TestDesktop, name: string): Promise<Json> =>
  (await data(desk, "doctor")).checks.find((one: Json) => one.name === name)

const ALL = ["gtk3", "gtk4", "qt6", "qt5", "web"] as const
testFloor(() => phoc, ALL)

test("text is written to the clipboard and read from it", async () => {
  await data(phoc, "clipboard-set", "Grüße 日本 😀")
  expect(await Bun.$`wl-paste --no-newline`.env(phoc.env).text()).toBe("Grüße 日本 😀")
  phoc.spawnApp(["wl-copy", "--foreground", "from-another"])
  await until(async () => (await data(phoc, "clipboard-get")).text === "from-another")
})

test("a picture of the display has the size of the display", async () => {
  const { displays } = await data(phoc, "list-displays")
  const path = `${desktop.directory}/phoc.png`
  const { width, height } = await data(phoc, "screenshot", path)
  expect({ width, height }).toEqual({ width: displays[0].bounds.width, height: displays[0].bounds.height })
  expect(await Bun.$`identify -format %wx%h ${path}`.text()).toBe(`${width}x${height}`)
})

describe("input without places", () => {
  let around: TestDesktop
  let desk: TestDesktop
  beforeAll(async () => {
    ;[around, desk] = await openPhoc()
  }, 90_000)
  afterAll(() => around.close())

  /** phoc gives a window the whole display. Qt draws a frame inside it, which it does not count. */
  async function placeOf(title: string, name: string, origin: { x: number; y: number }): Promise<string> {
    const script = new URL("place.py", import.meta.url).pathname
    const printed = await Bun.$`/usr/bin/python3 ${script} ${title} ${name}`.env(desk.env).text()
    const [x = 0, y = 0] = printed.split(",").map(Number)
    return `${origin.x + x},${origin.y + y}`
  }

  const FRAME_OF_QT = { x: 3, y: 30 }

  test("is refused while the seat has no devices, and nothing arrives", async () => {
    const { fixture, id } = await openForm(desk, "gtk3")
    const before = (await fixture.events()).length
    for (const args of [
      ["mouse-click", "--xy", "100,100"],
      ["press", "tab", "--window-id", id],
    ]) {
      const { error } = (await desk.run(...args)).json
      expect([args[0], error?.disposition?.delivery]).toEqual([args[0], "not_delivered"])
    }
    expect((await fixture.events()).length).toBe(before)
    expect((await check(desk, "input")).detail).toBe("the seat has no pointer and no keyboard")
    process.kill(fixture.pid)
    await hold(desk)
  })

  describe.each(ALL)("in %s", (toolkit) => {
    let form: Form
    beforeAll(async () => {
      form = await openForm(desk, toolkit)
      await form.ok("focus-window", form.id)
    })

    test("text typed by keys is exact", async () => {
      const { fixture, ok, find, id } = form
      // GTK 4.8 gives the focus to the pointer only.
      const isByPointer = toolkit === "gtk4"
      if (isByPointer) {
        const at = await placeOf(fixture.title, "Name", { x: 0, y: 0 })
        await until(async () => {
          await ok("mouse-click", "--xy", at)
          return (await ok("find", "--window-id", id, "--state", "focused", "--first")).match?.name === "Name"
        })
      }
      const text = "Grüße ✓ 日本 ñ €Aa – aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ 0123456789"
      const field = isByPointer ? "@focused" : await find("textfield", "Name")
      await ok("type", field, text, "--input", "physical", "--timeout-ms", "20000")
      const seen = async (): Promise<string> => (await fixture.seen("text", "Name")).value
      await until(async () => (await seen()) === text)
      await ok("press", "ctrl+a", "--window-id", id)
      await ok("press", "delete", "--window-id", id)
      await until(async () => (await seen()) === "")
    })

    // Qt 5 reports wrong positions in its window.
    test.skipIf(toolkit === "qt5")(
      "clicks, the wheel and a drag at points of the screen arrive",
      async () => {
        const { fixture, ok, presses } = form
        const origin = toolkit === "qt6" ? FRAME_OF_QT : { x: 0, y: 0 }
        const at = (name: string) => placeOf(fixture.title, name, origin)
        const before = await presses()
        await ok("mouse-click", "--xy", await at("Press me"))
        await until(async () => (await presses()) === before + 1)
        await ok("mouse-click", "--xy", await at("Click area"), "--button", "right")
        expect((await fixture.seen("click", "Click area")).button).toBe(3)
        await ok("mouse-wheel", "--xy", await at("Row 2"), "--dy", "2")
        expect((await fixture.seen("scroll", "Scroll area")).y).toBeGreaterThan(0)
        await ok("drag", "--from-xy", await at("Drag me"), "--to-xy", await at("Drop here"))
        await fixture.seen("drop", "Drop here")
        expect(await presses()).toBe(before + 1)
      },
    )

    test("the pointer by ref and moves are refused, and nothing arrives", async () => {
      const { fixture, find, id } = form
      const button = await find("button", "Press me")
      const before = (await fixture.events()).length
      for (const args of [
        ["double-click", button],
        ["click", button, "--input", "physical"],
        ["hover", button],
        ["drag", button, "--to", button],
        ["move-window", id, "10", "10"],
        ["resize-window", id, "500", "500"],
      ]) {
        const { error } = (await desk.run(...args)).json
        expect([args[0], error?.code, error?.disposition?.delivery]).toEqual([
          args[0],
          "PLATFORM_NOT_SUPPORTED",
          "not_delivered",
        ])
      }
      expect((await fixture.events()).length).toBe(before)
    })
  })

  test("keys for a window behind another one go to that window, and the focus comes back", async () => {
    const { windows } = await data(desk, "list-windows")
    const of = (name: string): Json => windows.find(({ app_name }: Json) => app_name === name)
    await data(desk, "focus-window", of("fixture-qt6").id)
    expect((await data(desk, "press", "x", "--app", "fixture-gtk3")).window.id).toBe(of("fixture-gtk3").id)
    const after = (await data(desk, "list-windows")).windows.filter(({ is_focused }: Json) => is_focused)
    expect(after.map(({ id }: Json) => id)).toEqual([of("fixture-qt6").id])
  })

  test("two windows with the same title are not confused", async () => {
    const twin = await openForm(desk, "gtk3")
    const before = (await twin.fixture.events()).length
    const { windows } = await data(desk, "list-windows")
    for (const { id } of windows.filter(({ title }: Json) => title === twin.fixture.title)) {
      const { error } = (await desk.run("focus-window", id)).json
      expect([error?.code, error?.disposition?.delivery]).toEqual(["AMBIGUOUS_TARGET", "not_delivered"])
    }
    expect((await twin.fixture.events()).length).toBe(before)
    process.kill(twin.fixture.pid)
  })

  test("a window closes when it is asked to", async () => {
    const dialog = desk.spawnApp(["zenity", "--info", "--text", "closes"])
    await until(async () =>
      (await data(desk, "list-windows")).windows.some(({ app_name }: Json) => app_name === "zenity"),
    )
    const closed = await data(desk, "close-app", "zenity")
    expect(closed).toMatchObject({ closed: true, method: "xdg_toplevel.close" })
    await dialog.exited
  })
})

test("doctor names the compositor and what it lacks", async () => {
  expect((await check(phoc, "compositor")).detail).toContain("a wlroots compositor")
  const names = ["places", "input", "picture", "clipboard"]
  const isThere = await Promise.all(names.map(async (name) => (await check(phoc, name)).ok))
  expect(isThere).toEqual([false, true, true, true])
})
