import { afterAll, beforeAll, expect, test } from "bun:test"
import { startFixture } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data, underCompositor } from "./session.ts"
import { testFloor } from "./toolkits.ts"

/** phoc, a plain wlroots compositor: pictures and the clipboard, but no places. Not part of check: `bun run compositors phoc`. */

let desktop: TestDesktop
let phoc: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  const env = { WLR_BACKENDS: "headless", WLR_LIBINPUT_NO_DEVICES: "1", WLR_RENDERER: "pixman" }
  phoc = await underCompositor(desktop, { socket: "wayland-0", command: ["phoc"], env })
}, 90_000)
afterAll(() => desktop.close())

testFloor(() => phoc, ["gtk3", "gtk4", "qt6", "qt5", "web"])

test("text goes to the clipboard and comes from it", async () => {
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

test("pointer, keyboard and window moves are refused, and nothing arrives", async () => {
  const fixture = await startFixture(phoc, "gtk3")
  const { id } = await until(async () =>
    (await data(phoc, "list-windows")).windows.find(({ pid }: Json) => pid === fixture.pid),
  )
  const before = (await fixture.events()).length
  for (const args of [
    ["mouse-click", "--xy", "100,100"],
    ["press", "tab"],
    ["move-window", id, "10", "10"],
    ["focus-window", id],
  ]) {
    const { error } = (await phoc.run(...args)).json
    expect([args[0], error?.code, error?.disposition?.delivery]).toEqual([
      args[0],
      "PLATFORM_NOT_SUPPORTED",
      "not_delivered",
    ])
  }
  expect((await fixture.events()).length).toBe(before)
})

test("doctor names the compositor and what it lacks", async () => {
  const { checks } = await data(phoc, "doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("a wlroots compositor")
  expect(["places", "input", "picture", "clipboard"].map((name) => of(name).ok)).toEqual([
    false,
    false,
    true,
    true,
  ])
})
