import { afterAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { version } from "../../package.json"
import { Interrupted, Mac, type Outside } from "../../scripts/macos-check/mac.ts"
import { SCRIPTS } from "../../scripts/macos-check/scripts.ts"
import { CHECKS, chosen, newNonce, type Result, report, runChecks } from "../../scripts/macos-check.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { PretendMac } from "./pretend-mac.ts"
import { FAULTS, type Fault } from "./pretend-windows.ts"

/** The first thing that a Mac owner runs, on a model of a Mac that speaks German and corrects spelling. */

const directory = temporaryForFile()
const NONCE = newNonce()

async function tryOut(world: PretendMac, outside: Outside = world.outside(), interruption = steady()) {
  const folder = mkdtempSync(join(directory, `agent-desktop-${NONCE}-`))
  const mac = new Mac(outside, folder, NONCE, 60)
  return runChecks(CHECKS, mac, interruption)
}

const steady = () => ({ aborted: false, puttingBack: false })

const failures = (results: readonly Result[]) =>
  results.filter(({ outcome }) => outcome === "FAILED").map(({ check }) => check.about)

test("on a Mac without faults every check passes, and everything is as before", async () => {
  const world = new PretendMac()
  const before = world.state()
  const results = await tryOut(world)
  expect(results.map(({ check, outcome, detail }) => [check.title, outcome, detail])).toEqual(
    CHECKS.map(({ title }) => [title, "ok", results.find(({ check }) => check.title === title)?.detail]),
  )
  expect(results.flatMap(({ left }) => left)).toEqual([])
  expect(world.state()).toEqual(before)
})

test("every subject that a Mac can get wrong has a fault in the model", () => {
  const subjects = new Set(CHECKS.flatMap(({ about }) => about.split(", ")))
  expect([...new Set(Object.values(FAULTS))].filter((subject) => !subjects.has(subject))).toEqual([])
})

test.each(Object.entries(FAULTS) as [Fault, string][])(
  "a Mac on which '%s' fails a check of '%s', and is left as before",
  async (fault, subject) => {
    const world = new PretendMac(fault)
    const before = world.state()
    const results = await tryOut(world)
    const failed = failures(results)
    expect(failed.length).toBeGreaterThan(0)
    expect({ fault, failed: failed.filter((about) => !about.split(", ").includes(subject)) }).toEqual({
      fault,
      failed: [],
    })
    expect(results.flatMap(({ left }) => left)).toEqual([])
    expect(world.state()).toEqual(before)
  },
)

test("without a native symbol the other checks are not tried", async () => {
  const world = new PretendMac()
  world.isMissingSymbol = true
  const results = await tryOut(world)
  expect(results.slice(0, 4).map(({ outcome, detail }) => [outcome, detail])).toEqual([
    ["ok", `{"version":"${version}"}`],
    ["FAILED", "NO symbols of AppKit: 9 found"],
    ["skipped", "needs: every native symbol exists"],
    ["skipped", "needs: every native symbol exists"],
  ])
})

/** Interrupts the run at one call: before it had an effect, or after. */
function interrupted(outside: Outside, at: number, when: "before" | "after") {
  const interruption = steady()
  let calls = 0
  const guard =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (interruption.puttingBack) return call(...args)
      const isLast = ++calls === at
      if (isLast && when === "before") interruption.aborted = true
      if (interruption.aborted) throw new Interrupted()
      const result = await call(...args)
      if (isLast) interruption.aborted = true
      if (interruption.aborted) throw new Interrupted()
      return result
    }
  const guarded: Outside = {
    ask: guard(outside.ask),
    script: guard(outside.script as never) as Outside["script"],
    run: guard(outside.run),
    pause: guard(outside.pause),
  }
  return { guarded, interruption, calls: () => calls }
}

test("a run that is interrupted at any moment leaves everything as before", async () => {
  const first = new PretendMac()
  const counter = interrupted(first.outside(), 0, "after")
  await tryOut(first, counter.guarded, counter.interruption)
  const moments = counter.calls()
  expect(moments).toBeGreaterThan(150)
  for (let at = 1; at <= moments; at++) {
    for (const when of ["before", "after"] as const) {
      const world = new PretendMac()
      const before = world.state()
      const { guarded, interruption } = interrupted(world.outside(), at, when)
      const results = await tryOut(world, guarded, interruption)
      const left = results.flatMap((result) => result.left)
      expect({ at, when, left, state: world.state() }).toEqual({ at, when, left: [], state: before })
      expect({ at, failed: failures(results) }).toEqual({ at, failed: [] })
    }
  }
}, 300_000)

test("a change that cannot be undone is reported, and the steps before it still run", async () => {
  const world = new PretendMac()
  const outside = world.outside()
  const results = await tryOut(world, {
    ...outside,
    script: async (name, args) =>
      name === "deletePeople" ? { code: 1, out: "", err: "not now" } : outside.script(name, args),
  })
  const left = results.filter((result) => result.left.length > 0)
  expect(left.map((result) => result.left)).toEqual([
    ["delete the contact: the AppleScript 'deletePeople' failed: not now"],
  ])
  expect(report("macOS 26", results)).toContain("NOT PUT BACK: a button of Contacts")
  // Contacts is quit after the step that failed.
  expect(world.running.has("com.apple.AddressBook")).toBe(false)
})

test("the report can be pasted: Markdown, without the home directory", async () => {
  const world = new PretendMac("no sheet")
  const results = await tryOut(world)
  const one = { ...results[0]!, detail: `${homedir()}/secret.txt` }
  const text = report("macOS 26.1 (25B78), arm64", [one, ...results.slice(1)])
  expect(text).toStartWith(`**agent-desktop on a Mac: ${CHECKS.length - 1} ok, 1 failed, 0 skipped**`)
  expect(text).toContain(
    "| sheets | the sheet of TextEdit that asks where to save is found, takes a name, and blocks what is behind it | FAILED |",
  )
  expect(text).toContain("the surfaces are window")
  expect(text).toContain("~/secret.txt")
  expect(text).not.toContain(homedir())
})

test("words choose checks, and the vital ones always run", () => {
  const titles = chosen("sidebar").map(({ title }) => title)
  expect(titles.filter((title) => title.includes("sidebar"))).toHaveLength(2)
  expect(titles).toHaveLength(5)
  expect(chosen("young").map(({ about }) => about)).toContain("young")
})

test("the scripts name no app or element in a language", () => {
  const samples: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, make]) => [
      name,
      (make as (...args: string[]) => string)("com.apple.finder", "sheet", "AXRole", "value"),
    ]),
  )
  for (const [name, source] of Object.entries(samples)) {
    // `tell application "Finder"` would be a name.
    expect({ name, named: /application "/.test(source) }).toEqual({ name, named: false })
    const opened = source.match(/^(tell|repeat|try)\b(?!.* to )|^if\b.*\bthen$/gm) ?? []
    const closed = source.match(/^end (tell|repeat|try|if)$/gm) ?? []
    expect({ name, blocks: closed.length }).toEqual({ name, blocks: opened.length })
  }
  expect(SCRIPTS.closeFile('/a "b" \\c')).toContain('"/a \\"b\\" \\\\c"')
})

test("--dry-run says what each check touches, and runs nothing", () => {
  const script = join(import.meta.dir, "../../scripts/macos-check.ts")
  const { stdout, exitCode } = Bun.spawnSync([
    process.execPath,
    script,
    "/nowhere/agent-desktop",
    "--dry-run",
  ])
  expect(exitCode).toBe(0)
  for (const { title, touches } of CHECKS) expect(stdout.toString()).toContain(`${title}\n    ${touches}`)
})

/** Programs that note how they were called, in place of those of macOS. */
function pretendPrograms(): { readonly path: string; readonly log: string } {
  const path = mkdtempSync(join(directory, "bin-"))
  const log = join(path, "log")
  writeFileSync(log, "")
  const program = (name: string, body: string) =>
    writeFileSync(join(path, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${body}\n`, { mode: 0o755 })
  program("sw_vers", "echo 26.1")
  program("defaults", "echo de-DE")
  program("codesign", "")
  program("osascript", `case "$*" in *running*) echo false ;; *frontmost*) echo com.apple.Terminal ;; esac`)
  program(
    "agent-desktop",
    `case "$1" in
      launch) exec sleep 60 ;;
      permissions) echo '{"ok":true,"data":{"granted":true,"screen_recording":{"state":"granted"}}}' ;;
      doctor) echo '{"ok":true,"data":{"checks":[]}}' ;;
      *) echo '{"ok":true,"data":{"apps":[],"windows":[]}}' ;;
    esac`,
  )
  return { path, log }
}

test.each([
  // A terminal sends ctrl+c to the script and to the command that it runs.
  ["SIGINT", "all its processes"],
  ["SIGTERM", "the script"],
] as const)(
  "%s to %s during a command puts everything back and still prints the report",
  async (signal, whom) => {
    const { path, log } = pretendPrograms()
    const temporaries = join(path, "tmp")
    mkdirSync(temporaries)
    const script = join(import.meta.dir, "../../scripts/macos-check.ts")
    const child = Bun.spawn([process.execPath, script, join(path, "agent-desktop"), "--yes"], {
      env: { ...process.env, PATH: `${path}:${process.env.PATH}`, TMPDIR: temporaries },
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    })
    afterAll(() => child.kill("SIGKILL"))
    while (!readFileSync(log, "utf8").includes("agent-desktop launch")) await Bun.sleep(20)
    process.kill(whom === "the script" ? child.pid : -child.pid, signal)
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(130)
    expect(text).toContain("| young | an app can be read right after its launch | skipped |")
    expect(text).toContain("macOS 26.1 (26.1)")
    const calls = readFileSync(log, "utf8").split("\n")
    const launched = calls.findIndex((call) => call.startsWith("agent-desktop launch"))
    expect(calls.slice(launched + 1).filter((call) => call.includes("to quit"))).toEqual([
      'osascript -e tell application id "com.apple.calculator" to quit',
    ])
    expect(calls.filter((call) => call.includes("to activate"))).toEqual([
      'osascript -e tell application id "com.apple.Terminal" to activate',
    ])
    expect(readdirSync(temporaries)).toEqual([])
    expect(existsSync(temporaries)).toBe(true)
  },
)
