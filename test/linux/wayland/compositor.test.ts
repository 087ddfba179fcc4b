import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Fixture, startFixture, type Toolkit } from "../../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../../support/desktop.ts"
import type { Json } from "../../support/json.ts"
import { until } from "../../support/until.ts"
import { underWeston } from "./weston.ts"

/** A compositor that reports nothing about windows: the commands that accessibility alone can do, and the refusals. */

let desktop: TestDesktop
let weston: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  weston = await underWeston(desktop)
})
afterAll(() => desktop.close())

const ok = async (...args: string[]): Promise<Json> => {
  const { json } = await weston.run(...args)
  if (!json.ok) throw new Error(`${args.join(" ")}: ${JSON.stringify(json.error)}`)
  return json.data
}

const windowOf = ({ pid }: Pick<Fixture, "pid">, on = weston): Promise<Json> =>
  until(async () => (await on.run("list-windows")).json.data.windows?.find((one: Json) => one.pid === pid))

const TOOLKITS: readonly Toolkit[] = ["gtk3", "gtk4", "qt6", "qt5"]

describe.each(TOOLKITS)("on a compositor that reports no windows, in %s", (toolkit) => {
  let fixture: Fixture
  let id: string
  const find = async (role: string, name: string): Promise<string> =>
    (await ok("find", "--window-id", id, "--role", role, "--name", name, "--exact", "--first")).match.ref_id

  beforeAll(async () => {
    fixture = await startFixture(weston, toolkit)
    const window = await windowOf(fixture)
    expect(window.id).toStartWith("w-")
    expect(window.pid).toBe(fixture.pid)
    expect(window).not.toContainKey("bounds")
    id = window.id
  })

  test("a snapshot has refs and no bounds", async () => {
    const { tree, ref_count } = await ok("snapshot", "--window-id", id, "--include-bounds")
    expect(ref_count).toBeGreaterThan(20)
    expect(JSON.stringify(tree)).not.toContain('"bounds"')
    expect(
      (await ok("list-surfaces", "--app", `${(await ok("list-windows")).windows[0].app_name}`)).pid,
    ).toBe((await ok("list-windows")).windows[0].pid)
  })

  test("a click, text, a value and a check arrive once", async () => {
    const button = await find("button", "Press me")
    await ok("click", button)
    await fixture.seen("press", "Press me")
    const field = await find("textfield", "Name")
    await ok("type", field, "Grüße 日本 😀")
    expect((await ok("get", field, "value")).value).toBe("Grüße 日本 😀")
    await ok("clear", field)
    expect((await ok("get", field, "value")).value).toBe("")
    expect((await ok("is", button, "visible")).result).toBe(true)
    const agree = await find("checkbox", "Agree")
    const checked = (await weston.run("check", agree)).json
    // GTK 4 does not offer an action for it, and the pointer does not know its position.
    if (toolkit === "gtk4") expect(checked.error.code).toBe("PLATFORM_NOT_SUPPORTED")
    else expect(await fixture.seen("check", "Agree")).toMatchObject({ value: true })
    expect((await fixture.events()).filter(({ event }) => event === "press")).toHaveLength(1)
  })

  test("pointer, keyboard and window moves are refused, and nothing arrives", async () => {
    const button = await find("button", "Press me")
    const before = (await fixture.events()).length
    for (const args of [
      ["double-click", button],
      ["click", button, "--input", "physical"],
      ["hover", button],
      ["mouse-click", "--xy", "100,100"],
      ["press", "tab"],
      ["move-window", id, "10", "10"],
      ["focus-window", id],
      ["screenshot"],
      ["clipboard-get"],
    ]) {
      const { error } = (await weston.run(...args)).json
      expect([args[0], error?.code]).toEqual([args[0], "PLATFORM_NOT_SUPPORTED"])
      expect(error.suggestion).toBeString()
      if (error.disposition) expect(error.disposition.delivery).toBe("not_delivered")
    }
    expect((await fixture.events()).length).toBe(before)
  })
})

test("doctor names the compositor and what it lacks", async () => {
  const { checks } = (await weston.run("doctor")).json.data
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor")).toMatchObject({ ok: true, detail: "weston at weston" })
  expect(of("windows")).toMatchObject({ ok: true, detail: "by accessibility" })
  for (const name of ["places", "input", "picture", "clipboard"]) {
    expect(of(name).ok).toBe(false)
    expect(of(name).suggestion).toContain("desktop-start")
  }
})

test("with an X display as well, windows of both are listed, each once", async () => {
  const native = await startFixture(weston, "gtk3")
  const old = await startFixture(desktop, "gtk4")
  const both = await underWeston(desktop, true)
  const [one, other] = [await windowOf(native, both), await windowOf(old, both)]
  const { windows } = (await both.run("list-windows")).json.data
  for (const { pid } of [native, old])
    expect(windows.filter((window: Json) => window.pid === pid)).toHaveLength(1)
  expect(one).not.toContainKey("bounds")
  expect(other.bounds).toBeObject()
  // Input through the X server reaches only its own windows.
  const find = async (id: string) =>
    (await both.run("find", "--window-id", id, "--role", "button", "--name", "Press me", "--first")).json.data
      .match.ref_id
  const clicked = await both.run("click", await find(other.id), "--input", "physical")
  expect(clicked.json.data?.method).toBe("pointer")
  await old.seen("press", "Press me")
  const refused = await both.run("click", await find(one.id), "--input", "physical")
  expect(refused.json.error.code).toBe("PLATFORM_NOT_SUPPORTED")
  expect((await both.run("click", await find(one.id))).json.ok).toBe(true)
  await native.seen("press", "Press me")
})
