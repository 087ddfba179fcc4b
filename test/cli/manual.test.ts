import { expect, test } from "bun:test"
import { globals } from "../../src/cli/globals.ts"
import { manualPage } from "../../src/cli/help.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { ERROR_CODES } from "../../src/errors.ts"
import { fieldsOf } from "../../src/schema/fields.ts"

const all = await loadAll(commands)
const page = manualPage(all, globals, "1.2.3")

function pipe(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], {
    stdin: Buffer.from(page),
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", ...env },
  })
  return { out: stdout.toString(), err: stderr.toString(), exitCode }
}

test("the manual has only characters that every terminal has", () => {
  expect(page.match(/[^\n -~]/g) ?? []).toEqual([])
})

test.skipIf(!Bun.which("man"))("man shows every command, flag and error code, without a warning", () => {
  const { out, err, exitCode } = pipe(["man", "--warnings", "-l", "-"], {
    MANWIDTH: "200",
    MAN_KEEP_FORMATTING: "",
  })
  expect({ err, exitCode }).toEqual({ err: "", exitCode: 0 })
  for (const command of all) {
    expect(out).toMatch(new RegExp(`^ +${command.name}( |$)`, "m"))
    for (const { flag } of fieldsOf(command.input)) expect(out).toContain(flag)
  }
  for (const code of ERROR_CODES) expect(out).toContain(code)
})

test.skipIf(!Bun.which("mandoc"))("mandoc reports no warning", () => {
  const { out, err } = pipe(["mandoc", "-T", "lint", "-W", "warning"])
  // The page has no date: it would differ at every build.
  const warnings = `${out}${err}`.split("\n").filter((line) => line !== "" && !line.includes("missing date"))
  expect(warnings).toEqual([])
})

test("no text is read as a roff request", () => {
  const requests = new Set([...page.matchAll(/^\.(\w+)/gm)].map(([, name]) => name))
  expect([...requests].sort()).toEqual(["B", "EE", "EX", "I", "PP", "RE", "RS", "SH", "SS", "TH", "TP", "sp"])
  expect(page.split("\n").filter((line) => line.startsWith("'"))).toEqual([])
})
