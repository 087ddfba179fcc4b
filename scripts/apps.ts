import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { appNamed, PROVEN_APPS } from "../bench/apps.ts"

/**
 * Compares stock apps with pyatspi and with the lists in test/apps, each on a desktop of its own:
 *
 *   bun scripts/setup.ts --for apps
 *   bun run build && bun run apps [NAME…] [--write]
 *
 * --write puts the rows into docs/apps.md and keeps the rows of other apps.
 */

const root = join(import.meta.dir, "..")
const { values, positionals: given } = parseArgs({
  args: process.argv.slice(2),
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
})
const directory = mkdtempSync(join(tmpdir(), "agent-desktop-apps-"))
const rows = new Map<string, string>()
let failed = 0
for (const key of given.length > 0 ? given : PROVEN_APPS) {
  const { toolkit, package: name = key } = appNamed(key)
  const report = join(directory, `${key}.xml`)
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`]
  const file = "./test/e2e/differential.test.ts"
  const child = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...reporter, file], {
    cwd: root,
    env: { ...process.env, DIFFERENTIAL_APPS: key },
    stdio: ["ignore", "ignore", "inherit"],
  })
  await child.exited
  const outcomes = outcomesIn(await Bun.file(report).text())
  failed += outcomes.filter((outcome) => outcome === "differs" || outcome === "not run").length
  const today = new Date().toISOString().slice(0, 10)
  rows.set(key, `| ${key} | ${toolkit} | ${versionOf(name)} | ${outcomes.join(" | ")} | ${today} |`)
  console.log(rows.get(key))
}
rmSync(directory, { recursive: true })
if (values.write) await writeDocs()
process.exitCode = failed === 0 ? 0 : 1

/** The results for the window, the list and the popup, in the order of the tests. */
function outcomesIn(xml: string): readonly string[] {
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)]
  return ["dump by pyatspi agree", "picture shows is in a snapshot", "on an open popup"].map((part) => {
    const found = cases.find(([, title = ""]) => title.endsWith(part))
    // The app did not become ready in time.
    if (!found) return "not run"
    const [, , inside = ""] = found
    if (inside.includes("<failure")) return "differs"
    return inside.includes("<skipped") ? "" : "agrees"
  })
}

function versionOf(name: string): string {
  const [, version = "not installed"] = Bun.spawnSync(["dpkg-query", "--show", name])
    .stdout.toString()
    .trim()
    .split("\t")
  return version
}

async function writeDocs(): Promise<void> {
  const file = join(root, "docs/apps.md")
  const docs = await Bun.file(file).text()
  const lines = docs.split("\n")
  const start = lines.indexOf("<!-- apps -->")
  const end = lines.indexOf("<!-- end of apps -->")
  if (start < 0 || end < start) throw new Error("docs/apps.md has no marks for the table")
  const kept = new Map(
    lines.slice(start + 3, end).map((line) => [/^\| (\S+)/.exec(line)?.[1] ?? line, line] as const),
  )
  const all = PROVEN_APPS.flatMap((key) => rows.get(key) ?? kept.get(key) ?? [])
  await Bun.write(file, [...lines.slice(0, start + 3), ...all, ...lines.slice(end)].join("\n"))
}
