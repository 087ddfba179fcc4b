import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** A session with refs becomes a flow, and the flow acts on the same elements or stops. The app's log judges. */

const APP = new URL("../fixtures/look-alikes.py", import.meta.url).pathname

let desktop: TestDesktop
let flow: string
let log: string

beforeAll(async () => {
  desktop = await openDesktop()
  flow = `${desktop.directory}/notes.flow`
  log = `${desktop.directory}/log`
})

afterAll(async () => {
  await desktop?.close()
})

const pressed = (): readonly string[] =>
  existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []

interface Weather {
  readonly openMs?: number
  readonly closeMs?: number
  readonly twin?: boolean
  readonly names?: readonly string[]
}

/** Runs work while the app shows these rows, and ends the app. */
async function withNotes<T>(
  { openMs = 0, closeMs = 0, twin = false, names = ["Ada", "Gina", "Hugo"] }: Weather,
  work: () => Promise<T>,
): Promise<T> {
  rmSync(log, { force: true })
  const words = [String(openMs), String(closeMs), twin ? "twin" : "alone", ...names]
  const app = desktop.spawnApp(["/usr/bin/python3", APP, log, ...words])
  try {
    await until(async () => {
      const { json } = await desktop.run("list-windows", "--app", "notes")
      return json?.data?.windows.length === (twin ? 2 : 1)
    }, 30_000)
    return await work()
  } finally {
    app.kill("SIGKILL")
    await app.exited
  }
}

/** Looks, and acts on the element that these words of the outline stand before. */
async function act(verb: string, before: RegExp): Promise<void> {
  const env = { ...desktop.env, AGENT_DESKTOP_RECORD: flow }
  const { stdout } = await desktop.run("snapshot", "--app", "notes", "--format", "text")
  const ref = before.exec(stdout)?.[1]
  if (ref === undefined) throw new Error(stdout)
  const { json } = await runProgram([verb, ref, "--timeout-ms", "15000"], env)
  expect(json.ok, JSON.stringify(json)).toBe(true)
}

const replay = async (): Promise<Json> => (await desktop.run("replay", flow)).json

test("refs become descriptions of one element, in its row and its dialog", async () => {
  await withNotes({}, async () => {
    await act("click", /button "Export" \[(@e\d+)\]/)
    await desktop.run("wait", "--window", "Export")
    await act("click", /button "Save" \[(@e\d+)\]/)
    await desktop.run("wait", "--window", "Export", "--gone")
    await act("click", /"Gina"[\s\S]*?button "Delete" \[(@e\d+)\]/)
    await act("click", /button "a \\"b\\"[^\n]* \[(@e\d+)\]/)
    await act("click", /button "Save" \[(@e\d+)\]/)
    expect(pressed()).toEqual(["export", "dialog save", "delete Gina", "hostile", "main save"])
  })
  const lines = readFileSync(flow, "utf8").split("\n")
  expect(lines).toEqual(
    expect.arrayContaining([
      `click 'button "Export"' --app notes --timeout-ms 15000`,
      `click 'button "Save" in dialog "Export"' --app notes --timeout-ms 15000`,
      `click 'button "Delete" in "Gina"' --app notes --timeout-ms 15000`,
      `click 'button "Save"' --app notes --timeout-ms 15000`,
    ]),
  )
  expect(lines.filter((line) => line.startsWith("#"))).toEqual([])
})

test("rows in another order, a dialog that opens late and closes late: the same elements are pressed", async () => {
  await withNotes({ openMs: 1500, closeMs: 1000, names: ["Hugo", "Gina", "Ada"] }, async () => {
    const json = await replay()
    expect(json.ok, JSON.stringify(json)).toBe(true)
    expect(pressed()).toEqual(["export", "dialog save", "delete Gina", "hostile", "main save"])
  })
})

test("a second row of that name stops the flow at its line, and nothing is deleted", async () => {
  await withNotes({ names: ["Gina", "Ada", "Gina"] }, async () => {
    const { error } = await replay()
    expect(error).toMatchObject({ code: "AMBIGUOUS_TARGET" })
    expect(error.message).toContain(`click 'button "Delete" in "Gina"'`)
    expect(readFileSync(flow, "utf8").split("\n")[error.details.line - 1]).toContain("Gina")
    expect(pressed()).toEqual(["export", "dialog save"])
  })
})

test("a window with the same button stops the flow, and neither is pressed", async () => {
  await withNotes({ twin: true }, async () => {
    await desktop.run("focus-window", "--app", "notes", "--title", "notes.txt - Notes")
    const { error } = await replay()
    expect(error.code, JSON.stringify(error)).toMatch(/AMBIGUOUS_TARGET|ELEMENT_NOT_FOUND|TIMEOUT/)
    expect(pressed().filter((line) => line.endsWith(" save"))).not.toContain("twin save")
    expect(pressed()).not.toContain("main save")
  })
})
