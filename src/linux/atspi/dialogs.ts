import type { TopWindow } from "../windowing/window.ts"
import { type Atspi, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { unlessRefused } from "./element.ts"
import { ROLE, WINDOW_ROLES } from "./roles.ts"
import { traitsOf } from "./toolkits.ts"

/** Signs that an app shows a modal dialog. */
export interface DialogSigns {
  /** It shows a window that may be one. Only the window system knows for sure: Qt does not report it. */
  readonly beside: boolean
  /** The frames of windows that have one inside, instead of their content. */
  readonly inside: readonly Ref[]
  /** One is over the page. */
  readonly overPage: boolean
}

/** Most apps show no dialog most of the time, and then no window has to be read. */
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
