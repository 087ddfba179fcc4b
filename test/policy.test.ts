import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import type { InputEvent, InputTarget } from "../src/adapter.ts"
import { settingsOf } from "../src/cli/globals.ts"
import { commands } from "../src/commands/index.ts"
import { Deadline } from "../src/deadline.ts"
import { writeOutput } from "../src/door/output-file.ts"
import { agentDesktop } from "../src/index.ts"
import type { Surface } from "../src/node.ts"
import { guard, namesIn } from "../src/policy.ts"
import { readyDesk, samplesOf } from "./support/every-command.ts"
import { fakeAdapter } from "./support/fake-adapter.ts"
import { desk } from "./support/fake-desk.ts"
import type { Spec } from "./support/fake-world.ts"
import { temporaryForFile } from "./support/temporary.ts"

const TRACE = new URL("fixtures/trace", import.meta.url).pathname

/** Calls of the fake adapter that change something. */
const ACTING = /^(perform|input|window|launch|quit|notification)$/

test("read-only: commands that act are refused, and commands that read change nothing", async () => {
  const it = await readyDesk()
  const limited = desk({ ...it.door, readOnly: true })
  const before = it.world.calls.length
  const outcomes = await Promise.all(
    (await samplesOf(commands)).map(async ({ command: { name, effect, delegates }, args }) => {
      const { ok, error } = await limited.run(name, it.fill(args))
      return { name, isReading: effect === "reads" || delegates, code: ok ? "ok" : error.code }
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

test("read-only: the adapter itself refuses every call that may act", async () => {
  const limited = await guard(fakeAdapter(desk().world, Deadline.in(10_000)), { readOnly: true })
  const reads = READS.split(" ")
  for (const [name, method] of Object.entries(limited)) {
    if (reads.includes(name)) continue
    const op = { kind: "start" }
    const called: Promise<unknown> = Reflect.apply(
      method,
      limited,
      name === "permissions" ? [true] : [op, op],
    )
    expect(await called.catch((error: unknown) => error)).toMatchObject({ code: "POLICY_DENIED" })
  }
})

/** Methods that only look, and takeTurn, which keeps other commands of ours from acting meanwhile. */
const READS =
  "diagnose apps windows displays surfaces popups watchPopups tree openedAmong processStart open popoverOpeners read editorOver tableAround interfaceFor text grid caughtUp absence dialogOver hit doubt ownerAt focused isEnterBlocked takeTurn screenshot watchScreen notifications unlistedNotifications life watch close"

test.each([
  [undefined, undefined],
  ["", []],
  [" , ", []],
  ["Editor", ["Editor"]],
  [" Editor , org.example.Other,", ["Editor", "org.example.Other"]],
])("AGENT_DESKTOP_APPS=%j means %j", (list, apps) => expect(namesIn(list)).toEqual(apps))

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
  for (const name of ["mouse-click", "mouse-move", "mouse-down", "mouse-up", "hover"])
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
  expect(await limited.ok("mouse-up", { xy: "20,20" })).toBeObject()
  await limited.ok("focus-window", { window_id: left.id })
  expect(await limited.ok("press", { combo: "ctrl+a" })).toMatchObject({ action: "press" })
  expect(await limited.ok("screenshot", { window_id: left.id })).toMatchObject({ format: "png" })
})

test("a list that names no app allows none", async () => {
  const { free, left } = await twoApps()
  const limited = desk({ ...free.door, apps: [] })
  expect((await limited.ok("list-windows")).windows).toEqual([])
  expect((await limited.ok("list-apps")).apps).toEqual([])
  for (const args of [{ app: "Editor" }, { window_id: left.id }, {}])
    expect(await limited.error("snapshot", args)).toMatchObject({
      code: "POLICY_DENIED",
      suggestion: expect.stringContaining("names no app"),
    })
  expect(await limited.error("mouse-click", { xy: "20,20" })).toMatchObject({ code: "POLICY_DENIED" })
})

test("with an app list, the popup of another app above an allowed window cannot be clicked", async () => {
  const { limited, free } = await twoApps()
  free.world.ownerAt = ({ x }) => (x < 50 ? 2 : 1)
  const before = free.world.calls.length
  expect(await limited.error("mouse-click", { xy: "20,20" })).toMatchObject({
    code: "POLICY_DENIED",
    disposition: { delivery: "not_delivered" },
  })
  expect(free.world.calls.slice(before)).not.toContain("input")
  expect(await limited.ok("mouse-click", { xy: "70,20" })).toMatchObject({ x: 70 })
})

test("with an app list, keys that the desktop takes for itself are not sent", async () => {
  const { limited, left, free } = await twoApps()
  await limited.ok("focus-window", { window_id: left.id })
  const combos = ["alt+tab", "alt+shift+tab", "alt+f2", "super+d", "ctrl+alt+t", "printscreen", "alt+space"]
  for (const combo of combos)
    expect({ combo, code: (await limited.error("press", { combo })).code }).toEqual({
      combo,
      code: "POLICY_DENIED",
    })
  for (const combo of ["alt", "super", "ctrl"])
    expect(await limited.error("key-down", { combo })).toMatchObject({ code: "POLICY_DENIED" })
  expect(free.world.keys).toEqual([])
  for (const combo of ["ctrl+s", "alt+f", "f5", "tab", "shift+tab"]) await limited.ok("press", { combo })
  await limited.ok("key-down", { combo: "shift" })
  await limited.ok("key-up", { combo: "shift" })
})

test("with an app list, an app is started without options, which could name another program", async () => {
  const { limited, free } = await twoApps()
  const before = free.world.calls.length
  for (const arg of ["--renderer-cmd-prefix=sh", "-e", "+x"])
    expect(await limited.error("launch", { app: "Editor", args: [arg] })).toMatchObject({
      code: "POLICY_DENIED",
    })
  expect(free.world.calls.slice(before)).not.toContain("launch")
  await limited.run("launch", { app: "Editor", args: ["letter.txt"], timeout_ms: 0 })
  expect(free.world.calls.slice(before)).toContain("launch")
})

test.each([
  [
    "a flag cannot lift a restriction of the environment",
    { read_only: false },
    { AGENT_DESKTOP_READ_ONLY: "1" },
    true,
  ],
  ["a flag adds a restriction", { read_only: true }, {}, true],
  ["a variable that is off restricts nothing", {}, { AGENT_DESKTOP_READ_ONLY: "0" }, false],
])("%s", (_, given, env, readOnly) => expect(settingsOf(given, env)).toMatchObject({ readOnly }))

test("a program that uses the library cannot lift the environment's restrictions either", async () => {
  const env = { AGENT_DESKTOP_READ_ONLY: "1", AGENT_DESKTOP_APPS: "editor" }
  await using it = agentDesktop({ env, readOnly: false, apps: ["Editor", "Bank"] })
  expect(await it.run("press", { combo: "a" })).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } })
})

describe("under read-only, a file is written only if it is new", () => {
  const path = temporaryForFile()
  const written = (name: string): string => readFileSync(`${path}/${name}`, "utf8")
  writeFileSync(`${path}/profile`, "old")
  symlinkSync(`${path}/profile`, `${path}/link`)
  symlinkSync(`${path}/nowhere`, `${path}/dangling`)
  const bytes = Buffer.from("new")

  test.each([
    ["profile", true, "POLICY_DENIED"],
    ["link", true, "POLICY_DENIED"],
    ["dangling", true, "POLICY_DENIED"],
    ["link", false, "ACTION_FAILED"],
    ["dangling", false, "ACTION_FAILED"],
    [".", false, "ACTION_FAILED"],
    ["no/such", true, "ACTION_FAILED"],
  ])("%s (only new: %p) is refused with %s", async (name, onlyNew, code) => {
    await expect(writeOutput(`${path}/${name}`, bytes, onlyNew)).rejects.toMatchObject({ code })
    expect(written("profile")).toBe("old")
    expect(existsSync(`${path}/nowhere`)).toBe(false)
  })

  test("a new file is written; without read-only, an old file is replaced as a whole", async () => {
    await writeOutput(`${path}/a`, Buffer.from("longer text"), true)
    expect(written("a")).toBe("longer text")
    await writeOutput(`${path}/a`, bytes, false)
    expect(written("a")).toBe("new")
  })

  test("a pipe at the path is refused without waiting for a reader", async () => {
    Bun.spawnSync(["mkfifo", `${path}/pipe`])
    await expect(writeOutput(`${path}/pipe`, bytes, false)).rejects.toMatchObject({ code: "ACTION_FAILED" })
  })

  test("commands that write a file say so to their door", async () => {
    const asked: boolean[] = []
    const it = await readyDesk({ writeFile: async (_path, _bytes, onlyNew) => void asked.push(onlyNew) })
    for (const readOnly of [true, false]) {
      const limited = desk({ ...it.door, readOnly })
      await limited.ok("screenshot", { path: "shot.png" })
      await limited.ok("trace-export", { directory: TRACE, output: "page.html" })
    }
    expect(asked).toEqual([true, true, false, false])
  })
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
