import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Fixture, startFixture, startRows } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(120_000)

/** Single clicks that follow each other at once, on one spot: no app may take two of them for a double click. */

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop.close())

const CLICKS = 4

/** Clicks in one process, so that nothing but the program itself puts time between them. Returns the milliseconds. */
async function clickAgain(app: Fixture, target: string): Promise<number> {
  const click = ["click", target, "--input", "physical", "--window-id", await windowOf(app)]
  const { json: first } = await desktop.run(...click)
  expect(first).toMatchObject({ ok: true })
  const item = { command: "click", args: { ref_id: first.data.ref_id, input: "physical" } }
  const start = performance.now()
  const { json } = await desktop.run("batch", JSON.stringify(Array(CLICKS).fill(item)), "--stop-on-error")
  expect(json).toMatchObject({ ok: true })
  return performance.now() - start
}

async function windowOf({ title, pid }: Fixture): Promise<string> {
  const { json } = await desktop.run("list-windows")
  return json.data.windows.find(
    (one: { title: string; pid: number }) => one.pid === pid || one.title === title,
  ).id
}

describe.each(["gtk3", "gtk4", "qt6", "web"] as const)("%s", (toolkit) => {
  test("clicks on one spot stay single", async () => {
    const app = await startFixture(desktop, toolkit)
    const ms = await clickAgain(app, 'button "Click area"')
    const clicks = await until(async () => {
      const seen = (await app.events()).filter(
        ({ event, name }) => event === "click" && name === "Click area",
      )
      return seen.length > CLICKS ? seen : undefined
    })
    expect(clicks.map(({ count }) => count)).toEqual(Array(CLICKS + 1).fill(1))
    // A click that is far enough in time from the one before it may be on the same spot.
    if (ms < (CLICKS - 1) * 520) expect(new Set(clicks.map(({ x }) => x)).size).toBe(2)
    process.kill(app.pid)
  })
})

test("a row of a GTK 3 table is selected by each click and opened by none", async () => {
  const app = await startRows(desktop)
  await clickAgain(app, 'cell "big.bin" in "Shares"')
  const done = async () => (await app.events()).filter(({ name }) => name === "Shares")
  await until(async () => (await done()).at(-1)?.value?.[0] === "big.bin")
  expect(new Set((await done()).map(({ event }) => event))).toEqual(new Set(["select"]))
})
