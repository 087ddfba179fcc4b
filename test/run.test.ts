import { afterAll, describe, expect, test } from "bun:test"
import type { Adapter } from "../src/adapter.ts"
import { commands } from "../src/commands/index.ts"
import type { Deadline } from "../src/deadline.ts"
import { AppError } from "../src/errors.ts"
import { SENT, SENT_SAFELY } from "./support/dispositions.ts"
import { flagsOf, nativeSamples, readyDesk } from "./support/every-command.ts"
import { clearDesks, desk } from "./support/fake-desk.ts"
import type { Json } from "./support/json.ts"
import { shortTimeout, within } from "./support/pace.ts"
import { until } from "./support/until.ts"

afterAll(clearDesks)

const BUTTON = { role: "button", name: "It", states: ["enabled"] } as const

async function holding(door: Parameters<typeof desk>[0] = {}) {
  const it = desk(door)
  const app = it.world.app("App", { pid: 10 })
  app.window("Window", [BUTTON, { role: "textfield", name: "Field", value: "" }], { id: "w-1" })
  if (!door.readOnly) await it.ok("snapshot")
  return { ...it, app }
}

describe("the envelope", () => {
  test("has its members in order, with data or with an error", async () => {
    const { run } = await holding()
    expect(Object.keys(await run("list-apps"))).toEqual(["version", "ok", "command", "data"])
    expect(Object.keys(await run("click", { ref_id: "@e9" }))).toEqual(["version", "ok", "command", "error"])
  })

  test("an unknown command is answered as 'unknown', and the nearest one is suggested", async () => {
    const { run } = await holding()
    const { command, error } = await run("clik")
    expect(command).toBe("unknown")
    expect(error.code).toBe("INVALID_ARGS")
    expect(error.message).toContain("'click'")
    expect((await run("__proto__")).error.code).toBe("INVALID_ARGS")
  })

  test("an unexpected exception becomes INTERNAL, with only its message", async () => {
    const { run, world } = await holding()
    world.fail("apps", new TypeError("x is not a function"))
    expect(await run("list-apps")).toEqual({
      version: "1.0",
      ok: false,
      command: "list-apps",
      error: {
        code: "INTERNAL",
        message: "Unexpected failure: x is not a function",
        suggestion: "Run the command again with --verbose and report what it logs",
      },
    })
    world.fail("apps", Object.assign(new Error("odd"), { code: "APP_NOT_FOUND" }))
    expect((await run("list-apps")).error.code).toBe("INTERNAL")
  })

  test("a platform that cannot be opened is reported by the command that needed it", async () => {
    const refused = new AppError("PLATFORM_NOT_SUPPORTED", "No display", { suggestion: "Start one" })
    const it = desk({
      platform: async () => {
        throw refused
      },
    })
    expect(await it.run("list-windows")).toMatchObject({
      command: "list-windows",
      error: { code: "PLATFORM_NOT_SUPPORTED", message: "No display", suggestion: "Start one" },
    })
    expect((await it.run("version")).ok).toBe(true)
    expect((await it.run("status")).data.permissions).toMatchObject({
      granted: false,
      error: { code: "PLATFORM_NOT_SUPPORTED" },
    })
  })
})

describe("the desktop", () => {
  /** A desk that counts how often its platform is opened and its adapters are closed. */
  function counting() {
    const it = desk()
    const counts = { opened: 0, closed: 0 }
    const door = {
      ...it.door,
      platform: async () => {
        counts.opened += 1
        const platform = await it.door.platform()
        const adapter = (deadline: Deadline): Adapter => ({
          ...platform.adapter(deadline),
          close: async () => {
            counts.closed += 1
          },
        })
        return { adapter }
      },
    }
    return { counts, run: desk(door).run }
  }

  test("is opened once per command, by the first call that needs it, and closed at the end", async () => {
    const { counts, run } = counting()
    await run("version")
    await run("click", { ref_id: "@e1" })
    expect(counts).toEqual({ opened: 0, closed: 0 })
    await run("wait", { text: "never", timeout_ms: 0 })
    expect(counts).toEqual({ opened: 1, closed: 1 })
  })

  test("that cannot be opened reports not_delivered", async () => {
    const it = desk({
      platform: async () => {
        throw new AppError("PLATFORM_NOT_SUPPORTED", "No display")
      },
    })
    for (const [name, args] of [
      ["mouse-click", { xy: "1,1" }],
      ["clipboard-set", { text: "x" }],
    ] as const)
      expect((await it.error(name, args)).disposition).toMatchObject({ delivery: "not_delivered" })
  })
})

describe("arguments", () => {
  test.each([
    ["type", { ref_id: "@e1", text: "a\0b" }, "text"],
    ["set-value", { ref_id: "@e1", value: "\ud83d" }, "value"],
    ["launch", { app: "editor", arg: ["--x", "a\0b"] }, "arg"],
    ["find", { name: "\udc00x" }, "name"],
  ])("of %s that no app can take as text are refused: %j", async (command, args, argument) => {
    const it = desk()
    const before = it.world.calls.length
    expect(await it.error(command, args)).toMatchObject({
      code: "INVALID_ARGS",
      message: expect.stringContaining("U+0000"),
      details: { argument },
    })
    expect(it.world.calls.length).toBe(before)
  })

  test.each([
    ["click", {}, "ref_id"],
    ["click", { ref_id: 5 }, "ref_id"],
    ["click", { ref_id: "@e1", reff: "@e1" }, "reff"],
    ["click", { ref_id: "@e1", input: "telepathy" }, "input"],
    ["click", { ref_id: "@e1", timeout_ms: -1 }, "timeout_ms"],
    ["click", { ref_id: "@e1", timeout_ms: 1e12 }, "timeout_ms"],
    ["click", { ref_id: "nonsense" }, "ref_id"],
    ["scroll", { ref_id: "@e1", direction: "inwards" }, "direction"],
    ["scroll", { ref_id: "@e1", amount: 0 }, "amount"],
    ["snapshot", { max_depth: 0 }, "max_depth"],
    ["snapshot", { surface: "floor" }, "surface"],
    ["snapshot", { compact: "yes" }, "compact"],
    ["mouse-click", { xy: "here" }, "xy"],
    ["mouse-click", { xy: "1,2", count: 4 }, "count"],
    ["hover", { ref_id: "e0" }, "ref_id"],
    ["drag", { from: "@e1", to: "there" }, "to"],
    ["wait", { element: "the button" }, "element"],
    ["snapshot", { root: "@" }, "root"],
    ["uncheck", { ref_id: "@e1\n" }, "ref_id"],
  ])("%s %j is rejected, and the error names %s", async (name, args, argument) => {
    const { error, world } = await holding()
    const calls = world.calls.length
    const refused = await error(name, args)
    expect(refused).toMatchObject({ code: "INVALID_ARGS", details: { argument } })
    expect(refused.suggestion).toMatch(refused.details.kind === "target" ? "@e3" : name)
    expect(world.calls.length).toBe(calls)
  })

  test.each([[null], [5], ["text"], [[]], [[1]]])("%j is rejected as arguments", async (args: Json) => {
    const { run } = await holding()
    expect((await run("list-apps", args)).error?.code).toBe("INVALID_ARGS")
  })

  test("aliases are accepted; a name together with its alias is not", async () => {
    const { ok, error } = await holding()
    await ok("click", { ref: "@e1", timeout: 1000 })
    expect((await error("click", { ref: "@e1", ref_id: "@e1" })).code).toBe("INVALID_ARGS")
    expect((await error("click", { ref: "@e1", timeout: 1, timeout_ms: 1 })).code).toBe("INVALID_ARGS")
  })
})

describe("a read-only policy", () => {
  test("allows commands that read and denies commands that act, before they do anything", async () => {
    const { run, world } = await holding({ readOnly: true })
    for (const [name, args] of [
      ["snapshot", {}],
      ["find", { role: "button" }],
      ["list-windows", {}],
      ["get", { ref_id: "@e1", property: "name" }],
      ["is", { ref_id: "@e1", property: "enabled" }],
      ["wait", { text: "Window" }],
      ["screenshot", {}],
      ["clipboard-get", {}],
      ["status", {}],
    ] as const)
      expect((await run(name, args)).error).toBeUndefined()
    const calls = world.calls.length
    for (const [name, args] of [
      ["click", { ref_id: "@e1" }],
      ["type", { ref_id: "@e2", text: "x" }],
      ["press", { combo: "return" }],
      ["mouse-click", { xy: "1,1" }],
      ["launch", { app: "x" }],
      ["close-app", { app: "App" }],
      ["focus-window", { window_id: "w-1" }],
      ["clipboard-set", { text: "x" }],
      ["clipboard-clear", {}],
      ["dismiss-all-notifications", {}],
    ] as const)
      expect(await run(name, args)).toMatchObject({ command: name, error: { code: "POLICY_DENIED" } })
    expect(world.calls.length).toBe(calls)
  })

  test("checks each item of a batch", async () => {
    const { ok, world } = await holding({ readOnly: true })
    const items = [
      { command: "snapshot" },
      { command: "click", args: { ref_id: "@e1" } },
      { command: "list-apps" },
    ]
    const { results } = await ok("batch", { commands: JSON.stringify(items) })
    expect(results.map((one: Json) => one.error?.code ?? "ok")).toEqual(["ok", "POLICY_DENIED", "ok"])
    expect(world.deliveries).toEqual([])
  })
})

/** Waits that do not end by themselves, with the native calls they make. */
const WAITS: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
  [{ text: "never" }, ["watch", "windows", "tree"]],
  [{ element: "$button", gone: true }, ["processStart", "open address"]],
  [{ window: "never" }, ["windows"]],
  [{ notification: true }, ["notifications"]],
]

const native = [
  ...(await nativeSamples(commands)),
  ...(await Promise.all(
    WAITS.map(async ([args, calls]) => ({ command: await commands.wait!(), args, calls })),
  )),
].map(({ command: { name }, args, calls }) => ({
  line: [name, ...flagsOf(args)].join(" "),
  name,
  args,
  calls,
}))

const TIMEOUT = shortTimeout(400)

/** Calls that a command can do without: it need not wait for them until its end. */
const DISPENSABLE: ReadonlySet<string> = new Set([
  "click --ref-id=$button --changes: tree",
  "right-click --ref-id=$button: caughtUp",
])

/** Sleeps in short steps. A loaded machine delays each of them, as it delays each step of a command. */
async function slowly(ms: number): Promise<void> {
  const steps = 20
  for (let i = 0; i < steps; i++) await Bun.sleep(ms / steps)
}

describe.concurrent.each(native)("$line", ({ line, name, args, calls }) => {
  test.each([...calls])("ends with its deadline when %s hangs", async (method) => {
    const { world, run, fill } = await readyDesk()
    world.hang(method)
    const late = slowly(TIMEOUT * 1.8).then(() => "too late")
    const early = Bun.sleep(TIMEOUT * 0.9).then(() => true)
    const answer = await Promise.race([run(name, { ...fill(args), timeout_ms: TIMEOUT }), late])
    // It fails, reports that a part failed, that it saw no effect, or that it had nothing to do; an open menu is an effect.
    expect(JSON.stringify(answer)).toMatch(
      /"(APP_UNRESPONSIVE|TIMEOUT|delivered_unverified|menu|already)"|did not end in time|was still busy/,
    )
    if (!DISPENSABLE.has(`${line}: ${method}`))
      expect(await Promise.race([early, Promise.resolve(false)])).toBe(true)
  })
})

test("every adapter gets a deadline slightly longer than the command's timeout", async () => {
  const seen: number[] = []
  const it = desk({
    platform: async () => ({
      adapter: (deadline) => {
        seen.push(deadline.remaining)
        throw new AppError("PLATFORM_NOT_SUPPORTED", "none")
      },
    }),
  })
  await it.run("list-apps", { timeout_ms: 1000 })
  await it.run("list-apps", { timeout_ms: 100_000 })
  await it.run("list-apps", { timeout_ms: 0 })
  expect(seen[0]).toBeWithin(500, 1051)
  expect(seen[1]).toBeWithin(99_000, 100_201)
  expect(seen[2]).toBeWithin(1000, 2101)
})

test("an interrupted command reports the interruption and what is known about delivery", async () => {
  const interruption = new AbortController()
  const { run, world } = await holding({ signal: interruption.signal })
  world.hang("perform")
  const { error } = await within(0, () => {
    const running = run("click", { ref_id: "@e1", timeout_ms: 60_000 })
    void until(() => world.calls.includes("perform")).then(() => interruption.abort())
    return running
  })
  expect(error).toEqual({
    code: "TIMEOUT",
    message: "click was interrupted",
    suggestion: "Run 'snapshot' to see how far it got",
    details: { kind: "interrupted" },
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
  })
})

describe("simple commands", () => {
  test("the clipboard is read, set and emptied", async () => {
    const { ok, world } = await holding({ stdin: async () => "from stdin" })
    expect(await ok("clipboard-get")).toEqual({ text: "" })
    expect(await ok("clipboard-set", { text: "Hello\nworld" })).toEqual({ action: "clipboard-set" })
    expect(world.clipboard).toBe("Hello\nworld")
    expect(await ok("clipboard-get")).toEqual({ text: "Hello\nworld" })
    await ok("clipboard-set", { text: "-" })
    expect(world.clipboard).toBe("from stdin")
    expect(await ok("clipboard-clear")).toEqual({ action: "clipboard-clear" })
    expect(world.clipboard).toBeUndefined()
  })

  test("a screenshot is returned as base64, or written to the named file", async () => {
    const written: [string, Uint8Array][] = []
    const { ok } = await holding({ writeFile: async (path, bytes) => void written.push([path, bytes]) })
    const png = new Uint8Array([137, 80, 78, 71])
    expect(await ok("screenshot")).toEqual({
      format: "png",
      base64: png.toBase64(),
      width: 1920,
      height: 1080,
    })
    expect(await ok("screenshot", { path: "shot.png", app: "App" })).toEqual({
      format: "png",
      path: "shot.png",
      width: 1000,
      height: 800,
    })
    expect(written).toEqual([["shot.png", png]])
  })

  test("a screenshot has exactly one target", async () => {
    const { error } = await holding()
    expect((await error("screenshot", { screen: 0, app: "App" })).code).toBe("INVALID_ARGS")
    expect((await error("screenshot", { window_id: "w-9" })).code).toBe("WINDOW_NOT_FOUND")
  })

  test("key-down and key-up hold and release the named keys", async () => {
    const { ok, world } = await holding()
    expect(await ok("key-down", { combo: "shift" })).toEqual({ action: "key-down", disposition: SENT })
    expect(await ok("key-up", { combo: "shift" })).toEqual({ action: "key-up", disposition: SENT_SAFELY })
    expect(await ok("press", { combo: "ctrl+alt+t" })).toMatchObject({ action: "press", disposition: SENT })
    expect(world.keys).toEqual(["shift down", "shift up", "ctrl+alt+t"])
  })

  test("status reports the platform, the permissions and the current refs", async () => {
    const { ok, refs } = await holding({ session: "mine" })
    expect(await ok("status")).toEqual({
      platform: process.platform === "darwin" ? "macos" : process.platform,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      permissions: {
        granted: true,
        accessibility: { state: "granted" },
        screen_recording: { state: "not_required" },
      },
      ref_count: 2,
      snapshot_id: (await refs.load()).snapshot_id,
      session: "mine",
    })
  })

  test("doctor reports healthy only if every check passes", async () => {
    const { ok } = await holding()
    expect(await ok("doctor")).toEqual({ healthy: true, checks: [{ name: "world", ok: true }] })
  })
})
