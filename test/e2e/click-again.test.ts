import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Fixture, type FixtureEvent, startFixture, startRows } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Single clicks that follow each other at once, on one spot: no app may take two of them for a double click. */

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop.close())

const CLICKS = 4
/** Presses of a double click are at most half a second and five pixels apart. */
const DOUBLE_MS = 500
const NEAR = 5

/** Clicks in one process, so that nothing but the program itself puts time between them. */
async function clickAgain(app: Fixture, target: string): Promise<void> {
  const click = ["click", target, "--input", "physical", "--window-id", await windowOf(app)]
  const { json: first } = await desktop.run(...click, "--timeout-ms", "20000")
  expect(first).toMatchObject({ ok: true })
  await batch(
    Array(CLICKS).fill({
      command: "click",
      args: { ref_id: first.data.ref_id, input: "physical", timeout_ms: 20_000 },
    }),
  )
}

async function batch(items: readonly object[]): Promise<void> {
  const { json } = await desktop.run(
    "batch",
    JSON.stringify(items),
    "--stop-on-error",
    "--timeout-ms",
    "100000",
  )
  expect(json).toMatchObject({ ok: true })
}

/** The presses on the area since the given one, once there are so many. */
function pressesOn(app: Fixture, since: number, count: number): Promise<readonly FixtureEvent[]> {
  return until(async () => {
    const events = await app.events()
    const all = events.filter(({ event, name }) => event === "click" && name === "Click area")
    return all.length >= since + count ? all.slice(since) : undefined
  })
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
    await clickAgain(app, 'button "Click area"')
    const clicks = await pressesOn(app, 0, CLICKS + 1)
    expect(clicks.map(({ count }) => count)).toEqual(Array(CLICKS + 1).fill(1))
    for (const [i, { at, x, y }] of clicks.slice(1).entries()) {
      const before = clicks[i]!
      const isFar = Math.abs(x - before.x) > NEAR || Math.abs(y - before.y) > NEAR
      expect(isFar || at - before.at > DOUBLE_MS).toBe(true)
    }
    // These need no element, so that they follow each other within milliseconds unless the program waits.
    const { json } = await desktop.run(
      "get",
      'button "Click area"',
      "bounds",
      "--window-id",
      await windowOf(app),
    )
    const { x, y, width, height } = json.data.value
    const xy = `${x + Math.floor(width / 2)},${y + Math.floor(height / 2)}`
    await batch(Array(3).fill({ command: "mouse-click", args: { xy } }))
    const apart = await pressesOn(app, CLICKS + 1, 3)
    expect(apart.map(({ count }) => count)).toEqual([1, 1, 1])
    // The fixture recognizes a double click. On a busy machine, the second press may come too late for one.
    let since = CLICKS + 4
    await until(async () => {
      await batch([{ command: "mouse-click", args: { xy, count: 2 } }])
      const [, second] = await pressesOn(app, since, 2)
      since += 2
      return second?.count === 2
    }, 30_000)
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
