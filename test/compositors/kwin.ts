import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, underKWin } from "./session.ts"
import { type Form, openForm, testFloor, testInput } from "./toolkits.ts"

/** KWin without a screen. Not part of check: `bun run compositors kwin`. */

let desktop: TestDesktop
let kwin: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  kwin = await underKWin(desktop)
}, 90_000)
afterAll(() => desktop.close())

const ALL = ["gtk3", "gtk4", "qt6", "qt5", "web"] as const
testFloor(() => kwin, ALL)
testInput(() => kwin, ALL, "Hello, KWin! aAzZ09 ~{}[]|\\\"'<>?/@#$%^&*()_+-=`;:.")

describe("a window on KWin", () => {
  let form: Form
  beforeAll(async () => {
    form = await openForm(kwin, "gtk3")
  })

  /** The window as KWin itself describes it, by its own D-Bus call. */
  const own = async (): Promise<string> =>
    Bun.$`gdbus call --session --dest org.kde.KWin --object-path /KWin --method org.kde.KWin.getWindowInfo ${`{${form.id.slice(2)}}`}`
      .env(kwin.env)
      .text()

  test("moves, gets another size, the focus, and is minimised, maximised and restored", async () => {
    const { ok, id } = form
    await ok("move-window", id, "17", "23")
    expect(await own()).toMatch(/'x': <17\.0>/)
    expect(await own()).toMatch(/'y': <23\.0>/)
    await ok("resize-window", id, "1210", "850")
    expect(await own()).toMatch(/'width': <1210\.0>/)
    expect(await own()).toMatch(/'height': <850\.0>/)
    await ok("minimize", id)
    expect(await own()).toContain("'minimized': <true>")
    const listed = async (): Promise<Json> =>
      (await ok("list-windows")).windows.find((one: Json) => one.id === id)
    expect((await listed()).minimized ?? true).toBe(true)
    await ok("restore", id)
    expect(await own()).toContain("'minimized': <false>")
    await ok("maximize", id)
    expect(await own()).toContain("'maximizeHorizontal': <2>")
    await ok("restore", id)
    expect(await own()).toContain("'maximizeHorizontal': <0>")
    await ok("focus-window", id)
    expect((await listed()).is_focused).toBe(true)
  })

  test("shares the clipboard in both directions", async () => {
    const { ok, id, find, fixture } = form
    const name = await find("textfield", "Name")
    await ok("clipboard-set", "Grüße 日本 😀")
    await ok("focus-window", id)
    await ok("focus", name)
    await ok("press", "ctrl+v", "--window-id", id)
    await until(async () => (await fixture.seen("text", "Name")).value === "Grüße 日本 😀")
    await ok("set-value", name, "from the app")
    await ok("press", "ctrl+a", "--window-id", id)
    await ok("press", "ctrl+c", "--window-id", id)
    expect(await until(async () => (await ok("clipboard-get")).text === "from the app")).toBe(true)
    await ok("clipboard-clear")
    expect((await ok("clipboard-get")).text).toBe("")
  })

  test("is scrolled by the wheel, and a drag drops where it was led", async () => {
    const { ok, find, fixture } = form
    const { x, y, width, height } = (await ok("get", await find("button", "Row 2"), "bounds")).value
    await ok("mouse-wheel", "--xy", `${Math.round(x + width / 2)},${Math.round(y + height / 2)}`, "--dy", "2")
    expect((await fixture.seen("scroll", "Scroll area")).y).toBeGreaterThan(0)
  })

  test("is found by many commands at once: their scripts do not take each other's place", async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => kwin.run("list-windows")))
    for (const { json } of all)
      expect(
        json.data?.windows.map((one: Json) => one.id),
        JSON.stringify(json.error),
      ).toContain(form.id)
  })

  test("closes when it is asked to", async () => {
    const dialog = kwin.spawnApp(["zenity", "--info", "--text", "closes"])
    await until(async () =>
      (await form.ok("list-windows")).windows.some(({ app_name }: Json) => app_name === "zenity"),
    )
    expect(await form.ok("close-app", "zenity")).toMatchObject({ closed: true, method: "xdg_toplevel.close" })
    await dialog.exited
  })
})

test("doctor names the compositor and what it can do", async () => {
  const { checks } = await data(kwin, "doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("KWin 5.")
  for (const name of ["windows", "places", "input", "clipboard"])
    expect([name, of(name).ok]).toEqual([name, true])
})
