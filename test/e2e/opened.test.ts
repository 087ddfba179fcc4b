import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Node } from "../../src/node.ts"
import { type Fixture, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import { startReacting } from "../fixtures/reacting.ts"
import { answersOf, nodesOf, windowTitled } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { timed } from "../support/pace.ts"
import { until } from "../support/until.ts"

/** A click that opens a dialog returns it with refs. The app's log proves what was clicked in it. */

/** The slack of a machine that is too busy to show a dialog in the time that a click waits. */
const BUSY_MS = 800

describe.each<Toolkit>(["gtk3", "gtk4", "qt6", "qt5", "web"])("%s", (toolkit) => {
  let desktop: TestDesktop
  let fixture: Fixture
  let id: string

  const ok = answersOf(() => desktop)
  const refOf = (name: string): Promise<string> =>
    until(async () => {
      const query = ["--role", "button", "--name", name, "--exact", "--first"]
      return (await ok("find", "--window-id", id, ...query)).match?.ref_id
    }, 30_000)
  const dialogInPage = async (title = "Confirm"): Promise<Node | undefined> =>
    nodesOf((await ok("snapshot", "--window-id", id, "--max-depth", "40")).tree).find(
      ({ name }) => name === title,
    )
  const refIn = (tree: Node, name: string): string =>
    nodesOf(tree).find((one) => one.name === name)?.ref_id ?? ""

  beforeAll(async () => {
    desktop = await openDesktop({ width: 1600 })
    fixture = await startFixture(desktop, toolkit)
    id = await windowTitled(ok, fixture.title, 30_000)
  }, 90_000)
  afterAll(() => desktop?.close())

  test.each(["semantic", "physical"])(
    "a click (%s) that opens a dialog returns it, and its button is clicked by ref",
    async (input) => {
      const ref = await refOf("Open dialog")
      const { result, slackMs } = await timed(() => ok("click", ref, "--input", input))
      // A page on a busy machine may open its dialog after its first reaction, which is all that a click waits for.
      const isLate = toolkit === "web" && !result.popup && slackMs > BUSY_MS
      const popup = isLate ? await until(dialogInPage) : result.popup
      expect(JSON.stringify(popup)).toContain("Are you sure?")
      if (!isLate) expect(result.disposition).toEqual({ delivery: "delivered_verified", retry: "unsafe" })
      const before = (await fixture.events()).length
      await ok("click", refIn(popup, "OK"))
      const answered = await until(async () =>
        (await fixture.events()).slice(before).find(({ event }) => event === "dialog"),
      )
      expect(answered).toMatchObject({ name: "Confirm", value: "ok" })
    },
    60_000,
  )

  test("a click that opens nothing returns nothing more, even after a dialog has closed", async () => {
    const { popup, disposition } = await ok("click", await refOf("Press me"))
    expect(popup).toBeUndefined()
    expect(disposition.retry).toBe("unsafe")
    await fixture.seen("press", "Press me")
  }, 60_000)

  test("a click in a dialog does not return that dialog as opened", async () => {
    const { popup } = await ok("click", await refOf("Open sheet"))
    // A page on a busy machine shows its dialog after the wait of the click.
    const dialog = popup ?? (await until(() => dialogInPage("Save As"), 10_000))
    const field = refIn(dialog, "File name")
    const { popup: none } = await ok("click", field, "--input", "physical")
    expect(none).toBeUndefined()
    expect((await ok("click", refIn(dialog, "Cancel"))).popup).toBeUndefined()
    expect(await fixture.seen("dialog", "Save As")).toMatchObject({ value: "cancel" })
  }, 60_000)
})

test("a dialog that the app makes at once and shows later is returned; a window that never shows is not", async () => {
  const desktop = await openDesktop()
  try {
    const { app, events } = await startReacting(desktop, "late")
    const click = async (target: string): Promise<Json> => {
      const { json, stdout } = await desktop.run("click", target, "--app", app, "--timeout-ms", "20000")
      if (!json?.ok) throw new Error(stdout)
      return json.data
    }
    expect((await click('button "Open never"')).popup).toBeUndefined()
    const { popup } = await click('button "Open later"')
    expect(JSON.stringify(popup)).toContain("Are you sure?")
    await click(nodesOf(popup).find(({ name }) => name === "OK")?.ref_id ?? "")
    await until(async () => (await events()).some(({ event }) => event === "answered"))
  } finally {
    await desktop.close()
  }
}, 60_000)
