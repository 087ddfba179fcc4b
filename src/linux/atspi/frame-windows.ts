import type { TopWindow } from "../windowing/window.ts"
import { type Atspi, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { type Frame, isPopupFrame, readFrames } from "./frames.ts"
import { type A11yApp, SLICE_MS } from "./registry.ts"
import { ROLE } from "./roles.ts"

/** Windows that no window system describes. The top-level objects of the accessibility bus stand for them. */

/** The windows of these apps. An app that does not answer in time has none. */
export async function frameWindows(atspi: Atspi, apps: readonly A11yApp[]): Promise<readonly TopWindow[]> {
  const hasty = atspi.within(atspi.deadline.slice(Math.max(SLICE_MS, atspi.deadline.remaining / 4)))
  const frames = await Promise.all(
    apps.map((app) => (app.responsive ? readFrames(hasty, app).catch(() => []) : [])),
  )
  return frames.flatMap((own) => own.filter((frame) => isWindow(frame, own)).map(windowOf))
}

/** Menus, tooltips and bubbles are frames as well: mostly without a name, beside one that has a name. */
function isWindow(frame: Frame, own: readonly Frame[]): boolean {
  const { role, name, states, app } = frame
  if (isPopupFrame(frame)) return false
  if (!has(states, STATE.SHOWING) && !app.traits.lacksShowing) return false
  return name !== "" || (role !== ROLE.WINDOW && !own.some((other) => other.name !== ""))
}

function windowOf({ ref, app, name, role, states }: Frame): TopWindow {
  const object = refKey(ref)
  return {
    id: `w-a${Bun.hash(object).toString(36)}`,
    title: name,
    pid: app.pid,
    focused: has(states, STATE.ACTIVE),
    mayHaveFocus: app.traits.newWindowsLackActive,
    minimized: false,
    maximized: false,
    modal: has(states, STATE.MODAL),
    types: [role === ROLE.FRAME || role === ROLE.WINDOW ? "normal" : "dialog"],
    object,
  }
}
