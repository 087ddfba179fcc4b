import { pause } from "../until.ts"
import { hasFramework } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { below } from "./surfaces.ts"
import { type Attributes, asElements, asFlag, asText, type Element } from "./value.ts"

/** How long contents may take to show: once asked for, and once the browser takes us for a screen reader. */
const WAKE_MS = 500
const SCREEN_READER_MS = 2500
const LOOK_MS = 20

/** Chromium, Electron and the like bring one along: "Google Chrome Framework", "Electron Framework". */
const WEB_FRAMEWORK = / Framework\.framework$/

/**
 * Electron and Chromium show their web contents only to a client that asks for them. Asked once per
 * process, and only if its window looks as if they slept. What the calls answer is no evidence: older
 * releases of Electron refuse the attribute and do it, and read it back as false; Chromium wakes up
 * when it is read, or takes a word that is meant for screen readers and says that it does not.
 */
export async function wakeWebContents(ax: Ax, pid: number, window: Element): Promise<void> {
  if (ax.connection.woken.has(pid)) return
  ax.connection.woken.add(pid)
  const app = ax.connection.app(pid)
  const web = hasFramework(pid, WEB_FRAMEWORK)
  if ((!web && !ax.canSet(app, "AXManualAccessibility")) || !isAsleep(ax, window, web)) return
  ax.set(app, "AXManualAccessibility", cfBoolean(true))
  if (await wakesWithin(ax, window, web, WAKE_MS)) return
  // It also animates windows for assistive clients: only where nothing else helps, and it says that it is off.
  if (!web || asFlag(ax.get(app, "AXEnhancedUserInterface")) !== false) return
  ax.set(app, "AXEnhancedUserInterface", cfBoolean(true))
  await wakesWithin(ax, window, web, SCREEN_READER_MS)
}

async function wakesWithin(ax: Ax, window: Element, web: boolean, ms: number): Promise<boolean> {
  const end = ax.deadline.slice(Math.min(ms, ax.deadline.remaining / 2))
  while (isAsleep(ax, window, web)) {
    if (end.expired) return false
    await pause(LOOK_MS, end)
  }
  return true
}

/** What an empty window has: wrappers, a title, and buttons to close and resize it. */
const FRAMING: ReadonlySet<string> = new Set([
  "AXGroup",
  "AXScrollArea",
  "AXStaticText",
  "AXUnknown",
  "AXWebArea",
])

/** Where a page is, or will be. */
const PAGE_PLACES: ReadonlySet<string> = new Set(["AXScrollArea", "AXWebArea"])

/** Nothing but a frame; or, in a browser, no page among its bars and tabs but an empty place for one. */
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
