import { expect, test } from "bun:test"
import type { Json } from "../support/json.ts"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/**
 * Random windows of apps that answer, delay and lie at random, and one command in each. Whatever the app answers: nothing
 * is done twice or to a neighbour, no answer calls done what was not done, or undone what was, and nothing leaks.
 * `AGENT_DESKTOP_SCENES=20000` for a long run, `AGENT_DESKTOP_SEED=n` to begin with another scene.
 */

const SCENES = Number(process.env.AGENT_DESKTOP_SCENES ?? 40)
const SEED = Number(process.env.AGENT_DESKTOP_SEED ?? 1)

class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  is(percent: number): boolean {
    return this.below(100) < percent
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

interface Act {
  readonly command: string
  readonly args?: object
  readonly node: Json
  /** The action that is performed, or the attribute that is written. */
  readonly asked: string
  /** The element's state once it is done; absent if only the app's own note tells. */
  readonly isDone?: (now: Json) => boolean
  /** Its state if nothing was done. */
  readonly isUndone?: (now: Json) => boolean
}

const isOn = (now: Json) => now.AXValue === 1 || now.AXValue === true
const has = (text: string) => (now: Json) => `${now.AXValue ?? ""}`.includes(text)
const pressed = (AXRole: string, more: object = {}) => ({
  command: "click",
  node: { AXRole, ...more },
  asked: "AXPress",
})

const ACTS: readonly Act[] = [
  pressed("AXButton"),
  pressed("AXLink"),
  pressed("AXGroup", { actions: { AXPress: [] } }),
  pressed("AXMenuButton", { actions: { AXPress: [] } }),
  { command: "click", node: { AXRole: "AXImage", actions: { AXOpen: [] } }, asked: "AXOpen" },
  { command: "click", node: { AXRole: "AXCell", actions: { AXOpen: [] } }, asked: "AXOpen" },
  { command: "double-click", node: { AXRole: "AXCell", actions: { AXOpen: [] } }, asked: "AXOpen" },
  { command: "right-click", node: { AXRole: "AXButton", actions: { AXShowMenu: [] } }, asked: "AXShowMenu" },
  ...["AXCheckBox", "AXSwitch"].flatMap((AXRole): Act[] => [
    { command: "check", node: { AXRole }, asked: "AXPress", isDone: isOn, isUndone: (now) => !isOn(now) },
    { command: "toggle", node: { AXRole }, asked: "AXPress", isDone: isOn, isUndone: (now) => !isOn(now) },
    {
      command: "uncheck",
      node: { AXRole, AXValue: 1 },
      asked: "AXPress",
      isDone: (now) => !isOn(now),
      isUndone: isOn,
    },
  ]),
  ...["AXTextField", "AXTextArea", "AXSearchField"].flatMap((AXRole): Act[] => [
    {
      command: "set-value",
      args: { value: "fresh" },
      node: { AXRole, AXValue: "old" },
      asked: "AXValue",
      isDone: (now) => now.AXValue === "fresh",
      isUndone: (now) => now.AXValue === "old",
    },
    {
      command: "type",
      args: { text: "Q7" },
      node: { AXRole, AXValue: "old" },
      asked: "AXSelectedText",
      isDone: has("Q7"),
      isUndone: (now) => now.AXValue === "old",
    },
  ]),
]

const CODES = [-25200, -25202, -25204, -25205, -25206, -25207, -25208, -25212, -25213]
/** These prove that nothing was done. */
const REFUSALS = [-25201, -25211]
const READ_CODES = [-25200, -25205, -25212, -25204]
const READS = ["AXDescription", "AXHelp", "AXSubrole", "AXIdentifier", "AXEnabled", "AXValueDescription"]

interface Scene {
  readonly act: Act
  readonly scene: object
  /** How the app takes the action. */
  readonly way: string
}

function sceneOf(seed: number): Scene {
  const chance = new Chance(seed)
  const act = chance.of(ACTS)
  const { asked } = act
  const lie = chance.of(CODES)
  const [way, taking] = chance.of<readonly [string, object]>([
    ["obeys", {}],
    [`obeys and answers ${lie}`, { lies: { [asked]: lie } }],
    ["ignores", { ignores: [asked] }],
    ["refuses", { errors: { [asked]: { set: chance.of([...CODES, ...REFUSALS]) } } }],
    ["is late", { latency: { [asked]: chance.below(60_000) } }],
  ])
  const note = (text: string) => [{ do: "note", text }]
  const place = () => [120 + chance.below(500), 130 + chance.below(400), 60, 24]
  const target = {
    AXTitle: "It",
    id: "it",
    frame: place(),
    ...act.node,
    ...taking,
    on: { [asked]: note("done"), ...(chance.is(20) ? { AXFocused: note("focused") } : {}) },
    ...(chance.is(30) && !("errors" in taking)
      ? { errors: { [chance.of(READS)]: chance.of(READ_CODES) } }
      : {}),
  }
  const neighbour = (n: number) => ({
    AXRole: chance.of(["AXButton", "AXCheckBox", "AXTextField", "AXStaticText", "AXImage", "AXUnknown"]),
    AXTitle: chance.is(20) ? "" : `Other ${n}`,
    frame: place(),
    on: { AXPress: note("neighbour"), AXOpen: note("neighbour"), AXValue: note("neighbour") },
    ...(chance.is(30) ? { errors: { [chance.of(READS)]: chance.of(READ_CODES) } } : {}),
    ...(chance.is(5) ? { bare: true } : {}),
    ...(chance.is(10) ? { latency: { call_us: chance.below(1500) } } : {}),
  })
  let inner: object[] = [target, ...Array.from({ length: chance.below(5) }, (_, i) => neighbour(i))]
  if (chance.is(50)) inner.reverse()
  for (let level = chance.below(6); level > 0; level--)
    inner = [
      {
        AXRole: chance.of(["AXGroup", "AXScrollArea", "AXSplitGroup", "AXWebArea", "AXUnknown", "AXList"]),
        frame: [110, 120, 700, 500],
        children: inner,
        ...(chance.is(10) ? { errors: { AXChildren: { batch: -25200 } } } : {}),
      },
      ...(chance.is(30) ? [neighbour(10 + level)] : []),
    ]
  return { act, way, scene: appWith(inner) }
}

interface Tally {
  acts: number
  verified: number
  unverified: number
  notDelivered: number
  noRef: number
}

async function play({ act, way }: Scene, { mac, run }: Program, tally: Tally): Promise<void> {
  const looked = await run("snapshot", { app: "Demo", max_depth: 50 })
  const ref = looked.ok ? refOf(looked.data.tree) : undefined
  if (!ref) {
    tally.noRef++
    return
  }
  tally.acts++
  const envelope = await run(act.command, { ref_id: ref, ...act.args, timeout_ms: 120 })
  const { disposition, code } = envelope.ok ? envelope.data : envelope.error
  const delivery: string | undefined = disposition?.delivery
  const notes = mac.record("note").map(({ text }) => text)
  const done = notes.filter((text) => text === "done").length
  const now = mac.look("it")
  const told = JSON.stringify({ way, delivery, code, done, value: now.AXValue, ok: envelope.ok })
  expect(code, told).not.toBe("INTERNAL")
  expect(notes, told).not.toContain("neighbour")
  // A text that is typed may arrive key by key. What counts is that it is there once.
  if (act.command === "type") expect(`${now.AXValue}`.split("Q7").length, told).toBeLessThanOrEqual(2)
  else expect(done, told).toBeLessThanOrEqual(1)
  if (delivery === "delivered_verified") {
    tally.verified++
    expect(act.isDone ? act.isDone(now) : done === 1, told).toBe(true)
  } else if (delivery === "not_delivered") {
    tally.notDelivered++
    expect(act.isUndone ? act.isUndone(now) : done === 0, told).toBe(true)
  } else tally.unverified++
}

function refOf(node: Json): string | undefined {
  if (node.name === "It" && node.ref_id) return node.ref_id
  for (const child of node.children ?? []) {
    const found = refOf(child)
    if (found) return found
  }
  return undefined
}

test(
  `${SCENES} random scenes: nothing is done twice, called done wrongly, or leaked`,
  async () => {
    const tally: Tally = { acts: 0, verified: 0, unverified: 0, notDelivered: 0, noRef: 0 }
    const since = performance.now()
    const failures: string[] = []
    for (let seed = SEED; seed < SEED + SCENES; seed++) {
      const scene = sceneOf(seed)
      try {
        await onMac(scene.scene, (program) => play(scene, program, tally))
      } catch (error) {
        failures.push(`seed ${seed}, ${scene.act.command} ${scene.act.node.AXRole}: ${error}`)
      }
    }
    const seconds = Math.round((performance.now() - since) / 1000)
    if (SCENES > 40) console.log(`${SCENES} scenes in ${seconds} s: ${JSON.stringify(tally)}`)
    expect(failures).toEqual([])
    expect(tally.acts).toBeGreaterThan(SCENES / 2)
  },
  24 * 3600_000,
)
