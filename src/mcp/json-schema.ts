import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import type { GenericSchema } from "valibot"
import type { Command, Registry } from "../command.ts"
import { envelope, failed, nodeObject, results } from "./results.ts"

/** The arguments of a command as JSON, by their own names. */
export function argumentsSchema({ input }: Pick<Command, "input">): JsonSchema {
  return convert(input, "input")
}

/** `data` of a command that succeeded. */
export function resultSchema(name: string): JsonSchema {
  const result = results[name]
  if (!result) throw new TypeError(`The result of ${name} is not described`)
  return convert(result, "output")
}

export const envelopeSchema = (): JsonSchema => convert(envelope, "output")
export const errorSchema = (): JsonSchema => convert(failed, "output")

/** What a command takes and what it returns. */
export function schemasOf(command: Command, resultOnly: boolean): object {
  return {
    ...(resultOnly ? {} : { arguments: argumentsSchema(command) }),
    result: resultSchema(command.name),
  }
}

/** The same of every command, with the envelope around it and the error in it. */
export async function allSchemas(commands: Registry, resultOnly: boolean): Promise<object> {
  const loaded = await Promise.all([...commands.values()].map((load) => load()))
  return {
    envelope: envelopeSchema(),
    error: errorSchema(),
    commands: Object.fromEntries(
      loaded.map(({ default: command }) => [command.name, schemasOf(command, resultOnly)]),
    ),
  }
}

function convert(schema: GenericSchema, typeMode: "input" | "output"): JsonSchema {
  const { $defs, ...converted } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode,
    // What has no counterpart (a check, a transformation) only narrows further; validation says so.
    errorMode: "ignore",
    ignoreActions: ["metadata"],
    definitions: { node: nodeObject },
  })
  return JSON.stringify(converted).includes("$ref") ? { ...converted, $defs } : converted
}
