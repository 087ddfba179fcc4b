import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, evaluate, underGnome } from "./session.ts"
import { type Form, openForm, testFloor, testKeys } from "./toolkits.ts"

/** GNOME Shell without a screen and without our extension. Not part of check: `bun run compositors gnome`. */

let desktop: TestDesktop
let gnome: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  gnome = await underGnome(desktop, false)
}, 180_000)
afterAll(() => desktop.close())

testFloor(() => gnome, ["gtk3", "gtk4", "qt6", "qt5", "web"])

describe("input without places", () => {
  let form: Form
  beforeAll(async () => {
    form = await openForm(gnome, "gtk3")
    await bringToFront(form)
  })

  /** As a user does it: GNOME leaves new windows behind the one in use. */
  async function bringToFront({ id, fixture, ok }: Form): Promise<void> {
    const find = `global.get_window_actors().map((a) => a.meta_window).find((w) => w.get_pid() === ${fixture.pid})`
    await evaluate(gnome, `Main.activateWindow(${find}); 0`)
    await until(async () =>
      (await ok("list-windows")).windows.some((one: Json) => one.id === id && one.is_focused),
    )
  }

  test("text typed by keys is exact, and a character that no key has is refused", async () => {
    await testKeys(gnome, form, "Hello, GNOME! aAzZ09 ~{}[]|\\\"'<>?/@#$%^&*()_+-=`;:.")
  })

  test("keys for a window that does not have the focus are refused", async () => {
    const other = await openForm(gnome, "gtk4")
    await bringToFront(other)
    const before = (await form.fixture.events()).length
    const { error } = (await gnome.run("press", "x", "--window-id", form.id)).json
    expect(error?.disposition?.delivery).toBe("not_delivered")
    expect((await form.fixture.events()).length).toBe(before)
  })

  test("pointer by ref, window moves and the clipboard are refused, and nothing arrives", async () => {
    const { find, id, fixture } = form
    const button = await find("button", "Press me")
    const before = (await fixture.events()).length
    for (const args of [
      ["double-click", button],
      ["click", button, "--input", "physical"],
      ["hover", button],
      ["move-window", id, "10", "10"],
      ["focus-window", id],
      ["minimize", id],
      ["clipboard-get"],
    ]) {
      const { error } = (await gnome.run(...args)).json
      expect([args[0], error?.code]).toEqual([args[0], "PLATFORM_NOT_SUPPORTED"])
      expect(error.disposition?.delivery ?? "not_delivered").toBe("not_delivered")
    }
    expect((await fixture.events()).length).toBe(before)
  })
})

test("a picture needs the user's consent, and leaves no file behind", async () => {
  const answer = new URL("answer.py", import.meta.url).pathname
  const path = `${desktop.directory}/screen.png`
  const take = async (label: string): Promise<Json> => {
    const taking = gnome.run("screenshot", path, "--timeout-ms", "80000")
    const at = (await Bun.$`/usr/bin/python3 ${answer} ${label}`.env(gnome.env).text()).trim()
    await data(gnome, "mouse-click", "--xy", at)
    return (await taking).json
  }
  expect((await take("Deny")).error?.code).toBe("PERM_DENIED")
  // The desktop remembers the answer. Delete it, as the user could.
  const store = ["--dest", "org.freedesktop.impl.portal.PermissionStore"]
  const object = ["--object-path", "/org/freedesktop/impl/portal/PermissionStore"]
  await Bun.$`gdbus call --session ${store} ${object} --method org.freedesktop.impl.portal.PermissionStore.Delete screenshot screenshot`
    .env(gnome.env)
    .quiet()
  expect((await take("Allow")).data).toMatchObject({ width: 1280, height: 1024 })
  expect(await Bun.$`identify -format %wx%h ${path}`.text()).toBe("1280x1024")
  const again = await data(gnome, "screenshot", path)
  expect([again.width, again.height]).toEqual([1280, 1024])
  const left = await Bun.$`find ${gnome.env.HOME ?? ""} -name "*.png"`.text()
  expect(left.trim()).toBe("")
}, 240_000)

test("doctor names the compositor, and the extension that would add window positions", async () => {
  const { checks } = await data(gnome, "doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("GNOME Shell 43.")
  expect(of("places")).toMatchObject({ ok: false })
  expect(of("places").suggestion).toContain("--gnome-extension install")
  expect(of("input").ok).toBe(true)
})
