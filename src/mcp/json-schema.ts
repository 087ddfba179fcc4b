import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import { type GenericSchema, literal, object, string, union } from "valibot"
import { type Command, loadAll, type Registry } from "../command.ts"
import { failed, nodeObject } from "../schema/outputs.ts"

/** Schema of a command's arguments by their own names, without aliases. */
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

/** Schemas of a command's arguments and result. */
export function schemasOf(command: Command, resultOnly: boolean): object {
  return {
    ...(resultOnly ? {} : { arguments: argumentsSchema(command) }),
    result: resultSchema(command),
  }
}

/** Schemas of every command, of the envelope and of the error in it. */
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
    // Checks and transformations have no counterpart in JSON Schema; validation reports them.
    errorMode: "ignore",
    ignoreActions: ["metadata"],
    definitions: { node: nodeObject() },
  })
  return JSON.stringify(converted).includes("$ref") ? { ...converted, $defs } : converted
}
