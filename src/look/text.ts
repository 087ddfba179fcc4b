import type { Command } from "../command.ts"
import { type Envelope, type ErrorObject, toLine } from "../envelope.ts"
import { oneLine } from "./outline.ts"

/** The answer of a command as `--format text` prints it; the JSON line if the command has no text for it. */
export async function toText(envelope: Envelope, { print }: Pick<Command, "print">): Promise<string> {
  if (!envelope.ok) return errorText(envelope.error)
  // The data of a command has the shape that its own `print` takes.
  const text = print === "json" ? undefined : await print(envelope.data as never)
  return text ?? toLine(envelope)
}

function errorText({ code, message, suggestion }: ErrorObject): string {
  return `error ${code}: ${oneLine(message)}\n${suggestion ? `suggestion: ${oneLine(suggestion)}\n` : ""}`
}
