import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { booleanOf, newString } from "./cf.ts"

/** The login session of this process. "none": it has no screen. "locked": keys and clicks go to the lock screen. */
export function sessionState(): "none" | "locked" | "open" {
  using session = new Owned(coreGraphics().CGSessionCopyCurrentDictionary())
  if (!session.ref) return "none"
  // The key is there only while the screen is locked.
  using key = newString("CGSSessionScreenIsLocked")
  const locked = coreFoundation().CFDictionaryGetValue(session.ref, key.ref)
  return !locked || booleanOf(locked) === false ? "open" : "locked"
}
