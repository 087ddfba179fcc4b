import { describe, expect, test } from "bun:test"
import { chownSync, existsSync, statSync } from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import type { DesktopInfo } from "../../../src/desktop.ts"
import { connectLinux } from "../../../src/linux/adapter.ts"
import { desktopEnv } from "../../../src/linux/desktops/desktop.ts"
import { NOBODY, openCopy } from "../../support/anybody.ts"
import { until } from "../../support/until.ts"
import { desktopsOfEachTest, jsonOf, output } from "./desktops.ts"

const isRoot = process.getuid?.() === 0
const desktops = desktopsOfEachTest()

describe("a started desktop", () => {
  test("serves a display, a window manager and both buses to programs with its environment", async () => {
    const desktop = await desktops.start({ name: "one", width: 800, height: 600 })

    expect(desktop).toMatchObject({ name: "one", size: "800x600" })
    expect(desktop.display).toMatch(/^:\d+$/)
    expect(await output(desktop, "xdpyinfo")).toContain("dimensions:    800x600 pixels")
    expect(await output(desktop, "xprop", "-root", "_NET_SUPPORTING_WM_CHECK")).toContain("window id #")
    expect(await output(desktop, "xprop", "-root", "AT_SPI_BUS")).toContain(
      `${desktop.env.XDG_RUNTIME_DIR}/at-spi/`,
    )
    const enabled = "org.freedesktop.DBus.Properties.Get string:org.a11y.Status string:IsEnabled"
    expect(
      await output(
        desktop,
        "dbus-send",
        "--print-reply",
        "--dest=org.a11y.Bus",
        "/org/a11y/bus",
        ...enabled.split(" "),
      ),
    ).toContain("boolean true")
    expect(await output(desktop, "ps", "-o", "comm=", "-p", String(desktop.pid))).toBe("Xvfb\n")
  })

  test("makes files that only its user can read", async () => {
    const { env } = await desktops.start({ name: "one" })
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

    expect(mode(env.XDG_RUNTIME_DIR!)).toBe("700")
    expect(mode(env.XAUTHORITY!)).toBe("600")
    expect(mode(`${desktops.root}/desktops`)).toBe("700")
    expect(mode(`${desktops.root}/desktops/one`)).toBe("700")
    expect(mode(`${desktops.root}/desktops/one/desktop.json`)).toBe("600")
  })

  test.skipIf(!isRoot)("refuses connections without its cookie", async () => {
    const { display } = await desktops.start()
    const stranger = Bun.spawn([...NOBODY, "xdpyinfo", "-display", display], {
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "ignore", "pipe"],
    })

    expect(await stranger.exited).not.toBe(0)
    expect(await new Response(stranger.stderr).text()).toContain("unable to open display")
  })

  test("leaves 60 bytes for the socket names that programs make below its directory", async () => {
    const { env } = await desktops.start()

    // Socket names are limited to 107 bytes. at-spi2, dconf, pulse and portals add well below 60.
    expect(env.XDG_RUNTIME_DIR!.length).toBeLessThanOrEqual(107 - 60)
  })

  test("sets no AT_SPI_BUS_ADDRESS, because GTK 4 takes even an empty one for an address", async () => {
    const { env } = await desktops.start({ name: "one" })
    expect(Object.keys(env)).not.toContain("AT_SPI_BUS_ADDRESS")
    const fixture = new URL("../../fixtures/gtk4.py", import.meta.url).pathname
    const app = Bun.spawn(["/usr/bin/python3", fixture], {
      env: { PATH: process.env.PATH, HOME: desktops.root, FIXTURE_LOG: `${desktops.root}/events`, ...env },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
    const platform = await connectLinux({ env, root: desktops.root })
    try {
      await until(async () => {
        const windows = await platform.adapter(Deadline.in(10_000)).windows()
        return windows.some(({ pid, accessible }) => pid === app.pid && accessible !== false)
      }, 30_000)
    } finally {
      await platform.close()
      app.kill("SIGKILL")
    }
  })

  test("gives programs its environment and nothing of the caller's session", async () => {
    await desktops.start({ name: "one" })
    const env = desktopEnv(desktops.root, "one", {
      PATH: "/bin",
      WAYLAND_DISPLAY: "wayland-0",
      NO_AT_BRIDGE: "1",
      LANG: "C",
    })

    expect(env).toMatchObject({ PATH: "/bin", LANG: "C", GDK_BACKEND: "x11", QT_QPA_PLATFORM: "xcb" })
    expect(Object.keys(env)).not.toContain("WAYLAND_DISPLAY")
    expect(Object.keys(env)).not.toContain("NO_AT_BRIDGE")
  })

  test("outlives the program that started it, in its own process sessions", async () => {
    const { pid } = await jsonOf(
      desktops.spawnChild(`console.log(JSON.stringify(await startDesktop(options, Deadline.in(20000))))`),
    )
    const [desktop] = desktops.list()

    expect(desktop?.pid).toBe(pid)
    expect(await output(desktop!, "xdpyinfo")).toContain("dimensions:")
    expect((await output(desktop!, "ps", "-o", "sid=", "-p", String(pid))).trim()).toBe(String(pid))
  })
})

describe("several desktops", () => {
  test("started at once have different names, displays and buses", async () => {
    const started = await Promise.all([desktops.start(), desktops.start(), desktops.start()])
    const distinct = (read: (one: DesktopInfo) => string | undefined) => new Set(started.map(read)).size

    expect(started.map(({ name }) => name).sort()).toEqual(["d1", "d2", "d3"])
    expect(distinct(({ display }) => display)).toBe(3)
    expect(distinct(({ env }) => env.DBUS_SESSION_BUS_ADDRESS)).toBe(3)
    expect(desktops.list().map(({ name, broken }) => [name, broken])).toEqual([
      ["d1", undefined],
      ["d2", undefined],
      ["d3", undefined],
    ])
  })

  test("keep running when another one is stopped", async () => {
    const [first, second] = await Promise.all([desktops.start(), desktops.start()])
    await desktops.stop(first.name)

    expect(await output(second, "xdpyinfo")).toContain("dimensions:")
    expect(desktops.list().map(({ name }) => name)).toEqual([second.name])
  })
})

describe("the options of a desktop", () => {
  for (const name of ["", ".", "..", "a/b", "../x", "-a", ".a", "a b", "ä", "a".repeat(65), "a\n"])
    test(`refuse ${JSON.stringify(name)} as a name`, async () => {
      expect(await desktops.start({ name }).catch((error) => error)).toMatchObject({ code: "INVALID_ARGS" })
      expect(existsSync(`${desktops.root}/desktops`)).toBe(false)
    })

  for (const [width, height] of [
    [319, 200],
    [320, 199],
    [8193, 600],
    [800, 8193],
    [800.5, 600],
    [Number.NaN, 600],
    [-800, -600],
  ] as const)
    test(`refuse ${width}x${height} as a size`, async () => {
      expect(await desktops.start({ width, height }).catch((error) => error)).toMatchObject({
        code: "INVALID_ARGS",
      })
    })

  test("refuse a name that is taken, and leave the desktop of that name alone", async () => {
    const first = await desktops.start({ name: "one" })

    expect(await desktops.start({ name: "one" }).catch((error) => error)).toMatchObject({
      code: "INVALID_ARGS",
      message: "Desktop 'one' already exists",
    })
    expect(await output(first, "xdpyinfo")).toContain("dimensions:")
  })

  test("set another home for programs, and another window manager", async () => {
    const desktop = await desktops.start({ home: `${desktops.root}/home`, windowManager: "xfwm4" })
    const check = /window id # (0x[0-9a-f]+)/.exec(
      await output(desktop, "xprop", "-root", "_NET_SUPPORTING_WM_CHECK"),
    )![1]!

    expect(await output(desktop, "xprop", "-id", check, "_NET_WM_NAME")).toContain("Xfwm4")
    expect(desktop.env.HOME).toBe(`${desktops.root}/home`)
  })
})

test.skipIf(!isRoot)("an ordinary user can start and stop desktops", async () => {
  chownSync(desktops.root, 65534, 65534)
  const body = `
    import { statSync } from "node:fs"
    const identity = (path) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
    const desktop = await startDesktop(options, Deadline.in(20000))
    const socket = "/tmp/.X11-unix/X" + desktop.display.slice(1)
    const before = identity(socket)
    const { success } = Bun.spawnSync(["xdpyinfo"], { env: { ...process.env, ...desktop.env } })
    const processes = Bun.spawnSync(["ps", "-o", "uid=", "-p", String(desktop.pid)]).stdout.toString().trim()
    await stopDesktop(root, desktop.name, Deadline.in(15000))
    console.log(JSON.stringify({ success, processes, left: listDesktops(root).length, runtime: desktop.env.XDG_RUNTIME_DIR, hasSocket: identity(socket) === before }))`
  using copy = openCopy()
  const result = await jsonOf(desktops.spawnChild(body, { HOME: desktops.root }, copy))

  expect(result).toMatchObject({ success: true, processes: "65534", left: 0, hasSocket: false })
  expect(existsSync(result.runtime)).toBe(false)
})
