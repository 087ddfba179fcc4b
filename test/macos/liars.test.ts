import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryForFile } from "../support/temporary.ts"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** Apps that answer nonsense. Commands end in time, report it, and press only the wanted element. */

const note = (text: string) => [{ do: "note", text }]
const it = (more: object = {}) => ({
  AXRole: "AXButton",
  AXTitle: "It",
  id: "it",
  frame: [200, 200, 80, 24],
  on: { AXPress: note("done") },
  ...more,
})
const other = (more: object = {}) => ({
  AXRole: "AXButton",
  AXTitle: "Other",
  id: "other",
  frame: [400, 200, 80, 24],
  on: { AXPress: note("other") },
  ...more,
})

const INFINITE = Number.POSITIVE_INFINITY

const LIES: Readonly<Record<string, readonly object[]>> = {
  "a role in the words of another language": [it({ AXRole: "AXKnopf", actions: { AXPress: [] } }), other()],
  "a role that is a number": [it({ AXRole: 7, actions: { AXPress: [] } }), other()],
  "a title that is an element": [it(), other({ AXTitle: { $element: "it" } })],
  "a title of four million characters": [it(), other({ AXTitle: "x".repeat(4e6) })],
  "a value of four million characters": [it(), other({ AXRole: "AXTextArea", AXValue: "x".repeat(4e6) })],
  "children that are the window itself": [it(), other({ AXChildren: { $elements: ["main"] } })],
  "children that are the element itself": [it({ AXChildren: { $elements: ["it"] } }), other()],
  "a parent that is the element itself": [it({ AXParent: { $element: "it" } }), other()],
  "a parent that is a child": [it({ AXParent: { $element: "inner" }, children: [other({ id: "inner" })] })],
  "the same child a thousand times": [
    it(),
    { AXRole: "AXGroup", AXChildren: { $elements: Array(1000).fill("other") }, children: [other()] },
  ],
  "children that are texts": [it(), other({ AXChildren: ["a", 1, null] })],
  "children that are a number": [it(), other({ AXChildren: 3 })],
  "a frame that is a text": [it(), other({ AXFrame: "0,0" })],
  "an infinite frame": [it({ AXFrame: { $rect: [INFINITE, -INFINITE, INFINITE, INFINITE] } }), other()],
  "an infinite frame of a neighbour": [
    it(),
    other({ AXFrame: { $rect: [-INFINITE, -INFINITE, INFINITE, INFINITE] } }),
  ],
  "a frame without numbers": [it({ AXFrame: { $rect: [NaN, NaN, NaN, NaN] } }), other()],
  "a negative size": [it({ AXFrame: { $rect: [200, 200, -80, -24] } }), other()],
  "a frame on no display": [it({ AXFrame: { $rect: [-90000, 1e9, 80, 24] } }), other()],
  "states of the wrong kind": [it({ AXExpanded: "yes", AXFocused: { $date: 1 }, AXSelected: [] }), other()],
  "names with line ends and controls": [it(), other({ AXTitle: "It\n\u0000\u202e$(id)`\"'" })],
  "a label that is itself": [it(), other({ AXTitle: "", AXTitleUIElement: { $element: "other" } })],
  "actions without a name": [it(), other({ actions: { "": [], AXPress: [], "Name:\n": [] } })],
}

for (const [lie, children] of Object.entries(LIES)) {
  test(`${lie}: everything else is read, and the element is clicked once or refused`, () =>
    onMac(sceneFile(appWith(children)), (program) => use(program), { virtualClock: true }))
}

async function use({ mac, run }: Program, isReadable = true): Promise<void> {
  const answers: Record<string, unknown> = {}
  const ask = async (command: string, args: object = {}) => {
    const start = mac.now()
    const envelope = await run(command, { app: "Demo", ...args })
    answers[command] = envelope.ok ? true : envelope.error.code
    expect(envelope.error?.code, command).not.toBe("INTERNAL")
    expect(mac.now() - start, command).toBeLessThan(20_000)
    return envelope
  }
  await ask("list-windows")
  await ask("list-surfaces")
  await ask("find", { role: "button", app: "Demo" })
  const looked = await ask("snapshot", { offscreen: true })
  const ref = looked.ok
    ? /"ref_id":"(@e\d+)","role":"[a-z]+","name":"It"/.exec(JSON.stringify(looked))?.[1]
    : undefined
  if (isReadable) expect(ref, JSON.stringify(looked).slice(0, 600)).toBeDefined()
  if (!ref) return
  for (const [command, args] of [
    ["get", { property: "text" }],
    ["click", { input: "physical" }],
    ["click", {}],
  ] as const) {
    const before = notes(mac).length
    const { ok, data, error } = await run(command, { ref_id: ref, ...args })
    const { delivery } = (ok ? data : error).disposition ?? {}
    expect(error?.code).not.toBe("INTERNAL")
    const done = notes(mac).slice(before)
    expect(done, JSON.stringify(error)).toEqual(delivery && delivery !== "not_delivered" ? ["done"] : [])
  }
  // The accessibility route can press every one of them.
  if (isReadable) expect(notes(mac).at(-1)).toBe("done")
}

const notes = (mac: Program["mac"]) => mac.record("note").map(({ text }) => text)

/** JSON has neither infinity nor NaN, but the stand-in reads both as strtod does. */
function sceneFile(scene: object): string {
  const path = join(temporaryForFile(), `scene-${++files}.json`)
  const words: Readonly<Record<string, string>> = { Infinity: "1e999", "-Infinity": "-1e999", NaN: "-nan" }
  const text = JSON.stringify(scene, (_, value) => (words[`${value}`] ? `#${value}#` : value))
  writeFileSync(
    path,
    text.replaceAll(/"#(.*?)#"/g, (_, word: string) => words[word]!),
  )
  return path
}
let files = 0

for (const code of [-25200, -25204, -25205, -25208, -25212, -25299])
  test(`an app that answers ${code} whenever several attributes are asked for together`, () =>
    onMac(
      appWith([it(), other()]),
      async (program) => {
        program.mac.fail(`AXUIElementCopyMultipleAttributeValues/0:${code}`)
        await use(program, code === -25200 || code === -25205 || code === -25208 || code === -25212)
      },
      { virtualClock: true },
    ))

for (const code of [-25204, -25202, -25200, -25208, -25211])
  test(`an app that answers everything with ${code}`, () =>
    onMac(appWith([it(), other()], { error: code }), (program) => use(program, false), {
      virtualClock: true,
    }))

test("an element that disappears while it is checked is not clicked, nor is the element behind it", async () => {
  for (let dies_after = 2; dies_after < 36; dies_after++)
    await onMac(
      appWith([other({ frame: [204, 206, 80, 24] }), it({ dies_after })]),
      async ({ mac, run }) => {
        const looked = await run("snapshot", { app: "Demo" })
        const ref = /"ref_id":"(@e\d+)","role":"button","name":"It"/.exec(JSON.stringify(looked))?.[1]
        if (ref) await run("click", { ref_id: ref, input: "physical" })
        expect(notes(mac), `${dies_after}`).not.toContain("other")
      },
      { virtualClock: true },
    )
})

test("if a window disappears between two calls, the command ends and says so", async () => {
  for (let after_calls = 1; after_calls < 120; after_calls += 3)
    await onMac(
      appWith([it(), other()]),
      async ({ mac, run }) => {
        const looked = await run("snapshot", { app: "Demo" })
        const ref = /"ref_id":"(@e\d+)","role":"button","name":"It"/.exec(JSON.stringify(looked))?.[1]
        mac.apply({ do: "close", node: "main", after_calls })
        const { error, ok, data } = await run("click", {
          ref_id: ref,
          input: after_calls % 2 ? "auto" : "physical",
        })
        const { delivery } = (ok ? data : error).disposition
        expect(error?.code, `${after_calls}`).not.toBe("INTERNAL")
        if (delivery === "not_delivered") expect(notes(mac), `${after_calls}`).toEqual([])
        expect(notes(mac).length, `${after_calls}`).toBeLessThanOrEqual(1)
      },
      { virtualClock: true },
    )
})

const FAILING: readonly (readonly [string, object])[] = [
  ["right-click", it({ actions: { AXShowMenu: [] }, on: { AXShowMenu: note("done") } })],
  ["uncheck", it({ AXRole: "AXSwitch", AXValue: 1, ignores: ["AXPress"] })],
  ["click", it({ AXRole: "AXImage", actions: { AXOpen: [] }, errors: { AXOpen: { set: -25206 } } })],
]

for (const [command, node] of FAILING)
  test(`${command}: a single failed read counts neither as an effect nor as a refusal`, async () => {
    for (let call = 20; call < 100; call++)
      await onMac(
        appWith([node]),
        async ({ mac, run }) => {
          const looked = await run("snapshot", { app: "Demo" })
          const ref = /"ref_id":"(@e\d+)"/.exec(JSON.stringify(looked))?.[1]
          const fault = `${call}:${call % 2 ? -25202 : -25299}`
          mac.fail(fault)
          const { ok, data, error } = await run(command, { ref_id: ref, timeout_ms: 1500 })
          const { delivery } = (ok ? data : error).disposition
          const isDone = notes(mac).includes("done")
          if (delivery === "delivered_verified") expect({ fault, isDone }).toEqual({ fault, isDone: true })
          if (delivery === "not_delivered") expect({ fault, isDone }).toEqual({ fault, isDone: false })
        },
        { virtualClock: true },
      )
  })
