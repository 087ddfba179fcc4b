import { afterAll, describe, expect, test } from "bun:test"
import { commands } from "../../src/commands/index.ts"
import { ERROR_CODES } from "../../src/errors.ts"
import { argumentsSchema, envelopeSchema, errorSchema, resultSchema } from "../../src/mcp/json-schema.ts"
import { busyDesk, type Call, readyDesk, samplesOf } from "../support/every-command.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Json } from "../support/json.ts"
import { ajv, closed, envelopeIn } from "../support/validated.ts"

afterAll(clearDesks)

function objections(schema: unknown, value: unknown): unknown {
  const validate = ajv.compile(schema as object)
  return validate(value) ? [] : validate.errors
}

/** Calls whose results no sample covers. */
const MORE = [
  ["wait", { menu: true, app: "$app" }],
  ["snapshot", { surface: "menu", app: "$app" }],
] as const

const calls: readonly Call[] = [
  ...(await samplesOf(commands)),
  ...(await Promise.all(MORE.map(async ([name, args]) => ({ command: await commands[name]!(), args })))),
]

test("every result matches its schema and has no member that the schema does not describe", async () => {
  for (const call of calls) {
    const { command, args } = call
    const wrong = objections(closed(resultSchema(command)), await (await readyDesk()).ask(call))
    expect({ name: command.name, args, wrong }).toEqual({ name: command.name, args, wrong: [] })
  }
})

test("the argument schema accepts every sample", async () => {
  const { fill } = await readyDesk()
  for (const { command, args } of calls) {
    const wrong = objections(argumentsSchema(command), fill(args))
    expect({ name: command.name, wrong }).toEqual({ name: command.name, wrong: [] })
  }
})

test.each([
  ["click", {}],
  ["click", { ref_id: "" }],
  ["click", { ref_id: "@e1", extra: true }],
  ["snapshot", { max_depth: 0 }],
  ["snapshot", { surface: "roof" }],
  ["mouse-click", { xy: "here" }],
  ["wait", { ms: "100" }],
])("the schema of %s rejects %j, as the command does", async (name, args) => {
  const command = await commands[name]!()
  expect(objections(argumentsSchema(command), args)).not.toEqual([])
  expect(await desk().error(name, args)).toMatchObject({ code: "INVALID_ARGS" })
})

test("tests validate every envelope they see, down to the items of a batch", () => {
  const envelope = (command: string, data: object) =>
    `${JSON.stringify({ version: "1.0", ok: true, command, data })}\n`
  expect(envelopeIn(envelope("clipboard-get", { text: "" }))).toMatchObject({ command: "clipboard-get" })
  expect(() => envelopeIn(envelope("clipboard-get", {}))).toThrow("text")
  expect(() => envelopeIn(envelope("clipboard-get", { text: "", more: 1 }))).toThrow("additional")
  const item = { command: "clipboard-get", ok: true, data: { text: 1 } }
  expect(() => envelopeIn(envelope("batch", { results: [item] }))).toThrow("the result of clipboard-get")
})

describe("the envelope's schema", () => {
  test("accepts a success and a failure", async () => {
    const it = busyDesk()
    const envelopes = [await it.run("version"), await it.run("click", { ref_id: "@e7" })]
    expect(envelopes.map((one) => one.ok)).toEqual([true, false])
    for (const envelope of envelopes) expect(objections(envelopeSchema(), envelope)).toEqual([])
    expect(objections(closed(errorSchema()), envelopes[1].error)).toEqual([])
  })

  test("rejects an envelope without its data, and unknown error codes", () => {
    expect(objections(envelopeSchema(), { version: "1.0", ok: true, command: "click" })).not.toEqual([])
    const failure = (code: string) => ({
      version: "1.0",
      ok: false,
      command: "x",
      error: { code, message: "" },
    })
    expect(objections(envelopeSchema(), failure("OOPS"))).not.toEqual([])
    for (const code of ERROR_CODES) expect(objections(envelopeSchema(), failure(code))).toEqual([])
  })
})

describe("schema", () => {
  test("describes one command", async () => {
    const { ok } = desk()
    const click = await ok("schema", { command: "click" })
    expect(Object.keys(click)).toEqual(["command", "arguments", "result"])
    expect(click.arguments.required).toEqual(["ref_id"])
    expect(click.arguments.properties.input).toMatchObject({
      default: "auto",
      enum: ["auto", "semantic", "physical"],
    })
    expect(JSON.stringify(click)).not.toContain('"cli"')
    expect(Object.keys(await ok("schema", { command: "click", result: true }))).toEqual(["command", "result"])
  })

  test("describes all commands, the envelope and the error", async () => {
    const all = await desk().ok("schema")
    expect(Object.keys(all)).toEqual(["envelope", "error", "commands"])
    expect(Object.keys(all.commands).sort()).toEqual(Object.keys(commands).sort())
    for (const { arguments: args, result } of Object.values<Json>(all.commands)) {
      expect(args.type).toBe("object")
      for (const property of Object.values<Json>(args.properties)) expect(property.description).toBeString()
      expect(result.type).toBe("object")
    }
  })

  test("names the nearest command for an unknown one", async () => {
    expect(await desk().error("schema", { command: "clik" })).toMatchObject({
      code: "INVALID_ARGS",
      message: expect.stringContaining("click"),
    })
  })
})
