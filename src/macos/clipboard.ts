import { AutoreleasePool, appKitClass, respondsTo, send } from "../../ffi/objc.ts"
import type { ClipboardOp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import { newArray, newString, textOf } from "./cf.ts"
import { outOfTime } from "./failure.ts"
import { run } from "./run.ts"

/** NSPasteboardTypeString */
const TEXT_TYPE = "public.utf8-plain-text"
/** NSPasteboardAccessBehaviorAlwaysDeny */
const DENIED = 3
const READER = "/usr/bin/pbpaste"

export async function useClipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined> {
  switch (op.kind) {
    case "get":
      return hasText() ? readText(deadline) : undefined
    case "set":
      writeText(op.text)
      return undefined
    case "clear":
      clear()
      return undefined
    default:
      return op satisfies never
  }
}

/** Whether there is text to get; asks the pasteboard server only, not the app that put it there. */
function hasText(): boolean {
  using _pool = new AutoreleasePool()
  const board = pasteboard()
  if (respondsTo(board, "accessBehavior") && Number(send(board, "accessBehavior")) === DENIED) {
    throw new AppError("PERM_DENIED", "Reading the clipboard is not allowed", {
      suggestion: "Open System Settings > Privacy & Security > Paste from Other Apps and allow your terminal",
    })
  }
  using type = newString(TEXT_TYPE)
  using types = newArray([type.ref])
  return send(board, "availableTypeFromArray:", types.ref) !== 0n
}

/**
 * The text itself may have to come from the app that promised it, and a hung app would hang us: so
 * it is fetched by a program that can be ended.
 */
async function readText(deadline: Deadline): Promise<string | undefined> {
  const reader = await run([READER, "-Prefer", "txt"], deadline, { LC_ALL: "en_US.UTF-8" })
  if (reader === "missing") return readHere()
  if (reader === "late") {
    throw deadline.expired
      ? outOfTime().with({ platformDetail: "the app that owns the clipboard does not answer" })
      : outOfTime()
  }
  return new TextDecoder().decode(reader.stdout)
}

function readHere(): string | undefined {
  using _pool = new AutoreleasePool()
  using type = newString(TEXT_TYPE)
  return textOf(send(pasteboard(), "stringForType:", type.ref))
}

function writeText(text: string): void {
  using _pool = new AutoreleasePool()
  const board = pasteboard()
  using type = newString(TEXT_TYPE)
  using value = newString(text)
  send(board, "clearContents")
  if (send(board, "setString:forType:", value.ref, type.ref) === 0) {
    throw new AppError("ACTION_FAILED", "The clipboard did not take the text")
  }
}

function clear(): void {
  using _pool = new AutoreleasePool()
  send(pasteboard(), "clearContents")
}

function pasteboard(): bigint {
  return send(appKitClass("NSPasteboard"), "generalPasteboard")
}
