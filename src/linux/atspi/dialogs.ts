import { MAX_LEVELS } from "../../adapter.ts"
import type { TopWindow } from "../windowing/window.ts"
import { type Atspi, parseRefKey, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { isGone, unlessRefused } from "./element.ts"
import { ROLE, WINDOW_ROLES } from "./roles.ts"
import { traitsOf } from "./toolkits.ts"

/** Signs that an app shows a modal dialog. */
export interface DialogSigns {
  /** The app shows a window that may be one. Only the window system knows for sure: Qt does not report it. */
  readonly beside: boolean
  /** The frames of windows that list a dialog instead of their content. */
  readonly inside: readonly Ref[]
  /** A dialog is over the page. */
  readonly overPage: boolean
}

/** Looks for signs of a modal dialog. Usually there are none, and then no window has to be read. */
export async function findDialogSigns(
  atspi: Atspi,
  bus: string,
  page: Ref | undefined,
): Promise<DialogSigns> {
  const app = { bus, path: ROOT_PATH }
  const [tops, toolkit] = await Promise.all([atspi.children(app), atspi.toolkit(app)])
  const { modalDialogReplacesContent, pageDialogIsItsOwnPage } = traitsOf(toolkit, "")
  const covering = page && pageDialogIsItsOwnPage ? unlessRefused(isCovered(atspi, page)) : false
  const signs = await Promise.all(
    tops.map(async (top) => {
      const [role, states, children] = await Promise.all([
        atspi.role(top),
        atspi.states(top),
        modalDialogReplacesContent ? atspi.children(top) : [],
      ])
      const [only, ...others] = children
      return {
        top,
        isDialog: WINDOW_ROLES.has(role) && (!PLAIN.has(role) || has(states, STATE.MODAL)),
        isFilled:
          only !== undefined &&
          others.length === 0 &&
          DIALOGS.has((await unlessRefused(atspi.role(only))) ?? 0),
      }
    }),
  )
  return {
    beside: tops.length > 1 && signs.some(({ isDialog }) => isDialog),
    inside: signs.filter(({ isFilled }) => isFilled).map(({ top }) => top),
    overPage: (await covering) === true,
  }
}

/**
 * The first of these objects that is a dialog, an alert or a popover of the process and shows, and the top-level object
 * that it is in. undefined: there is none.
 */
export async function openedAmong(
  atspi: Atspi,
  pid: number,
  addresses: readonly string[],
): Promise<{ readonly ref: Ref; readonly top: Ref } | undefined> {
  const refs = addresses.flatMap((address) => parseRefKey(address) ?? [])
  const facts = await Promise.all(
    refs.map((ref) => Promise.all([unlessLeft(atspi.role(ref)), unlessLeft(atspi.states(ref))])),
  )
  for (const [i, ref] of refs.entries()) {
    const [role, states] = facts[i]!
    if (role === undefined || states === undefined || !isDialog(role, states)) continue
    const top = (await unlessLeft(atspi.pid(ref.bus))) === pid ? await topOf(atspi, ref) : undefined
    // The window system knows whether a window shows. GTK 4 does not report it.
    if (top && (has(states, STATE.SHOWING) || refKey(top) === refKey(ref))) return { ref, top }
  }
  return undefined
}

/** GTK 3 reports a popover as a modal panel. */
const isDialog = (role: number, states: StateSet): boolean =>
  role === ROLE.PANEL ? has(states, STATE.MODAL) : WINDOW_ROLES.has(role) && !PLAIN.has(role)

/** undefined: the object is not in the tree of its app. */
async function topOf(atspi: Atspi, ref: Ref): Promise<Ref | undefined> {
  let at = ref
  for (let level = 0; level < MAX_LEVELS; level++) {
    const above = await unlessLeft(atspi.parent(at))
    if (!above) return undefined
    if (above.path === ROOT_PATH) return at
    at = above
  }
  return undefined
}

/** Objects that have just appeared may leave at once, and whole processes with them. */
const unlessLeft = async <T>(read: Promise<T>): Promise<T | undefined> => {
  try {
    return await unlessRefused(read)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** True if the frame of a page has another visible one beside it: the page that Firefox makes of an alert(). */
async function isCovered(atspi: Atspi, page: Ref): Promise<boolean> {
  const frame = await atspi.parent(page)
  const stack = frame && (await atspi.parent(frame))
  const others = stack ? (await atspi.children(stack)).filter((one) => refKey(one) !== refKey(frame)) : []
  const facts = await Promise.all(others.map((one) => Promise.all([atspi.role(one), atspi.states(one)])))
  return facts.some(([role, states]) => role === ROLE.INTERNAL_FRAME && has(states, STATE.SHOWING))
}

/** Windows that are not dialogs by their role. */
const PLAIN: ReadonlySet<number> = new Set([ROLE.FRAME, ROLE.WINDOW])

const DIALOGS: ReadonlySet<number> = new Set([ROLE.DIALOG, ROLE.ALERT])

/**
 * The modal dialog that blocks a window of the same process: one that belongs to the window, or to a window that does;
 * or one that belongs to none, and so blocks the whole app. Another window's dialog does not count: the app may have
 * put it into a separate group.
 */
export function dialogOver(own: string, windows: readonly TopWindow[]): TopWindow | undefined {
  const byId = new Map(windows.map((window) => [window.id, window]))
  const ownersOf = (dialog: TopWindow): readonly string[] => {
    const owners = [dialog.id]
    for (let at = dialog.transientFor; at && byId.has(at) && !owners.includes(at); ) {
      owners.push(at)
      at = byId.get(at)?.transientFor
    }
    return owners.slice(1)
  }
  const self = byId.get(own)
  if (!self) return undefined
  const dialogs = windows.filter(({ id, modal, minimized }) => modal && !minimized && id !== own)
  return dialogs.find((dialog) => {
    const owners = ownersOf(dialog)
    if (owners.length > 0) return owners.includes(own)
    return !self.modal && !ownersOf(self).includes(dialog.id)
  })
}
