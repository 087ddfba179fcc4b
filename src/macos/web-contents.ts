import { AppError } from "../errors.ts"
import { pause } from "../until.ts"
import { hasFramework, processStart } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { below } from "./surfaces.ts"
import { type Attributes, asElements, asFlag, asText, type Element } from "./value.ts"

/** Longest waits for web contents to appear: after asking for them, after posing as a screen reader, and later. */
const WAKE_MS = 500
const SCREEN_READER_MS = 2500
const AGAIN_MS = 100
const LOOK_MS = 20
/** How long an app may take to give up posing. */
const GIVE_BACK_MS = 300

/** Framework inside apps based on Chromium: "Google Chrome Framework", "Electron Framework". */
const WEB_FRAMEWORK = / Framework\.framework$/

/**
 * Wakes up the web contents of Electron and Chromium, which show them only to a client that asks. Asks whenever the
 * window looks as if they are asleep: a window may be opened later, and a renderer that starts again forgets who asked.
 * The return codes prove nothing: older releases of Electron refuse AXManualAccessibility, obey it and read it back as
 * false. Chromium wakes up when its tree is read, or when AXEnhancedUserInterface is set, although it refuses to set it.
 */
export async function wakeWebContents(ax: Ax, pid: number, window: Element): Promise<void> {
  const app = ax.connection.app(pid)
  const web = hasFramework(pid, WEB_FRAMEWORK)
  if ((!web && !ax.canSet(app, "AXManualAccessibility")) || !isAsleep(ax, window, web)) return
  // A page that stayed empty may just be empty. Only its first look waits for long.
  const { sleepers, posedTo } = ax.connection
  const start = processStart(pid)
  const key = `${pid} ${start} ${ax.windowNumber(window)}`
  const isKnown = sleepers.has(key)
  ax.set(app, "AXManualAccessibility", cfBoolean(true))
  if (await wakesWithin(ax, window, web, isKnown ? AGAIN_MS : WAKE_MS)) return
  // This also makes apps animate their windows. So it is the last resort, and only if it reads as off.
  if (web && !isKnown && asFlag(ax.get(app, "AXEnhancedUserInterface")) === false) {
    posedTo.set(pid, start)
    ax.set(app, "AXEnhancedUserInterface", cfBoolean(true))
    if (await wakesWithin(ax, window, web, SCREEN_READER_MS)) return
  }
  sleepers.add(key)
}

/** Ends the pose as a screen reader in every app that saw it: apps are slower with one. */
export function stopPosing(ax: Ax): void {
  for (const [pid, start] of ax.connection.posedTo) {
    if (start === undefined || processStart(pid) !== start) continue
    try {
      ax.within(GIVE_BACK_MS).set(ax.connection.app(pid), "AXEnhancedUserInterface", cfBoolean(false))
    } catch (error) {
      // An app that does not answer keeps the setting. The other apps still get the call.
      if (!(error instanceof AppError)) throw error
    }
  }
}

async function wakesWithin(ax: Ax, window: Element, web: boolean, ms: number): Promise<boolean> {
  const end = ax.deadline.slice(Math.min(ms, ax.deadline.remaining / 2))
  while (isAsleep(ax, window, web)) {
    if (end.expired) return false
    await pause(LOOK_MS, end)
  }
  return true
}

/** Roles in an empty window: wrappers and a title. */
const FRAMING: ReadonlySet<string> = new Set([
  "AXGroup",
  "AXPopover",
  "AXScrollArea",
  "AXSheet",
  "AXStaticText",
  "AXUnknown",
  "AXWebArea",
])

/** Roles of the element that contains a page, or will. */
const PAGE_PLACES: ReadonlySet<string> = new Set(["AXScrollArea", "AXWebArea"])

/** True for a window that has only a frame; in a browser, for one whose place for a page is still empty. */
function isAsleep(ax: Ax, window: Element, web: boolean): boolean {
  let empty = false
  let contents = false
  const page = below(ax, window, (look) => {
    const role = asText(look.AXRole) ?? "AXUnknown"
    const filled = asElements(look.AXChildren).length > 0
    empty ||= PAGE_PLACES.has(role) && !filled
    contents ||= !isFraming(role, look)
    return web ? role === "AXWebArea" && filled : contents
  })
  return !page && (empty || !contents)
}

function isFraming(role: string, { AXSubrole }: Attributes): boolean {
  const ofWindow =
    role === "AXButton" && /^AX(Close|Minimize|Zoom|FullScreen)Button$/.test(asText(AXSubrole) ?? "")
  return ofWindow || FRAMING.has(role)
}
