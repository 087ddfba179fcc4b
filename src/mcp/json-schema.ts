import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import { type GenericSchema, literal, object, string, union } from "valibot"
import { type Command, loadAll, type Registry } from "../command.ts"
import { failed, nodeObject } from "../outputs.ts"

/** The arguments of a command as JSON, by their own names. */
export function argumentsSchema({ input }: Pick<Command, "input">): JsonSchema {
  return convert(input, "input")
}

/** `data` of a command that succeeded. */
export function resultSchema({ output }: Pick<Command, "output">): JsonSchema {
  return convert(output(), "output")
}

/** Both forms of the one line that a command prints. */
export function envelopeSchema(): JsonSchema {
  return convert(
    union([
      object({ version: literal("1.0"), ok: literal(true), command: string(), data: object({}) }),
      object({ version: literal("1.0"), ok: literal(false), command: string(), error: failed() }),
    ]),
    "output",
  )
}

export const errorSchema = (): JsonSchema => convert(failed(), "output")

/** What a command takes and what it returns. */
export function schemasOf(command: Command, resultOnly: boolean): object {
  return {
    ...(resultOnly ? {} : { arguments: argumentsSchema(command) }),
    result: resultSchema(command),
  }
}

/** The same of every command, with the envelope around it and the error in it. */
export async function allSchemas(commands: Registry, resultOnly: boolean): Promise<object> {
  const loaded = await loadAll(commands)
  return {
    envelope: envelopeSchema(),
    error: errorSchema(),
    commands: Object.fromEntries(loaded.map((command) => [command.name, schemasOf(command, resultOnly)])),
  }
}

function convert(schema: GenericSchema, typeMode: "input" | "output"): JsonSchema {
  const { $defs, ...converted } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode,
    // What has no counterpart (a check, a transformation) only narrows further; validation says so.
    errorMode: "ignore",
    ignoreActions: ["metadata"],
    definitions: { node: nodeObject() },
  })
  return JSON.stringify(converted).includes("$ref") ? { ...converted, $defs } : converted
}
