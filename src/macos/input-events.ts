import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { booleanOf, newString } from "./cf.ts"

/** CGEventSourceStateID: the whole session, or the hardware. */
const SESSION_STATE = 0
const HID_STATE = 1
const HID_TAP = 0
/** Longest wait for one event to be handled. Other automation tools wait about as long. */
const SETTLE_MS = 20

/** Creates a source of synthetic input. Throws without the permission, or if the input would go to the lock screen. */
export function eventSource(): Owned {
  const cg = coreGraphics()
  if (!cg.CGPreflightPostEventAccess()) {
    throw new AppError("PERM_DENIED", "Permission to send input events not granted", {
      suggestion:
        "Open System Settings > Privacy & Security > Accessibility and add the program that 'agent-desktop permissions' names",
      disposition: NOTHING_DELIVERED,
    })
  }
  if (sessionState() === "locked") {
    throw new AppError("ACTION_FAILED", "The screen is locked: keys and clicks would go to the lock screen", {
      suggestion:
        "Unlock the screen, then retry; or use --input semantic, which needs no pointer or keyboard",
      details: { kind: "locked" },
      disposition: NOTHING_DELIVERED,
    })
  }
  const source = new Owned(cg.CGEventSourceCreate(HID_STATE))
  // By default macOS suppresses the user's own input for a quarter of a second after each event.
  if (source.ref) cg.CGEventSourceSetLocalEventsSuppressionInterval(source.ref, 0)
  return source
}

/**
 * Posts an event that was just created, releases it, and waits until macOS has handled it. The last
 * event of a process is lost if the process ends too early, and a click too soon after a move is ignored.
 */
export function post(event: bigint, adjust: (event: bigint) => void = () => {}): void {
  if (!event)
    throw new AppError("ACTION_FAILED", "macOS could not create an input event", {
      disposition: NOTHING_DELIVERED,
    })
  const cg = coreGraphics()
  using owned = new Owned(event)
  adjust(owned.ref)
  const type = cg.CGEventGetType(owned.ref)
  const count = () => cg.CGEventSourceCounterForEventType(SESSION_STATE, type)
  const before = count()
  cg.CGEventPost(HID_TAP, owned.ref)
  const end = performance.now() + SETTLE_MS
  while (count() === before && performance.now() < end) Bun.sleepSync(1)
}

/** The login session of this process. "none": it has no screen. "locked": keys and clicks go to the lock screen. */
export function sessionState(): "none" | "locked" | "open" {
  using session = new Owned(coreGraphics().CGSessionCopyCurrentDictionary())
  if (!session.ref) return "none"
  // The key is there only while the screen is locked.
  using key = newString("CGSSessionScreenIsLocked")
  const locked = coreFoundation().CFDictionaryGetValue(session.ref, key.ref)
  return !locked || booleanOf(locked) === false ? "open" : "locked"
}
