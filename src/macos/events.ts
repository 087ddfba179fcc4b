import { Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

/** Which events are counted: all of the session, or those of the hardware. */
const SESSION_STATE = 0
const HID_STATE = 1
const HID_TAP = 0
/** How long an event may take to be handled, by the experience of others. */
const SETTLE_MS = 20

/** A source of synthesised input, refused where the system would drop it without a word. */
export function eventSource(): Owned {
  const cg = coreGraphics()
  if (!cg.CGPreflightPostEventAccess()) {
    throw new AppError("PERM_DENIED", "Permission to send input events not granted", {
      suggestion: "Open System Settings > Privacy & Security > Accessibility and add your terminal",
      disposition: NOTHING_DELIVERED,
    })
  }
  const source = new Owned(cg.CGEventSourceCreate(HID_STATE))
  // By default the user's own input is held back for a quarter of a second after each event.
  if (source.ref) cg.CGEventSourceSetLocalEventsSuppressionInterval(source.ref, 0)
  return source
}

/**
 * Sends an event that was just created, gives it back, and waits until macOS has handled it: what a process
 * sent last is lost if it ends before that, and a click that comes too soon after a move is overlooked.
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
