import { describe, expect, test } from "bun:test"
import { encode } from "gpt-tokenizer"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { ERROR_CODES } from "../../src/errors.ts"
import { skills } from "../../src/mcp/skills.ts"
import { parseArgs } from "../../src/run.ts"
import { desk } from "../support/fake-desk.ts"

const stub = await Bun.file(new URL("../../skills/agent-desktop/SKILL.md", import.meta.url)).text()
const texts = [...skills, { name: "SKILL.md", text: stub }]

/** Complete command lines, in code blocks and in sentences. */
function commandLines(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^(?: {4})?agent-desktop .*$/gm)].map(([line]) => line.trim())
  const inline = [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, code = ""]) => code.replace(/^agent-desktop /, ""))
    .filter((code) => Object.hasOwn(commands, code.split(" ")[0]!) && code.includes(" "))
  return [...blocks.map((line) => line.replace(/^agent-desktop /, "").replace(/ +#.*$/, "")), ...inline]
}

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  )

describe.each(texts)("$name", ({ text }) => {
  test("shows only command lines that parse", async () => {
    const lines = commandLines(text).filter((line) => !line.startsWith("help "))
    for (const line of lines) {
      const filled = wordsOf(line).map(
        (word) => ({ REF: "@e1", TARGET: "@e1", COMMAND: "click", PART: "x" })[word] ?? word,
      )
      const parsed = await parseArgv(filled, commands, globals)
      if (parsed.kind !== "run") throw new Error(`${line} asks for ${parsed.kind}`)
      await parseArgs(parsed.command, parsed.args)
    }
  })

  test("mentions only flags that a command has", async () => {
    const loaded = await loadAll(commands)
    const names = [...loaded.map(({ input }) => input), globals].flatMap(({ entries }) =>
      Object.keys(entries),
    )
    const known = new Set(names.map((name) => `--${name.replaceAll("_", "-")}`))
    const named = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag)
    expect(named.filter((flag) => !known.has(flag) && flag !== "--timeout")).toEqual([])
  })
})

test("the core guidance shows command lines and costs fewer than 2,000 tokens", () => {
  const core = skills.find(({ name }) => name === "core")!
  expect(commandLines(core.text).length).toBeGreaterThan(20)
  expect(core.tokens).toBeLessThan(2000)
  expect(encode(core.text).length).toBeLessThan(2000)
})

test("the guidance on errors covers every code", () => {
  const { text } = skills.find(({ name }) => name === "errors")!
  expect([...text.matchAll(/^## ([A-Z_]+)$/gm)].map(([, code]) => code!)).toEqual([...ERROR_CODES])
})

test("every skill has a name, a description and a heading", () => {
  for (const { name, description, text } of skills) {
    expect(name).toMatch(/^[a-z]+$/)
    expect(description).toMatch(/^[A-Z].{10,100}\.$/)
    expect(text).toMatch(/^# \S/)
  }
})

test("the stub names the program, says when to use it, and points to the full guidance", () => {
  expect(stub).toMatch(/^---\nname: agent-desktop\ndescription: .{50,1000}\n---\n/)
  expect(stub).toContain("agent-desktop skills get core")
  expect(stub.length / 4).toBeLessThan(300)
})

describe("skills", () => {
  test("lists the skills", async () => {
    const { skills: listed } = await desk().ok("skills", { action: "list" })
    expect(listed.map((skill: { name: string }) => skill.name)).toEqual(["core", "errors", "linux", "macos"])
  })

  test("prints one as text", async () => {
    expect((await desk().ok("skills", { action: "get", name: "core" })).text).toStartWith("# agent-desktop")
  })

  test.each([
    [{ action: "get" }, "skills get core"],
    [{ action: "list", name: "core" }, "skills get core"],
    [{ action: "get", name: "cor" }, "core"],
  ])("of %j fails, and suggests a valid call", async (args, hint) => {
    const error = await desk().error("skills", args)
    expect(error.code).toBe("INVALID_ARGS")
    expect(`${error.message} ${error.suggestion}`).toContain(hint)
  })
})
