import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import type { DesktopInfo } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { connectLinux } from "../../../src/linux/adapter.ts"
import { desktopEnv, listDesktops, startDesktop, stopDesktop } from "../../../src/linux/desktops/desktop.ts"
import { installCommand } from "../../../src/linux/desktops/packages.ts"
import { NOBODY, type OpenCopy, openCopy } from "../../support/anybody.ts"
import { until } from "../../support/desktop.ts"

// A loaded machine takes its time.
setDefaultTimeout(60_000)

const sourceOf = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname
const X11 = sourceOf("src/linux/x11/connection.ts")
const isRoot = process.getuid?.() === 0

let root: string

beforeEach(() => {
  root = mkdtempSync("/tmp/desktop-test-")
})

afterEach(async () => {
  for (const { name } of listDesktops(root)) await stop(name)
  rmSync(root, { recursive: true, force: true })
})

describe("a started desktop", () => {
  test("serves a display, a window manager and both buses to whoever takes its environment", async () => {
    const desktop = await start({ name: "one", width: 800, height: 600 })

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

  test("keeps its files to its user", async () => {
    const { env } = await start({ name: "one" })
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

    expect(mode(env.XDG_RUNTIME_DIR!)).toBe("700")
    expect(mode(env.XAUTHORITY!)).toBe("600")
    expect(mode(`${root}/desktops`)).toBe("700")
    expect(mode(`${root}/desktops/one`)).toBe("700")
    expect(mode(`${root}/desktops/one/desktop.json`)).toBe("600")
  })

  test.skipIf(!isRoot)("lets nobody connect without its cookie", async () => {
    const { display } = await start()
    const stranger = Bun.spawn([...NOBODY, "xdpyinfo", "-display", display], {
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "ignore", "pipe"],
    })

    expect(await stranger.exited).not.toBe(0)
    expect(await new Response(stranger.stderr).text()).toContain("unable to open display")
  })

  test("has room for the longest socket name that anything makes below its directory", async () => {
    const { env } = await start()

    // What at-spi2, dconf, pulse and portals add stays well below 60 bytes.
    expect(env.XDG_RUNTIME_DIR!.length).toBeLessThanOrEqual(107 - 60)
  })

  test("lets GTK 4 find the accessibility bus, which takes even an empty address at its word", async () => {
    const { env } = await start({ name: "one" })
    expect(Object.keys(env)).not.toContain("AT_SPI_BUS_ADDRESS")
    const fixture = new URL("../../fixtures/gtk4.py", import.meta.url).pathname
    const app = Bun.spawn(["/usr/bin/python3", fixture], {
      env: { PATH: process.env.PATH, HOME: root, FIXTURE_LOG: `${root}/events`, ...env },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
    const platform = await connectLinux({ env, root })
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

  test("gives a program its environment and nothing of the caller's session", async () => {
    await start({ name: "one" })
    const env = desktopEnv(root, "one", {
      PATH: "/bin",
      WAYLAND_DISPLAY: "wayland-0",
      NO_AT_BRIDGE: "1",
      LANG: "C",
    })

    expect(env).toMatchObject({ PATH: "/bin", LANG: "C", GDK_BACKEND: "x11", QT_QPA_PLATFORM: "xcb" })
    expect(Object.keys(env)).not.toContain("WAYLAND_DISPLAY")
    expect(Object.keys(env)).not.toContain("NO_AT_BRIDGE")
  })

  test("outlives the program that started it, in sessions of its own", async () => {
    const { pid } = await runChild(
      `console.log(JSON.stringify(await startDesktop(options, Deadline.in(20000))))`,
    )
    const [desktop] = listDesktops(root)

    expect(desktop?.pid).toBe(pid)
    expect(await output(desktop!, "xdpyinfo")).toContain("dimensions:")
    expect((await output(desktop!, "ps", "-o", "sid=", "-p", String(pid))).trim()).toBe(String(pid))
  })
})

describe("several desktops", () => {
  test("started at once have names, displays and buses of their own", async () => {
    const desktops = await Promise.all([start(), start(), start()])
    const distinct = (read: (one: DesktopInfo) => string | undefined) => new Set(desktops.map(read)).size

    expect(desktops.map(({ name }) => name).sort()).toEqual(["d1", "d2", "d3"])
    expect(distinct(({ display }) => display)).toBe(3)
    expect(distinct(({ env }) => env.DBUS_SESSION_BUS_ADDRESS)).toBe(3)
    expect(listDesktops(root).map(({ name, broken }) => [name, broken])).toEqual([
      ["d1", undefined],
      ["d2", undefined],
      ["d3", undefined],
    ])
  })

  test("do not end with one another", async () => {
    const [first, second] = await Promise.all([start(), start()])
    await stop(first.name)

    expect(await output(second, "xdpyinfo")).toContain("dimensions:")
    expect(listDesktops(root).map(({ name }) => name)).toEqual([second.name])
  })
})

describe("a stopped desktop", () => {
  test("leaves no process, socket, lock or file, whatever ran there", async () => {
    const desktop = await start()
    const apps = [
      ["mousepad"],
      // Deaf to SIGTERM.
      ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
      // A child that does not carry the desktop's environment.
      ["sh", "-c", "env -i sleep 1000; :"],
    ].map((command) => launch(desktop, command))
    await until(
      () => traces(desktop).processes.length >= 8 && apps.every(({ pid }) => existsSync(`/proc/${pid}`)),
    )
    const orphan = await until(() => childrenOf(apps[2]!.pid)[0])
    await stop(desktop.name)

    expect(traces(desktop)).toEqual(NO_TRACES)
    expect(isRunning(Number(orphan))).toBe(false)
    expect(listDesktops(root)).toEqual([])
  })

  test("leaves the user's home and settings as they were", async () => {
    const home = `${root}/home`
    mkdirSync(home)
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: "", XDG_CACHE_HOME: "" }
    const desktop = await start({ env })
    await stop(desktop.name)

    expect(readdirSync(home)).toEqual([])
  })

  test("lets programs put away what they hold before they are ended", async () => {
    const desktop = await start()
    const note = `${root}/note`
    launch(desktop, [
      "sh",
      "-c",
      `trap 'echo saved > ${note}; exit' TERM; echo ready > ${note}; while :; do sleep 0.1; done`,
    ])
    await until(() => existsSync(note) && readFileSync(note, "utf8"))
    await stop(desktop.name)

    expect(readFileSync(note, "utf8")).toBe("saved\n")
  })

  test("takes a browser with it that has wiped out its environment", async () => {
    const desktop = await start()
    const profile = `${root}/profile`
    const flags = [
      ...(isRoot ? ["--no-sandbox"] : []),
      "--no-first-run",
      "--password-store=basic",
      `--user-data-dir=${profile}`,
    ]
    const browser = launch(desktop, ["chromium", ...flags, "about:blank"])
    await until(async () => /about:blank/.test(await output(desktop, "xwininfo", "-root", "-tree")), 30_000)
    const family = () => Bun.spawnSync(["pgrep", "-f", profile]).stdout.toString().split("\n").filter(Boolean)
    expect(marked(desktop.env.AGENT_DESKTOP_DESKTOP_ID!)).not.toContain(`/proc/${browser.pid}/environ`)
    expect(family()).toContain(String(browser.pid))
    await stop(desktop.name)

    expect(family()).toEqual([])
  })

  test("spares a program that only looks at it from outside", async () => {
    const desktop = await start()
    const { DISPLAY, XAUTHORITY } = desktop.env
    const watcher = spawnChild(
      `const { X11 } = await import(${JSON.stringify(X11)})
       await X11.connect(${JSON.stringify({ DISPLAY, XAUTHORITY })}, Deadline.in(5000))
       console.log("connected")
       setInterval(() => {}, 1000)`,
    )
    const reader = watcher.stdout.getReader()
    await reader.read()
    await stop(desktop.name)

    expect(watcher.exitCode).toBeNull()
    expect(isRunning(watcher.pid)).toBe(true)
    watcher.kill()
  })

  for (const program of ["Xvfb", "dbus-daemon", "openbox"]) {
    test(`is listed as broken when its ${program} was killed, and leaves nothing either`, async () => {
      const desktop = await start({ name: "hurt" })
      const part = partsOf("hurt").find((one) => one.program === program)!
      process.kill(part.pid, "SIGKILL")
      // What stands on it may end with it: the window manager goes with its display.
      const listed = await until(() => listDesktops(root).find(({ broken }) => broken?.includes(program)))

      expect(listed.name).toBe("hurt")
      expect(() => desktopEnv(root, "hurt", {})).toThrow(`Desktop 'hurt' is broken: ${listed.broken}`)
      await stop("hurt")
      expect(traces(desktop)).toEqual(NO_TRACES)
    })
  }

  test("does not touch an X server that took over its number", async () => {
    const desktop = await start()
    process.kill(desktop.pid, "SIGKILL")
    await until(() => !isRunning(desktop.pid))
    const other = Bun.spawn(["Xvfb", desktop.display, "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore"],
    })
    try {
      await until(() => lockOf(desktop.display) === other.pid && existsSync(socketOf(desktop.display)))
      await stop(desktop.name)

      expect(lockOf(desktop.display)).toBe(other.pid)
      expect(existsSync(socketOf(desktop.display))).toBe(true)
      expect(other.exitCode).toBeNull()
    } finally {
      other.kill()
      await other.exited
    }
  })

  test("spares the program that stops it, although that runs there", async () => {
    const { name, env } = await start()
    const child = runChild(
      `await stopDesktop(root, ${JSON.stringify(name)}, Deadline.in(15000)); console.log('{"pid":1}')`,
      env,
    )

    expect(await child).toEqual({ pid: 1 })
    expect(listDesktops(root)).toEqual([])
  })

  test("that does not exist is refused with the names of those that do", async () => {
    await start({ name: "one" })

    expect(stopDesktop(root, "two", Deadline.in(1000))).rejects.toMatchObject({
      code: "INVALID_ARGS",
      message: "Desktop 'two' does not exist",
      suggestion: "Existing desktops: one; see 'list-desktops'",
    })
  })

  test("may be a directory that never told what it was", async () => {
    mkdirSync(`${root}/desktops/empty`, { recursive: true })

    expect(listDesktops(root)).toMatchObject([{ name: "empty", broken: "its start was interrupted" }])
    await stop("empty")
    expect(listDesktops(root)).toEqual([])
  })
})

describe("a start that fails", () => {
  for (const parts of [0, 1, 2, 3]) {
    test(`leaves nothing when it is interrupted after ${parts} of its parts`, async () => {
      const interruption = new AbortController()
      const starting = start({ name: "one" }, Deadline.in(20_000, interruption.signal)).catch(
        (error) => error,
      )
      const record = await until(() => (existsSync(recordOf("one")) ? readRecord("one") : undefined))
      while (existsSync(recordOf("one")) && readRecord("one").parts.length < parts) await Bun.sleep(0)
      interruption.abort()

      expect(await starting).toMatchObject({ code: "TIMEOUT" })
      expect(tracesOf(record.id, record.env.XDG_RUNTIME_DIR!)).toEqual([])
      expect(listDesktops(root)).toEqual([])
    })
  }

  test("because a part ends at once leaves nothing", async () => {
    const bin = `${root}/bin`
    mkdirSync(bin)
    writeFileSync(`${bin}/openbox`, "#!/bin/sh\nexit 3\n")
    chmodSync(`${bin}/openbox`, 0o755)

    expect(
      await start({ name: "one", env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } }).catch(
        (error) => error,
      ),
    ).toMatchObject({ code: "ACTION_FAILED", message: "openbox ended before it was ready" })
    expect(listDesktops(root)).toEqual([])
  })

  test("says what the part said", async () => {
    const bin = `${root}/bin`
    mkdirSync(bin)
    writeFileSync(`${bin}/Xvfb`, "#!/bin/sh\necho 'no memory for a screen' >&2\nexit 1\n")
    chmodSync(`${bin}/Xvfb`, 0o755)

    expect(
      await start({ env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } }).catch((error) => error),
    ).toMatchObject({
      code: "ACTION_FAILED",
      message: "Xvfb ended before it was ready",
      platformDetail: "no memory for a screen",
    })
    expect(listDesktops(root)).toEqual([])
  })

  test("because its program was killed can be cleaned up by anybody else", async () => {
    const child = spawnChild(
      "await startDesktop({ ...options, name: 'one' }, Deadline.in(20000)); setInterval(() => {}, 1000)",
    )
    const record = await until(
      () => existsSync(recordOf("one")) && readRecord("one").parts.length > 0 && readRecord("one"),
    )
    // Stopped first: it must not get any further between the look and the kill.
    child.kill("SIGSTOP")
    const isReady = readRecord("one").ready
    child.kill("SIGKILL")
    await child.exited

    if (!isReady)
      expect(listDesktops(root)).toMatchObject([{ name: "one", broken: "its start was interrupted" }])
    await stop("one")
    expect(tracesOf(record.id, record.env.XDG_RUNTIME_DIR!)).toEqual([])
  })

  test("names the packages that are missing", async () => {
    const error = await start({ env: { PATH: "/nonexistent", XDG_DATA_DIRS: "/nonexistent" } }).catch(
      (error) => error,
    )

    expect(error).toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      message: "An isolated desktop needs Xvfb, dbus-daemon, openbox, org.a11y.Bus: not installed",
      details: { missing: ["Xvfb", "dbus-daemon", "openbox", "org.a11y.Bus"] },
    })
    expect(existsSync(`${root}/desktops`)).toBe(false)
  })

  for (const [osRelease, command] of [
    ["ID=debian\n", "sudo apt-get install -y xvfb dbus"],
    ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', "sudo apt-get install -y xvfb dbus"],
    ['ID="linuxmint"\nID_LIKE="ubuntu debian"\n', "sudo apt-get install -y xvfb dbus"],
    ["ID=fedora\n", "sudo dnf install -y xorg-x11-server-Xvfb dbus-daemon"],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', "sudo dnf install -y xorg-x11-server-Xvfb dbus-daemon"],
    ["ID=arch\n", "sudo pacman -S --needed xorg-server-xvfb dbus"],
    ["", "Install the packages that bring Xvfb, dbus-daemon (on Debian: xvfb dbus)"],
  ] as const) {
    test(`suggests '${command}' where os-release says ${JSON.stringify(osRelease)}`, () => {
      expect(installCommand(["Xvfb", "dbus-daemon"], osRelease)).toBe(command)
    })
  }
})

describe("the options of a desktop", () => {
  for (const name of ["", ".", "..", "a/b", "../x", "-a", ".a", "a b", "ä", "a".repeat(65), "a\n"])
    test(`refuse ${JSON.stringify(name)} as a name`, async () => {
      expect(await start({ name }).catch((error) => error)).toMatchObject({ code: "INVALID_ARGS" })
      expect(existsSync(`${root}/desktops`)).toBe(false)
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
      expect(await start({ width, height }).catch((error) => error)).toMatchObject({ code: "INVALID_ARGS" })
    })

  test("refuse a name that is taken, and leave its owner alone", async () => {
    const first = await start({ name: "one" })

    expect(await start({ name: "one" }).catch((error) => error)).toMatchObject({
      code: "INVALID_ARGS",
      message: "Desktop 'one' already exists",
    })
    expect(await output(first, "xdpyinfo")).toContain("dimensions:")
  })

  test("may give its programs another home and another window manager", async () => {
    const desktop = await start({ home: `${root}/home`, windowManager: "xfwm4" })
    const check = /window id # (0x[0-9a-f]+)/.exec(
      await output(desktop, "xprop", "-root", "_NET_SUPPORTING_WM_CHECK"),
    )![1]!

    expect(await output(desktop, "xprop", "-id", check, "_NET_WM_NAME")).toContain("Xfwm4")
    expect(desktop.env.HOME).toBe(`${root}/home`)
  })
})

test.skipIf(!isRoot)("an ordinary user starts and stops desktops as well", async () => {
  rmSync(root, { recursive: true })
  mkdirSync(root)
  chmodSync(root, 0o777)
  const body = `
    const desktop = await startDesktop(options, Deadline.in(20000))
    const { success } = Bun.spawnSync(["xdpyinfo"], { env: { ...process.env, ...desktop.env } })
    const processes = Bun.spawnSync(["ps", "-o", "uid=", "-p", String(desktop.pid)]).stdout.toString().trim()
    await stopDesktop(root, desktop.name, Deadline.in(15000))
    console.log(JSON.stringify({ success, processes, left: listDesktops(root).length, runtime: desktop.env.XDG_RUNTIME_DIR, display: desktop.display }))`
  using copy = openCopy()
  const result = await runChild(body, { HOME: root }, copy)

  expect(result).toMatchObject({ success: true, processes: "65534", left: 0 })
  expect(existsSync(result.runtime)).toBe(false)
  expect(existsSync(socketOf(result.display))).toBe(false)
})

// What the tests do and where they look, apart from the code under test ------------------------------------------

type Options = Partial<Parameters<typeof startDesktop>[0]>

async function start(options: Options = {}, deadline = Deadline.in(30_000)): Promise<DesktopInfo> {
  const desktop = await startDesktop(
    { root, width: 640, height: 480, env: process.env, ...options },
    deadline,
  )
  sockets.set(desktop.env.AGENT_DESKTOP_DESKTOP_ID!, identityOf(socketOf(desktop.display)))
  return desktop
}

/** Another server takes a display number again as soon as it is free: its socket is not a trace of ours. */
const sockets = new Map<string, string>()

const identityOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.ctimeMs}` : ""
}

const stop = (name: string) => stopDesktop(root, name, Deadline.in(15_000))

const launch = (desktop: DesktopInfo, command: readonly string[]) =>
  Bun.spawn([...command], {
    env: { ...process.env, ...desktop.env },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  })

async function output(desktop: DesktopInfo, ...command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...desktop.env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  return new Response(child.stdout).text()
}

/**
 * Another process that uses the module: it has `root`, `options` and what the module exports. With a
 * copy that anybody may read, it belongs to nobody in particular.
 */
function spawnChild(body: string, env: Readonly<Record<string, string>> = {}, copy?: OpenCopy) {
  const at = copy?.at ?? sourceOf
  const script = `
    import { listDesktops, startDesktop, stopDesktop } from ${JSON.stringify(at("src/linux/desktops/desktop.ts"))}
    import { Deadline } from ${JSON.stringify(at("src/deadline.ts"))}
    const root = ${JSON.stringify(root)}
    const options = { root, width: 640, height: 480, env: process.env }
    ${body}`
  return Bun.spawn([...(copy ? [...NOBODY, copy.bun] : [process.execPath]), "-e", script], {
    cwd: copy?.root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  })
}

async function runChild(body: string, env?: Readonly<Record<string, string>>, copy?: OpenCopy) {
  return JSON.parse(await new Response(spawnChild(body, env, copy).stdout).text())
}

const recordOf = (name: string) => `${root}/desktops/${name}/desktop.json`
const readRecord = (name: string) => JSON.parse(readFileSync(recordOf(name), "utf8"))
const partsOf = (name: string): { program: string; pid: number }[] => readRecord(name).parts

const NO_TRACES = { processes: [] as string[], files: [] as string[] }

function traces({ display, env }: DesktopInfo) {
  const socket = socketOf(display)
  const isOurs = identityOf(socket) === sockets.get(env.AGENT_DESKTOP_DESKTOP_ID!)
  const files = [
    ...(isOurs && existsSync(socket) ? [socket] : []),
    ...[`/tmp/.X${display.slice(1)}-lock`, env.XDG_RUNTIME_DIR!].filter((path) => existsSync(path)),
  ]
  return { processes: marked(env.AGENT_DESKTOP_DESKTOP_ID!), files }
}

const tracesOf = (id: string, runtime: string) => [
  ...marked(id),
  ...[runtime].filter((path) => existsSync(path)),
]

/** The processes that carry the desktop's id, by a look that is not ours. */
const marked = (id: string): string[] =>
  Bun.spawnSync(["sh", "-c", `grep -lz "AGENT_DESKTOP_DESKTOP_ID=${id}" /proc/[0-9]*/environ 2>/dev/null`])
    .stdout.toString()
    .split("\n")
    .filter(Boolean)

const childrenOf = (pid: number): string[] =>
  Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(pid)])
    .stdout.toString()
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)

/** A process that only waits for its parent to notice does not run. */
const isRunning = (pid: number) =>
  /^[^Z]/.test(Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString())

const socketOf = (display: string) => `/tmp/.X11-unix/X${display.slice(1)}`

const lockOf = (display: string) => {
  const path = `/tmp/.X${display.slice(1)}-lock`
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : undefined
}
