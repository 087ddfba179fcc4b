import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Fixture, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import { answersOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Elements by description instead of ref. The fixture's own log says what happened to which control. */

let desktop: TestDesktop

const ok = answersOf(() => desktop, 60_000)
const error = async (...args: string[]): Promise<Json> => {
  const { json } = await desktop.run(...args)
  if (json?.ok) throw new Error(`${args.join(" ")} succeeded: ${JSON.stringify(json)}`)
  return json.error
}

beforeAll(async () => {
  desktop = await openDesktop()
})

afterAll(async () => {
  await desktop?.close()
})

const FIELDS: ReadonlySet<string> = new Set(["checkbox", "combobox", "incrementor", "slider", "textfield"])
const nodesOf = (node: Json): Json[] => [node, ...(node.children ?? []).flatMap(nodesOf)]

/** A radio button of GTK 4 says that it is a check box. */
const FORM = [
  ["set-value", { ref_id: 'textfield "Name"', value: "Ada" }],
  ["set-value", { ref_id: '"Amount"', value: "42" }],
  ["set-value", { ref_id: 'slider "Volume"', value: "70" }],
  ["check", { ref_id: 'checkbox "Agree"' }],
  ["click", { ref_id: '"Large"' }],
  ["select", { ref_id: '"Fruit"', value: "Cherry" }],
  ["click", { ref_id: 'tab "Second"' }],
] as const

describe.each(["gtk3", "gtk4", "qt6", "web"] as const satisfies Toolkit[])("in %s", (toolkit) => {
  let app: Fixture

  beforeAll(async () => {
    app = await startFixture(desktop, toolkit)
  })

  afterAll(() => {
    if (app?.isAlive()) process.kill(app.pid, "SIGKILL")
  })

  test("one batch fills a form without a snapshot before it, and ends with a snapshot", async () => {
    const commands = FORM.map(([command, args]) => ({ command, args }))
    const { results } = await ok(
      "batch",
      JSON.stringify([...commands, { command: "snapshot", args: { interactive_only: true } }]),
    )
    expect(results.filter((one: Json) => !one.ok)).toEqual([])
    await until(async () => (await app.seen("text", "Name")).value === "Ada", 3000)
    expect((await app.seen("value", "Amount")).value).toBe(42)
    expect(Math.round((await app.seen("value", "Volume")).value)).toBe(70)
    expect((await app.seen("check", "Agree")).value).toBe(true)
    expect((await app.seen("radio", "Large")).value).toBe(true)
    expect((await app.seen("select", "Fruit")).value).toBe("Cherry")
    await app.seen("tab", "Second")
    expect(results[0].data.window.title).toContain(app.title)
    expect(results.at(-1).data.ref_count).toBeGreaterThan(20)
  })

  test("a described field has the ref that a snapshot gave it", async () => {
    const { tree } = await ok("snapshot", "-i")
    const named = nodesOf(tree).filter(({ role, name }) => FIELDS.has(role) && name)
    const key = ({ role, name }: Json): string => `${role} "${name}"`.toLowerCase()
    const unique = named
      .filter((one) => named.filter((other) => key(other) === key(one)).length === 1)
      .slice(0, 6)
    const { json } = await desktop.run(
      "batch",
      "--timeout-ms",
      "60000",
      JSON.stringify(
        unique.map(({ role, name }) => ({
          command: "get",
          args: { ref_id: `${role} "${name}"`, property: "role" },
        })),
      ),
    )
    expect(unique.length).toBeGreaterThan(4)
    expect(json.data.results.map((one: Json) => one.data?.ref_id ?? one.error)).toEqual(
      unique.map(({ ref_id }) => ref_id),
    )
  })

  test("two elements of one name are refused with a ref for each, and nothing is pressed", async () => {
    const before = (await app.events()).length
    const { code, details } = await error("click", 'button "Delete"')
    expect(code).toBe("AMBIGUOUS_TARGET")
    expect(details.candidates).toMatchObject([{ name: "Delete" }, { name: "Delete" }])
    expect((await app.events()).length).toBe(before)
    await ok("click", details.candidates[1].ref_id)
    expect((await app.seen("press", "Delete")).key).toBe("Delete 2")
    await ok("click", 'button "Delete" nth 1')
    expect((await app.seen("press", "Delete")).key).toBe("Delete 1")
  })

  test("an element that appears later is waited for, and the error about one that never appears lists similar names", async () => {
    const start = performance.now()
    await ok("click", 'button "Start"')
    // "Later" is there, but disabled for a while.
    await ok("click", '"later"')
    await app.seen("press", "Later")
    expect(performance.now() - start).toBeGreaterThan(100)
    const { code, details } = await error("click", 'button "Strat"', "--timeout-ms", "2000")
    expect(code).toBe("ELEMENT_NOT_FOUND")
    expect(details.candidates[0]).toMatchObject({ role: "button", name: "Start" })
  })

  test("--app and --window-id beside a ref are checked against it", async () => {
    const { ref_id, window } = await ok("click", 'button "Press me"')
    const count = async () => (await app.events()).filter(({ name }) => name === "Press me").length
    await until(async () => (await count()) > 0)
    const before = await count()
    await ok("click", ref_id, "--app", window.app_name, "--window-id", window.id)
    await until(async () => (await count()) > before)
    const now = await count()
    const refused = { code: "INVALID_ARGS", disposition: { delivery: "not_delivered" } }
    const elsewhere = await error("click", ref_id, "--app", "nobody")
    expect(elsewhere).toMatchObject({ ...refused, details: { argument: "app" } })
    expect(elsewhere.message).toContain(window.id)
    expect(await error("click", ref_id, "--window-id", "w-1")).toMatchObject({ code: "WINDOW_NOT_FOUND" })
    expect(await count()).toBe(now)
  })

  test("an element out of view is found and pressed", async () => {
    await ok("click", 'button "Row 40"')
    await app.seen("press", "Row 40")
  })

  test("@focused is the element that gets the keys", async () => {
    await ok("focus", 'textfield "Name"')
    await ok("set-value", "@focused", "Bea")
    await until(async () => (await app.seen("text", "Name")).value === "Bea", 3000)
    await ok("press", "end", "--to", "@focused")
    expect((await ok("type", "@focused", "trix")).element.role).toBe("textfield")
    await until(async () => (await app.seen("text", "Name")).value === "Beatrix", 3000)
  })

  // Chromium's page has no menu bar.
  if (toolkit !== "web")
    test("a menu item is one call, and nothing stays open", async () => {
      const open = async (): Promise<readonly string[]> =>
        (await ok("list-surfaces", "--app", `fixture-${toolkit}`)).surfaces
          .map(({ type }: Json) => type)
          .filter((type: string) => type === "menu" || type === "popover")
      const menu = (path: string): Promise<Json> => ok("menu", path, "--app", `fixture-${toolkit}`)
      expect((await menu("file > open recent > Two")).path).toEqual(["File", "Open Recent", "Two"])
      await app.seen("menu", "Two")
      const toolbar = await menu("View > Show Toolbar…")
      expect(toolbar.post_state.states).toContain("checked")
      expect((await app.seen("check", "Show Toolbar")).value).toBe(true)
      expect(await open()).toEqual([])
      const lost = await error(
        "menu",
        "File > Export",
        "--app",
        `fixture-${toolkit}`,
        "--timeout-ms",
        "15000",
      )
      expect(lost).toMatchObject({
        code: "ELEMENT_NOT_FOUND",
        details: { candidates: ["New", "Open Recent", "Save", "Quit"] },
      })
      expect(await open()).toEqual([])
      const off = await error(
        "menu",
        "View > Unavailable",
        "--app",
        `fixture-${toolkit}`,
        "--timeout-ms",
        "15000",
      )
      expect(off.code).toBe("ACTION_FAILED")
      expect(await open()).toEqual([])
    })

  test("keys are pressed in order, and delete is the key of that name", async () => {
    await ok("set-value", 'textfield "Name"', "abcd")
    await ok("press", "home right", "--to", 'textfield "Name"')
    await ok("press", "delete", "--count", "2")
    await until(async () => (await app.seen("text", "Name")).value === "ad", 3000)
    await ok("press", "end backspace")
    await until(async () => (await app.seen("text", "Name")).value === "a", 3000)
  })

  test("the dialog in front is searched, not the window behind it", async () => {
    await ok("click", 'button "Open dialog"')
    await app.seen("opened", "Confirm")
    const behind = await error("click", 'button "Start"', "--timeout-ms", "2000")
    expect(behind.code).toBe("ELEMENT_NOT_FOUND")
    await ok("click", 'button "Cancel"')
    expect((await app.seen("dialog", "Confirm")).value).toBe("cancel")
  })
})

test("a form of ten fields is filled by one batch of ten descriptions", async () => {
  const path = `${desktop.directory}/ten.json`
  const app = desktop.spawnApp(["/usr/bin/python3", "-c", TEN_FIELDS, path])
  const names = Array.from({ length: 10 }, (_, i) => `Field ${i + 1}`)
  const commands = names.map((name, i) => ({
    command: "set-value",
    args: { ref_id: `textfield "${name}"`, value: `value ${i}`, app: "ten-fields" },
  }))
  await until(async () => {
    const { windows } = await ok("list-windows")
    return windows.some(({ title }: Json) => title === "Ten fields")
  }, 30_000)
  const { results } = await ok("batch", JSON.stringify(commands), "--stop-on-error")
  expect(results.map(({ data }: Json) => data.disposition.delivery)).toEqual(
    names.map(() => "delivered_verified"),
  )
  const wanted = Object.fromEntries(names.map((name, i) => [name, `value ${i}`]))
  await until(async () => Bun.deepEquals(await Bun.file(path).json(), wanted))
  app.kill()
})

/** Ten fields with labels. Every change writes all of them to the file. */
const TEN_FIELDS = `
import json, os, sys, gi; gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
GLib.set_prgname("ten-fields")
grid, fields = Gtk.Grid(), {}
def save(*_):
    with open(sys.argv[1] + "~", "w") as f: json.dump({n: e.get_text() for n, e in fields.items()}, f)
    os.rename(sys.argv[1] + "~", sys.argv[1])
for i in range(10):
    name = f"Field {i + 1}"
    fields[name] = Gtk.Entry(); label = Gtk.Label(label=name, mnemonic_widget=fields[name])
    grid.attach(label, 0, i, 1, 1); grid.attach(fields[name], 1, i, 1, 1); fields[name].connect("changed", save)
window = Gtk.Window(title="Ten fields"); window.add(grid); window.show_all(); Gtk.main()`
