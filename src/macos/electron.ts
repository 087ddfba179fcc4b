import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { pause } from "./pause.ts"
import { below } from "./surfaces.ts"
import { asElements, type Element } from "./value.ts"

const WAKE_MS = 500
const LOOK_MS = 20

/**
 * Electron shows its web contents only to a client that asks for them. Asked once per process; apps that
 * do not know the attribute are left alone. What it reads back as is no evidence: Electron says false.
 */
export async function wakeWebContents(ax: Ax, pid: number, window: Element): Promise<void> {
  if (ax.connection.woken.has(pid)) return
  ax.connection.woken.add(pid)
  const app = ax.connection.app(pid)
  if (!ax.isSettable(app, "AXManualAccessibility") || hasContents(ax, window)) return
  ax.set(app, "AXManualAccessibility", cfBoolean(true))
  const end = ax.deadline.slice(Math.min(WAKE_MS, ax.deadline.remaining / 2))
  while (!end.expired && !hasContents(ax, window)) await pause(LOOK_MS, end)
}

function hasContents(ax: Ax, window: Element): boolean {
  const area = below(ax, window, ({ AXRole }) => AXRole === "AXWebArea")
  return area !== undefined && asElements(ax.get(area, "AXChildren")).length > 0
}
