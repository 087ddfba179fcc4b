import { parseArgs } from "node:util"
import { startProgress } from "../src/cli/terminal.ts"
import { type Fixture, type FixtureEvent, startFixture } from "../test/fixtures/fixture.ts"
import { startFixture as startChanging } from "../test/fuzz/fixtures.ts"
import { openDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { appNamed, settled, startApp } from "./apps.ts"
import { median, table } from "./measure.ts"
import { comparePages } from "./rivals/page.ts"
import { type Answer, cold, cua, install, type Target, type Tool, type Verb, warm } from "./rivals/tools.ts"

/**
 * Compares agent-desktop with cua-driver on one desktop, and with the tools of browsers on one page (docs/compare.md):
 *
 *   bun bench/rivals.ts looks|tasks|hits|page [--rounds N] [--only NAME,…]
 *
 * looks: time and size of reading a window. tasks: everyday steps in the fixtures. hits: elements change between the look
 * and the press. page: one web page, with agent-browser and Playwright. The tools take turns. The log of the fixture judges
 * the effects, never an answer. The rivals come from npm, into a folder that is removed later. cua-driver has no network.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, only: { type: "string", default: "" } },
})
const ROUNDS = Number(values.rounds)
const only = (name: string): boolean => values.only === "" || values.only.split(",").includes(name)
const [part = "looks"] = positionals
const progress = startProgress(`bench:rivals ${part}`)

const CUA = "@trycua/cua-driver@0.28.2"
const NO_EFFECT_MS = 3_000

// Looks

async function compareLooks(tools: readonly Tool[]): Promise<void> {
  const [coldly, warmly, rival] = tools as [Tool, Tool, Tool]
  const ways = [
    { name: "cold", look: () => coldly.look() },
    { name: "mcp", look: () => warmly.look() },
    { name: "mcp, hidden too", look: () => warmly.look(true) },
    { name: "cua-driver", look: () => rival.look() },
  ]
  const ratios = ways.slice(0, 3).map(({ name }) => `cua ÷ ${name}`)
  const counts = ways.slice(1).map(({ name }) => `elements, ${name}`)
  const sizes = ways.slice(1).map(({ name }) => `bytes, ${name}`)
  print(`${ROUNDS} rounds, medians, ms`, [
    "window",
    ...ways.map(({ name }) => name),
    ...ratios,
    ...counts,
    ...sizes,
  ])
  for (const key of ["mousepad", "gnome-calculator", "kcalc", "qt6", "chromium", "writer"].filter(only)) {
    const app = appNamed(key)
    progress.say(key)
    const started = startApp(desktop, app)
    await coldly.open(app.title)
    await settled(async () => {
      started.revive()
      const { targets, bytes } = await warmlyOpened(warmly, app.title)
      return targets.length > 0 ? `${targets.length} ${bytes}` : undefined
    })
    await rival.open(app.title)
    const seen = ways.map(() => ({ ms: [] as number[], bytes: 0, count: 0 }))
    for (let round = -1; round < ROUNDS; round++)
      for (const [index, { look }] of ways.entries()) {
        const start = performance.now()
        const { targets, bytes } = await look()
        if (round >= 0) seen[index]!.ms.push(performance.now() - start)
        Object.assign(seen[index]!, { bytes, count: targets.length })
      }
    const ms = seen.map((one) => median(one.ms))
    printRow([
      `${key} (${app.toolkit})`,
      ...ms.map((one) => one.toFixed(0)),
      ...ms.slice(0, 3).map((one) => (ms[3]! / one).toFixed(1)),
      ...seen.slice(1).map(({ count }) => String(count)),
      ...seen.slice(1).map(({ bytes }) => String(bytes)),
    ])
    await desktop.run("close-app", app.app, "--force")
  }
}

async function warmlyOpened(tool: Tool, title: string) {
  await tool.open(title)
  return tool.look()
}

// Tasks

interface Task {
  readonly name: string
  /** The name of the element. */
  readonly on: string
  readonly verb: Verb | "menu"
  readonly text?: string
  /** The item to choose in the menu that the verb opens. */
  readonly item?: string
  /** The effect in the fixture's log; undefined if a tool has to refuse. */
  readonly effect?: (event: FixtureEvent) => boolean
  /** True if the element is out of view. */
  readonly isOut?: true
}

const UNICODE = "Grüße мир 日本語 🙂 €"
const is = (event: string, name: string, value?: unknown) => (one: FixtureEvent) =>
  one.event === event && one.name === name && (value === undefined || one.value === value)

const TASKS: readonly Task[] = [
  { name: "press a button", on: "Press me", verb: "press", effect: is("press", "Press me") },
  {
    name: "type 20 letters",
    on: "Name",
    verb: "type",
    text: "abcdefghijklmnopqrst",
    effect: is("text", "Name", "abcdefghijklmnopqrst"),
  },
  { name: "type Unicode", on: "Name", verb: "type", text: UNICODE, effect: is("text", "Name", UNICODE) },
  { name: "set a field", on: "Name", verb: "set", text: "Ada", effect: is("text", "Name", "Ada") },
  { name: "set a slider", on: "Volume", verb: "set", text: "42", effect: is("value", "Volume", 42) },
  { name: "set a slider of 100 to 500", on: "Volume", verb: "set", text: "500" },
  { name: "tick a box", on: "Agree", verb: "tick", effect: is("check", "Agree", true) },
  {
    name: "choose in a combo box",
    on: "Fruit",
    verb: "choose",
    text: "Cherry",
    effect: is("select", "Fruit", "Cherry"),
  },
  {
    name: "choose in a context menu",
    on: "Context area",
    verb: "context",
    item: "Copy",
    effect: is("menu", "Copy"),
  },
  {
    name: "choose in a menu, two levels down",
    on: "",
    verb: "menu",
    text: "File > Open Recent > Two",
    effect: is("menu", "Two"),
  },
  {
    name: "press a button out of view",
    on: "Row 40",
    verb: "press",
    isOut: true,
    effect: is("press", "Row 40"),
  },
  { name: "press a disabled button", on: "Locked", verb: "press" },
]

type Verdict = "right" | "in front" | "refused" | "no effect" | "wrong" | "not listed"

async function compareTasks(tools: readonly Tool[]): Promise<void> {
  for (const toolkit of (["gtk3", "gtk4", "qt6", "web"] as const).filter(only)) {
    const fixture = await startFixture(desktop, toolkit)
    for (const tool of tools) await tool.open(fixture.title)
    print(`${toolkit}, ${ROUNDS} rounds, medians of the acting calls`, [
      "task",
      ...tools.map(({ name }) => name),
    ])
    for (const task of TASKS) {
      const done = tools.map(() => ({ ms: [] as number[], verdicts: [] as Verdict[] }))
      for (let round = 0; round < ROUNDS; round++)
        for (const [index, tool] of tools.entries()) {
          progress.say(`${toolkit}: ${task.name}, ${tool.name}`)
          await fixture.command({ do: "reset" })
          const { ms, verdict } = await tryTask(tool, fixture, task)
          done[index]!.ms.push(ms)
          done[index]!.verdicts.push(verdict)
        }
      printRow([
        task.name,
        ...done.map(({ ms, verdicts }) => `${counted(verdicts)}, ${median(ms).toFixed(0)} ms`),
      ])
    }
    process.kill(fixture.pid)
  }
}

async function tryTask(tool: Tool, fixture: Fixture, task: Task): Promise<{ ms: number; verdict: Verdict }> {
  const before = (await fixture.events()).length
  const happened = async () => (await fixture.events()).slice(before)
  const hasEffect = async () => (await happened()).some((one) => task.effect?.(one))
  const took = async (act: Tool["act"] | undefined) => {
    const { targets } = task.verb === "menu" ? { targets: [] } : await tool.look(task.isOut)
    const target = targets.find(({ name }) => name === task.on)
    if (!target && task.verb !== "menu") return { ms: 0, answer: undefined }
    const start = performance.now()
    const answer = await perform(tool, task, target, act)
    return { ms: performance.now() - start, answer }
  }
  const first = await took(tool.act)
  if (!first.answer) return { ms: 0, verdict: "not listed" }
  await fixture.command({ do: "sync" })
  if (task.effect === undefined) {
    const changes = (await happened()).filter(({ event }) => event === "press" || event === "value")
    if (changes.length > 0) return { ms: first.ms, verdict: "wrong" }
    return { ms: first.ms, verdict: first.answer.isRefusal ? "refused" : "no effect" }
  }
  if (await until(hasEffect, NO_EFFECT_MS).catch(() => false)) return { ms: first.ms, verdict: "right" }
  if (tool.inFront && task.verb !== "menu" && task.verb !== "set") {
    await fixture.command({ do: "reset" })
    const second = await took(tool.inFront)
    if (second.answer && (await until(hasEffect, NO_EFFECT_MS).catch(() => false)))
      return { ms: first.ms + second.ms, verdict: "in front" }
  }
  const others = (await happened()).filter(
    ({ event, name, value }) => event === "text" && name === task.on && value !== "",
  )
  if (others.length > 0) return { ms: first.ms, verdict: "wrong" }
  return { ms: first.ms, verdict: first.answer.isRefusal ? "refused" : "no effect" }
}

async function perform(
  tool: Tool,
  task: Task,
  target: Target | undefined,
  act: Tool["act"] = tool.act,
): Promise<Answer> {
  if (task.verb === "menu") return tool.menu(task.text!.split(" > "))
  const answer = await act(task.verb, target!, task.text)
  if (task.item === undefined || answer.isRefusal) return answer
  const offered = answer.targets.some(({ name }) => name === task.item) ? answer : await tool.look()
  const item = offered.targets.findLast(({ name }) => name === task.item)
  return item ? act("press", item) : { ...answer, text: `${answer.text} No ${task.item}` }
}

const counted = (verdicts: readonly Verdict[]): string =>
  [...Map.groupBy(verdicts, (one) => one)]
    .map(([verdict, all]) => (all.length === verdicts.length ? verdict : `${verdict} ${all.length}`))
    .join(", ")

// Hits

interface Change {
  readonly name: string
  /** Changes of four buttons with the ids FIRST to FIRST + 3; the third, "Send", is pressed. */
  readonly ops: (first: number) => readonly Readonly<Record<string, unknown> & { op: string }>[]
  /** The id that a press may hit; undefined if the element is gone. */
  readonly meant: (first: number) => number | undefined
  /** True if the tool looks again, and then presses by the handle of its first look. */
  readonly looksAgain?: true
}

const NAMES = ["Copy", "Paste", "Send", "Reply"]
const add = (id: number, index: number, name: string) => ({
  op: "add",
  kind: "button",
  section: "Alpha",
  id,
  index,
  name,
})
const same = (first: number) => first + 2

const CHANGES: readonly Change[] = [
  { name: "nothing", ops: () => [], meant: same },
  { name: "another is inserted before it", ops: (first) => [add(first + 9, 0, "Erase")], meant: same },
  { name: "the one before it is removed", ops: (first) => [{ op: "remove", id: first }], meant: same },
  {
    name: "it moves to the front",
    ops: (first) => [{ op: "move", id: first + 2, section: "Alpha", index: 0 }],
    meant: same,
  },
  { name: "it is removed", ops: (first) => [{ op: "remove", id: first + 2 }], meant: () => undefined },
  {
    name: "another takes its place",
    ops: (first) => [{ op: "remove", id: first + 2 }, add(first + 9, 2, "Erase")],
    meant: () => undefined,
  },
  {
    name: "its widget becomes another",
    ops: (first) => [{ op: "become", id: first + 2, new: first + 9, name: "Erase" }],
    meant: () => undefined,
  },
  {
    name: "another is inserted, and a second look made",
    ops: (first) => [add(first + 9, 0, "Erase")],
    meant: same,
    looksAgain: true,
  },
]

async function compareHits(tools: readonly Tool[]): Promise<void> {
  let first = 1
  for (const toolkit of (["gtk3", "gtk4", "qt6", "web"] as const).filter(only)) {
    const fixture = await startChanging(desktop, toolkit)
    for (const tool of tools) await tool.open(fixture.title)
    let present: number[] = []
    print(`${toolkit}, ${ROUNDS} rounds`, [
      "change between look and press",
      ...tools.map((tool) => tool.name),
    ])
    for (const { name, ops, meant, looksAgain } of CHANGES) {
      const verdicts = tools.map(() => [] as Verdict[])
      for (let round = 0; round < ROUNDS; round++)
        for (const [index, tool] of tools.entries()) {
          progress.say(`${toolkit}: ${name}, ${tool.name}`)
          first += 10
          const start = first
          await fixture.obey([
            ...present.map((id) => ({ op: "remove", id })),
            ...NAMES.map((one, at) => add(start + at, at, one)),
          ])
          fixture.takeHits()
          const target = (await tool.look()).targets.find((one) => one.name === "Send")
          const changes = ops(start)
          await fixture.obey(changes)
          present = presentAfter(start, changes)
          if (looksAgain) await tool.look()
          verdicts[index]!.push(target ? await hit(tool, fixture, target, meant(start)) : "not listed")
        }
      printRow([name, ...verdicts.map(counted)])
    }
    await fixture.stop()
  }
}

async function hit(
  tool: Tool,
  fixture: Awaited<ReturnType<typeof startChanging>>,
  target: Target,
  meant: number | undefined,
): Promise<Verdict> {
  const { isRefusal } = await tool.act("press", target)
  const ms = isRefusal || meant === undefined ? NO_EFFECT_MS / 3 : NO_EFFECT_MS
  await until(() => fixture.hits.length > 0, ms).catch(() => false)
  const hits = fixture.takeHits()
  if (hits.some((id) => id !== meant)) return "wrong"
  if (hits.length > 0) return "right"
  return isRefusal ? "refused" : "no effect"
}

function presentAfter(start: number, ops: readonly Readonly<Record<string, unknown>>[]): number[] {
  const ids = new Set(NAMES.map((_, at) => start + at))
  for (const { op, id, new: other } of ops) {
    if (op === "remove" || op === "become") ids.delete(Number(id))
    if (op === "add") ids.add(Number(id))
    if (op === "become") ids.add(Number(other))
  }
  return [...ids]
}

/** Prints rows one by one, because a run takes long and may be interrupted. */
function print(title: string, head: readonly string[]): void {
  progress.clear()
  console.log(`\n${title}\n\n${table(head, [])}`)
}

function printRow(cells: readonly string[]): void {
  progress.clear()
  console.log(`| ${cells.join(" | ")} |`)
}

// The rest runs at the end of the file, when everything above is defined.
await using desktop = await openDesktop({ width: 1400 })
if (part === "page") await comparePages(desktop, ROUNDS, (text) => progress.say(text))
else {
  const folder = `${desktop.directory}/rivals`
  progress.say(`npm install ${CUA}`)
  install(folder, CUA)
  const tools = [
    cold(desktop),
    await warm(desktop),
    await cua(desktop, `${folder}/node_modules/@trycua/cua-driver`),
  ]
  if (part === "looks") await compareLooks(tools)
  else if (part === "tasks") await compareTasks(tools)
  else await compareHits(tools)
  for (const tool of tools) await tool.close()
}
progress.end()
