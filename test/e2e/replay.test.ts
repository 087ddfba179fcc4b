import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { runProgram } from "../support/desktop.ts"
import { temporary } from "../support/temporary.ts"

/** Flows through the compiled program, each on a desktop that it starts and ends. */

const SAVE = new URL("../fixtures/flow/save.flow", import.meta.url).pathname

test("a flow writes and saves a file on its own desktop, which is gone afterwards", async () => {
  using place = temporary()
  // An app that was killed in the user's home would ask about its last session.
  const env = { ...process.env, HOME: place.path, AGENT_DESKTOP_HOME: `${place.path}/state` }
  const file = `${place.path}/note.txt`
  const junit = `${place.path}/report.xml`
  const values = ["--set", "WHO=Ada", "--set", `FILE=${file}`]
  const { json, stdout } = await runProgram(["replay", SAVE, "--isolated", ...values, "--junit", junit], env)
  expect(json, stdout).toMatchObject({ ok: true, data: { lines: 7 } })
  expect(readFileSync(file, "utf8")).toStartWith("Hello Ada")
  expect(readFileSync(junit, "utf8")).toContain('tests="7" failures="0" skipped="0"')
  expect((await runProgram(["list-desktops"], env)).json.data.desktops).toEqual([])
})

test("a flow stops at the first line that fails, and keeps what was on the screen", async () => {
  using place = temporary()
  // An app that was killed in the user's home would ask about its last session.
  const env = { ...process.env, HOME: place.path, AGENT_DESKTOP_HOME: `${place.path}/state` }
  const flow = `${place.path}/wrong.flow`
  const report = `${place.path}/report`
  writeFileSync(
    flow,
    `launch mousepad\nclick 'menuitem "Fil"' --app mousepad --timeout-ms 1500\nclipboard-set never\n`,
  )
  const { json, exitCode } = await runProgram(["replay", flow, "--isolated", "--report", report], env)
  expect(exitCode).toBe(1)
  expect(json.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { line: 2, report } })
  expect(json.error.details.candidates[0]).toMatchObject({ role: "menuitem", name: "File" })
  expect(readdirSync(report).toSorted()).toEqual(["error.json", "screen.png", "snapshot.txt"])
  expect(readFileSync(`${report}/snapshot.txt`, "utf8")).toContain('menuitem "File"')
  expect(
    existsSync(`${place.path}/state/sessions`) ? readdirSync(`${place.path}/state/sessions`) : [],
  ).toEqual([])
})
