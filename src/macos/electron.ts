import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { pause } from "./pause.ts"
import { below } from "./surfaces.ts"
import { type Attributes, asText, type Element } from "./value.ts"

const WAKE_MS = 500
const LOOK_MS = 20

/**
 * Electron shows its web contents only to a client that asks for them. Asked once per process, and only
 * if its window looks empty. What the attribute reads back as is no evidence: Electron says false.
 */
export async function wakeWebContents(ax: Ax, pid: number, window: Element): Promise<void> {
  if (ax.connection.woken.has(pid)) return
  ax.connection.woken.add(pid)
  const app = ax.connection.app(pid)
  if (!ax.canSet(app, "AXManualAccessibility") || hasContents(ax, window)) return
  ax.set(app, "AXManualAccessibility", cfBoolean(true))
  const end = ax.deadline.slice(Math.min(WAKE_MS, ax.deadline.remaining / 2))
  while (!end.expired && !hasContents(ax, window)) await pause(LOOK_MS, end)
}

/** What an empty window has: wrappers, a title, and buttons to close and resize it. */
const FRAMING: ReadonlySet<string> = new Set([
  "AXGroup",
  "AXScrollArea",
  "AXStaticText",
  "AXUnknown",
  "AXWebArea",
])

function hasContents(ax: Ax, window: Element): boolean {
  const isContent = ({ AXRole, AXSubrole }: Attributes) => {
    const own =
      AXRole === "AXButton" && /^AX(Close|Minimize|Zoom|FullScreen)Button$/.test(asText(AXSubrole) ?? "")
    return !own && !FRAMING.has(asText(AXRole) ?? "AXUnknown")
  }
  return below(ax, window, isContent) !== undefined
}
