import { Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

const HID_STATE = 1
const HID_TAP = 0

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

/** Sends an event that was just created and gives it back. */
export function post(event: bigint, adjust: (event: bigint) => void = () => {}): void {
  if (!event)
    throw new AppError("ACTION_FAILED", "macOS could not create an input event", {
      disposition: NOTHING_DELIVERED,
    })
  using owned = new Owned(event)
  adjust(owned.ref)
  coreGraphics().CGEventPost(HID_TAP, owned.ref)
}
