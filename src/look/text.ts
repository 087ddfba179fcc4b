import type { Command } from "../command.ts"
import { type Envelope, type ErrorObject, toLine } from "../envelope.ts"
import { oneLine } from "./outline.ts"

/** The answer of a command as `--format text` prints it; the JSON line if the command has no text for it. */
export async function toText(envelope: Envelope, { print }: Pick<Command, "print">): Promise<string> {
  if (!envelope.ok) return errorText(envelope.error)
  return (await printed({ print }, envelope.data)) ?? toLine(envelope)
}

/** Data as plain lines; undefined if the command has no text for it. */
export async function printed({ print }: Pick<Command, "print">, data: object): Promise<string | undefined> {
  // The data of a command has the shape that its own `print` takes.
  return print === "json" ? undefined : print(data as never)
}

function errorText({ code, message, suggestion }: ErrorObject): string {
  return `error ${code}: ${oneLine(message)}\n${suggestion ? `suggestion: ${oneLine(suggestion)}\n` : ""}`
}
