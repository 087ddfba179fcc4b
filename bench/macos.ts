import { accessibility } from "../ffi/accessibility.ts"
import { Owned } from "../ffi/core-foundation.ts"
import type { Adapter, SeenNode, TreeOptions } from "../src/adapter.ts"
import { Deadline } from "../src/deadline.ts"
import { connectMacos } from "../src/macos/adapter.ts"
import { Connection } from "../src/macos/connection.ts"
import { decode, Element, type Value } from "../src/macos/value.ts"
import type { RefEntry } from "../src/refmap.ts"
import { type FakeMac, type Report, startScene } from "../test/macos/fake.ts"

/**
 * Measures a tree of 5,000 nodes on macOS: round trips to the app, and time if a call takes 40 µs and an
 * attribute 2 µs. Uses the stand-in in test/macos/fake. Its clock moves only when it is called.
 * Run it as `bun --preload ./test/macos/preload.ts bench/macos.ts`.
 */

const PID = 501
const LATENCY = { call_us: 40, attribute_us: 2 }
const BLOCKS = 100
/** Sections with a secure field. */
const SECRETS = 1

const of = (count: number, role: string, more: object = {}) => ({
  repeat: count,
  node: { AXRole: role, frame: [0, 0, 60, 20], ...more },
})

const field = (title: string, more: object = {}) => ({
  AXRole: "AXTextField",
  AXTitle: title,
  frame: [0, 0, 60, 20],
  ...more,
})

/** Fifty nodes like those of document and settings windows: a third texts, a third controls. */
const block = (secret: boolean) => ({
  AXRole: "AXGroup",
  AXTitle: "Section",
  frame: [0, 0, 800, 600],
  children: [
    {
      AXRole: "AXGroup",
      frame: [0, 0, 400, 300],
      children: [
        of(8, "AXStaticText", { AXValue: "Label {n}" }),
        of(7, "AXButton", { AXTitle: "Button {n}" }),
        of(2, "AXImage"),
      ],
    },
    of(4, "AXGroup"),
    of(8, "AXStaticText", { AXValue: "Text {n}" }),
    of(7, "AXButton", { AXTitle: "Choice {n}" }),
    of(2, "AXImage"),
    of(6, "AXCheckBox", { AXTitle: "Option {n}" }),
    of(3, "AXTextField", { AXTitle: "Field {n}", AXValue: "text" }),
    secret ? field("Password", { AXSubrole: "AXSecureTextField" }) : field("Name", { AXValue: "text" }),
    { AXRole: "AXSlider", AXTitle: "Level", AXValue: 5, frame: [0, 0, 60, 20] },
  ],
})

const SCENE = {
  displays: [{ id: 1, bounds: [0, 0, 1440, 900], scale: 2 }],
  latency: LATENCY,
  apps: [
    {
      pid: PID,
      name: "Demo",
      frontmost: true,
      windows: [
        {
          window: 9001,
          AXTitle: "Main",
          frame: [0, 0, 1440, 900],
          children: Array.from({ length: BLOCKS }, (_, i) => block(i < SECRETS)),
        },
      ],
    },
  ],
}

interface Cost {
  readonly nodes: number
  readonly trips: number
  readonly attributes: number
  readonly ms: number
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

async function costOf(use: (mac: FakeMac) => Promise<number>): Promise<Cost> {
  const mac = startScene(SCENE, { virtualClock: true })
  mac.mark()
  try {
    const nodes = await use(mac)
    const { round_trips: trips, attributes, slept_us, violations }: Report = mac.report()
    if (violations.length > 0) throw new Error(JSON.stringify(violations))
    const asked = total(attributes)
    // The clock of the scene moves in whole milliseconds, and a click takes less than one.
    const least = (trips * LATENCY.call_us + asked * LATENCY.attribute_us) / 1000
    return { nodes, trips, attributes: asked, ms: least < 2 ? least : slept_us / 1000 }
  } finally {
    mac.close()
  }
}

const ALL: TreeOptions = { maxDepth: 50, bounds: "interactive", includeHidden: false, interactiveOnly: false }

const countOf = (node: SeenNode): number => node.children.reduce((sum, child) => sum + countOf(child), 1)

async function ours(mac: FakeMac, options: TreeOptions): Promise<number> {
  const platform = connectMacos({ env: {}, root: mac.directory })
  const adapter: Adapter = platform.adapter(Deadline.in(600_000))
  const [window] = await adapter.windows()
  if (!window) throw new Error("the scene shows no window")
  mac.mark()
  const { root, complete } = await adapter.tree({ kind: "surface", window, surface: "window" }, options)
  if (!complete) throw new Error("the tree is not complete")
  await platform.close()
  return countOf(root)
}

/** All attributes that our walk reads; only those that the role needs; the minimum for a useful tree. */
type Plan = "the same attributes" | "attributes by role" | "eight attributes"

/** Reads one attribute per call, directly through the bindings, as a first attempt would. */
function naive(plan: Plan): number {
  const ax = accessibility()
  const connection = new Connection()
  const out = new BigUint64Array(1)
  const flag = new Uint8Array(1)
  const get = (element: Element, name: string): Value => {
    out[0] = 0n
    const code = ax.AXUIElementCopyAttributeValue(element.ref, connection.name(name), out)
    using owned = new Owned(out[0] ?? 0n)
    return code === 0 ? decode(owned.ref, (ref) => connection.intern(ref)) : undefined
  }
  const read = (element: Element): number => {
    const role = get(element, "AXRole")
    const secure = get(element, "AXSubrole") === "AXSecureTextField"
    for (const name of PLANS[plan](`${role}`)) if (!(secure && name === "AXValue")) get(element, name)
    if (plan !== "eight attributes") {
      if (ACTED_ON.has(`${role}`)) {
        out[0] = 0n
        ax.AXUIElementCopyActionNames(element.ref, out)
        new Owned(out[0] ?? 0n)[Symbol.dispose]()
      }
      if (WRITTEN.has(`${role}`))
        ax.AXUIElementIsAttributeSettable(element.ref, connection.name("AXValue"), flag)
    }
    const children = get(element, "AXChildren")
    if (!Array.isArray(children)) return 1
    return children.reduce((sum, child) => sum + (child instanceof Element ? read(child) : 0), 1)
  }
  const windows = get(connection.app(PID), "AXWindows")
  const [window] = Array.isArray(windows) ? windows : []
  if (!(window instanceof Element)) throw new Error("the scene shows no window")
  const nodes = read(window)
  connection.close()
  return nodes
}

/** Attributes besides AXRole, AXSubrole and AXChildren, which every plan reads. */
const EIGHT = ["AXTitle", "AXDescription", "AXValue", "AXEnabled", "AXFrame"]
const COMMON = ["AXTitle", "AXDescription", "AXSelected", "AXHidden"]
const CONTROL = ["AXEnabled", "AXFocused", "AXHelp", "AXIdentifier", "AXFrame"]
const OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  AXCheckBox: ["AXValue", "AXRequired"],
  AXSlider: ["AXValue"],
  AXStaticText: ["AXValue"],
  AXTextField: ["AXValue", "AXRequired", "AXInvalid", "AXPlaceholderValue", "AXExpanded"],
}
const PLANS: Readonly<Record<Plan, (role: string) => readonly string[]>> = {
  "the same attributes": (role) => [...COMMON, ...CONTROL, ...(OF_ROLE[role] ?? [])],
  "attributes by role": (role) => [
    ...COMMON,
    ...(ACTED_ON.has(role) ? CONTROL : []),
    ...(OF_ROLE[role] ?? []),
  ],
  "eight attributes": () => EIGHT,
}
const ACTED_ON = new Set(["AXButton", "AXCheckBox", "AXSlider", "AXTextField", "AXImage"])
const WRITTEN = new Set(["AXSlider", "AXTextField"])

/** Clicks by ref: follows the path, reads the element, presses it, and reads it again. */
async function click(mac: FakeMac): Promise<number> {
  const platform = connectMacos({ env: {}, root: mac.directory })
  const adapter = platform.adapter(Deadline.in(600_000))
  mac.mark()
  const entry: RefEntry = {
    pid: PID,
    role: "button",
    name: "Choice 1",
    states: [],
    available_actions: [],
    window_id: "w-9001",
    path: [BLOCKS - 1, 13],
  }
  const seen = await adapter.open(entry, "path")
  if (seen?.name !== "Choice 1") throw new Error(`the element at the path is ${seen?.name}`)
  await adapter.perform(seen.handle, { kind: "click" })
  await adapter.read(seen.handle)
  await platform.close()
  return 1
}

const rows: readonly (readonly [name: string, cost: Cost])[] = [
  ["single reads, the same attributes", await costOf(async () => naive("the same attributes"))],
  ["single reads, what each role needs", await costOf(async () => naive("attributes by role"))],
  ["single reads, eight attributes", await costOf(async () => naive("eight attributes"))],
  ["snapshot", await costOf((mac) => ours(mac, ALL))],
  ["snapshot -i", await costOf((mac) => ours(mac, { ...ALL, interactiveOnly: true }))],
  ["click by ref", await costOf(click)],
]

const single = rows[0]?.[1].ms ?? 0
console.log("| | nodes | round trips | attributes | ms | of single reads |\n|---|---|---|---|---|---|")
for (const [name, { nodes, trips, attributes, ms }] of rows) {
  const cells = [
    name,
    nodes,
    trips,
    attributes,
    ms.toFixed(1),
    nodes > 1 ? `1/${(single / ms).toFixed(1)}` : "",
  ]
  console.log(`| ${cells.join(" | ")} |`)
}
