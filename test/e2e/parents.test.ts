import { afterAll, beforeAll, expect, test } from "bun:test"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** No parent hides what shows. The app's log proves the presses. */

let desktop: TestDesktop
let log: string
beforeAll(async () => {
  desktop = await openDesktop()
  log = `${desktop.directory}/pressed.log`
  desktop.spawnApp(["/usr/bin/python3", new URL("../fixtures/lying.py", import.meta.url).pathname, log])
  await until(async () => (await desktop.run("snapshot", "--app", "lying")).json?.ok, 30_000)
}, 60_000)
afterAll(() => desktop?.close())

const BUTTONS = ["In an empty box", "In a small box", "In a box off the screen", "On the first page"]

test("elements in boxes and tabs that report a wrong position or none are read and have refs", async () => {
  for (const flags of [[], ["-i"], ["--offscreen"]]) {
    const { json } = await desktop.run("snapshot", "--app", "lying", ...flags)
    const buttons = nodesOf(json.data.tree).filter(({ role }) => role === "button")
    expect(buttons.map(({ name }) => name)).toEqual(BUTTONS)
    expect(buttons.every(({ ref_id }) => ref_id !== undefined)).toBe(true)
  }
})

test("a page that is not shown stays hidden", async () => {
  const { json } = await desktop.run("find", "--app", "lying", "--name", "On the second page", "--count")
  expect(json.data.count).toBe(0)
})

test.each(["semantic", "physical"])("they are clicked with --input %s", async (input) => {
  await Bun.write(log, "")
  for (const name of BUTTONS) {
    const { json } = await desktop.run("click", `button "${name}"`, "--app", "lying", "--input", input)
    expect(json).toMatchObject({ ok: true, data: { element: { name } } })
  }
  await until(async () => (await Bun.file(log).text()) === BUTTONS.map((name) => `${name}\n`).join(""))
})
