import { afterAll, describe, expect, test } from "bun:test"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import fc from "fast-check"
import type { Adapter } from "../../src/adapter.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import type { Deadline } from "../../src/deadline.ts"
import type { Trace } from "../../src/door.ts"
import { AppError } from "../../src/errors.ts"
import { fieldsOf } from "../../src/schema/fields.ts"
import { readPicture, readTrace } from "../../src/trace/read.ts"
import { openTrace } from "../../src/trace/record.ts"
import { shownArguments } from "../../src/trace/redact.ts"
import { busyDesk, nativeSamples, readyDesk, samplesOf } from "../support/every-command.ts"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { Json } from "../support/json.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { until } from "../support/until.ts"

const root = temporaryForFile()
afterAll(clearDesks)

let made = 0
const fresh = (): string => `${root}/${made++}`

interface Traced extends Desk {
  readonly directory: string
  readonly complaints: readonly string[]
  lines(): readonly Json[]
  text(): string
}

/** A desk whose commands are traced. */
function traced(options: { directory?: string; screenshots?: boolean } = {}): Traced {
  const { directory = fresh(), screenshots = false } = options
  const complaints: string[] = []
  const trace = openTrace({ directory, screenshots, onFailure: (message) => complaints.push(message) })
  const it = busyDesk({ trace, name: "cli" })
  const text = () => readFileSync(`${directory}/trace.jsonl`, "utf8")
  const lines = () =>
    text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  return { ...it, directory, complaints, text, lines }
}

test("every command is one line with its arguments, result and duration", async () => {
  const it = traced()
  await it.ok("snapshot", { app: "Editor" })
  const ref_id = await it.ref("Save")
  await it.ok("click", { ref_id })
  await it.error("click", { ref_id: "@e99" })
  const lines = it.lines()
  expect(lines.map(({ command, ok, arguments: args }) => ({ command, ok, args }))).toEqual([
    { command: "snapshot", ok: true, args: { app: "Editor" } },
    { command: "click", ok: true, args: { ref_id } },
    { command: "click", ok: false, args: { ref_id: "@e99" } },
  ])
  const [looked, clicked, failed] = lines
  expect(looked.data.tree).toContain(`button "Save" [${ref_id}]`)
  expect(clicked).toMatchObject({ door: "cli", snapshot_id: looked.data.snapshot_id, pid: process.pid })
  expect(clicked.data.disposition.delivery).toBeString()
  expect(failed.error).toMatchObject({ code: "STALE_REF" })
  for (const line of lines) {
    expect(Math.abs(Date.parse(line.time) - Date.now())).toBeLessThan(600_000)
    expect(line.duration_ms).toBeGreaterThanOrEqual(0)
  }
})

test("directory and files are private, with any umask", async () => {
  const before = process.umask(0)
  try {
    const it = traced({ screenshots: true })
    await it.ok("press", { combo: "escape" })
    const [line] = it.lines()
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(modeOf(it.directory)).toBe("700")
    expect(modeOf(`${it.directory}/trace.jsonl`)).toBe("600")
    expect(modeOf(`${it.directory}/pictures`)).toBe("700")
    expect(modeOf(`${it.directory}/${line.after}`)).toBe("600")
  } finally {
    process.umask(before)
  }
})

describe("a secret", () => {
  test("never appears in a line, even if it was typed, pasted, searched or read", async () => {
    const it = traced()
    const secret = fc.string({ minLength: 6, unit: "grapheme" }).filter((text) => text.trim().length > 5)
    await fc.assert(
      fc.asyncProperty(secret, fc.integer(), async (text, salt) => {
        const words = `${text}#${salt}`
        await it.run("snapshot", { app: "Editor" })
        const ref_id = await it.ref("Title")
        await it.run("type", { ref_id, text: words })
        await it.run("set-value", { ref_id, value: words })
        await it.run("get", { ref_id, property: "value" })
        await it.run("find", { text: words })
        await it.run("find", { role: "textfield" })
        await it.run("snapshot", { app: "Editor" })
        await it.run("select", { ref_id: await it.ref("Size"), value: words })
        await it.run("clipboard-set", { text: words })
        await it.run("clipboard-get")
        await it.run("wait", { element: ref_id, predicate: "value", value: words, timeout_ms: 0 })
        await it.run("launch", { app: "Editor", arg: [words] })
        await it.run("batch", { commands: [{ command: "type", args: { ref_id, text: words } }] })
        await it.run("batch", { commands: JSON.stringify([{ command: "type", args: { text: words } }]) })
        await it.run("type", { ref_id, txt: words })
        await it.run("type", words as never)
        const written = it.text()
        expect(written).not.toContain(words)
        expect(written).not.toContain(JSON.stringify(words).slice(1, -1))
      }),
      { numRuns: 15 },
    )
  })

  test.each([
    ["a", "(a character)"],
    ["shift+A", "(a character)"],
    ["+", "(a character)"],
    ["ctrl+s", "ctrl+s"],
    ["ctrl++", "ctrl++"],
    ["return", "return"],
    ["shift+tab", "shift+tab"],
  ])("is a combo that types a character: %s is shown as %s", async (combo, shown) => {
    const { input } = await commands.press!()
    expect(shownArguments({ combo }, fieldsOf(input))).toEqual({ combo: shown })
  })

  test("is every text whose field is not marked as traced", async () => {
    for (const { name, input } of await loadAll(commands)) {
      const fields = fieldsOf(input)
      for (const field of fields) {
        const shown = shownArguments({ [field.name]: "ctrl+s" }, fields)
        const text = field.traced ? "ctrl+s" : "(6 characters)"
        expect({ name, ...Object(shown) }).toEqual({ name, [field.name]: text })
      }
    }
  })

  test("is any text that is typed, pasted, passed on or searched in values", async () => {
    const traced = (await loadAll(commands)).flatMap(({ name, input }) =>
      fieldsOf(input).flatMap((field) => (field.traced ? [{ name, field: field.name }] : [])),
    )
    const secret = /^(arg|commands|line|secret|text|value)$/
    expect(traced.filter(({ field }) => secret.test(field))).toEqual([])
  })

  test("is every argument that the command does not have", () => {
    expect(shownArguments({ app: "Editor", 5: "five" })).toEqual({
      app: "(6 characters)",
      5: "(4 characters)",
    })
  })

  test("is not an alias of a traced field", async () => {
    const { input } = await commands.click!()
    expect(shownArguments({ ref: "@e1", timeout: 5 }, fieldsOf(input))).toEqual({ ref: "@e1", timeout: 5 })
  })
})

test("long results are cut, and a tree is stored as a shortened outline", async () => {
  const it = traced()
  it.world.app("Large").window("Large", Array.from({ length: 2000 }, button))
  await it.ok("snapshot", { app: "Large" })
  await it.ok("find", { app: "Large", role: "button", limit: 1000 })
  const [looked, found] = it.lines()
  expect(looked.data.tree).toMatch(/^window "Large"\n.*… \d+ more lines\n$/s)
  expect(found.data.matches).toMatch(/^\(\d+ characters of JSON\)$/)
  expect(found.data.total_matches).toBe(2000)
  for (const line of it.text().split("\n")) expect(line.length).toBeLessThan(32_000)
})

const button = (_: unknown, index: number) => ({ role: "button", name: `Button ${index}` }) as const

test("each item of a batch has its own line", async () => {
  const it = traced()
  await it.ok("batch", { commands: [{ command: "version" }, { command: "click", args: { ref_id: "@e9" } }] })
  expect(it.lines().map(({ command, door, ok }) => [command, door, ok])).toEqual([
    ["version", "batch", true],
    ["click", "batch", false],
    ["batch", "cli", true],
  ])
  // Sorted by their start.
  expect(readTrace(it.directory).entries.map(({ command }) => command)).toEqual(["batch", "version", "click"])
})

test("pictures show the screen before and after an action and after a look; equal ones are stored once", async () => {
  const it = traced({ screenshots: true })
  await it.ok("version")
  await it.ok("list-windows")
  await it.ok("press", { combo: "escape" })
  const [version, listed, pressed] = it.lines()
  expect(version).not.toHaveProperty("after")
  expect(listed).not.toHaveProperty("before")
  expect(pressed.before).toMatch(/^pictures\/[0-9a-f]{24}\.png$/)
  expect([pressed.before, pressed.after]).toEqual([listed.after, listed.after])
  expect(existsSync(`${it.directory}/${pressed.before}`)).toBe(true)
  expect(it.complaints).toEqual([])
})

test("with an app list, pictures show only a window of a listed app, and no warning says more", async () => {
  const pictured: string[] = []
  const directory = fresh()
  const complaints: string[] = []
  const trace = openTrace({ directory, screenshots: true, onFailure: (message) => complaints.push(message) })
  const it = await readyDesk({ trace, name: "cli", apps: ["editor"] })
  const { adapter } = await it.door.platform()
  const watched = (deadline: Deadline): Adapter => {
    const native = adapter(deadline)
    return {
      ...native,
      screenshot: (target) => {
        pictured.push(target.kind === "screen" ? "screen" : target.window.app_name)
        return native.screenshot(target)
      },
    }
  }
  const door = { ...it.door, platform: async () => ({ adapter: watched }) }
  const limited = desk(door)
  const [editor] = it.world.windows
  const other = it.world.app("Bank", { pid: 77 }).window("Account", [])
  it.world.focused = editor
  await limited.ok("list-windows")
  it.world.focused = other
  await limited.ok("list-windows")
  expect(pictured).toEqual(["Editor"])
  expect(readTrace(directory).entries.map(({ after }) => after !== undefined)).toEqual([true, false])
  expect(complaints).toEqual([])
})

test("every command writes the lines and pictures it declares", async () => {
  for (const call of await samplesOf(commands)) {
    const directory = fresh()
    const trace = openTrace({
      directory,
      screenshots: true,
      onFailure: (message) => expect(message).toBe(""),
    })
    await (await readyDesk({ trace, name: "cli" })).ask(call)
    const { name, effect, trace: declared } = call.command
    const lines = existsSync(directory) ? readTrace(directory).entries : []
    const own = lines.filter(({ command, door }) => command === name && door === "cli")
    expect({
      name,
      lines: own.length,
      before: own.some(({ before }) => before !== undefined),
      after: own.some(({ after }) => after !== undefined),
    }).toEqual({
      name,
      lines: declared === "nothing" ? 0 : 1,
      before: declared === "pictures" && effect !== "reads",
      after: declared === "pictures",
    })
  }
})

test("a command that looks at the screen or acts on it declares pictures", async () => {
  const native = await nativeSamples(commands)
  const onScreen = /^(tree|perform|input|window|launch|quit|notification|surfaces|screenshot)$/
  const silent = native.filter(
    ({ command, calls }) =>
      command.name !== "batch" && command.trace !== "pictures" && calls.some((call) => onScreen.test(call)),
  )
  expect(silent.map(({ command }) => `${command.name}: add trace: "pictures"`)).toEqual([])
})

describe("a trace that cannot be written", () => {
  const broken: readonly (readonly [string, (directory: string) => void])[] = [
    ["its directory is a file", (directory) => writeFileSync(directory, "")],
    ["its file is a directory", (directory) => mkdirSync(`${directory}/trace.jsonl`, { recursive: true })],
    [
      "its file is a link",
      (directory) => {
        mkdirSync(directory)
        symlinkSync("elsewhere", `${directory}/trace.jsonl`)
      },
    ],
    [
      "its file is a pipe without a reader",
      (directory) => {
        mkdirSync(directory)
        Bun.spawnSync(["mkfifo", `${directory}/trace.jsonl`])
      },
    ],
  ]

  test.each(broken)("does not change answers if %s, and is reported once", async (_, prepare) => {
    const directory = fresh()
    prepare(directory)
    const complaints: string[] = []
    const onFailure = (message: string) => complaints.push(message)
    const trace = openTrace({ directory, screenshots: false, onFailure })
    for (const { command, args } of (await samplesOf(commands)).slice(0, 20)) {
      const desks = await Promise.all([readyDesk({ trace }), readyDesk()])
      const [seen, expected] = await Promise.all(
        desks.map(async (one) => steady(await one.run(command.name, one.fill(args)))),
      )
      expect(seen).toEqual(expected)
    }
    expect(complaints).toHaveLength(1)
    expect(complaints[0]).toContain(directory)
  })

  test("does not change answers if no picture can be taken", async () => {
    const it = traced({ screenshots: true })
    it.world.fail("screenshot", ...Array.from({ length: 4 }, () => new AppError("PERM_DENIED", "no")))
    await it.ok("press", { combo: "escape" })
    expect(it.lines()).toMatchObject([{ command: "press", ok: true }])
    expect(it.complaints).toHaveLength(1)
  })
})

/** Replaces members that differ from run to run. */
const steady = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value), (key, inner) =>
    ["snapshot_id", "elapsed_ms", "since"].includes(key) ? "" : inner,
  )

test("time spent on tracing does not count towards a batch's timeout", async () => {
  let spentMs = 0
  const trace: Trace = {
    get spentMs() {
      return spentMs
    },
    async around(_, name, __, run) {
      const start = performance.now()
      // Longer than the timeout of the whole batch.
      if (name === "version") await until(() => performance.now() > start + 300)
      spentMs += performance.now() - start
      return run()
    },
    refused: () => {},
  }
  const { results } = await busyDesk({ trace }).ok("batch", {
    commands: [{ command: "version" }, { command: "version" }],
    timeout_ms: 200,
  })
  expect(results.map(({ ok }: Json) => ok)).toEqual([true, true])
})

describe("reading", () => {
  test("skips invalid lines, and finds a line after one that was cut off", async () => {
    const it = traced()
    await it.ok("version")
    appendFileSync(`${it.directory}/trace.jsonl`, '{"time":"2026-01-01T00:00:00.000Z","duration_ms":1,"comm')
    await it.ok("list-apps")
    appendFileSync(`${it.directory}/trace.jsonl`, 'null\n{"time":"never"}\n[]\n')
    const { entries, unreadable } = readTrace(it.directory)
    expect(entries.map(({ command }) => command)).toEqual(["version", "list-apps"])
    expect(unreadable).toBe(3)
  })

  test("a directory without a trace is an invalid argument", async () => {
    expect(await busyDesk().error("trace-show", { directory: fresh() })).toMatchObject({
      code: "INVALID_ARGS",
    })
  })

  test("ignores a picture outside the directory, and a file that is not a picture", () => {
    const directory = fresh()
    mkdirSync(`${directory}/pictures`, { recursive: true })
    writeFileSync(`${directory}/pictures/aa.png`, "text")
    expect(readPicture(directory, "pictures/aa.png")).toBeUndefined()
    expect(readPicture(directory, "pictures/bb.png")).toBeUndefined()
    expect(readPicture(directory, "../../etc/passwd")).toBeUndefined()
  })

  test("trace-show returns the newest entries, or the failed ones", async () => {
    const it = traced()
    await it.ok("version")
    await it.error("click", { ref_id: "@e9" })
    await it.ok("list-apps")
    const { directory } = it
    const shown = await it.ok("trace-show", { directory, limit: 1 })
    expect(shown).toMatchObject({ total: 3, entries: [{ command: "list-apps" }] })
    const { entries } = await it.ok("trace-show", { directory, failed: true })
    expect(entries.map((one: Json) => one.command)).toEqual(["click"])
    // trace-show itself is not traced.
    expect(it.lines()).toHaveLength(3)
  })
})
