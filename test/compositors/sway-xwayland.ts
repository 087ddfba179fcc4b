import { afterAll, beforeAll, expect, test } from "bun:test"
import { chownSync, existsSync, mkdirSync } from "node:fs"
import { type Fixture, startFixture } from "../fixtures/fixture.ts"
import { openDesktop, PROGRAM, runProgram, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data } from "./session.ts"

/** Sway with Xwayland: apps of both kinds side by side. Not part of check: `bun run compositors sway-xwayland`. */

let desktop: TestDesktop
let sway: TestDesktop

const NOBODY = 65534

beforeAll(async () => {
  desktop = await openDesktop()
  sway = await underSway()
}, 90_000)
afterAll(() => desktop.close())

async function underSway(): Promise<TestDesktop> {
  const directory = `${desktop.env.XDG_RUNTIME_DIR}-sway`
  mkdirSync(directory, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(directory, NOBODY, NOBODY)
  const config = `${directory}/config`
  const rules = ["xwayland force", "default_floating_border none", "focus_follows_mouse no"]
  const floats = ['for_window [app_id=".*"] floating enable', 'for_window [class=".*"] floating enable']
  const display = `${directory}/display`
  // Sway then runs as another user, and its X server accepts only that user.
  const start = `exec sh -c 'xhost +si:localuser:root; echo $DISPLAY > ${display}'`
  await Bun.write(config, [...rules, ...floats, start, ""].join("\n"))
  const drop = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"]
  const own = { XDG_RUNTIME_DIR: directory, SWAYSOCK: `${directory}/sway.sock`, HOME: directory }
  const headless = { WLR_BACKENDS: "headless", WLR_LIBINPUT_NO_DEVICES: "1", WLR_RENDERER: "pixman" }
  desktop.spawnApp([...(isRoot ? drop : []), "sway", "-c", config], {
    env: { ...own, ...headless, DISPLAY: "", WAYLAND_DISPLAY: "" },
    cwd: "/",
  })
  await until(async () => existsSync(display), 30_000)
  const env = {
    ...desktop.env,
    WAYLAND_DISPLAY: `${directory}/wayland-1`,
    SWAYSOCK: own.SWAYSOCK,
    DISPLAY: (await Bun.file(display).text()).trim(),
    XAUTHORITY: "",
  }
  desktop.spawnApp(["sh", "-c", `exec ${PROGRAM} __hold-input 3>/dev/null`], { env })
  return {
    ...desktop,
    env,
    spawnApp: (args, options) => desktop.spawnApp(args, { ...options, env: { ...env, ...options?.env } }),
    run: (...args) => runProgram(args, env),
  }
}

/** The same desktop for apps of one kind. */
const onlyFor = (kind: "wayland" | "x11"): TestDesktop => ({
  ...sway,
  spawnApp: (args, options) =>
    sway.spawnApp(args, {
      ...options,
      env: { ...options?.env, GDK_BACKEND: kind, QT_QPA_PLATFORM: kind === "x11" ? "xcb" : kind },
    }),
})

test("native and Xwayland apps are listed once, with bounds, and get clicks and text", async () => {
  const fixtures: readonly (readonly [Fixture, boolean])[] = [
    [await startFixture(onlyFor("wayland"), "gtk3"), true],
    [await startFixture(onlyFor("x11"), "qt6"), false],
    [await startFixture(onlyFor("wayland"), "qt5"), true],
  ]
  for (const [fixture, isNative] of fixtures) {
    const own = async (): Promise<Json[]> =>
      (await data(sway, "list-windows")).windows.filter(({ pid }: Json) => pid === fixture.pid)
    await until(async () => (await own()).length > 0)
    const [window, ...others] = await own()
    expect(others).toEqual([])
    expect(/^w-\d+$/.test(window.id)).toBe(!isNative)
    expect(window.bounds).toBeObject()
    const find = async (role: string, name: string): Promise<string> =>
      (
        await data(
          sway,
          "find",
          "--window-id",
          window.id,
          "--role",
          role,
          "--name",
          name,
          "--exact",
          "--first",
        )
      ).match.ref_id
    await data(sway, "focus-window", window.id)
    const clicked = await data(sway, "click", await find("button", "Press me"), "--input", "physical")
    expect(clicked.method).toBe("pointer")
    await fixture.seen("press", "Press me")
    await data(sway, "type", await find("textfield", "Name"), "Grüße", "--input", "physical")
    await until(async () => (await fixture.seen("text", "Name")).value === "Grüße")
    expect((await fixture.events()).filter(({ event }) => event === "press")).toHaveLength(1)
  }
}, 120_000)
