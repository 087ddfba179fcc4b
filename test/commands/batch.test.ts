import { afterAll, describe, expect, test } from "bun:test"
import { commands } from "../../src/commands/index.ts"
import { toText } from "../../src/look/text.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Json } from "../support/json.ts"
import { within } from "../support/pace.ts"

afterAll(clearDesks)

async function holding(door: Parameters<typeof desk>[0] = {}) {
  const it = desk(door)
  it.world.app("App", { pid: 10 }).window(
    "Window",
    [
      { role: "button", name: "It", states: ["enabled"] },
      { role: "textfield", name: "Field", value: "", states: ["enabled"] },
    ],
    { id: "w-1" },
  )
  await it.ok("snapshot")
  const batch = (items: unknown, args: object = {}): Promise<Json> =>
    it.run("batch", { commands: JSON.stringify(items), ...args })
  return { ...it, batch }
}

const click = { command: "click", args: { ref_id: "@e1" } }
const lost = { command: "click", args: { ref_id: "@e9" } }

describe("a batch", () => {
  test("runs its items in order and answers with one result each", async () => {
    const { batch, world } = await holding()
    expect(
      await batch([
        click,
        { command: "type", args: { ref_id: "@e2", text: "hello" } },
        { command: "press", args: { combo: "return" } },
      ]),
    ).toEqual({
      version: "1.0",
      ok: true,
      command: "batch",
      data: {
        results: [
          {
            command: "click",
            ok: true,
            data: {
              action: "click",
              ref_id: "@e1",
              element: { role: "button", name: "It" },
              method: "fake:click",
              disposition: { delivery: "delivered_unverified", retry: "unsafe" },
            },
          },
          {
            command: "type",
            ok: true,
            data: {
              action: "type",
              ref_id: "@e2",
              element: { role: "textfield", name: "Field" },
              post_state: { role: "textfield", states: ["enabled", "focused"], value: "hello" },
              method: "fake:type",
              disposition: { delivery: "delivered_verified", retry: "unsafe" },
              focused: true,
            },
          },
          {
            command: "press",
            ok: true,
            data: {
              action: "press",
              window: { id: "w-1", title: "Window", app_name: "App" },
              element: { role: "textfield", name: "Field" },
              disposition: { delivery: "delivered_unverified", retry: "unsafe" },
            },
          },
        ],
      },
    })
    expect(world.deliveries.map(({ name, kind }) => `${name} ${kind}`)).toEqual(["It click", "Field type"])
  })

  test("succeeds even if items fail; each failure is reported in full", async () => {
    const { batch, world } = await holding()
    const { ok, data } = await batch([lost, click])
    expect(ok).toBe(true)
    expect(data.results[0]).toEqual({
      command: "click",
      ok: false,
      error: {
        code: "STALE_REF",
        message: "@e9 not found in current RefMap",
        suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
        disposition: { delivery: "not_delivered", retry: "safe" },
      },
    })
    expect(data.results[1].ok).toBe(true)
    expect(world.sent("It")).toEqual(["semantic click"])
  })

  test("stops after the first failure with --stop-on-error", async () => {
    const { batch, world } = await holding()
    const { ok, error } = await batch([click, lost, click], { stop_on_error: true })
    expect(ok).toBe(false)
    expect(error).toMatchObject({
      code: "STALE_REF",
      message: "Item 1 (click) failed: @e9 not found in current RefMap",
      suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
      disposition: { delivery: "not_delivered", retry: "safe" },
      details: { index: 1 },
    })
    expect(error.details.results.map((one: Json) => one.ok)).toEqual([true, false])
    expect(error.details.results[0].data.ref_id).toBe("@e1")
    expect(world.sent("It")).toEqual(["semantic click"])
  })

  test("counts the items that failed, and only if any did", async () => {
    const { batch } = await holding()
    expect((await batch([click, lost, lost])).data.failed).toBe(2)
    expect((await batch([click])).data.failed).toBeUndefined()
  })

  test("prints each item as its own command would, with --format text", async () => {
    const it = await holding({ format: "text" })
    const envelope = await it.batch([{ command: "snapshot" }, lost, { command: "list-apps" }])
    const text = await toText(envelope, await commands.batch!(), commands)
    expect(text).toStartWith('0 snapshot\n"App" w-1 "Window"')
    expect(text).toContain('  button "It" [@e1]')
    expect(text).toContain("\n1 click\nerror STALE_REF: @e9 not found in current RefMap\n")
    expect(text).toContain("\n2 list-apps\n")
    expect(text).not.toContain('"results"')
  })

  test("may be empty, and items without arguments may leave them out", async () => {
    const { batch } = await holding()
    expect((await batch([])).data).toEqual({ results: [] })
    expect((await batch([{ command: "list-apps" }])).data.results[0].data.apps.length).toBe(1)
  })

  test("is read from standard input if it is -", async () => {
    const { ok, world } = await holding({ stdin: async () => JSON.stringify([click]) })
    expect((await ok("batch", { commands: "-" })).results[0].ok).toBe(true)
    expect(world.sent("It")).toEqual(["semantic click"])
  })

  test("does not wait for a standard input that never ends", async () => {
    const { error } = await holding({ stdin: () => new Promise(() => {}) })
    expect(await error("batch", { commands: "-", timeout_ms: 50 })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "stdin" },
    })
  })

  test("accepts aliases, and later items use the refs of a snapshot before them", async () => {
    const { batch, world } = await holding()
    const { data } = await batch([
      { command: "snapshot", args: { app: "App", interactive_only: true } },
      { command: "click", args: { ref: "@e1", timeout: 3000 } },
      { command: "wait", args: { ref_id: "@e1", timeout: 0 } },
    ])
    expect(data.results.map((one: Json) => one.ok)).toEqual([true, true, true])
    expect(world.sent("It")).toEqual(["semantic click"])
  })
})

describe("a batch is refused before its first item runs", () => {
  test.each([
    ["an unknown command", { command: "clik" }, "clik"],
    ["an unknown member", { command: "click", args: { ref_id: "@e1", colour: "red" } }, "colour"],
    ["a missing member", { command: "click" }, "TARGET"],
    ["a member of another type", { command: "type", args: { ref_id: "@e1", text: 5 } }, "TEXT"],
    ["a text that is not a target", { command: "click", args: { ref_id: "It" } }, "at character 1"],
    ["members that exclude each other", { command: "find", args: { first: true, last: true } }, "exclude"],
    [
      "a member that needs another",
      { command: "wait", args: { element: "@e1", predicate: "value" } },
      "--value",
    ],
    ["no window to operate on", { command: "minimize" }, "Which window?"],
    ["an unknown role", { command: "find", args: { role: "knob" } }, "knob"],
    ["an incomplete key combination", { command: "press", args: { combo: "ctrl+" } }, "ctrl+"],
    ["a bad size", { command: "desktop-start", args: { size: "big" } }, "WxH"],
    ["another batch", { command: "batch", args: { commands: "[]" } }, "batch"],
    ["an alias and its member", { command: "click", args: { ref_id: "@e1", ref: "@e1" } }, "same"],
  ])("for %s", async (_, bad, word) => {
    const { batch, world } = await holding()
    const { ok, error } = await batch([click, bad, click])
    expect(ok).toBe(false)
    expect(error).toMatchObject({ code: "INVALID_ARGS", details: { index: 1 } })
    expect(error.message).toStartWith(`Item 1 (${bad.command}): `)
    expect(error.message).toContain(word)
    expect(world.deliveries).toEqual([])
  })

  test.each([
    ["no JSON", "[{"],
    ["no array", '{"command":"click"}'],
    ["null", "null"],
    ["an item that is not an object", '["click"]'],
    ["an item without a command", '[{"args":{}}]'],
    ["a command that is not a text", '[{"command":5}]'],
    ["an unknown member of an item", '[{"command":"list-apps","argument":{}}]'],
    ["arguments that are not an object", '[{"command":"list-apps","args":[]}]'],
    ["arguments that are null", '[{"command":"list-apps","args":null}]'],
  ])("for %s", async (_, commands) => {
    const { error } = await holding()
    expect(await error("batch", { commands })).toMatchObject({
      code: "INVALID_ARGS",
      details: { argument: "commands" },
    })
  })

  test("for more than 256 items, but not for 256", async () => {
    const { batch, world } = await holding()
    const many = Array.from({ length: 256 }, () => ({ command: "version" }))
    expect((await batch(many)).data.results.length).toBe(256)
    expect((await batch([...many, click])).error.code).toBe("INVALID_ARGS")
    expect(world.deliveries).toEqual([])
  })

  test("for more than 1 MiB, but not for exactly 1 MiB", async () => {
    const { run, world } = await holding()
    const filled = (bytes: number) => {
      const item = JSON.stringify([{ command: "clipboard-set", args: { text: "é" } }])
      return item.replace("é", "é".repeat((bytes - Buffer.byteLength(item)) / 2 + 1))
    }
    expect(Buffer.byteLength(filled(1_048_576))).toBe(1_048_576)
    expect((await run("batch", { commands: filled(1_048_576) })).ok).toBe(true)
    world.clipboard = undefined
    expect((await run("batch", { commands: filled(1_048_578) })).error.code).toBe("INVALID_ARGS")
    expect(world.clipboard).toBeUndefined()
  })

  test("for a combo that would end the session", async () => {
    const { batch, world } = await holding()
    const combo = process.platform === "darwin" ? "cmd+shift+q" : "ctrl+alt+forwarddelete"
    expect((await batch([click, { command: "press", args: { combo } }])).error.code).toBe("POLICY_DENIED")
    expect(world.deliveries).toEqual([])
    expect((await batch([{ command: "press", args: { combo, force: true } }])).data.results[0].ok).toBe(true)
  })
})

describe("time in a batch", () => {
  test("each item has its own limit, and none runs longer than the batch", async () => {
    const { batch, world } = await holding()
    world.hang("perform")
    const items = [
      { command: "click", args: { ref_id: "@e1", timeout_ms: 50 } },
      { command: "click", args: { ref_id: "@e1", timeout_ms: 60_000 } },
      { command: "list-apps" },
    ]
    const { data } = await within(400, () => batch(items, { timeout_ms: 400 }))
    for (const { error } of data.results.slice(0, 2))
      expect(error.code).toMatch(/^(APP_UNRESPONSIVE|TIMEOUT)$/)
    expect(data.results[2].error).toEqual({
      code: "TIMEOUT",
      message: "The batch's time was up before list-apps began",
      suggestion: "Run the remaining items in another batch, or pass a longer --timeout-ms",
      details: { kind: "not_started" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
  })

  test("a notification that an earlier item caused is new to a later one", async () => {
    const { batch, world } = await holding()
    world.notifications = [{ id: "1", index: 0, app_name: "Mail", title: "Old" }]
    world.at("It").does = () => {
      world.notifications.unshift({ id: "2", index: 0, app_name: "Mail", title: "Sent" })
    }
    const { data } = await batch([click, { command: "wait", args: { notification: true, timeout: 0 } }])
    expect(data.results[1].data.notification.title).toBe("Sent")
  })
})
