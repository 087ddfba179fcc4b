import { describe, expect, test } from "bun:test"
import { chmodSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { completionScript, type Shell, shellWords } from "../../src/cli/completions.ts"
import { globals } from "../../src/cli/globals.ts"
import { commands } from "../../src/commands/index.ts"
import { AppError } from "../../src/errors.ts"
import { fieldsOf } from "../../src/schema/fields.ts"
import { busyDesk } from "../support/every-command.ts"
import { desk } from "../support/fake-desk.ts"
import { temporaryForFile } from "../support/temporary.ts"

/** The values offered at the end of a line. */
async function offered(line: string, it = busyDesk()): Promise<readonly string[]> {
  const { text } = await it.ok("completions", { shell: "bash", line })
  return text
    .split("\n")
    .filter(Boolean)
    .map((one: string) => one.split("\t")[0])
}

describe("completions", () => {
  test("start with every command, and help", async () => {
    expect((await offered("agent-desktop ")).toSorted()).toEqual([...Object.keys(commands), "help"].sort())
    expect(await offered("agent-desktop clip")).toEqual(["clipboard-clear", "clipboard-get", "clipboard-set"])
    expect(await offered("agent-desktop help snap")).toEqual(["snapshot"])
    expect(await offered("agent-desktop schema snap")).toEqual(["snapshot"])
  })

  test("offer every flag that was not given yet, the command's own and the global ones", async () => {
    const snapshot = await commands.snapshot!()
    const flags = [...fieldsOf(snapshot.input), ...fieldsOf(globals)].map((field) => field.flag)
    expect((await offered("agent-desktop snapshot --")).toSorted()).toEqual(flags.toSorted())
    const rest = await offered("agent-desktop snapshot --app Editor -i --")
    expect(flags.filter((flag) => !rest.includes(flag))).toEqual(["--app", "--interactive-only"])
    expect(await offered("agent-desktop --read")).toEqual(["--read-only"])
  })

  test("offer the choices of a flag or a positional", async () => {
    expect(await offered("agent-desktop snapshot --surface m")).toEqual(["menu", "menubar"])
    expect(await offered("agent-desktop --format ")).toEqual(["json", "text"])
    expect(await offered("agent-desktop get @e1 de")).toEqual(["description"])
    expect(await offered("agent-desktop skills ")).toEqual(["list", "get"])
  })

  test("offer apps, windows and the refs of the newest snapshot", async () => {
    const it = busyDesk()
    expect(await offered("agent-desktop snapshot --app ", it)).toEqual(["Editor", "Other"])
    expect(await offered("agent-desktop close-app E", it)).toEqual(["Editor"])
    expect(await offered("agent-desktop click ", it)).toEqual([])
    await it.ok("snapshot")
    expect(await offered("agent-desktop click @e2", it)).toEqual(["@e2"])
    expect((await it.ok("completions", { shell: "zsh", line: "agent-desktop drag @e1 --to @e2" })).text).toBe(
      '@e2\ttextfield "Title"\n',
    )
    const [{ id }] = (await it.ok("list-windows")).windows
    expect(await offered("agent-desktop focus-window ", it)).toEqual([id])
    expect(await offered("agent-desktop --desktop ", it)).toEqual(["test"])
  })

  test("offer nothing for free text or after an unknown command", async () => {
    expect(await offered("agent-desktop type @e1 -- --")).toEqual([])
    expect(await offered("agent-desktop wait --text ")).toEqual([])
    expect(await offered("agent-desktop clik --")).toEqual([])
  })

  test("leave out an app name with a line break", async () => {
    const it = desk()
    it.world.app("two\nlines")
    it.world.app("Plain")
    expect(await offered("agent-desktop launch ", it)).toEqual(["Plain"])
  })

  test("offer nothing if there is no desktop", async () => {
    const it = desk()
    it.world.fail("apps", new AppError("PLATFORM_NOT_SUPPORTED", "There is no display"))
    expect(await offered("agent-desktop launch ", it)).toEqual([])
    expect(it.world.calls).toContain("apps")
  })
})

test("words are split as a shell splits them", () => {
  expect(shellWords(`a 'b c' "d \\" e" f\\ g `)).toEqual(["a", "b c", 'd " e', "f g", ""])
  expect(shellWords(`a "b c`)).toEqual(["a", "b c"])
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (words) => {
      expect(shellWords(words.map(quoted).join(" "))).toEqual(words)
    }),
  )
})

/** A stand-in for agent-desktop on the PATH that prints fixed completions; real shells do the rest. */
const directory = temporaryForFile()
writeFileSync(
  `${directory}/agent-desktop`,
  `#!/bin/sh
[ "$1" = completions ] || echo "RAN $# $*."
case "$3" in
  "--line=agent-desktop launch T") printf 'Text Editor\\tapp\\n' ;;
  "--line=agent-desktop cl") printf 'click\\tPress the element once\\nclear\\tEmpty a text field\\n' ;;
  "--line=agent-desktop click @e") printf '@e1\\tbutton "Save it"\\n@e12\\tlink\\n' ;;
  "--line=agent-desktop snapshot --app ") printf 'Text Editor\\nMail\\n' ;;
esac
`,
)
chmodSync(`${directory}/agent-desktop`, 0o755)
for (const shell of ["bash", "zsh", "fish"] as const)
  writeFileSync(`${directory}/script.${shell}`, completionScript(shell))

function runShell(command: readonly string[], input: string): string {
  const env = { PATH: `${directory}:${process.env.PATH}`, HOME: directory, TERM: "dumb", LC_ALL: "C.UTF-8" }
  const { stdout, stderr } = Bun.spawnSync([...command], { env, cwd: directory, stdin: Buffer.from(input) })
  return `${stdout}${stderr}`
}

/** The completions in bash, with the variables that bash sets. */
function inBash(line: string, words: readonly string[]): string {
  return runShell(
    ["bash", "--norc"],
    `source script.bash
COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_agent_desktop; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p agent-desktop
`,
  )
}

describe("bash", () => {
  test("completes commands", () => {
    expect(inBash("agent-desktop cl", ["agent-desktop", "cl"])).toBe(
      "click\nclear\ncomplete -o default -F _agent_desktop agent-desktop\n",
    )
  })

  test("completes refs although bash breaks words at @", () => {
    expect(inBash("agent-desktop click @e", ["agent-desktop", "click", "@", "e"])).toStartWith("e1\ne12\n")
  })

  test("escapes blanks in names", () => {
    expect(inBash("agent-desktop snapshot --app ", ["agent-desktop", "snapshot", "--app", ""])).toStartWith(
      "Text\\ Editor\nMail\n",
    )
  })
})

test.skipIf(!Bun.which("fish"))("fish completes commands, refs and names, with descriptions", () => {
  const ask = (line: string) => runShell(["fish", "--no-config"], `source script.fish; complete -C '${line}'`)
  expect(ask("agent-desktop cl").split("\n").filter(Boolean).sort()).toEqual([
    "clear\tEmpty a text field",
    "click\tPress the element once",
  ])
  expect(ask("agent-desktop click @e")).toContain('@e1\tbutton "Save it"')
  expect(ask("agent-desktop snapshot --app ")).toContain("Text Editor")
})

/** The command that a real zsh at a terminal runs after these keys. */
function inZsh(keys: string): string {
  const setUp = "autoload -Uz compinit; compinit -u -D; source script.zsh; print REA''DY"
  return runShell(
    ["zsh", "-f"],
    `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "${setUp}"
zpty -r shell line '*READY*'
zpty -w -n shell $'${keys}'
zpty -r shell line '*RAN*.*'
print -r -- $line
zpty -d shell
`,
  )
}

test.skipIf(!Bun.which("zsh"))("zsh completes at a terminal, and quotes names with blanks", () => {
  expect(inZsh("agent-desktop launch T\\t\\n")).toContain("RAN 2 launch Text Editor.")
  expect(inZsh("agent-desktop click @e\\t\\n")).toContain("RAN 2 click @e1.")
})

test.each<[Shell, readonly string[]]>([
  ["bash", ["bash", "-n"]],
  ["zsh", ["zsh", "-n"]],
  ["fish", ["fish", "--no-execute"]],
])("%s accepts its script without an error", (shell, check) => {
  if (!Bun.which(shell)) return
  expect(runShell([...check, `script.${shell}`], "")).toBe("")
})
