import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { agentDesktop, type Envelope } from "../../src/index.ts"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import { timed, within } from "../support/pace.ts"
import { until } from "../support/until.ts"
import { everyLine, filledLine, type Line, refsOf, wordsOn } from "./every-line.ts"

const STUBBORN = new URL("../fixtures/stubborn.py", import.meta.url).pathname
const LEFT_OVER = new URL("../fixtures/left-over.py", import.meta.url).pathname
/** Set to ask every line of the compiled program as well, which takes minutes. */
const WHOLE = process.env.DEADLINES === "all"
const TIMEOUT_MS = 600
const AT_ONCE = 8

let desktop: TestDesktop
let app: ReturnType<TestDesktop["spawnApp"]>
let names: ReadonlyMap<string, string>
/** Processes to continue after the test, so that they can be ended. */
let stopped: number[]

beforeEach(async () => {
  stopped = []
  desktop = await openDesktop()
  app = desktop.spawnApp(["/usr/bin/python3", STUBBORN])
  const { data } = await until(async () => {
    const { json } = await desktop.run("snapshot", "--app", "stubborn")
    return json.ok && refsOf(json.data.tree).has("Press") && json
  }, 20_000)
  names = wordsOn(data, desktop.directory)
})

afterEach(async () => {
  for (const pid of stopped) signal(pid, "SIGCONT")
  await desktop.close()
})

interface Fault {
  set(): Promise<void>
  /** Outcomes of reading a ref of the app in a short time, even on a busy machine. */
  readonly reading: RegExp
  /** True if reading works with enough time. */
  readonly isReadable?: boolean
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "the app is stopped": { set: async () => stop([app.pid]), reading: /^APP_UNRESPONSIVE$/ },
  "the app loops for ever": { set: () => tell("loop"), reading: /^APP_UNRESPONSIVE$/ },
  "the accessibility bus is stopped": {
    set: async () => stop(partsLike(/accessibility/)),
    reading: /^TIMEOUT$/,
  },
  "the registry is stopped": {
    set: async () => stop(partsLike(/at-spi2-registryd/)),
    reading: /^(ok|TIMEOUT|APP_UNRESPONSIVE)$/,
  },
  "the session bus is stopped": {
    set: async () => stop(partsLike(/dbus-daemon.*--session/)),
    reading: /^(ok|TIMEOUT|APP_UNRESPONSIVE)$/,
    isReadable: true,
  },
  "the display is stopped": {
    set: async () => stop(partsLike(/^Xvfb/)),
    reading: /^(ok|TIMEOUT|APP_UNRESPONSIVE)$/,
  },
  "the window manager is stopped": {
    set: async () => stop(partsLike(/openbox|xfwm4/)),
    reading: /^(ok|TIMEOUT|APP_UNRESPONSIVE)$/,
    isReadable: true,
  },
}

test.each(Object.keys(FAULTS))("if %s, every command ends in time and says what it did", async (name) => {
  const fault = FAULTS[name]!
  await fault.set()
  if (fault.isReadable) expect((await asProgram(words("get $Press name"), 15_000)).code).toBe("ok")
  // close-app may end the app, which the compiled program still needs below.
  const all = await everyLine()
  const lines = WHOLE ? all.filter(([command]) => command !== "close-app") : all
  const { result: outcomes, slackMs } = await timed(() => inTurns(lines, inProcess))
  expect(outcomes.filter(({ ms }) => ms > TIMEOUT_MS * 1.1 + slackMs).map(shown)).toEqual([])
  expect(outcomes.filter((one) => !isInOrder(one)).map(shown)).toEqual([])
  // If the machine is too busy for a command of this length, the bus may be late before the app is asked.
  const isLate = (code: string): boolean => slackMs > TIMEOUT_MS && code === "TIMEOUT"
  const isWrong = ({ code }: Outcome): boolean => !fault.reading.test(code) && !isLate(code)
  expect(outcomes.filter((one) => isReading(one) && isWrong(one)).map(shown)).toEqual([])
  expect(outcomes.filter((one) => one.code !== "ok" && acts(one) && !one.delivery).map(shown)).toEqual([])

  const some = ["snapshot --app stubborn", "click $Press", "press ctrl+a", "wait --menu", "status"]
  const programs = await timed(() => inTurns(WHOLE ? all : some.map(words), asProgram))
  const patience = TIMEOUT_MS * 1.1 + programs.slackMs
  expect(programs.result.filter((one) => one.ms > patience || !isInOrder(one)).map(shown)).toEqual([])
})

test("a click that makes the app loop ends in time and says that it may have been delivered", async () => {
  const { code, delivery } = await within(1500, () => asProgram(words("click $Loop"), 1500))
  // The app reports the press before it runs the handler, or not at all.
  expect(`${code} ${delivery}`).toBeOneOf(["ok delivered_unverified", "APP_UNRESPONSIVE delivery_uncertain"])
})

test("a click that ends the app was delivered, or may have been", async () => {
  const { json } = await desktop.run("click", names.get("Exit")!, "--timeout-ms", "2000")
  const { delivery } = (json.data ?? json.error).disposition
  expect(delivery).toBeOneOf(["delivery_uncertain", "delivered_unverified", "delivered_verified"])
  expect((await desktop.run("click", names.get("Press")!)).json.error).toMatchObject({
    code: "STALE_REF",
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
})

test("a command during which the app is killed ends with an answer", async () => {
  for (const [round, line] of ["type $Text abc", "snapshot --app stubborn", "select $Combo two"].entries()) {
    const asked = asProgram(words(line), 3000)
    setTimeout(() => app.kill("SIGKILL"), 15 * (round + 1))
    const { code } = await asked
    expect(code).toMatch(/^(ok|STALE_REF|APP_NOT_FOUND|WINDOW_NOT_FOUND|APP_UNRESPONSIVE|ACTION_FAILED)$/)
    await app.exited
    app = desktop.spawnApp(["/usr/bin/python3", STUBBORN])
    await until(async () => (await desktop.run("snapshot", "--app", "stubborn")).json.ok, 20_000)
    names = wordsOn((await desktop.run("snapshot", "--app", "stubborn")).json.data, desktop.directory)
  }
})

test("a window that closes after its process ended is not found; one that stays has no tree", async () => {
  const terminal = desktop.spawnApp(["xterm", "-xrm", "*waitForWm: false", "-T", "Stays"])
  const stays = await until(() => idOf("Stays"), 20_000)
  expect((await asProgram(words(`snapshot --window-id ${stays}`), 5000)).code).toBe("PLATFORM_NOT_SUPPORTED")
  terminal.kill("SIGKILL")

  // A zombie stays in the state of a process that has just ended.
  const note = `${desktop.directory}/left-over`
  desktop.spawnApp(["sh", "-c", '/usr/bin/python3 "$@" & exec sleep 1000', "sh", LEFT_OVER, note])
  const id = await until(() => idOf("Left over"), 20_000)
  const holder = await until(() => existsSync(note) && Number(readFileSync(note, "utf8")))
  const asked = asProgram(words(`snapshot --window-id ${id}`), 5000)
  setTimeout(() => process.kill(holder, "SIGKILL"), 200)
  expect((await asked).code).toBe("WINDOW_NOT_FOUND")
})

const idOf = async (title: string): Promise<string | undefined> => {
  const { json } = await desktop.run("list-windows")
  return json.data.windows.find((window: { title: string }) => window.title === title)?.id
}

test("a registry that is started again finds the apps again", async () => {
  for (const pid of partsLike(/at-spi2-registryd/)) signal(pid, "SIGKILL")
  const first = await inTurns(["snapshot --app stubborn", "click $Press", "list-apps"].map(words), asProgram)
  expect(
    first.filter(
      ({ code }) => !/^(ok|TIMEOUT|APP_UNRESPONSIVE|APP_NOT_FOUND|PLATFORM_NOT_SUPPORTED)$/.test(code),
    ),
  ).toEqual([])
  await until(async () => (await desktop.run("snapshot", "--app", "stubborn")).json.ok, 20_000)
  expect((await desktop.run("click", names.get("Press")!)).json.ok).toBe(true)
})

test("no command waits for buses and displays that have ended", async () => {
  const outcomes = await within(TIMEOUT_MS, () => {
    const lines = ["wait --text nowhere", "wait --window nowhere", "wait --menu"].map(words)
    const asked = inTurns(lines, asProgram)
    for (const pid of [...partsLike(/dbus-daemon/), ...partsLike(/^Xvfb/)]) signal(pid, "SIGKILL")
    return asked
  })
  // PERM_DENIED: another X server took the number of the display meanwhile, and does not know our cookie.
  for (const { code } of outcomes)
    expect(code).toMatch(/^(TIMEOUT|PLATFORM_NOT_SUPPORTED|ACTION_FAILED|APP_UNRESPONSIVE|PERM_DENIED)$/)
})

test("a desktop whose parts do not answer is stopped in time", async () => {
  stop([...partsLike(/^Xvfb/), ...partsLike(/dbus-daemon/), app.pid])
  const { code } = await within(2000, () => asProgram(words("desktop-stop test"), 2000))
  expect(code).toBe("ok")
})

// Running commands

interface Outcome {
  readonly line: Line
  readonly code: string
  readonly ms: number
  readonly delivery?: string
  readonly message?: string
}

const words = (line: string): Line => line.split(" ")

/** Outcomes of a command that lacks something it needs. Any other is a guess or a crash. */
const IN_ORDER =
  /^(ok|TIMEOUT|APP_UNRESPONSIVE|STALE_REF|ACTION_FAILED|ELEMENT_NOT_FOUND|APP_NOT_FOUND|NOTIFICATION_NOT_FOUND|INVALID_ARGS)$/

/** The window has a table and no sheet, so set-cells may find that out before anything else. */
const isInOrder = ({ line: [command], code }: Outcome): boolean =>
  IN_ORDER.test(code) || (command === "set-cells" && code === "ACTION_NOT_SUPPORTED")

const isReading = ({ line: [command] }: Outcome) => command === "get" || command === "is"

const reading = new Set(
  (await loadAll(commands)).filter(({ effect }) => effect === "reads").map(({ name }) => name),
)

/** Commands whose errors report the delivery. Items of a batch report it themselves. */
const acts = ({ line: [command = ""], code }: Outcome) =>
  !reading.has(command) && command !== "batch" && code !== "INVALID_ARGS"

const shown = ({ line, code, ms, delivery = "", message = "" }: Outcome) =>
  `${line.join(" ")}: ${code} ${message} ${delivery} ${Math.round(ms)} ms`

async function inTurns(
  lines: readonly Line[],
  ask: (line: Line) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const waiting = [...lines]
  const outcomes: Outcome[] = []
  const work = async () => {
    for (let line = waiting.shift(); line; line = waiting.shift()) outcomes.push(await ask(line))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcomes
}

/** Runs the line as the binary does, but in this process. Each line has its own connections. */
async function inProcess(line: Line): Promise<Outcome> {
  const argv = [...filledLine(line, names), "--timeout-ms", String(TIMEOUT_MS)]
  const parsed = await parseArgv(argv, commands, globals)
  if (parsed.kind !== "run") throw new Error(line.join(" "))
  await using own = agentDesktop({ env: desktop.env })
  const start = performance.now()
  const envelope = await own.run(parsed.command.name, parsed.args)
  return outcomeOf(line, envelope, performance.now() - start)
}

/** Commands that print plain text. */
const PLAIN = /^(completions|mcp|skills)$/

async function asProgram(line: Line, timeout = TIMEOUT_MS): Promise<Outcome> {
  const start = performance.now()
  const { json, stdout } = await runProgram(
    [...filledLine(line, names), "--timeout-ms", String(timeout)],
    desktop.env,
  )
  if (!json && !PLAIN.test(line[0] ?? "")) throw new Error(`${line.join(" ")}: no envelope but ${stdout}`)
  return outcomeOf(line, json ?? { ok: true, data: {} }, performance.now() - start)
}

function outcomeOf(line: Line, envelope: Envelope, ms: number): Outcome {
  if (envelope.ok) return { line, code: "ok", ms, delivery: Object(envelope.data).disposition?.delivery }
  const { code, message, disposition } = envelope.error
  return { line, code, ms, delivery: disposition?.delivery, message }
}

async function tell(word: string): Promise<void> {
  app.stdin.write(`${word}\n`)
  await app.stdin.flush()
  await until(() => /^R/.test(stateOf(app.pid)))
}

const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!

function stop(pids: readonly number[]): void {
  expect(pids.length).toBeGreaterThan(0)
  for (const pid of pids) {
    signal(pid, "SIGSTOP")
    stopped.push(pid)
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}

/** The desktop's processes whose command line matches. */
function partsLike(pattern: RegExp): readonly number[] {
  const mark = `AGENT_DESKTOP_DESKTOP_ID=${desktop.env.AGENT_DESKTOP_DESKTOP_ID}`
  const listed = Bun.spawnSync(["sh", "-c", `grep -lz "${mark}" /proc/[0-9]*/environ 2>/dev/null`])
  const pids = listed.stdout.toString().match(/\d+/g) ?? []
  return pids.map(Number).filter((pid) => {
    try {
      return pattern.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "))
    } catch {
      return false
    }
  })
}
