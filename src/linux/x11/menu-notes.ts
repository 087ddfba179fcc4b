import type { Deadline } from "../../deadline.ts"
import type { Point } from "../../node.ts"
import { contains } from "../../rect.ts"
import type { X11 } from "./connection.ts"
import { changeProperty, getProperty, propertyText, unlessGone } from "./requests.ts"
import { listOverrideWindows } from "./windows.ts"

/**
 * Notes on menu windows: which accessible object each of them is. A menu that is in no tree is known only by the event
 * when it opens, which only one command receives. The note lets later commands find it, and disappears with the window.
 */

const NOTE = "_AGENT_DESKTOP_MENU"

/** The notes on a process's visible menus, topmost first. */
export async function readMenuNotes(x: X11, pid: number, deadline: Deadline): Promise<readonly string[]> {
  const own = (await listOverrideWindows(x, deadline)).filter((window) => window.pid === pid)
  if (own.length === 0) return []
  await x.intern([NOTE, "UTF8_STRING"], deadline)
  const notes = await Promise.all(
    own.map(({ id }) => unlessGone(getProperty(x, id, x.atom(NOTE), deadline, { maxBytes: MAX_BYTES }))),
  )
  return notes.flatMap((note) => propertyText(x, note) || [])
}

/** Writes a note on the topmost popup of the process at a point of the menu. */
export async function writeMenuNote(
  x: X11,
  menu: { readonly pid: number; readonly at: Point; readonly note: string },
  deadline: Deadline,
): Promise<void> {
  const popups = await listOverrideWindows(x, deadline)
  const window = popups.find(({ pid, frame }) => pid === menu.pid && contains(frame, menu.at))
  if (!window) return
  await x.intern([NOTE, "UTF8_STRING"], deadline)
  const bytes = new TextEncoder().encode(menu.note)
  const write = changeProperty(window.id, x.atom(NOTE), x.atom("UTF8_STRING"), 8, bytes)
  await unlessGone(x.check([write], deadline))
}

const MAX_BYTES = 512
