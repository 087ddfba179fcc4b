import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import { desktopEnv, stopDesktop } from "../../../src/linux/desktops/desktop.ts"
import { until } from "../../support/until.ts"
import {
  desktopsOfEachTest,
  fileIdentity,
  idOf,
  isRunning,
  jsonOf,
  launch,
  marked,
  NO_TRACES,
  output,
  socketOf,
  sourceOf,
  traces,
} from "./desktops.ts"

const X11 = sourceOf("src/linux/x11/connection.ts")
const isRoot = process.getuid?.() === 0
const desktops = desktopsOfEachTest()

describe("a stopped desktop", () => {
  test("leaves no process, socket, lock or file", async () => {
    const desktop = await desktops.start()
    const apps = [
      ["mousepad"],
      // Ignores SIGTERM.
      ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
      // A child that does not carry the desktop's environment.
      ["sh", "-c", "env -i sleep 1000; :"],
    ].map((command) => launch(desktop, command))
    await until(
      () => traces(desktop).processes.length >= 8 && apps.every(({ pid }) => existsSync(`/proc/${pid}`)),
    )
    const orphan = await until(() => childOf(apps[2]!.pid))
    await desktops.stop(desktop.name)

    expect(traces(desktop)).toEqual(NO_TRACES)
    expect(isRunning(orphan)).toBe(false)
    expect(desktops.list()).toEqual([])
  })

  test("leaves the user's home and settings as they were", async () => {
    const home = `${desktops.root}/home`
    mkdirSync(home)
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: "", XDG_CACHE_HOME: "" }
    const desktop = await desktops.start({ env })
    await desktops.stop(desktop.name)

    expect(readdirSync(home)).toEqual([])
  })

  test("gives programs time to save their work before it kills them", async () => {
    const desktop = await desktops.start()
    const note = `${desktops.root}/note`
    launch(desktop, [
      "sh",
      "-c",
      `trap 'echo saved > ${note}; exit' TERM; echo ready > ${note}; while :; do sleep 0.1; done`,
    ])
    await until(() => existsSync(note) && readFileSync(note, "utf8"))
    await desktops.stop(desktop.name)

    expect(readFileSync(note, "utf8")).toBe("saved\n")
  })

  test("ends a browser that has overwritten its environment", async () => {
    const desktop = await desktops.start()
    const profile = `${desktops.root}/profile`
    const flags = [
      ...(isRoot ? ["--no-sandbox"] : []),
      "--no-first-run",
      "--password-store=basic",
      `--user-data-dir=${profile}`,
    ]
    const browser = launch(desktop, ["chromium", ...flags, "about:blank"])
    await until(async () => /about:blank/.test(await output(desktop, "xwininfo", "-root", "-tree")), 30_000)
    const family = () => Bun.spawnSync(["pgrep", "-f", profile]).stdout.toString().split("\n").filter(Boolean)
    expect(marked(idOf(desktop))).not.toContain(`/proc/${browser.pid}/environ`)
    expect(family()).toContain(String(browser.pid))
    await desktops.stop(desktop.name)

    expect(family()).toEqual([])
  })

  test("spares a program of another session that is connected to its display", async () => {
    const desktop = await desktops.start()
    const { DISPLAY, XAUTHORITY } = desktop.env
    const watcher = desktops.spawnChild(
      `const { X11 } = await import(${JSON.stringify(X11)})
       await X11.connect(${JSON.stringify({ DISPLAY, XAUTHORITY })}, Deadline.in(5000))
       console.log("connected")
       setInterval(() => {}, 1000)`,
    )
    const reader = watcher.stdout.getReader()
    await reader.read()
    await desktops.stop(desktop.name)

    expect(watcher.exitCode).toBeNull()
    expect(isRunning(watcher.pid)).toBe(true)
    watcher.kill()
  })

  for (const program of ["Xvfb", "dbus-daemon", "openbox"]) {
    test(`is listed as broken after its ${program} was killed, and leaves nothing`, async () => {
      const desktop = await desktops.start({ name: "hurt" })
      const part = desktops.record("hurt")!.parts.find((one) => one.program === program)!
      process.kill(part.pid, "SIGKILL")
      // Other parts may end too: the window manager ends with its display.
      const listed = await until(() => desktops.list().find(({ broken }) => broken?.includes(program)))

      expect(listed.name).toBe("hurt")
      expect(() => desktopEnv(desktops.root, "hurt", {})).toThrow(
        `Desktop 'hurt' is broken: ${listed.broken}`,
      )
      await desktops.stop("hurt")
      expect(traces(desktop)).toEqual(NO_TRACES)
    })
  }

  test("does not touch an X server that took over its number", async () => {
    const { desktop, other } = await until(async () => {
      const desktop = await desktops.start()
      process.kill(desktop.pid, "SIGKILL")
      await until(() => !isRunning(desktop.pid))
      const other = await takeOver(desktop.display)
      return other && { desktop, other }
    })
    const socket = fileIdentity(socketOf(desktop.display))
    try {
      await desktops.stop(desktop.name)

      expect(fileIdentity(socketOf(desktop.display))).toBe(socket)
      expect(other.exitCode).toBeNull()
    } finally {
      other.kill()
      await other.exited
    }
  })

  test("spares the program that stops it, even if that program runs on it", async () => {
    const { name, env } = await desktops.start()
    const child = desktops.spawnChild(
      `await stopDesktop(root, ${JSON.stringify(name)}, Deadline.in(15000)); console.log('{"pid":1}')`,
      env,
    )

    expect(await jsonOf(child)).toEqual({ pid: 1 })
    expect(desktops.list()).toEqual([])
  })

  test("that does not exist is an error that says how to list the existing ones", async () => {
    await desktops.start({ name: "one" })

    expect(stopDesktop(desktops.root, "two", Deadline.in(1000))).rejects.toMatchObject({
      code: "INVALID_ARGS",
      message: "Desktop 'two' does not exist",
      suggestion: "Use 'list-desktops' to see them",
    })
  })

  test("may be an empty directory", async () => {
    mkdirSync(`${desktops.root}/desktops/empty`, { recursive: true })

    expect(desktops.list()).toMatchObject([{ name: "empty", broken: "its start was interrupted" }])
    await desktops.stop("empty")
    expect(desktops.list()).toEqual([])
  })
})

/** An X server on this display; undefined if yet another one was faster. Like ours it makes no lock. */
async function takeOver(display: string) {
  const server = Bun.spawn(["Xvfb", display, "-displayfd", "1", "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  })
  const { value } = await server.stdout.getReader().read()
  return value ? server : undefined
}

function childOf(pid: number): number | undefined {
  const { stdout } = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(pid)])
  return Number(stdout.toString().trim().split(/\s+/)[0]) || undefined
}
