import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, underKWin } from "./session.ts"
import { type Form, openForm, testClipboard, testFloor, testInput } from "./toolkits.ts"

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

  test("moves, changes its size, gets the focus, and is minimised, maximised and restored", async () => {
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

  testClipboard(() => form)

  test("is scrolled by the wheel", async () => {
    const { ok, find, fixture } = form
    const { x, y, width, height } = (await ok("get", await find("button", "Row 2"), "bounds")).value
    await ok("mouse-wheel", "--xy", `${Math.round(x + width / 2)},${Math.round(y + height / 2)}`, "--dy", "2")
    expect((await fixture.seen("scroll", "Scroll area")).y).toBeGreaterThan(0)
  })

  test("is found by many commands at once: their KWin scripts do not replace each other", async () => {
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
