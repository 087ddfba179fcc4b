import { expect, test } from "bun:test"
import { join } from "node:path"
import { parseArgv } from "../../src/cli/args.ts"
import { shellWords } from "../../src/cli/completions.ts"
import { globals } from "../../src/cli/globals.ts"
import { commands } from "../../src/commands/index.ts"
import { parseArgs } from "../../src/run.ts"
import { blocksOf, PAGES, ROOT } from "./pages.ts"

/** Command lines of the pages, as the program would read them. test/e2e/guides.test.ts runs those of the guides. */

const LINES = PAGES.filter(([path]) => path !== "CHANGELOG.md").flatMap(([path, text]) =>
  [...linesOf(text), ...inlineOf(text)].map((line) => [path, line] as const),
)

test("the pages have command lines", () => {
  expect(LINES.length).toBeGreaterThan(100)
})

test.each(LINES)("in %s, the line 'agent-desktop %s' parses", async (_path, line) => {
  const parsed = await parseArgv(shellWords(line), commands, globals)
  if (parsed.kind === "run") await parseArgs(parsed.command, parsed.args)
})

const FLOWS = PAGES.flatMap(([path, text]) =>
  blocksOf(text, "")
    .filter((block) => /^(#.*\n)?launch /.test(block))
    .map((flow) => [path, flow] as const),
)

test("the pages have flows", () => {
  expect(FLOWS.length).toBeGreaterThan(3)
})

test.each(FLOWS)("the flow in %s passes the check before a replay", (_path, flow) => {
  const main = join(ROOT, "src/main.ts")
  const { stdout } = Bun.spawnSync(
    [process.execPath, main, "replay", "-", "--dry-run", "--set", "WHO=Ada", "--set", "FILE=/tmp/note.txt"],
    { stdin: Buffer.from(flow), stderr: "ignore" },
  )
  expect(JSON.parse(stdout.toString())).toMatchObject({ ok: true })
})

/** Whole command lines inside of sentences. COMMAND stands for any command. */
function inlineOf(text: string): readonly string[] {
  return [...text.matchAll(/`agent-desktop ([a-z][^`|<>]*)`/g)].flatMap(([, line]) =>
    line!.includes("COMMAND") ? [] : [line!],
  )
}

/**
 * Lines that begin with the program, without comments, pipes and redirections. A quoted argument may have several lines.
 * Usage lines, such as `version [--timeout-ms MS]`, are not command lines.
 */
function linesOf(text: string): readonly string[] {
  const begun = [...text.matchAll(/^(?: {4}|\$ )?(?:[A-Z_]+=\S+ )*agent-desktop (?=[a-z-])/gm)]
  return begun.flatMap(({ index, 0: head }) => {
    const rest = text.slice(index + head.length)
    const line = /^(?:[^\n'"|<>#]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|(?<! )#)*/.exec(rest)?.[0].trim() ?? ""
    return /^[^\n]*\[--timeout-ms MS\]/.test(rest) ? [] : [line]
  })
}
