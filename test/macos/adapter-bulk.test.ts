import { expect, setDefaultTimeout, test } from "bun:test"
import { Deadline } from "../../src/deadline.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import { appWith, type Desk, onDesk } from "./adapter-desk.ts"
import { ALL, outline } from "./adapter-outline.ts"
import { startScene } from "./fake.ts"

/** The private bulk read: the same tree in fewer questions, and never a question for a secret. */

setDefaultTimeout(60_000)

const BULK = { AGENT_DESKTOP_AX_BULK: "1" }
const at = { frame: [110, 120, 60, 20] }
const button = (name: string) => ({ AXRole: "AXButton", AXTitle: name, ...at })
const text = (words: string) => ({ AXRole: "AXStaticText", AXValue: words, ...at })
const box = (name: string, more: object = {}) => ({ AXRole: "AXCheckBox", AXTitle: name, ...at, ...more })
const field = (name: string, more: object = {}) => ({ AXRole: "AXTextField", AXTitle: name, ...at, ...more })
const password = field("Password", { AXSubrole: "AXSecureTextField", AXValue: "hunter2" })
const group = (...children: readonly object[]) => ({ AXRole: "AXGroup", children, ...at })
/** Only web contents in disguise have it; without it nothing is looked for before the walk. */
const NATIVE = { fixed: ["AXManualAccessibility"] }

const sections = (count: number, more: (i: number) => readonly object[] = () => []) =>
  Array.from({ length: count }, (_, i) =>
    group(
      button(`Button ${i}`),
      text(`Text ${i}`),
      text(`More ${i}`),
      box(`Box ${i}`, { AXValue: i % 2, AXRequired: i % 3 === 0 }),
      ...more(i),
    ),
  )

async function lookBothWays(scene: object): Promise<{ readonly walked: Look; readonly bulk: Look }> {
  const looks: Look[] = []
  for (const env of [{}, BULK]) {
    await onDesk(
      scene,
      async (desk) => {
        looks.push(await look(desk))
      },
      { env },
    )
  }
  const [walked, bulk] = looks
  if (!walked || !bulk) throw new Error("there was no look")
  return { walked, bulk }
}

interface Look {
  readonly lines: readonly string[]
  readonly complete: boolean
  readonly trips: number
  readonly values: number
}

async function look({ mac, tree }: Desk): Promise<Look> {
  mac.mark()
  const { root, complete } = await tree()
  const { round_trips: trips, attributes } = mac.report()
  return { lines: outline(root), complete, trips, values: attributes.AXValue ?? 0 }
}

test("without the private function, or one of its keys, the walk does", () =>
  onDesk(appWith(sections(5)), async ({ elsewhere }) => {
    const walked = await elsewhere([])
    const bulk = await elsewhere([], BULK)
    expect(bulk.lines).toEqual(walked.lines ?? [])
    expect(bulk.trips).toBeLessThan(walked.trips)
    for (const hidden of ["AXUIElementCopyHierarchy", "kAXUIElementCopyHierarchyResultErrorKey"]) {
      const without = await elsewhere([hidden], BULK)
      expect(without.lines).toEqual(walked.lines ?? [])
      expect(without.trips).toBe(walked.trips)
    }
  }))

test("a window without secrets is read in two questions, values and all", async () => {
  const { walked, bulk } = await lookBothWays(appWith(sections(30), NATIVE))
  expect(bulk.lines).toEqual(walked.lines)
  expect(bulk.lines).toContain('    checkbox "Box 3" enabled checked required')
  expect(walked.trips).toBeGreaterThan(30 * 8)
  // Two for the tree; the rest finds the window, and samples what buttons and boxes offer.
  expect(bulk.trips).toBeLessThan(25)
})

test("around a secure field everything is read, and its value is not asked for", async () => {
  const scene = appWith(
    sections(12, (i) => (i === 4 || i === 9 ? [password, text("beside it")] : [])),
    NATIVE,
  )
  const { walked, bulk } = await lookBothWays(scene)
  expect(bulk.lines).toEqual(walked.lines)
  expect(bulk.lines.join("\n")).not.toContain("hunter2")
  expect(bulk.lines.filter((line) => line.includes("beside it"))).toHaveLength(2)
  expect(bulk.trips).toBeLessThan(walked.trips / 2)
})

test("a field that does not tell whether it is a secure one is not asked for its value", async () => {
  const silent = field("Silent", { AXValue: "hunter2", errors: { AXSubrole: -25200 } })
  const { walked, bulk } = await lookBothWays(appWith([group(...sections(3), silent)], NATIVE))
  expect(bulk.lines).toEqual(walked.lines)
  expect(bulk.lines.join("\n")).not.toContain("hunter2")
})

test("what has a value that a tree does not show has none in bulk either", async () => {
  const odd = [
    { AXRole: "AXGroup", AXTitle: "Plain", AXValue: "group's", ...at },
    { AXRole: "AXButton", AXTitle: "Odd", AXValue: "button's", ...at },
    { AXRole: "AXSlider", AXTitle: "Level", AXValue: 5, ...at },
    { AXRole: "AXImage", AXDescription: "Logo", AXValue: "picture's", ...at },
    { AXRole: "AXLink", AXTitle: "Home", AXValue: "link's", ...at },
  ]
  const { walked, bulk } = await lookBothWays(appWith([group(...odd, ...sections(4))], NATIVE))
  expect(bulk.lines).toEqual(walked.lines)
})

test("branches that cannot be read in bulk are left to the walk", async () => {
  const refused = { batch: -25200 }
  const odd = [
    { AXRole: "AXGroup", AXTitle: "Refused", errors: { AXChildren: refused }, children: [text("x")] },
    { AXRole: "AXGroup", AXTitle: "Mute", errors: { AXRole: refused }, children: [text("y")] },
    { AXRole: "AXGroup", AXTitle: "Strange", AXChildren: ["no element"] },
  ]
  const { walked, bulk } = await lookBothWays(appWith([...odd, ...sections(6)], NATIVE))
  expect(bulk.lines).toEqual(walked.lines)
  expect(bulk.complete).toBe(walked.complete)
})

test("of a long table only what shows is read, in bulk as well", async () => {
  for (const env of [{}, BULK]) {
    await onDesk(
      "table",
      async (desk) => {
        const { trips, values, lines } = await look(desk)
        expect(lines.length).toBeLessThan(400)
        expect({ trips: trips < 1500, values: values < 3000 }).toEqual({ trips: true, values: true })
      },
      { env },
    )
  }
})

test("a field that becomes a secure one while the tree is read never shows what it held", async () => {
  const scene = appWith([group(...sections(3), field("Field", { id: "field", AXValue: "hunter2" }))], NATIVE)
  const shown = new Set<string>()
  for (let after_calls = 1; after_calls <= 24; after_calls++) {
    const mac = startScene(scene)
    const platform = connectMacos({ env: BULK, root: mac.directory })
    const adapter = platform.adapter(Deadline.in(20_000))
    const [window] = await adapter.windows()
    if (!window) throw new Error("the scene shows no window")
    const change = { do: "set", node: "field", attribute: "AXSubrole", value: "AXSecureTextField" }
    mac.apply({ ...change, after_calls })
    const { root } = await adapter.tree({ kind: "surface", window, surface: "window" }, ALL)
    shown.add(
      outline(root)
        .find((line) => line.includes("Field"))
        ?.trim() ?? "nothing",
    )
    await platform.close()
    mac.close()
  }
  expect([...shown].toSorted()).toEqual([
    'textfield "Field" = "hunter2" enabled',
    'textfield "Field" enabled secure',
  ])
})
