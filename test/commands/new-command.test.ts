import { afterAll, describe, expect, test } from "bun:test"
import { Client } from "@modelcontextprotocol/client"
import { InMemoryTransport } from "@modelcontextprotocol/server"
import * as v from "valibot"
import { pages } from "../../scripts/docs.ts"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { helpFor, manualPage } from "../../src/cli/help.ts"
import { type Command, defineCommand, loadAll, type Registry } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { success } from "../../src/envelope.ts"
import { toText } from "../../src/look/text.ts"
import { serveMcp } from "../../src/mcp/server.ts"
import { optionalText, text } from "../../src/schema/inputs.ts"
import { readTrace } from "../../src/trace/read.ts"
import { openTrace } from "../../src/trace/record.ts"
import { gapsOf, readyDesk, samplesOf } from "../support/every-command.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Json } from "../support/json.ts"
import { temporaryForFile } from "../support/temporary.ts"

/** A command that the program does not have, added to the registry: every door and every page must show it. */

const definition = {
  name: "say-hello",
  summary: "Greet a person by name",
  group: "system",
  effect: "reads",
  tool: "core",
  trace: "line",
  input: {
    name: text("Name to greet", { position: 0, traced: true }),
    whisper: optionalText("Words that no trace may show", { value: "WORDS" }),
  },
  output: () => v.object({ greeting: v.string() }),
  print: ({ greeting }: { greeting: string }) => `${greeting}\n`,
  sample: { name: "$app" },
  examples: ["agent-desktop say-hello Ada"],
  run: async ({ name }: { name: string }) => ({ greeting: `Hello ${name}` }),
} as const

const sayHello = defineCommand(definition)
const registry: Registry = { ...commands, "say-hello": async () => sayHello }

const directory = temporaryForFile()
afterAll(clearDesks)

describe("a new command is in", () => {
  test("the help", async () => {
    expect(await helpFor(undefined, registry, globals)).toMatch(/^ {2}say-hello +Greet a person by name$/m)
    const own = await helpFor(sayHello, registry, globals)
    expect(own).toContain("Usage: agent-desktop say-hello NAME [--whisper WORDS]")
    expect(own).toContain("agent-desktop say-hello Ada")
  })

  test("the command line, and its text", async () => {
    const parsed = await parseArgv(["say-hello", "Ada"], registry, globals)
    expect(parsed).toMatchObject({ kind: "run", command: sayHello, args: { name: "Ada" } })
    expect(await toText(success("say-hello", { greeting: "Hello Ada" }), sayHello)).toBe("Hello Ada\n")
  })

  test("a batch, even if only reading is allowed", async () => {
    const { ok } = await readyDesk({ commands: registry, readOnly: true })
    const items = [{ command: "say-hello", args: { name: "Ada" } }]
    expect((await ok("batch", { commands: items })).results).toEqual([
      { command: "say-hello", ok: true, data: { greeting: "Hello Ada" } },
    ])
  })

  test("the MCP tools, with its schema and hints", async () => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    const { door } = await readyDesk({ commands: registry })
    const served = serveMcp(door, { tools: "core", idleMs: 0, format: "text" }, far)
    const client = new Client({ name: "test", version: "1" })
    // Both packages describe the same interface, each in types of its own.
    await client.connect(near as never)
    const tool = (await client.listTools()).tools.find(({ name }) => name === "desktop_say_hello")
    expect(tool).toMatchObject({
      description: "Greet a person by name",
      inputSchema: { properties: { name: { type: "string" } }, required: ["name"] },
      annotations: { readOnlyHint: true },
    })
    const answer = await client.callTool({ name: "desktop_say_hello", arguments: { name: "Ada" } })
    expect(answer).toMatchObject({ content: [{ type: "text", text: "Hello Ada\n" }] })
    await client.close()
    await served
  })

  test("the JSON Schemas", async () => {
    const { ok } = await readyDesk({ commands: registry })
    const own = await ok("schema", { command: "say-hello" })
    expect(own.arguments.required).toEqual(["name"])
    expect(own.result).toMatchObject({ required: ["greeting"] })
    expect((await ok("schema")).commands["say-hello"]).toEqual({
      arguments: own.arguments,
      result: own.result,
    })
  })

  test("the docs, the first page and the manual", async () => {
    const made = await pages(registry)
    expect(made["docs/commands.md"]).toContain(
      "\n### say-hello\n\nGreet a person by name. Changes nothing.\n",
    )
    expect(made["docs/commands.md"]).toContain("Returns `greeting`.")
    expect(made["README.md"]).toContain("`say-hello`")
    expect(made["docs/agent-desktop.1"]).toContain("\\fBsay\\-hello\\fR NAME")
    expect(manualPage(await loadAll(registry), globals, "1.0.0")).toContain("Greet a person by name.")
  })

  test("the completions", async () => {
    const { ok } = await readyDesk({ commands: registry })
    const complete = async (line: string) => (await ok("completions", { shell: "bash", line })).text
    expect(await complete("agent-desktop say")).toBe("say-hello\tGreet a person by name\n")
    expect(await complete("agent-desktop say-hello --wh")).toStartWith("--whisper\t")
  })

  test("a trace, which shows only the text it may show", async () => {
    const trace = openTrace({
      directory,
      screenshots: true,
      onFailure: (message) => expect(message).toBe(""),
    })
    const { ok } = await readyDesk({ commands: registry, trace })
    await ok("say-hello", { name: "Ada", whisper: "secret words" })
    expect(readTrace(directory).entries).toEqual([
      expect.objectContaining({
        command: "say-hello",
        arguments: { name: "Ada", whisper: "(12 characters)" },
        data: { greeting: "Hello Ada" },
      }),
    ])
  })

  test("the tests that run all commands", async () => {
    expect(gapsOf(sayHello)).toEqual([])
    const own = (await samplesOf(registry)).filter(({ command }) => command === sayHello)
    expect(own).toEqual([{ command: sayHello, args: { name: "$app" } }])
    expect(await (await readyDesk({ commands: registry })).ask(own[0]!)).toEqual({ greeting: "Hello Editor" })
  })
})

describe("a command that is not complete", () => {
  test.each([
    ["effect", 'say-hello lacks effect: "reads", "harmless" or "changes"'],
    ["tool", 'say-hello lacks tool: "core", "all" or "never", the MCP set that offers it'],
    ["trace", 'say-hello lacks trace: "pictures", "line" or "nothing"'],
    ["output", "say-hello lacks output: () => v.object({…}), the schema of its result"],
    ["print", 'say-hello lacks print: (data) => string, or print: "facts"'],
    ["sample", "say-hello lacks sample: {}, or arguments for the tests over all commands"],
  ] as const)("without %s fails with the line to add, and where", (member, message) => {
    const { [member]: _, ...rest }: Partial<Command> & Pick<Command, "name"> = sayHello
    expect(gapsOf({ ...rest, name: "say-hello" })).toEqual([
      `${message}; add it to its object in src/commands`,
    ])
  })

  test("does not compile", () => {
    const { output, print, sample, tool, ...rest } = definition
    const made: Json[] = [
      // @ts-expect-error: the schema of its result is missing
      () => defineCommand({ ...rest, print, sample, tool }),
      // @ts-expect-error: its text is missing
      () => defineCommand({ ...rest, output, sample, tool }),
      // @ts-expect-error: its sample is missing
      () => defineCommand({ ...rest, output, print, tool }),
      // @ts-expect-error: its MCP set is missing
      () => defineCommand({ ...rest, output, print, sample }),
      // @ts-expect-error: the sample lacks an argument that the command needs
      () => defineCommand({ ...rest, output, print, tool, sample: {} }),
      // @ts-expect-error: the text is of another result
      () => defineCommand({ ...rest, output, tool, sample, print: ({ farewell }) => farewell }),
    ]
    expect(made).toHaveLength(6)
  })
})
