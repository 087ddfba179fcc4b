import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import type { DesktopInfo } from "../../../src/desktop.ts"
import { listDesktops, startDesktop, stopDesktop } from "../../../src/linux/desktops/desktop.ts"
import { NOBODY, openCopy } from "../../support/anybody.ts"
import { type Temporary, temporary } from "../../support/temporary.ts"
import { until } from "../../support/until.ts"
import { jsonOf, scriptOn, type sourceOf } from "./desktops.ts"

/** Display numbers of isolated desktops, beside X servers of other programs. */

const isRoot = process.getuid?.() === 0

let place: Temporary
let root: string
let strangers: Bun.Subprocess[]

beforeEach(() => {
  place = temporary("/tmp")
  root = place.path
  strangers = []
})

afterEach(async () => {
  for (const { name } of listDesktops(root)) await stopDesktop(root, name, Deadline.in(15_000))
  for (const one of strangers) {
    one.kill()
    await one.exited
  }
  place[Symbol.dispose]()
})

/** Expects that a new desktop takes another number, and does not change the files of this one. */
async function expectSkipped(number: number): Promise<void> {
  const before = facts(number)
  const desktop = await start(number)
  expect(desktop.display).not.toBe(`:${number}`)
  await stopDesktop(root, desktop.name, Deadline.in(15_000))
  expect(facts(number)).toEqual(before)
}

describe("a new desktop skips a display number", () => {
  test("that a server holds by its lock and its socket", async () => {
    const number = freeNumber()
    const stranger = await startStranger(number, "-nolisten", "local")
    await expectSkipped(number)
    expect(answers(number)).toBe(true)
    expect(stranger.exitCode).toBeNull()
  })

  test("with a lock whose process is unknown here, like that of another container", async () => {
    const number = freeNumber()
    const gone = Bun.spawn(["true"])
    await gone.exited
    writeFileSync(lockOf(number), `${String(gone.pid).padStart(10)}\n`, { mode: 0o444 })
    try {
      await expectSkipped(number)
    } finally {
      rmSync(lockOf(number))
    }
  })

  test("with a socket on which no server listens", async () => {
    const number = freeNumber()
    const listener = Bun.listen({ unix: socketOf(number), socket: { data() {} } })
    const moved = `${socketOf(number)}-moved`
    // Bun removes the file when it stops listening.
    renameSync(socketOf(number), moved)
    listener.stop(true)
    renameSync(moved, socketOf(number))
    try {
      await expectSkipped(number)
    } finally {
      rmSync(socketOf(number))
    }
  })

  test("that is taken by its abstract name alone, as by a container with the host's network", async () => {
    const number = freeNumber()
    await startStranger(number)
    // Another mount namespace shows neither file.
    rmSync(lockOf(number))
    rmSync(socketOf(number))
    const desktop = await start(number)

    expect(desktop.display).not.toBe(`:${number}`)
    expect(existsSync(lockOf(number))).toBe(false)
  })

  test.skipIf(!isRoot)("that belongs to another user", async () => {
    const number = freeNumber()
    await startStranger(number)
    const before = facts(number)
    chownSync(root, 65534, 65534)
    using copy = openCopy()
    const { display } = await runScript(
      `const desktop = await startDesktop({ ...options, firstNumber: ${number} }, Deadline.in(20000))
       await stopDesktop(root, desktop.name, Deadline.in(15000))
       console.log(JSON.stringify(desktop))`,
      [...NOBODY, copy.bun],
      copy.at,
    )

    expect(display).toMatch(/^:\d+$/)
    expect(display).not.toBe(`:${number}`)
    expect(facts(number)).toEqual(before)
    expect(answers(number)).toBe(true)
  })

  // As with `-v /tmp/.X11-unix`: the container shares sockets, but neither abstract names nor locks.
  test.skipIf(!isRoot)("of the host, whose sockets a container shares", async () => {
    const result = await runScript(
      `const { statSync, existsSync } = await import("node:fs")
       const identity = () => { const { ino, ctimeMs } = statSync("/tmp/.X11-unix/X0"); return ino + " " + ctimeMs }
       const host = Bun.spawn(["unshare", "--net", "Xvfb", "-displayfd", "3", "-nolisten", "tcp"], {
         stdio: ["ignore", "ignore", "ignore", "pipe"] })
       while (!existsSync("/tmp/.X11-unix/X0")) await Bun.sleep(10)
       const before = identity()
       const desktop = await startDesktop({ ...options, firstNumber: 0 }, Deadline.in(20000))
       const during = identity()
       await stopDesktop(root, desktop.name, Deadline.in(15000))
       const exists = existsSync("/tmp/.X11-unix/X0")
       const after = exists && identity()
       host.kill()
       await host.exited
       console.log(JSON.stringify({ display: desktop.display, same: before === during && during === after, exists }))`,
      [
        ...["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c"],
        'mount -t tmpfs -o mode=1777 none /tmp/.X11-unix && exec "$@"',
        "sh",
        process.execPath,
      ],
    )

    expect(result).toMatchObject({ same: true, exists: true })
    expect(result.display).not.toBe(":0")
  })
})

describe("the number of a desktop", () => {
  test("is locked: no other X server starts there", async () => {
    const { display, pid } = await start()
    const number = Number(display.slice(1))
    expect(readFileSync(lockOf(number), "utf8")).toBe(`${String(pid).padStart(10)}\n`)
    const before = facts(number)
    const other = Bun.spawn(["Xvfb", display, "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "pipe"] })

    expect(await other.exited).not.toBe(0)
    expect(await new Response(other.stderr).text()).toContain("already active")
    expect(facts(number)).toEqual(before)
  })

  test("is free again after the stop, without a lock or a socket", async () => {
    const { display, name } = await start()
    await stopDesktop(root, name, Deadline.in(15_000))

    expect(facts(Number(display.slice(1)))).toEqual([undefined, undefined])
  })

  test("differs for desktops that start at the same time from the same first number", async () => {
    const number = freeNumber()
    const desktops = await Promise.all([start(number), start(number), start(number)])

    expect(new Set(desktops.map(({ display }) => display)).size).toBe(3)
    for (const { display } of desktops) expect(answers(Number(display.slice(1)), desktops)).toBe(true)
  })

  test("leaves the socket and the lock to a server that has taken them over", async () => {
    const { display, name } = await start()
    const number = Number(display.slice(1))
    // A server in another network namespace replaces the socket, even if another server listens there.
    rmSync(socketOf(number))
    rmSync(lockOf(number))
    const theirs = Bun.listen({ unix: socketOf(number), socket: { data() {} } })
    writeFileSync(lockOf(number), `${String(process.pid).padStart(10)}\n`)
    try {
      const before = facts(number)
      await stopDesktop(root, name, Deadline.in(15_000))

      expect(facts(number)).toEqual(before)
    } finally {
      theirs.stop(true)
      rmSync(lockOf(number))
    }
  })
})

// Steps and observations that do not use the code under test

const lockOf = (number: number) => `/tmp/.X${number}-lock`
const socketOf = (number: number) => `/tmp/.X11-unix/X${number}`

/** Identity of the lock and the socket, and the content of the lock. */
const facts = (number: number) =>
  [lockOf(number), socketOf(number)].map((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.ino} ${found.ctimeMs} ${found.isFile() ? readFileSync(path, "utf8") : ""}`
  })

/** A number that no server uses, far from those that servers choose. */
function freeNumber(): number {
  for (;;) {
    const number = 30_000 + Math.floor(Math.random() * 20_000)
    if (!existsSync(lockOf(number)) && !existsSync(socketOf(number))) return number
  }
}

async function startStranger(number: number, ...flags: string[]): Promise<Bun.Subprocess> {
  const server = Bun.spawn(["Xvfb", `:${number}`, "-nolisten", "tcp", ...flags], {
    stdio: ["ignore", "ignore", "ignore"],
  })
  strangers.push(server)
  await until(() => existsSync(lockOf(number)) && existsSync(socketOf(number)) && answers(number))
  return server
}

function answers(number: number, desktops: readonly DesktopInfo[] = []): boolean {
  const env = desktops.find(({ display }) => display === `:${number}`)?.env
  return Bun.spawnSync(["xdpyinfo", "-display", `:${number}`], { env: { ...process.env, ...env } }).success
}

const start = (firstNumber?: number): Promise<DesktopInfo> =>
  startDesktop({ root, width: 640, height: 480, env: process.env, firstNumber }, Deadline.in(30_000))

/** Runs a script in another process. */
async function runScript(body: string, command: readonly string[], at?: typeof sourceOf) {
  const child = Bun.spawn([...command, "-e", scriptOn(root, body, at)], {
    cwd: "/",
    env: { ...process.env, HOME: root },
    stdio: ["ignore", "pipe", "inherit"],
  })
  return jsonOf(child)
}
