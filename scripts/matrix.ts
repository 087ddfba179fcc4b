import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { COLUMNS, matrixTable } from "../test/e2e/matrix-table.ts"

/**
 * Runs every command on every control of every toolkit (or of the named ones) and prints the table: `bun run matrix`,
 * on another window system with `--kind wayland`.
 * A cell that differs from the table is marked with ✗.
 */

const root = join(import.meta.dir, "..")
const { values, positionals: given } = parseArgs({
  args: process.argv.slice(2),
  options: { kind: { type: "string", default: "x11" } },
  allowPositionals: true,
})
const toolkits = given.length > 0 ? given : COLUMNS.map(([toolkit]) => toolkit)
const directory = mkdtempSync(join(tmpdir(), "agent-desktop-matrix-"))
const failed = new Set<string>()
let passed = 0
for (const toolkit of toolkits) {
  const report = join(directory, `${toolkit}.xml`)
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`]
  const file = `./test/e2e/matrix-${toolkit}.test.ts`
  const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", ...reporter, file], {
    cwd: root,
    env: { ...process.env, MATRIX_KIND: values.kind },
    stdio: ["ignore", "ignore", "inherit"],
  })
  await child.exited
  const cases = casesOf(await Bun.file(report).text())
  if (cases.length === 0) throw new Error(`${file} did not run`)
  passed += cases.filter(({ isFailed }) => !isFailed).length
  for (const { title, isFailed } of cases) if (isFailed) failed.add(`${toolkit}: ${title}`)
}
rmSync(directory, { recursive: true })
console.log(matrixTable(failed))
console.log(`\n${passed} passed, ${failed.size} failed`)
for (const title of failed) console.log(`✗ ${title}`)
process.exitCode = failed.size === 0 ? 0 : 1

function casesOf(xml: string): readonly { readonly title: string; readonly isFailed: boolean }[] {
  return [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, title = "", inside = ""]) => ({ title: plain(title), isFailed: inside.includes("<failure") }),
  )
}

function plain(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&#10;", "\n")
    .replaceAll("&amp;", "&")
}
