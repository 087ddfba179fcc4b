import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import type { DesktopInfo } from "../../../src/desktop.ts"
import {
  desktopEnv,
  listDesktops,
  operateDesktops,
  startDesktop,
  stopDesktop,
} from "../../../src/linux/desktops/desktop.ts"
import { identify } from "../../../src/linux/host/processes.ts"
import { type Temporary, temporary } from "../../support/temporary.ts"
import { jsonOf, scriptOn } from "./desktops.ts"

/** Records of desktops on disk: their owners, their places, and the remains of a failed start. */

const isRoot = process.getuid?.() === 0

let place: Temporary
let directory: string
let root: string

beforeEach(() => {
  place = temporary("/tmp")
  directory = place.path
  root = `${directory}/.agent-desktop`
})

afterEach(async () => {
  for (const entry of readdirSync(directory)) {
    const one = `${directory}/${entry}`
    for (const at of [one, `${one}/.agent-desktop`])
      if (existsSync(`${at}/desktops`) && statSync(`${at}/desktops`).uid === process.getuid?.())
        // An untrusted record names nothing that we may stop.
        await operateDesktops({ root: at, env: {} }, { kind: "stop" }, Deadline.in(15_000)).catch(() => {})
  }
  place[Symbol.dispose]()
})

describe("a record that another user could have written", () => {
  for (const [what, spoil] of [
    ["in a state directory of theirs", () => chownSync(root, 65534, 65534)],
    ["in a directory of desktops of theirs", () => chownSync(`${root}/desktops`, 65534, 65534)],
    ["in a desktop's directory of theirs", () => chownSync(`${root}/desktops/trap`, 65534, 65534)],
    ["in a file of theirs", () => chownSync(recordOf("trap"), 65534, 65534)],
    ["in a file that they may write", () => chmodSync(recordOf("trap"), 0o666)],
    [
      "behind a link",
      () => {
        renameSync(recordOf("trap"), `${directory}/elsewhere`)
        symlinkSync(`${directory}/elsewhere`, recordOf("trap"))
      },
    ],
  ] as const)
    test.skipIf(!isRoot)(`is not believed: ${what}`, async () => {
      const victim = Bun.spawn(["sleep", "1000"])
      try {
        plant({ parts: [{ program: "Xvfb", ...identify(victim.pid) }], env: { PATH: "/tmp/evil" } })
        spoil()
        const refused = { code: "INTERNAL", suggestion: expect.any(String) }

        expect(() => desktopEnv(root, "trap", {})).toThrow(expect.objectContaining(refused))
        expect(() => listDesktops(root)).toThrow(expect.objectContaining(refused))
        expect(await stopDesktop(root, "trap", Deadline.in(5000)).catch((error) => error)).toMatchObject(
          refused,
        )
        expect(victim.exitCode).toBeNull()
        expect(statSync(`/proc/${victim.pid}`).isDirectory()).toBe(true)
      } finally {
        victim.kill()
        await victim.exited
      }
    })

  test.skipIf(!isRoot)("also prevents a new desktop in that directory", async () => {
    mkdirSync(root)
    chownSync(root, 65534, 65534)

    expect(await start(root, "one").catch((error) => error)).toMatchObject({
      code: "INTERNAL",
      message: `${root} belongs to another user`,
    })
    expect(readdirSync(root)).toEqual([])
  })

  test.skipIf(!isRoot)("does not lead to the removal of another user's directory", async () => {
    const theirs = `/tmp/agent-desktop-${randomBytes(6).toString("hex")}`
    mkdirSync(theirs)
    chownSync(theirs, 65534, 65534)
    try {
      plant({ runtime: theirs })
      await stopDesktop(root, "trap", Deadline.in(5000))

      expect(existsSync(theirs)).toBe(true)
      // Other desktops of the same user are listed, too.
      expect(listDesktops(root).map(({ name }) => name)).not.toContain("trap")
    } finally {
      rmSync(theirs, { recursive: true })
    }
  })
})

describe("a desktop that was started under another home", () => {
  const homes = () => ["a", "b"].map((name) => `${directory}/${name}/.agent-desktop`) as [string, string]

  test("is found by its name, listed, and stopped", async () => {
    const [a, b] = homes()
    const desktop = await start(a, unique)

    expect(desktopEnv(b, unique, {})).toMatchObject({ DISPLAY: desktop.display })
    expect(listDesktops(b).filter(({ name }) => name === unique)).toEqual([desktop])
    expect(existsSync(b)).toBe(false)
    expect(await start(b, unique).catch((error) => error)).toMatchObject({
      code: "INVALID_ARGS",
      message: `Desktop '${unique}' already exists`,
    })
    await stopDesktop(b, unique, Deadline.in(15_000))
    expect(existsSync(`${a}/desktops/${unique}`)).toBe(false)
    expect(existsSync(desktop.env.XDG_RUNTIME_DIR!)).toBe(false)
  })

  test("is not stopped by desktop-stop --all under this home", async () => {
    const [a, b] = homes()
    const [other, own] = await Promise.all([start(a, unique), start(b, `${unique}-own`)])
    const stopped = await operateDesktops({ root: b, env: {} }, { kind: "stop" }, Deadline.in(15_000))

    expect(stopped.map(({ name }) => name)).toEqual([own.name])
    expect(desktopEnv(b, unique, {})).toMatchObject({ DISPLAY: other.display })
  })

  test("is hidden by a desktop of the same name under this home", async () => {
    const [a, b] = homes()
    const own = await start(b, unique)
    renameSync(`${directory}/b`, `${directory}/c`)
    await start(a, unique)
    renameSync(`${directory}/c`, `${directory}/b`)

    expect(desktopEnv(b, unique, {})).toMatchObject({ DISPLAY: own.display })
  })

  test("is named but not used if the caller chose the state directory", async () => {
    const [a] = homes()
    await start(a, unique)
    const chosen = `${directory}/chosen`

    expect(() => desktopEnv(chosen, unique, {})).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGS",
        message: `Desktop '${unique}' does not exist`,
        suggestion: `It runs with another state directory: AGENT_DESKTOP_HOME=${a} agent-desktop --desktop ${unique} status`,
      }),
    )
    expect(listDesktops(chosen)).toEqual([])
    expect((await start(chosen, unique)).name).toBe(unique)
  })
})

test.skipIf(!isRoot)("a start on a full disk leaves nothing behind and says so", async () => {
  mkdirSync(root, { mode: 0o700 })
  const body = `
    import { readdirSync } from "node:fs"
    const results = []
    // The disk is full at once, or in the middle of the start.
    for (const room of [0, 1, 2, 3, 4]) {
      Bun.spawnSync(["sh", "-c", "rm -f " + root + "/fill; dd if=/dev/zero of=" + root + "/fill bs=4096; truncate -s -" + 4096 * room + " " + root + "/fill"])
      const error = await startDesktop({ ...options, name: "one" }, Deadline.in(20000)).catch((error) => error)
      if (!(error instanceof Error)) await stopDesktop(root, "one", Deadline.in(15000))
      const left = readdirSync(root + "/desktops")
      results.push({ code: error.code, message: error.message, suggestion: error.suggestion, left })
    }
    console.log(JSON.stringify(results))`
  const child = Bun.spawn(
    [
      ...["unshare", "--mount", "--propagation", "private", "sh", "-c"],
      `mount -t tmpfs -o size=64k,mode=700 none ${root} && mkdir -m 700 ${root}/desktops && exec "$@"`,
      ...["sh", process.execPath, "-e", scriptOn(root, body)],
    ],
    { cwd: "/", stdio: ["ignore", "pipe", "inherit"] },
  )
  const results = await jsonOf(child)

  expect(results[0]).toEqual({
    code: "INTERNAL",
    message: "Desktop 'one' could not be started",
    suggestion:
      "Make the directory writable and see that its disk has room, or set AGENT_DESKTOP_HOME to another one",
    left: [],
  })
  for (const { left, code = "INTERNAL" } of results) expect([code, ...left]).toEqual(["INTERNAL"])
})

// Steps and observations that do not use the code under test

/** A unique name: other tests have desktops under the same user at the same time. */
const unique = `records-${process.pid}`

const start = (at: string, name: string): Promise<DesktopInfo> =>
  startDesktop({ root: at, name, width: 640, height: 480, env: process.env }, Deadline.in(30_000))

const recordOf = (name: string) => `${root}/desktops/${name}/desktop.json`

function plant(facts: object): void {
  mkdirSync(`${root}/desktops/trap`, { recursive: true, mode: 0o700 })
  const record = {
    ...{ id: crypto.randomUUID(), name: "trap", width: 1, height: 1, ready: true, parts: [], env: {} },
    runtime: `/tmp/agent-desktop-${"f".repeat(12)}`,
    starter: identify(process.pid),
    ...facts,
  }
  writeFileSync(recordOf("trap"), JSON.stringify(record), { mode: 0o600 })
  expect(JSON.parse(readFileSync(recordOf("trap"), "utf8")).name).toBe("trap")
}
