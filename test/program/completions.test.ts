import { afterAll, beforeAll, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"

/** Real shells ask the compiled program, on a desktop with one dialog. */

const isLinux = process.platform === "linux"
let desktop: TestDesktop
let ref: string

beforeAll(async () => {
  if (!isLinux) return
  desktop = await openDesktop()
  symlinkSync(PROGRAM, `${desktop.directory}/agent-desktop`)
  desktop.spawnApp(["zenity", "--entry", "--title=Question", "--text=Name"])
  await desktop.run("wait", "--window", "Question")
  await desktop.run("snapshot", "--app", "zenity")
  ref = (await desktop.run("find", "--app", "zenity", "--role", "textfield", "--first")).json.data.match
    .ref_id
})
afterAll(() => desktop?.close())

function shell(command: readonly string[], input: string): string {
  const env = { ...desktop.env, PATH: `${desktop.directory}:${process.env.PATH}` }
  return Bun.spawnSync([...command], { env, stdin: Buffer.from(input) }).stdout.toString()
}

/** The words that bash completes, by its own function. */
const inBash = (line: string): readonly string[] =>
  shell(
    ["bash", "--norc"],
    `eval "$(agent-desktop completions bash)"
COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDBREAKS=' '
COMP_WORDS=(${line} ''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_agent_desktop; printf '%s\\n' "\${COMPREPLY[@]}"
`,
  )
    .trim()
    .split("\n")

test.skipIf(!isLinux)("bash completes the refs of the newest snapshot, apps, windows and flags", async () => {
  expect(inBash("agent-desktop click @e")).toContain(ref)
  expect(inBash("agent-desktop snapshot --app z")).toEqual(["zenity"])
  const { windows } = (await desktop.run("list-windows")).json.data
  expect(inBash("agent-desktop focus-window w-")).toEqual([windows[0].id])
  expect(inBash("agent-desktop trace-export --out")).toEqual(["--output"])
})

test.skipIf(!isLinux || !Bun.which("fish"))("fish shows them with descriptions", () => {
  const ask = (line: string) =>
    shell(["fish", "--no-config"], `agent-desktop completions fish | source; complete -C '${line}'`)
  expect(ask("agent-desktop click @e")).toMatch(new RegExp(`^${ref}\ttextfield`, "m"))
  expect(ask("agent-desktop launch z")).toContain("zenity")
})
