import { type Command, findCommand, type ItemResult, type Registry } from "../command.ts"
import { type Envelope, type ErrorObject, success, toLine } from "../envelope.ts"
import { oneLine } from "./outline.ts"

/** The answer of a command as `--format text` prints it; the JSON line if the command has no text for it. */
export async function toText(
  envelope: Envelope,
  { print }: Pick<Command, "print">,
  commands: Registry = {},
): Promise<string> {
  if (!envelope.ok) return errorText(envelope.error)
  return (await printed({ print }, envelope.data, commands)) ?? toLine(envelope)
}

/** Data as plain lines; undefined if the command has no text for it. */
export async function printed(
  { print }: Pick<Command, "print">,
  data: object,
  commands: Registry = {},
): Promise<string | undefined> {
  // The data of a command has the shape that its own `print` takes.
  return print === "json" ? undefined : print(data as never, commands)
}

/** The items of a batch, each as its own command would print it, with its number and name above it. */
export async function itemsText(results: readonly ItemResult[], commands: Registry): Promise<string> {
  const texts = results.map(async (result, index) => {
    const command = await findCommand(commands, result.command)?.()
    const envelope: Envelope = result.ok
      ? success(result.command, result.data)
      : // The error of an item is the object that an envelope would hold.
        { version: "1.0", command: result.command, ok: false, error: result.error as ErrorObject }
    return `${index} ${result.command}\n${await toText(envelope, command ?? { print: "json" })}`
  })
  return (await Promise.all(texts)).join("")
}

function errorText({ code, message, suggestion }: ErrorObject): string {
  return `error ${code}: ${oneLine(message)}\n${suggestion ? `suggestion: ${oneLine(suggestion)}\n` : ""}`
}
