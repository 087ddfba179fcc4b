import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { data } from "../../compositors/session.ts"
import { type Form, openForm, testClipboard, testPointer } from "../../compositors/toolkits.ts"
import type { Fixture, Toolkit } from "../../fixtures/fixture.ts"
import { startReacting } from "../../fixtures/reacting.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../../support/desktop.ts"
import type { Json } from "../../support/json.ts"
import { until } from "../../support/until.ts"

/** Windows with positions, pointer and keyboard on sway. The apps' own logs prove the effects. */

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop({ kind: "wayland" })
})
afterAll(() => desktop.close())

const ok = (...args: readonly string[]): Promise<Json> => data(desktop, ...args)

const TOOLKITS: readonly Toolkit[] = ["gtk3", "gtk4", "qt6", "qt5", "web"]

describe.each(TOOLKITS)("on sway, in %s", (toolkit) => {
  let form: Form
  beforeAll(async () => {
    form = await openForm(desktop, toolkit)
  })

  testPointer(() => form, toolkit)

  test("a choice from a list whose position is unknown is refused before the list opens", async () => {
    const { fixture, find } = form
    const fruit = await find("combobox", "Fruit")
    const { error } = (await desktop.run("select", fruit, "Banana", "--input", "physical")).json
    expect([error.code, error.disposition.delivery]).toEqual(["PLATFORM_NOT_SUPPORTED", "not_delivered"])
    expect((await ok("get", fruit, "states")).value).not.toContain("expanded")
    expect((await fixture.events()).filter(({ event }) => event === "select")).toEqual([])
  })

  test("text typed by keys is exact", async () => {
    const { fixture, find, id } = form
    const field = await find("textfield", "Name")
    const text = "Grüße ✓ 日本 ñ €Aa – aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ 0123456789"
    await ok("type", field, text, "--input", "physical", "--timeout-ms", "15000")
    await until(async () => (await fixture.seen("text", "Name")).value === text)
    await ok("press", "ctrl+a", "--window-id", id)
    await ok("press", "delete", "--window-id", id)
    await until(async () => (await fixture.seen("text", "Name")).value === "")
    const smile = (await desktop.run("type", field, "a😀b", "--input", "physical")).json
    // Chromium would enter another character.
    if (toolkit === "web") {
      expect([smile.error.code, smile.error.disposition.delivery]).toEqual(["ACTION_FAILED", "not_delivered"])
      await ok("clipboard-set", "a😀b")
      await ok("press", "ctrl+v", "--window-id", id)
    }
    await until(async () => (await fixture.seen("text", "Name")).value === "a😀b")
  })
})

test("a secret stops if the focus moves to another field of its window", async () => {
  const app = await startReacting(desktop, "advance")
  await app.tell("3")
  const env = { ...desktop.env, PASSWORD: "correct-horse" }
  const line = [
    "type",
    'textfield "Password"',
    "--app",
    app.app,
    "--secret",
    "env:PASSWORD",
    "--input",
    "physical",
  ]
  const { error } = await Bun.$`${PROGRAM} ${line}`.env(env).nothrow().json()
  expect(error.disposition).toEqual({ delivery: "delivery_uncertain", retry: "unsafe" })
  expect((await app.events()).filter(({ event }) => event === "loot")).toEqual([])
})

test("an app that shows its window before its tree is waited for, even beside an app without windows", async () => {
  for (let i = 0; i < 3; i++) {
    await ok("launch", "gnome-text-editor")
    const { ref_count } = await ok("snapshot", "--app", "gnome-text-editor")
    expect(ref_count).toBeGreaterThan(3)
    await ok("close-app", "gnome-text-editor", "--force")
  }
})

test("doctor names the compositor and what it can do", async () => {
  const { checks } = await ok("doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("sway 1.")
  for (const name of ["windows", "places", "input", "picture", "clipboard"]) expect(of(name).ok).toBe(true)
  expect(of("display")).toBeUndefined()
})

describe("a window on sway", () => {
  let form: Form
  let fixture: Fixture
  let id: string
  const sway = async (command: string): Promise<Json> =>
    JSON.parse(await Bun.$`swaymsg -r -t ${command}`.env(desktop.env).text())
  /** The window as sway describes it. */
  const rectOf = async (): Promise<Json> => {
    const all = (node: Json): Json[] =>
      [node, ...node.nodes, ...node.floating_nodes]
        .slice(0, 1)
        .concat(...[...node.nodes, ...node.floating_nodes].map(all))
    return all(await sway("get_tree")).find((node: Json) => node.pid === fixture.pid)
  }

  beforeAll(async () => {
    form = await openForm(desktop, "gtk3")
    ;({ fixture, id } = form)
  })

  test("moves, changes its size and gets the focus", async () => {
    await ok("move-window", id, "17", "23")
    expect((await rectOf()).rect).toMatchObject({ x: 17, y: 23 })
    await ok("resize-window", id, "1250", "900")
    expect((await rectOf()).rect).toMatchObject({ width: 1250, height: 900 })
    const other = (await ok("list-windows")).windows.find((one: Json) => one.id !== id)
    if (other) await ok("focus-window", other.id)
    await ok("focus-window", id)
    expect((await rectOf()).focused).toBe(true)
    const { error } = (await desktop.run("minimize", id)).json
    expect([error.code, error.disposition.delivery]).toEqual(["ACTION_NOT_SUPPORTED", "not_delivered"])
  })

  test("looks the same in its own picture and in the picture of the display, at any position", async () => {
    await ok("mouse-move", "--xy", "1279,1023")
    const hash = async (file: string, x: number, y: number): Promise<string> =>
      Bun.$`convert ${`${desktop.directory}/${file}.png`} -crop ${`1000x700+${x}+${y}`} +repage rgb:- | sha256sum`.text()
    /** The hash of both pictures, once they have the same pixels. The app may still be drawing. */
    const look = (x: number, y: number): Promise<string> =>
      until(async () => {
        await ok("screenshot", `${desktop.directory}/window.png`, "--window-id", id)
        await ok("screenshot", `${desktop.directory}/screen.png`)
        const own = await hash("window", 100, 100)
        return own === (await hash("screen", x + 100, y + 100)) && own
      })
    await ok("move-window", id, "0", "0")
    const first = await look(0, 0)
    await ok("move-window", id, "30", "40")
    await until(async () => (await look(30, 40)) === first)
    const colours = await Bun.$`identify -format %k ${desktop.directory}/window.png`.text()
    expect(Number(colours)).toBeGreaterThan(20)
  })

  testClipboard(() => form)

  test("gets every click of many short processes", async () => {
    const button = await form.find("button", "Press me")
    const { x, y, width, height } = (await ok("get", button, "bounds")).value
    const at = `${Math.round(x + width / 2)},${Math.round(y + height / 2)}`
    const count = Number(process.env.CLICKS ?? 10)
    const before = (await fixture.events()).filter(({ event }) => event === "press").length
    for (let i = 0; i < count; i++) await ok("mouse-click", "--xy", at)
    await until(
      async () => (await fixture.events()).filter(({ event }) => event === "press").length >= before + count,
    )
    expect((await fixture.events()).filter(({ event }) => event === "press").length).toBe(before + count)
  }, 900_000)

  test("never gets INTERNAL as the answer to a press with too little time", async () => {
    for (let ms = 40; ms <= 400; ms += 20) {
      const { error } = (await desktop.run("press", "right", "--window-id", id, "--timeout-ms", `${ms}`)).json
      expect([ms, error?.code]).not.toEqual([ms, "INTERNAL"])
    }
  })

  test("does not keep a command waiting if the compositor hangs", async () => {
    const { parts } = await Bun.file(`${desktop.home}/desktops/test/desktop.json`).json()
    const { pid } = parts.find((part: Json) => part.program === "sway")
    process.kill(pid, "SIGSTOP")
    try {
      for (const args of [["list-displays"], ["mouse-click", "--xy", "300,300"], ["list-windows"]]) {
        const { error } = (await desktop.run(...args, "--timeout-ms", "1000")).json
        expect([args[0], error.code]).toEqual([args[0], "TIMEOUT"])
        expect(error.disposition?.delivery ?? "not_delivered").toBe("not_delivered")
      }
    } finally {
      process.kill(pid, "SIGCONT")
    }
  }, 60_000)

  test("gets no input if the seat has no devices: it would be lost", async () => {
    const { parts } = await Bun.file(`${desktop.home}/desktops/test/desktop.json`).json()
    process.kill(parts.find((part: Json) => part.program === "input-holder").pid)
    const before = (await fixture.events()).length
    await until(async () => (await desktop.run("mouse-click", "--xy", "300,300")).json.error?.code)
    for (const args of [
      ["mouse-click", "--xy", "300,300"],
      ["press", "a", "--window-id", id],
    ]) {
      const { error } = (await desktop.run(...args)).json
      expect([error.code, error.disposition?.delivery]).toEqual(["PLATFORM_NOT_SUPPORTED", "not_delivered"])
    }
    expect((await fixture.events()).length).toBe(before)
  })
})
