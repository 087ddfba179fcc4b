import { afterAll, describe, expect, test } from "bun:test"
import { printFailure, startProgress } from "../../src/cli/terminal.ts"
import { nowhere, PROGRAM } from "./program.ts"

const setting = nowhere()
afterAll(() => setting[Symbol.dispose]())

const SCRIPT = new URL("at-terminal.py", import.meta.url).pathname
const PYTHON = "/usr/bin/python3"

interface Shown {
  readonly stdout: string
  readonly terminal: string
  readonly exitCode: number
}

/** Runs the compiled program with standard error at a real terminal and standard output in a pipe. */
async function atTerminal(args: readonly string[], env: Record<string, string> = {}): Promise<Shown> {
  const child = Bun.spawn([PYTHON, SCRIPT, PROGRAM, ...args], {
    env: { PATH: process.env.PATH, HOME: setting.directory, TERM: "xterm-256color", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  })
  return JSON.parse(await new Response(child.stdout).text())
}

describe.skipIf(!Bun.which(PYTHON))("a person at a terminal", () => {
  test("sees progress during long work, and no trace of it afterwards", async () => {
    const { stdout, terminal, exitCode } = await atTerminal(["wait", "1500"])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, command: "wait" })
    expect(stdout.split("\n")).toHaveLength(2)
    expect(exitCode).toBe(0)
    expect(terminal).toContain("wait 1 s of at most 30 s")
    expect(terminal).toEndWith("\r\x1b[K")
    expect(terminal).not.toContain("\n")
  })

  test("sees nothing if a command ends at once", async () => {
    expect((await atTerminal(["version"])).terminal).toBe("")
    expect((await atTerminal(["wait", "30"])).terminal).toBe("")
  })

  test("sees an error in one line, in colour; the answer is the same", async () => {
    const { stdout, terminal, exitCode } = await atTerminal(["click", "@e7"])
    const plain = await setting.run(["click", "@e7"])
    expect({ stdout, exitCode }).toEqual({ stdout: plain.stdout, exitCode: 1 })
    expect(plain.stderr).toBe("")
    expect(terminal).toBe(
      "\x1b[31mclick: STALE_REF\x1b[0m @e7 not found in current RefMap (Run 'snapshot' to refresh, then retry with updated ref)\r\n",
    )
  })

  test("sees mistakes in the command line", async () => {
    const { terminal, exitCode } = await atTerminal(["clik"], { NO_COLOR: "1" })
    expect(exitCode).toBe(2)
    expect(terminal).toMatch(/^unknown: INVALID_ARGS Unknown command 'clik'; did you mean 'click'\? .*\r\n$/)
  })

  test.each<Record<string, string>>([{ NO_COLOR: "1" }, { TERM: "dumb" }])(
    "sees no colour with %j",
    async (env) => {
      expect((await atTerminal(["click", "@e7"], env)).terminal).not.toContain("\x1b[3")
      const waited = await atTerminal(["wait", "1200"], env)
      expect(waited.terminal).not.toMatch(/\x1b\[\d*m/)
      if ("TERM" in env) expect(waited.terminal).toBe("wait …\r\n")
    },
  )

  test("does not see an error twice with --format text", async () => {
    const { stdout, terminal } = await atTerminal(["--format", "text", "click", "@e7"])
    expect(stdout).toStartWith("error STALE_REF")
    expect(terminal).toBe("")
  })
})

test("without a terminal, long work prints no progress", async () => {
  expect(await setting.run(["wait", "1200"])).toMatchObject({ exitCode: 0, stderr: "" })
})

/** A terminal that keeps everything written to it. */
function paper(isCapable = true) {
  const written: string[] = []
  return { written, terminal: { write: (text: string) => void written.push(text), isCapable, colour: false } }
}

test("a line fits an 80-column terminal, and an app's text cannot move the cursor", () => {
  const { written, terminal } = paper()
  const progress = startProgress("check", {}, terminal)
  progress.say(`\x1b[2J\n${"wide ".repeat(40)}`)
  progress.end()
  printFailure("click", { code: "INTERNAL", message: "\x1b[2Jgone\r\n" }, terminal)
  expect(written.map((text) => text.replace("\r\x1b[K", "")).filter((text) => text.length > 79)).toEqual([])
  expect(written.join("").replaceAll("\r\x1b[K", "")).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
  expect(written.at(-1)).toBe("click: INTERNAL  [2Jgone \n")
})

test("the progress line is cleared once before other output", () => {
  const { written, terminal } = paper()
  const progress = startProgress("check", {}, terminal)
  progress.clear()
  progress.clear()
  progress.say("two")
  progress.end()
  expect(written).toEqual(["\r\x1b[Kcheck 0 s", "\r\x1b[K", "\r\x1b[Kcheck 0 s  two", "\r\x1b[K"])
})
