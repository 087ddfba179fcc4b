import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { PURPOSES } from "../../scripts/setup.ts"
import { NOBODY, openCopy } from "../support/anybody.ts"
import { type Temporary, temporary } from "../support/temporary.ts"

const isRoot = process.getuid?.() === 0
const copy = openCopy()
afterAll(() => copy[Symbol.dispose]())

let scratch: Temporary
let place: string

/** A fake machine: its installed packages, and programs that record their calls. */
beforeEach(() => {
  scratch = temporary()
  place = scratch.path
  for (const name of ["bin", "lists", "lists/partial"]) mkdirSync(`${place}/${name}`)
  program(
    "dpkg-query",
    `shift 3; for p; do grep -qx "$p" ${place}/installed && printf '%s\\tinstalled\\n' "$p"; done; exit 1`,
  )
  program("apt-get", `echo "apt-get $*" >> ${place}/calls`)
  symlinkSync("/usr/bin/env", `${place}/bin/env`)
  symlinkSync("/usr/bin/grep", `${place}/bin/grep`)
  installed(PURPOSES.bench)
  lists("fresh")
  writeFileSync(`${place}/calls`, "")
  chmodSync(`${place}/calls`, 0o666)
  chmodSync(place, 0o755)
})

afterEach(() => scratch[Symbol.dispose]())

describe.skipIf(!isRoot)("setup, run by root", () => {
  test("does nothing and prints nothing if all packages are installed", async () => {
    expect(await setUp("--for", "test")).toEqual({ code: 0, stdout: "", stderr: "" })
    expect(calls()).toEqual([])
  })

  test("installs exactly the missing packages, without recommended ones", async () => {
    installed(PURPOSES.demo.filter((name) => name !== "openbox" && name !== "mousepad"))

    expect((await setUp("--for", "demo")).code).toBe(0)
    expect(calls()).toEqual([
      "apt-get install -y --no-install-recommends openbox mousepad -o DPkg::Lock::Timeout=120",
    ])
  })

  for (const [state, calls_] of [
    ["empty", 2],
    ["old", 2],
    ["fresh", 1],
  ] as const)
    test(`updates the package lists ${state === "fresh" ? "not at all" : "once"} when they are ${state}`, async () => {
      installed([])
      lists(state)

      expect((await setUp("--for", "demo")).code).toBe(0)
      expect(calls()).toHaveLength(calls_)
      expect(calls()[0]!.startsWith("apt-get update")).toBe(state !== "fresh")
    })

  test("suggests a command if the installation fails", async () => {
    installed(PURPOSES.demo.slice(1))
    program("apt-get", "exit 100")
    const { code, stderr } = await setUp("--for", "demo")

    expect(code).toBe(1)
    expect(stderr).toContain("sudo apt-get update && sudo apt-get install -y --no-install-recommends xvfb\n")
  })
})

describe.skipIf(!isRoot)("setup, run by another user", () => {
  test("uses sudo without a password prompt", async () => {
    installed(PURPOSES.demo.slice(1))
    program("sudo", `echo "sudo $*" >> ${place}/calls; shift; exec "$@"`)
    symlinkSync("/usr/bin/true", `${place}/bin/true`)

    expect((await setUp.as(NOBODY, "--for", "demo")).code).toBe(0)
    expect(calls()[0]).toBe("sudo -n true")
    expect(calls()[1]).toStartWith("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y")
    expect(calls()[2]).toStartWith("apt-get install -y --no-install-recommends xvfb")
  })

  for (const [title, sudo] of [
    ["has no sudo", undefined],
    ["may not use sudo", "exit 1"],
  ] as const)
    test(`prints the command to run if the user ${title}`, async () => {
      installed(PURPOSES.demo.slice(1))
      if (sudo) program("sudo", sudo)
      const { code, stderr } = await setUp.as(NOBODY, "--for", "demo")

      expect(code).toBe(1)
      expect(stderr).toBe(
        "1 packages are missing and this user may not install them. Run:\n" +
          "  sudo apt-get update && sudo apt-get install -y --no-install-recommends xvfb\n",
      )
      expect(calls()).toEqual([])
    })
})

test("setup on another distribution names the packages and changes nothing", async () => {
  rmSync(`${place}/bin/apt-get`)
  const { code, stderr } = await setUp("--for", "demo")

  expect(code).toBe(1)
  expect(stderr).toContain(
    `This is not Debian. Install the equivalents of these Debian packages:\n  ${PURPOSES.demo.join(" ")}`,
  )
})

for (const args of [["--for"], ["--for", "fun"], ["demo"], ["--for", "demo", "test"], ["--for", "toString"]])
  test(`setup refuses ${args.join(" ")}`, async () => {
    expect(await setUp(...args)).toEqual({
      code: 2,
      stdout: "",
      stderr: `usage: bun scripts/setup.ts [--for ${Object.keys(PURPOSES).join("|")}]\n`,
    })
  })

test("every listed package exists, and each purpose includes the smaller one", () => {
  const known = Bun.which("apt-cache")
    ? new Set(Bun.spawnSync(["apt-cache", "pkgnames"]).stdout.toString().split("\n"))
    : undefined
  for (const name of PURPOSES.bench)
    if (known && known.size > 1000) expect(known.has(name) ? name : `no ${name}`).toBe(name)
  expect(PURPOSES.test).toEqual(expect.arrayContaining(PURPOSES.demo))
  expect(PURPOSES.bench).toEqual(expect.arrayContaining(PURPOSES.test))
  expect(new Set(PURPOSES.bench).size).toBe(PURPOSES.bench.length)
})

const setUp = Object.assign((...args: string[]) => setUp.as([], ...args), {
  as: async (prefix: readonly string[], ...args: string[]) => {
    const command = [
      ...prefix.map((word) => (word === "setpriv" ? "/usr/bin/setpriv" : word)),
      copy.bun,
      copy.at("scripts/setup.ts"),
      ...args,
    ]
    const child = Bun.spawn(command, {
      cwd: copy.root,
      env: { PATH: `${place}/bin`, HOME: place, AGENT_DESKTOP_APT_LISTS: `${place}/lists` },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, stdout, stderr }
  },
})

function program(name: string, body: string): void {
  writeFileSync(`${place}/bin/${name}`, `#!/bin/sh\n${body}\n`)
  chmodSync(`${place}/bin/${name}`, 0o755)
}

const installed = (names: readonly string[]) => writeFileSync(`${place}/installed`, `${names.join("\n")}\n`)

function lists(state: "fresh" | "old" | "empty"): void {
  const path = `${place}/lists/mirror_main_binary-amd64_Packages.lz4`
  rmSync(path, { force: true })
  if (state === "empty") return
  writeFileSync(path, "")
  const then = new Date("2001-01-01")
  if (state === "old") for (const one of ["lists", "lists/partial"]) utimesSync(`${place}/${one}`, then, then)
}

const calls = () =>
  existsSync(`${place}/calls`) ? readFileSync(`${place}/calls`, "utf8").split("\n").filter(Boolean) : []
