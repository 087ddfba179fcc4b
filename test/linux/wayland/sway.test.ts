import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Fixture, startFixture, type Toolkit } from "../../fixtures/fixture.ts"
import { startReacting } from "../../fixtures/reacting.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../../support/desktop.ts"
import type { Json } from "../../support/json.ts"
import { until } from "../../support/until.ts"

/** Windows with places, pointer and keyboard on sway, judged by the apps' own logs. */

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop({ kind: "wayland" })
})
afterAll(() => desktop.close())

const ok = async (...args: string[]): Promise<Json> => {
  const { json } = await desktop.run(...args)
  if (!json.ok) throw new Error(`${args.join(" ")}: ${JSON.stringify(json.error)}`)
  return json.data
}

const windowOf = ({ title }: Fixture): Promise<Json> =>
  until(async () => (await ok("list-windows")).windows.find((one: Json) => one.title.startsWith(title)))

const TOOLKITS: readonly Toolkit[] = ["gtk3", "gtk4", "qt6", "qt5", "web"]

describe.each(TOOLKITS)("on sway, in %s", (toolkit) => {
  let fixture: Fixture
  let id: string
  const find = async (role: string, name: string): Promise<string> =>
    (await ok("find", "--window-id", id, "--role", role, "--name", name, "--exact", "--first")).match.ref_id
  const presses = async () =>
    (await fixture.events()).filter(({ event, name }) => event === "press" && name === "Press me").length

  beforeAll(async () => {
    fixture = await startFixture(desktop, toolkit)
    const window = await windowOf(fixture)
    expect(window.bounds).toBeObject()
    id = window.id
  })

  test("a physical click, double click and right click arrive", async () => {
    const button = await find("button", "Press me")
    expect((await ok("click", button, "--input", "physical")).method).toBe("pointer")
    await until(async () => (await presses()) === 1)
    await ok("double-click", button)
    await until(async () => (await presses()) === 3)
  })

  test("clicks two pixels inside the edges press, clicks two pixels outside do not", async () => {
    const button = await find("button", "Press me")
    const { x, y, width, height } = (await ok("get", button, "bounds")).value
    const before = await presses()
    const inside = [
      [x + 2, y + height / 2],
      [x + width - 3, y + height / 2],
      [x + width / 2, y + 2],
      [x + width / 2, y + height - 3],
    ]
    for (const [px, py] of inside) await ok("mouse-click", "--xy", `${Math.round(px!)},${Math.round(py!)}`)
    await until(async () => (await presses()) === before + 4)
    // GTK 4.8 reports a button without its padding.
    const margin = toolkit === "gtk4" ? 20 : 2
    for (const px of [x - margin - 1, x + width + margin])
      await ok("mouse-click", "--xy", `${Math.round(px)},${Math.round(y + height / 2)}`)
    // A later press proves that the app has seen the clicks before it.
    await ok("click", button, "--input", "physical")
    await until(async () => (await presses()) >= before + 5)
    expect(await presses()).toBe(before + 5)
  })

  test("a choice from a list whose place nobody knows is refused before the list opens", async () => {
    const fruit = await find("combobox", "Fruit")
    const { error } = (await desktop.run("select", fruit, "Banana", "--input", "physical")).json
    expect([error.code, error.disposition.delivery]).toEqual(["PLATFORM_NOT_SUPPORTED", "not_delivered"])
    expect((await ok("get", fruit, "states")).value).not.toContain("expanded")
    expect((await fixture.events()).filter(({ event }) => event === "select")).toEqual([])
  })

  test("text typed by keys is exact", async () => {
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

test("a secret stops if its window goes on to another field", async () => {
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

test("doctor names the compositor and what it can do", async () => {
  const { checks } = await ok("doctor")
  const of = (name: string) => checks.find((check: Json) => check.name === name)
  expect(of("compositor").detail).toContain("sway 1.")
  for (const name of ["windows", "places", "input", "picture", "clipboard"]) expect(of(name).ok).toBe(true)
  expect(of("display")).toBeUndefined()
})

describe("a window on sway", () => {
  let fixture: Fixture
  let id: string
  const sway = async (command: string): Promise<Json> =>
    JSON.parse(await Bun.$`swaymsg -r -t ${command}`.env(desktop.env).text())
  /** The window as sway itself describes it. */
  const rectOf = async (): Promise<Json> => {
    const all = (node: Json): Json[] =>
      [node, ...node.nodes, ...node.floating_nodes]
        .slice(0, 1)
        .concat(...[...node.nodes, ...node.floating_nodes].map(all))
    return all(await sway("get_tree")).find((node: Json) => node.pid === fixture.pid)
  }

  beforeAll(async () => {
    fixture = await startFixture(desktop, "gtk3")
    id = (
      await until(async () => (await ok("list-windows")).windows.find((one: Json) => one.pid === fixture.pid))
    ).id
  })

  test("moves, gets another size and the focus", async () => {
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

  test("looks the same in its own picture and in that of the display, wherever it is", async () => {
    await ok("mouse-move", "--xy", "1279,1023")
    const hash = async (file: string, x: number, y: number): Promise<string> =>
      Bun.$`convert ${`${desktop.directory}/${file}.png`} -crop ${`1000x700+${x}+${y}`} +repage rgb:- | sha256sum`.text()
    /** One hash if both pictures have the same pixels. The app may still be drawing. */
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

  test("shares the clipboard in both directions", async () => {
    const name = (await ok("find", "--window-id", id, "--role", "textfield", "--name", "Name", "--first"))
      .match.ref_id
    await ok("clipboard-set", "Grüße 日本 😀")
    await ok("focus", name)
    await ok("press", "ctrl+v", "--window-id", id)
    await until(async () => (await fixture.seen("text", "Name")).value === "Grüße 日本 😀")
    await ok("set-value", name, "from the app")
    await ok("press", "ctrl+a", "--window-id", id)
    await ok("press", "ctrl+c", "--window-id", id)
    expect(await until(async () => (await ok("clipboard-get")).text === "from the app")).toBe(true)
    await ok("clipboard-clear")
    expect((await ok("clipboard-get")).text).toBe("")
  })

  test("gets every click of many short processes", async () => {
    const button = (await ok("find", "--window-id", id, "--role", "button", "--name", "Press me", "--first"))
      .match.ref_id
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

  test("keeps no command waiting when the compositor stands still", async () => {
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
