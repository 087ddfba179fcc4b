import { describe, expect, test } from "bun:test"
import type { InputEvent, InputTarget } from "../src/adapter.ts"
import { commands } from "../src/commands/index.ts"
import { Deadline } from "../src/deadline.ts"
import type { Surface } from "../src/node.ts"
import { appsOf, guard } from "../src/policy.ts"
import { readyDesk, samplesOf } from "./support/every-command.ts"
import { fakeAdapter } from "./support/fake-adapter.ts"
import { desk } from "./support/fake-desk.ts"
import type { Spec } from "./support/fake-world.ts"

/** Calls of the fake adapter that change something. */
const ACTING = /^(perform|input|window|launch|quit|notification)$/

test("read-only: commands that act are refused, and commands that read change nothing", async () => {
  const it = await readyDesk()
  const limited = desk({ ...it.door, readOnly: true })
  const before = it.world.calls.length
  const outcomes = await Promise.all(
    (await samplesOf(commands)).map(async ({ command: { name, effect }, args }) => {
      const { ok, error } = await limited.run(name, it.fill(args))
      return { name, isReading: effect === "reads" || name === "batch", code: ok ? "ok" : error.code }
    }),
  )
  expect(outcomes.filter((one) => !one.isReading && one.code !== "POLICY_DENIED")).toEqual([])
  expect(outcomes.filter((one) => one.isReading && one.code === "POLICY_DENIED")).toEqual([])
  expect(it.world.calls.slice(before).filter((method) => ACTING.test(method))).toEqual([])
  expect(await limited.error("permissions", { request: true })).toMatchObject({ code: "POLICY_DENIED" })
  const [item] = (await limited.ok("batch", { commands: [{ command: "press", args: { combo: "a" } }] }))
    .results
  expect(item.error).toMatchObject({ code: "POLICY_DENIED", disposition: { delivery: "not_delivered" } })
})

test.each([
  [undefined, undefined],
  ["", undefined],
  [" , ", undefined],
  ["Editor", ["Editor"]],
  [" Editor , org.example.Other,", ["Editor", "org.example.Other"]],
])("AGENT_DESKTOP_APPS=%j means %j", (list, apps) => expect(appsOf(list)).toEqual(apps))

/** Two apps side by side. Only Editor is allowed; Other's window has the focus. */
async function twoApps() {
  const free = desk()
  const editor = free.world.app("Editor", { pid: 1 })
  const other = free.world.app("Other", { pid: 2 })
  const place = (x: number) => ({ bounds: { x, y: 0, width: 100, height: 100 } })
  const button = (name: string, x: number): Spec => ({
    role: "button",
    name,
    states: ["enabled"],
    bounds: { x: x + 10, y: 10, width: 20, height: 20 },
    actions: ["Click"],
  })
  const left = editor.window("Notes", [button("Save", 0)], place(0))
  const right = other.window("Bank", [button("Pay", 200)], place(200))
  free.world.focused = right
  await free.ok("snapshot", { app: "Other" })
  const pay = await free.ref("Pay")
  return { free, limited: desk({ ...free.door, apps: ["editor"] }), left, right, pay }
}

test("with an app list, other apps are not listed, found or read", async () => {
  const { limited, right } = await twoApps()
  const windows = (await limited.ok("list-windows")).windows
  expect(windows.map(({ title }: { title: string }) => title)).toEqual(["Notes"])
  expect((await limited.ok("list-apps")).apps.map(({ name }: { name: string }) => name)).toEqual(["Editor"])
  expect(await limited.ok("snapshot", { app: "Editor" })).toMatchObject({ app: "Editor" })
  for (const args of [{ app: "Other" }, { window_id: right.id }, {}])
    expect(await limited.error("snapshot", args)).toMatchObject({
      code: "POLICY_DENIED",
      details: { apps: ["editor"] },
    })
  expect(await limited.error("find", { app: "Other", role: "button" })).toMatchObject({
    code: "POLICY_DENIED",
  })
  expect(await limited.error("wait", { window: "Bank", timeout_ms: 50 })).toMatchObject({ code: "TIMEOUT" })
  expect(await limited.error("screenshot")).toMatchObject({ code: "POLICY_DENIED" })
  expect(JSON.stringify(await limited.run("list-surfaces", { app: "Other" }))).not.toContain("Bank")
})

test("with an app list, other apps cannot be reached by old refs, keys, points or windows", async () => {
  const { limited, right, pay, free } = await twoApps()
  const denied = async (name: string, args: object) =>
    expect({ name, code: (await limited.error(name, args)).code }).toEqual({ name, code: "POLICY_DENIED" })
  const before = free.world.calls.length
  await denied("click", { ref_id: pay })
  await denied("get", { ref_id: pay, property: "name" })
  await denied("press", { combo: "ctrl+a" })
  for (const name of ["mouse-click", "mouse-move", "mouse-down", "hover"])
    await denied(name, { xy: "210,20" })
  await denied("mouse-wheel", { xy: "210,20", dy: 1 })
  await denied("drag", { from_xy: "20,20", to_xy: "210,20" })
  await denied("mouse-click", { xy: "900,900" })
  for (const name of ["focus-window", "minimize", "maximize", "restore"])
    await denied(name, { window_id: right.id })
  await denied("launch", { app: "Other" })
  await denied("close-app", { app: "Other" })
  await denied("clipboard-get", {})
  await denied("clipboard-set", { text: "x" })
  await denied("desktop-stop", { name: "test" })
  expect(free.world.calls.slice(before).filter((method) => ACTING.test(method))).toEqual([])
})

test("with an app list, the listed apps can be used as usual", async () => {
  const { limited, left, free } = await twoApps()
  await limited.ok("snapshot", { app: "Editor" })
  const save = await free.ref("Save")
  expect(await limited.ok("click", { ref_id: save })).toMatchObject({ action: "click" })
  expect(await limited.ok("mouse-click", { xy: "20,20" })).toMatchObject({ x: 20 })
  expect(await limited.ok("mouse-up", { xy: "210,20" })).toBeObject()
  await limited.ok("focus-window", { window_id: left.id })
  expect(await limited.ok("press", { combo: "ctrl+a" })).toMatchObject({ action: "press" })
  expect(await limited.ok("screenshot", { window_id: left.id })).toMatchObject({ format: "png" })
})

describe("with an app list, a point over another app's window", () => {
  const POINT = { x: 210, y: 20 }
  const LOOK = { maxDepth: 9, bounds: "all", includeHidden: false, interactiveOnly: false } as const

  /** Editor's menu hangs over the window of Other, and its item is at the point. */
  async function menuOverOther() {
    const { free, left, right } = await twoApps()
    const bounds = { x: 205, y: 15, width: 20, height: 20 }
    left.app.show(
      "menu",
      { role: "menu", children: [{ role: "menuitem", name: "Open", bounds }] },
      { bounds },
    )
    const native = fakeAdapter(free.world, Deadline.in(5000))
    const handleOf = async (id: string, surface: Surface) => {
      const window = (await native.windows()).find((one) => one.id === id)!
      return (await native.tree({ kind: "surface", window, surface }, LOOK)).root.children[0]!.handle
    }
    return {
      free,
      item: { pid: 1, handle: await handleOf(left.id, "menu") },
      save: { pid: 1, handle: await handleOf(left.id, "window") },
      pay: { pid: 2, handle: await handleOf(right.id, "window") },
      limited: await guard(native, { readOnly: false, apps: ["editor"] }),
      clicked: () => free.world.deliveries.map(({ name }) => name),
    }
  }

  const click = (target?: InputTarget): InputEvent => ({
    kind: "click",
    at: POINT,
    target,
    button: "left",
    count: 1,
  })

  test("may be clicked to reach an element of an allowed app", async () => {
    const { limited, item, clicked } = await menuOverOther()
    await limited.input(click(item))
    await limited.input({ kind: "wheel", at: POINT, target: item, dx: 0, dy: 1 })
    await limited.input({
      kind: "drag",
      from: POINT,
      to: POINT,
      fromTarget: item,
      toTarget: item,
      durationMs: 0,
    })
    expect(clicked()).toEqual(["Open", "Open"])
  })

  test("can be reached by commands that name such an element", async () => {
    const { free, clicked } = await menuOverOther()
    const limited = desk({ ...free.door, apps: ["editor"] })
    await limited.ok("snapshot", { app: "Editor", surface: "menu" })
    const ref_id = await free.ref("Open")
    await limited.ok("click", { ref_id, input: "physical" })
    await limited.ok("scroll", { ref_id, direction: "down", input: "physical" })
    await limited.ok("hover", { ref_id })
    await limited.ok("drag", { from: ref_id, to: ref_id, duration_ms: 0 })
    expect(clicked()).toEqual(["Open", "Open"])
    expect(free.world.keys).toHaveLength(2)
  })

  test("may not be clicked if the named element is elsewhere, of another app, or missing", async () => {
    const { limited, item, save, pay, clicked } = await menuOverOther()
    // An earlier answer must not allow a later click.
    expect(await limited.hit(item.handle, POINT)).toEqual({ kind: "hit" })
    for (const target of [undefined, save, pay, { ...item, pid: 2 }])
      expect(await limited.input(click(target)).catch((error: unknown) => error)).toMatchObject({
        code: "POLICY_DENIED",
        disposition: { delivery: "not_delivered" },
      })
    expect(clicked()).toEqual([])
  })
})
