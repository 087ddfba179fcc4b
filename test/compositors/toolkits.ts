import { beforeAll, describe, expect, test } from "bun:test"
import { type Fixture, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import type { TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { data } from "./session.ts"

/** Tests that are the same on every compositor, judged by the apps' own logs. */

export interface Form {
  readonly fixture: Fixture
  readonly id: string
  readonly ok: (...args: readonly string[]) => Promise<Json>
  readonly find: (role: string, name: string) => Promise<string>
  /** The number of times that the button "Press me" says it was pressed. */
  readonly presses: () => Promise<number>
}

export async function openForm(desk: TestDesktop, toolkit: Toolkit): Promise<Form> {
  const ok = (...args: readonly string[]) => data(desk, ...args)
  const fixture = await startFixture(desk, toolkit)
  // Chromium's own process may be another one than the first.
  const isOwn = ({ pid, title }: Json) =>
    toolkit === "web" ? title.startsWith(fixture.title) : pid === fixture.pid
  const window: Json = await until(async () => (await ok("list-windows")).windows.find(isOwn))
  const id = window.id
  const find = async (role: string, name: string) =>
    (await ok("find", "--window-id", id, "--role", role, "--name", name, "--exact", "--first")).match.ref_id
  const isPress = ({ event, name }: { event: string; name?: string }) =>
    event === "press" && name === "Press me"
  const presses = async () => (await fixture.events()).filter(isPress).length
  return { fixture, id, ok, find, presses }
}

/** Actions by accessibility, which do not depend on the compositor. */
export function testFloor(open: () => TestDesktop, toolkits: readonly Toolkit[]): void {
  describe.each(toolkits)("by accessibility, in %s", (toolkit) => {
    let form: Form
    beforeAll(async () => {
      form = await openForm(open(), toolkit)
    })

    test("the window is listed once, and its snapshot has refs", async () => {
      const { windows } = await form.ok("list-windows")
      expect(windows.filter(({ id }: Json) => id === form.id)).toHaveLength(1)
      const { pid } = windows.find(({ id }: Json) => id === form.id)
      expect(windows.filter((one: Json) => one.pid === pid)).toHaveLength(1)
      const { ref_count, app } = await form.ok("snapshot", "--window-id", form.id)
      expect(ref_count).toBeGreaterThan(20)
      expect((await form.ok("list-apps")).apps.map(({ name }: Json) => name)).toContain(app)
    })

    test("a click, text, a value and a check arrive once", async () => {
      const { fixture, ok, find, presses } = form
      const button = await find("button", "Press me")
      await ok("click", button, "--input", "semantic")
      await fixture.seen("press", "Press me")
      // Chromium takes text from keys only.
      if (toolkit !== "web") {
        const field = await find("textfield", "Name")
        await ok("type", field, "Grüße 日本 😀", "--input", "semantic")
        expect((await ok("get", field, "value")).value).toBe("Grüße 日本 😀")
        await ok("set-value", field, "another value")
        await until(async () => (await fixture.seen("text", "Name")).value === "another value")
        await ok("clear", field)
        expect((await ok("get", field, "value")).value).toBe("")
      }
      expect((await ok("is", button, "visible")).result).toBe(true)
      // GTK 4.8 offers no action for check boxes.
      if (toolkit !== "gtk4") {
        await ok("check", await find("checkbox", "Agree"), "--input", "semantic")
        expect(await fixture.seen("check", "Agree")).toMatchObject({ value: true })
      }
      expect(await presses()).toBe(1)
    })
  })
}

/** The pointer on elements whose places are known. */
export function testPointer(form: () => Form, toolkit: Toolkit): void {
  test("a physical click and a double click arrive", async () => {
    const { ok, find, presses } = form()
    const button = await find("button", "Press me")
    expect((await ok("click", button, "--input", "physical")).method).toBe("pointer")
    await until(async () => (await presses()) === 1)
    await ok("double-click", button)
    await until(async () => (await presses()) === 3)
  })

  test("clicks two pixels inside the edges press, clicks two pixels outside do not", async () => {
    const { ok, find, presses } = form()
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
}

/** Text that goes from the program to the app and back. */
export function testClipboard(form: () => Form): void {
  test("shares the clipboard in both directions", async () => {
    const { ok, id, find, fixture } = form()
    const name = await find("textfield", "Name")
    await ok("clipboard-set", "Grüße 日本 😀")
    await ok("focus-window", id)
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
}

/** Pointer and keyboard on elements whose places are known. `typed`: a text that the keyboard layout has. */
export function testInput(open: () => TestDesktop, toolkits: readonly Toolkit[], typed: string): void {
  describe.each(toolkits)("with places, in %s", (toolkit) => {
    let form: Form
    beforeAll(async () => {
      form = await openForm(open(), toolkit)
      await form.ok("focus-window", form.id)
    })

    testPointer(() => form, toolkit)

    test("text typed by keys is exact, and a character that no key has is refused", async () => {
      await testKeys(open(), form, typed)
    })

    // At the end: KWin 5.27 may give a window no keys after its menu has closed, until it is clicked.
    test("a drag and a right click arrive once", async () => {
      const { fixture, id, ok, find } = form
      const count = async (event: string) =>
        (await fixture.events()).filter((one) => one.event === event).length
      const patience = ["--timeout-ms", "30000"]
      const [source, goal] = [await find("button", "Drag me"), await find("button", "Drop here")]
      await ok("drag", source, "--to", goal, ...patience)
      await fixture.seen("drop", "Drop here")
      const area = await find("button", "Context area")
      expect((await ok("right-click", area, "--input", "physical", ...patience)).method).toBe("pointer")
      await fixture.seen("context", "Context area")
      await ok("press", "escape", "--window-id", id)
      expect([await count("drop"), await count("context")]).toEqual([1, 1])
    })
  })
}

/** Types a text that the keyboard layout has and one that it does not have. */
export async function testKeys(desk: TestDesktop, form: Form, typed: string): Promise<void> {
  const { fixture, ok, find, id } = form
  const field = await find("textfield", "Name")
  await ok("type", field, typed, "--input", "physical", "--timeout-ms", "20000")
  const seen = async (): Promise<string> => (await fixture.seen("text", "Name")).value
  await until(async () => (await seen()).length >= typed.length)
  expect(await seen()).toBe(typed)
  const bad = ["type", field, "a日b", "--input", "physical", "--timeout-ms", "20000"]
  const { error } = (await desk.run(...bad)).json
  expect([error.code, error.disposition.delivery]).toEqual(["ACTION_FAILED", "not_delivered"])
  await ok("press", "ctrl+a", "--window-id", id)
  await ok("press", "delete", "--window-id", id)
  await until(async () => (await seen()) === "")
}
