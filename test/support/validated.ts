import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { envelopeSchema, errorSchema, resultSchema } from "../../src/mcp/json-schema.ts"
import type { Json } from "./json.ts"

/** Validates every envelope that a test sees against the schemas, with another implementation of JSON Schema. */

export const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true })

/** The same schema, but closed to members that it does not describe. */
export function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== "object" || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isRecord = Object.keys(inner.properties ?? {}).length === 0
  return inner.type === "object" && inner.properties && !isRecord && inner.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner
}

/** The JSON that a program printed; undefined if it is not JSON. Throws if it is an envelope that its schema rejects. */
export function envelopeIn(stdout: string): Json {
  const envelope = parse(stdout)
  if (envelope?.version !== "1.0" || typeof envelope.ok !== "boolean") return envelope
  expectFit("an envelope", envelopeSchema, envelope)
  expectFitResult(envelope)
  return envelope
}

const loaded = new Map((await loadAll(commands)).map((command) => [command.name, command]))

function expectFitResult({ command, ok, data, error }: Json): void {
  if (ok) expectFit(`the result of ${command}`, () => closed(resultSchema(loaded.get(command)!)), data)
  else expectFit("an error", () => closed(errorSchema()), error)
  for (const item of ok && command === "batch" ? data.results : []) expectFitResult(item)
}

const compiled = new Map<string, ValidateFunction>()

function expectFit(what: string, schema: () => Json, value: unknown): void {
  const validate = compiled.get(what) ?? ajv.compile(schema())
  compiled.set(what, validate)
  if (validate(value)) return
  throw new Error(
    `${what} does not match its schema: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
  )
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
