import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, evaluate, underGnome } from "./session.ts"
import { type Form, openForm, testInput } from "./toolkits.ts"

/** GNOME Shell without a screen, with our extension. Not part of check: `bun run compositors gnome-extension`. */

let desktop: TestDesktop
let gnome: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  gnome = await underGnome(desktop, true)
}, 180_000)
afterAll(() => desktop.close())

test("doctor says that windows and positions come from the extension", async () => {
  const { checks } = await data(gnome, "doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("GNOME Shell 43.")
  for (const name of ["windows", "places", "input"]) expect([name, of(name).ok]).toEqual([name, true])
  expect(of("places").detail).toContain("extension")
})

testInput(
  () => gnome,
  ["gtk3", "gtk4", "qt6", "qt5", "web"],
  "Hello, GNOME! aAzZ09 ~{}[]|\\\"'<>?/@#$%^&*()_+-=`;:.",
)

describe("a window on GNOME", () => {
  let form: Form
  beforeAll(async () => {
    form = await openForm(gnome, "gtk3")
  })

  /** A fact about the window, as the shell itself reports it. */
  const own = (code: string): Promise<Json> =>
    evaluate(
      gnome,
      `(() => { const w = global.get_window_actors().map((a) => a.meta_window).find((w) => w.get_stable_sequence() === ${form.id.slice(3)}); const r = w.get_frame_rect(); return ${code} })()`,
    )

  test("moves, changes its size, gets the focus, and is minimised, maximised and restored", async () => {
    const { ok, id } = form
    await ok("move-window", id, "17", "53")
    expect(await own("[r.x, r.y]")).toEqual([17, 53])
    await ok("resize-window", id, "1210", "850")
    expect(await own("[r.width, r.height]")).toEqual([1210, 850])
    await ok("minimize", id)
    expect(await own("w.minimized")).toBe(true)
    await ok("restore", id)
    expect(await own("w.minimized")).toBe(false)
    await ok("maximize", id)
    expect(await own("w.get_maximized()")).toBe(3)
    await ok("restore", id)
    expect(await own("w.get_maximized()")).toBe(0)
    await ok("focus-window", id)
    expect(await own("w.has_focus()")).toBe(true)
  })

  test("gets a click and keys once or not at all while the overview covers it", async () => {
    const button = await form.find("button", "Press me")
    const before = await form.presses()
    const keys = async () =>
      (await form.fixture.events()).filter(({ event, text }) => event === "key" && text === "x")
    const withOverview = async (...args: string[]): Promise<number> => {
      await evaluate(gnome, "Main.overview.show(); 0")
      await until(async () => (await evaluate(gnome, "Main.actionMode")) !== 1)
      const { json } = await gnome.run(...args)
      // A command that brings the window to the front closes the overview first.
      if (!json.ok) expect(json.error.disposition.delivery).toBe("not_delivered")
      await evaluate(gnome, "Main.overview.hide(); 0")
      await until(async () => (await evaluate(gnome, "Main.actionMode")) === 1)
      return json.ok ? 1 : 0
    }
    const clicks = await withOverview("click", button, "--input", "physical")
    await until(async () => (await form.presses()) >= before + clicks)
    const presses = await withOverview("press", "x", "--window-id", form.id)
    await until(async () => (await keys()).length >= 2 * presses)
    expect([(await form.presses()) - before, (await keys()).length]).toEqual([clicks, 2 * presses])
  })

  test("closes when it is asked to", async () => {
    const dialog = gnome.spawnApp(["zenity", "--info", "--text", "closes"])
    await until(async () =>
      (await form.ok("list-windows")).windows.some(({ app_name }: Json) => app_name === "zenity"),
    )
    expect(await form.ok("close-app", "zenity")).toMatchObject({ closed: true, method: "xdg_toplevel.close" })
    await dialog.exited
  })
})
