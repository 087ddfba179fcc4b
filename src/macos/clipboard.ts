import { AutoreleasePool, appKitClass, respondsTo, send } from "../../ffi/objc.ts"
import type { Deadline } from "../deadline.ts"
import type { ClipboardOp } from "../desktop.ts"
import { AppError } from "../errors.ts"
import { run } from "./apps.ts"
import { newString } from "./cf.ts"
import { outOfTime } from "./failure.ts"

/** NSPasteboardTypeString */
const TEXT_TYPE = "public.utf8-plain-text"
/** NSPasteboardAccessBehaviorAlwaysDeny, of macOS 15.4 and later. */
const DENIED = 3
const READER = "/usr/bin/pbpaste"

export async function useClipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined> {
  switch (op.kind) {
    case "get":
      return readText(deadline)
    case "set":
      writeText(op.text)
      return undefined
    case "clear":
      writeText(undefined)
      return undefined
    default:
      return op satisfies never
  }
}

/**
 * Reads through pbpaste, which can be killed. The text may have to come from the app that owns the clipboard,
 * and a direct read would hang if that app hangs.
 */
async function readText(deadline: Deadline): Promise<string> {
  refuseDenied()
  const reader = await run([READER, "-Prefer", "txt"], deadline, { LC_ALL: "en_US.UTF-8" })
  if (reader === "late") {
    throw outOfTime().with({ platformDetail: "the app that owns the clipboard does not answer" })
  }
  if (reader === "missing" || reader.exitCode !== 0) {
    throw new AppError("ACTION_FAILED", "The clipboard could not be read", {
      platformDetail: reader === "missing" ? `${READER} is missing` : reader.stderr.trim(),
    })
  }
  return new TextDecoder().decode(reader.stdout)
}

/** Throws if reading is forbidden: pbpaste would return an empty text instead of an error. */
function refuseDenied(): void {
  using _pool = new AutoreleasePool()
  const board = pasteboard()
  if (!respondsTo(board, "accessBehavior") || Number(send(board, "accessBehavior")) !== DENIED) return
  throw new AppError("PERM_DENIED", "Reading the clipboard is not allowed", {
    suggestion: "Open System Settings > Privacy & Security > Paste from Other Apps and allow your terminal",
  })
}

/** Replaces the contents of the clipboard; undefined clears it. */
function writeText(text: string | undefined): void {
  using _pool = new AutoreleasePool()
  const board = pasteboard()
  send(board, "clearContents")
  if (text === undefined) return
  using type = newString(TEXT_TYPE)
  using value = newString(text)
  if (send(board, "setString:forType:", value.ref, type.ref) === 0) {
    throw new AppError("ACTION_FAILED", "The text could not be put on the clipboard")
  }
}

function pasteboard(): bigint {
  return send(appKitClass("NSPasteboard"), "generalPasteboard")
}
