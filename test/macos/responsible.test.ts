import { expect, test } from "bun:test"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { BUNDLE_IDENTIFIER } from "../../src/macos/responsible.ts"
import { appWith, onDesk } from "./adapter-desk.ts"
import { compileProgram } from "./compiled.ts"
import { type FakeMac, startScene } from "./fake.ts"

/** The program that needs a privacy grant: the terminal, our parent program, this program, or its bundle. */

const DENIED = { trust: { accessibility: false, screen: false, post: false } }
const TERMINAL = {
  pid: 700,
  name: "Terminal",
  bundle_id: "com.apple.Terminal",
  path: "/System/Applications/Utilities/Terminal.app",
  windows: [],
}

test("an app that started this program needs the grant", () =>
  onDesk({ apps: [TERMINAL], ...DENIED, responsible: 700 }, async ({ adapter }) => {
    const { grant_to, accessibility } = await adapter.permissions(false)
    expect(grant_to).toBe("Terminal (/System/Applications/Utilities/Terminal.app)")
    expect(accessibility.suggestion).toBe(
      "Open System Settings > Privacy & Security > Accessibility and add Terminal " +
        "(/System/Applications/Utilities/Terminal.app), then restart Terminal",
    )
    const checks = await adapter.diagnose({ ffi: false })
    expect(checks.find(({ name }) => name === "accessibility permission")?.detail).toBe(
      "denied, for Terminal (/System/Applications/Utilities/Terminal.app)",
    )
  }))

test("a bare program that started this one is named by its path", () =>
  onDesk(
    {
      apps: [{ pid: 701, name: "sshd-session", executable: "/usr/libexec/sshd-session", windows: [] }],
      ...DENIED,
      responsible: 701,
    },
    async ({ adapter }) => {
      const { grant_to, accessibility } = await adapter.permissions(false)
      expect(grant_to).toBe("/usr/libexec/sshd-session")
      expect(accessibility.suggestion).toContain("add /usr/libexec/sshd-session")
      expect(accessibility.suggestion).toContain("Agent Desktop.app")
    },
  ))

test("started by launchd, this program itself needs the grant", () =>
  onDesk(appWith([], {}, { ...DENIED, responsible: "self" }), async ({ adapter }) => {
    const { grant_to, accessibility } = await adapter.permissions(false)
    expect(grant_to).toBe(process.execPath)
    expect(accessibility.suggestion).toContain(`add ${process.execPath}`)
    expect(accessibility.suggestion).not.toContain("your terminal")
  }))

test("if the responsible process is gone, the program does not guess another", () =>
  onDesk(appWith([], {}, { ...DENIED, responsible: 4711 }), async ({ adapter }) => {
    expect((await adapter.permissions(false)).grant_to).toBe("the process 4711")
  }))

test("if macOS does not say who is responsible, the nearest app above is suggested", () =>
  onDesk(appWith([], {}, DENIED), async ({ adapter }) => {
    const { grant_to, accessibility } = await adapter.permissions(false)
    expect(grant_to).toBeUndefined()
    expect(accessibility.suggestion).toContain("add your terminal")
  }))

const program = compileProgram()

/** Runs the compiled program from a bundle. */
function fromBundle(mac: FakeMac, ...args: readonly string[]) {
  return startBundle(mac, args)
}

async function startBundle(
  mac: FakeMac,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
) {
  const folder = join(mac.directory, "Agent Desktop.app/Contents/MacOS")
  mkdirSync(folder, { recursive: true })
  const own = join(folder, "agent-desktop")
  copyFileSync(program, own)
  const home = join(mac.directory, "home")
  const run = await mac.run([own, ...args], {
    env: { AGENT_DESKTOP_HOME: home, HOME: mac.directory, ...more },
  })
  return { own, run, execs: mac.record("exec").map(({ result }) => result) }
}

test("from the bundle, the bundle needs the grant, no matter which program starts it", async () => {
  const mac = startScene({ apps: [TERMINAL], ...DENIED, responsible: 700 })
  try {
    const { run, execs } = await fromBundle(mac, "permissions")
    // It started over once, in the same process and with the same output.
    expect(execs).toEqual([0])
    const bundle = join(mac.directory, "Agent Desktop.app")
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: true,
      data: { grant_to: `Agent Desktop (${bundle})` },
    })
    expect(run.exitCode).toBe(0)
  } finally {
    mac.close()
  }
})

test("arguments, standard input and the exit code survive the restart", async () => {
  const mac = startScene({ apps: [TERMINAL], responsible: 700 })
  try {
    const { own, run, execs } = await fromBundle(mac, "clipboard-set", "Zwei Wörter\n")
    expect(execs).toEqual([0])
    expect(JSON.parse(run.stdout)).toMatchObject({ ok: true })
    expect(Object.values(mac.world().pasteboard)).toEqual(["Zwei Wörter\n"])
    const piped = Bun.spawnSync([own, "clipboard-set", "-"], {
      env: { ...process.env, ...mac.env, AGENT_DESKTOP_HOME: mac.directory },
      stdin: Buffer.from("aus der Leitung"),
    })
    expect(piped.exitCode).toBe(0)
    expect(mac.record("exec")).toHaveLength(2)
    mac.sleep(1)
    expect(Object.values(mac.world().pasteboard)).toEqual(["aus der Leitung"])
    expect((await fromBundle(mac, "click")).run.exitCode).toBe(2)
  } finally {
    mac.close()
  }
})

test("from the bundle by launchd or Finder, nothing starts over", async () => {
  const mac = startScene({ apps: [], responsible: "self" })
  try {
    const { run, execs } = await fromBundle(mac, "permissions")
    expect(execs).toEqual([])
    expect(JSON.parse(run.stdout).data.grant_to).toContain("Agent Desktop (")
  } finally {
    mac.close()
  }
})

test("the bundle that is opened in Finder asks for its permissions", async () => {
  const mac = startScene({ apps: [TERMINAL], ...DENIED, responsible: "self" })
  try {
    await startBundle(mac, [], { __CFBundleIdentifier: BUNDLE_IDENTIFIER })
    expect(
      mac
        .record("prompt")
        .map((line) => `${line.for}`)
        .sort(),
    ).toEqual(["accessibility", "post", "screen"])
    // In a terminal, the program without a command prints its help, like the plain binary.
    const { run } = await startBundle(mac, [], { __CFBundleIdentifier: "com.apple.Terminal" })
    expect(mac.record("prompt")).toHaveLength(3)
    expect(run.stdout).toContain("agent-desktop")
  } finally {
    mac.close()
  }
})

test("if starting over fails, the command runs with the grants of its parent, and says so", async () => {
  const mac = startScene({ apps: [TERMINAL], responsible: 700, exec_fails: 1 })
  try {
    const { run, execs } = await fromBundle(mac, "permissions")
    expect(execs).toEqual([1])
    expect(JSON.parse(run.stdout)).toMatchObject({
      data: { granted: true, grant_to: "Terminal (/System/Applications/Utilities/Terminal.app)" },
    })
  } finally {
    mac.close()
  }
})

test("outside a bundle nothing starts over", async () => {
  const mac = startScene({ apps: [TERMINAL], responsible: 700 })
  try {
    const run = await mac.run([program, "permissions"])
    expect(mac.record("exec")).toEqual([])
    expect(JSON.parse(run.stdout).data.grant_to).toContain("Terminal")
  } finally {
    mac.close()
  }
})

test.each([
  ["AXUIElementPerformAction", 1, "symbols of ApplicationServices"],
  // Private functions may be missing; the program has other ways then.
  ["_AXUIElementGetWindow", 0, undefined],
])("doctor --ffi --strict without %s ends with %d", async (hidden, exitCode, named) => {
  const mac = startScene(appWith([], {}, { responsible: 501 }))
  try {
    const main = join(import.meta.dir, "../../src/main.ts")
    const run = await mac.run(
      [
        ...[process.execPath, "--preload", join(import.meta.dir, "preload.ts")],
        ...["--define", 'process.platform="darwin"', main, "doctor", "--ffi", "--strict"],
      ],
      { env: { LD_PRELOAD: "", FAKEMAC_HIDE: hidden, AGENT_DESKTOP_HOME: mac.directory } },
    )
    expect({ said: run.stdout, exitCode: run.exitCode }).toEqual({ said: run.stdout, exitCode })
    const envelope = JSON.parse(run.stdout)
    if (named) expect(envelope.error.message).toBe(`Not healthy: ${named}`)
    if (named) expect(envelope.error.details.checks[0].detail).toBe(`missing: ${hidden}`)
    else expect(envelope.data.healthy).toBe(true)
  } finally {
    mac.close()
  }
})
