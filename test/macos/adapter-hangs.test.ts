import { expect, setDefaultTimeout, test } from "bun:test"
import type { Adapter, SeenNode } from "../../src/adapter.ts"
import { AppError } from "../../src/errors.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { walk } from "../../src/tree.ts"
import { timed } from "../support/pace.ts"
import { type Desk, onDesk } from "./adapter-desk.ts"
import { ALL } from "./adapter-outline.ts"

/**
 * Plays every scenario with each native call failing in turn, and hanging in turn. The check takes a sample of the
 * calls, AGENT_DESKTOP_EVERY_FAULT=1 takes all of them, and `-t "^select:"` takes one scenario.
 */

setDefaultTimeout(600_000)

const EVERY = process.env.AGENT_DESKTOP_EVERY_FAULT === "1"
const SAMPLES = 6
const DEADLINE_MS = 3000

type Scenario = (
  adapter: Adapter,
  find: (role: string, name: string) => Promise<SeenNode>,
) => Promise<unknown>

const on =
  (role: string, name: string, action: Parameters<Adapter["perform"]>[1]): Scenario =>
  async (adapter, find) =>
    adapter.perform((await find(role, name)).handle, action)

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  windows: (adapter) => adapter.windows(),
  surfaces: (adapter) => adapter.surfaces(6100),
  snapshot: async (adapter, find) => find("button", "Save").catch(() => adapter.windows()),
  read: async (adapter, find) => adapter.read((await find("textfield", "Title")).handle),
  hit: async (adapter, find) => adapter.hit((await find("button", "Save")).handle, { x: 120, y: 150 }),
  click: on("button", "Save", { kind: "click" }),
  "right-click": on("button", "Save", { kind: "right-click" }),
  type: on("textfield", "Notes", { kind: "type", text: "abc" }),
  "set-value": on("slider", "Volume", { kind: "set-value", value: "70" }),
  clear: on("textfield", "Title", { kind: "clear" }),
  focus: on("textfield", "Title", { kind: "focus" }),
  check: on("checkbox", "Wrap", { kind: "check" }),
  expand: on("treeitem", "Shut drawer", { kind: "expand" }),
  select: on("combobox", "Size", { kind: "select", value: "Large" }),
  scroll: on("button", "Near", { kind: "scroll", direction: "down", amount: 1 }),
  "scroll-to": on("button", "Far", { kind: "scroll-to" }),
  "focus-window": (adapter) => adapter.window("w-6102", { kind: "focus" }),
  "move-window": (adapter) => adapter.window("w-6102", { kind: "move", x: 850, y: 120 }),
  "resize-window": (adapter) => adapter.window("w-6102", { kind: "resize", width: 500, height: 320 }),
  minimize: (adapter) => adapter.window("w-6102", { kind: "minimize" }),
  maximize: (adapter) => adapter.window("w-6102", { kind: "maximize" }),
  restore: async (adapter) => {
    await adapter.window("w-6102", { kind: "maximize" })
    await adapter.window("w-6102", { kind: "restore" })
  },
  open: (adapter) => adapter.open(FAR, "path"),
  menubar: async (adapter) => {
    const window = (await adapter.windows()).find(({ pid }) => pid === 6100)
    if (window) await adapter.tree({ kind: "surface", window, surface: "menubar" }, ALL)
  },
  watch: async (adapter) => (await adapter.watch([6100])).close(),
}

/** A ref to the button "Far", as a snapshot stores it. */
const FAR: RefEntry = {
  pid: 6100,
  role: "button",
  name: "Far",
  states: [],
  available_actions: [],
  window_id: "w-6101",
  path: [12, 0, 1],
}

/** Placing a window writes its position, its size, and its position again. */
const REPEATED = "shelf AXPosition"

/** Codes that a scenario may end with if one call fails or never returns. */
const POSSIBLE = ["ok", "ACTION_FAILED", "ACTION_NOT_SUPPORTED", "APP_UNRESPONSIVE", "TIMEOUT"]

/** Error codes for one call, an answer that never comes, and an app that stops for good. */
const FAULTS = ["-25204", "-25299", "-25202", "hang", "stops"]
/** Number of runs by fault and code, over all scenarios. */
const tally = new Map(FAULTS.map((fault) => [fault, new Map<string, number>()]))

interface Outcome {
  readonly code: string
  readonly ms: number
  readonly trips: number
  readonly sleptMs: number
  /** Actions and writes that reached the app. */
  readonly deeds: readonly string[]
}

async function play(name: string, call = 0, fault?: string, virtualClock = true): Promise<Outcome> {
  const scenario = SCENARIOS[name]
  if (!scenario) throw new Error(`there is no scenario ${name}`)
  let outcome: Outcome | undefined
  await onDesk(
    "workshop",
    async (desk) => {
      const adapter = desk.within(DEADLINE_MS)
      const window = (await adapter.windows()).find(({ id }) => id === "w-6101")
      desk.mac.mark()
      if (fault === "stops") desk.mac.apply({ do: "hang", app: 6100, after_calls: call })
      else desk.mac.fail(fault && `${call}:${fault}`)
      const find = async (role: string, name: string) => {
        if (!window) throw new Error("the scene shows no bench")
        const target = { kind: "surface", window, surface: "window" } as const
        const { root, complete } = await adapter.tree(target, ALL)
        const found = [...walk(root)].find(({ node }) => node.role === role && node.name === name)
        // A node that is missing from an incomplete tree may still exist.
        if (!found) throw new AppError(complete ? "ELEMENT_NOT_FOUND" : "TIMEOUT", `no ${role} ${name}`)
        return found.node
      }
      const start = performance.now()
      const code = await codeOf(scenario(adapter, find))
      const ms = performance.now() - start
      const { round_trips: trips, slept_us } = desk.mac.report()
      outcome = { code, ms, trips, sleptMs: slept_us / 1000, deeds: deedsIn(desk) }
    },
    { virtualClock },
  )
  if (!outcome) throw new Error("the scenario did not end")
  return outcome
}

function deedsIn({ mac }: Desk): string[] {
  return mac
    .record()
    .filter(({ kind }) => kind === "perform" || kind === "write")
    .map(
      ({ node, action, attribute, value }) => `${node} ${action ?? `${attribute} ${JSON.stringify(value)}`}`,
    )
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return "ok"
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code
  }
}

/** All calls, or a sample spread over the scenario that includes the last one. */
function callsOf(trips: number): number[] {
  const step = EVERY ? 1 : Math.max(1, trips / SAMPLES)
  return Array.from({ length: Math.ceil(trips / step) }, (_, i) => Math.max(1, Math.round(trips - i * step)))
}

for (const name of Object.keys(SCENARIOS)) {
  test(`${name}: any call may fail or hang: it ends in time, with a fitting code, and does nothing twice`, async () => {
    const good = await play(name)
    expect(good.code).toBe("ok")
    for (const call of callsOf(good.trips)) {
      for (const fault of FAULTS) {
        const { code, sleptMs, deeds } = await play(name, call, fault)
        const codes = tally.get(fault)
        codes?.set(code, (codes.get(code) ?? 0) + 1)
        const twice = deeds.filter((deed, i) => deeds.indexOf(deed) !== i && !deed.startsWith(REPEATED))
        // Only an element that died may be reported as not found.
        const fits = POSSIBLE.includes(code) || (fault === "-25202" && code.endsWith("NOT_FOUND"))
        expect({ call, fault, possible: fits, code }).toMatchObject({ possible: true })
        // The deadline does not use the scene's clock. An app that stops for good is timed below.
        const late = fault !== "stops" && sleptMs > DEADLINE_MS
        expect({ call, fault, late, sleptMs }).toMatchObject({ late: false })
        expect({ call, fault, twice }).toEqual({ call, fault, twice: [] })
      }
    }
  })
}

test("the faults had effects: an app that stops is reported, and a single missing answer does no harm", () => {
  if (EVERY) console.log(tally)
  expect(tally.get("stops")?.has("APP_UNRESPONSIVE")).toBe(true)
  expect(tally.get("hang")?.has("ok")).toBe(true)
  expect(tally.get("-25202")?.has("ACTION_FAILED")).toBe(true)
})

for (const name of EVERY ? Object.keys(SCENARIOS) : ["snapshot", "minimize", "select"]) {
  test(`${name}: an app that stops in the middle costs no more than the command's timeout`, async () => {
    const { trips } = await play(name)
    const { result, slackMs } = await timed(() => play(name, Math.ceil(trips * 0.8), "stops", false))
    expect({ code: result.code, possible: POSSIBLE.includes(result.code) }).toMatchObject({ possible: true })
    expect(result.ms).toBeLessThan(DEADLINE_MS + slackMs)
  })
}
