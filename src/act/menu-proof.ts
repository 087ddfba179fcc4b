import type { SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { chooseWindow, type WindowChoice } from "../look/windows.ts"
import { withArticle } from "../node.ts"
import type { Watch } from "../watch.ts"
import { dispositionOf } from "./expect.ts"
import { type Chosen, chooseFromMenu } from "./menu.ts"
import { provenByChanges } from "./result.ts"

/** A choice from a menu, with the effect that proves it. */
export interface Proven extends Chosen {
  /** The observed effect: a dialog or window that opened, or a check mark. */
  readonly observed?: string
}

/** How long an app may be silent before its window counts as not opening, and how long that is waited for at all. */
const QUIET_MS = 150
const OPENING_MS = 700

/**
 * Chooses a menu item, and looks for its effect: a window of the same app that opens, or the state of the item. Without
 * one, the choice stays unverified.
 */
export async function chooseAndProve(
  ctx: Context,
  choice: WindowChoice,
  path: readonly string[],
): Promise<Proven> {
  const { pid } = await chooseWindow(ctx.adapter, choice, { orApp: true })
  const watch = await ctx.adapter.watch([pid], { windows: true })
  try {
    const before = new Set((await ctx.adapter.windows({ pid })).map(({ id }) => id))
    const chosen = await chooseFromMenu(ctx, choice, path)
    const seen = observedIn(chosen)
    if (seen || !isOpenQuestion(chosen)) return { ...chosen, ...(seen ? { observed: seen } : {}) }
    const window = await newWindow(ctx, watch, pid, before)
    return window ? proven(chosen, `window ${window.id} opened`) : chosen
  } finally {
    await watch.close()
  }
}

/** A choice whose changes were compared. They show the dialog, so it is not shown twice. */
export function provenInChanges(chosen: Chosen): Proven {
  const { popup: _, ...rest } = chosen
  const result = provenByChanges(rest, { kind: "click" })
  const isProof = result.disposition.delivery === "delivered_verified"
  const opened = rest.changes?.opened?.find(({ tree }) => tree)
  const seen = observedIn(chosen) ?? (opened ? openedWords(opened) : undefined)
  return { ...rest, disposition: result.disposition, ...(isProof && seen ? { observed: seen } : {}) }
}

const openedWords = (opened: { readonly id?: string; readonly type?: string }): string =>
  opened.type === undefined ? `window ${opened.id} opened` : `${withArticle(opened.type)} opened`

const isOpenQuestion = ({ disposition, doubt }: Chosen): boolean =>
  disposition.delivery === "delivered_unverified" && doubt === undefined

const proven = (chosen: Chosen, observed: string): Proven => ({
  ...chosen,
  disposition: dispositionOf({ kind: "click" }, "delivered_verified"),
  observed,
})

/** The effect that the answer itself shows, if it proves the choice. */
function observedIn({ popup, post_state, disposition }: Chosen): string | undefined {
  if (disposition.delivery !== "delivered_verified") return undefined
  if (popup) return `${withArticle(popup.role)} opened`
  const mark = post_state?.states?.find((state) => state === "checked" || state === "unchecked")
  return mark && `the item is ${mark} now`
}

/** The window that the app opens. Waits until the app is silent, but not for long: most items open none. */
async function newWindow(
  ctx: Context,
  watch: Watch,
  pid: number,
  before: ReadonlySet<string>,
): Promise<SeenWindow | undefined> {
  const look = async (): Promise<SeenWindow | undefined> =>
    (await ctx.adapter.windows({ pid })).find((one) => one.pid === pid && !before.has(one.id))
  const patience = ctx.deadline.slice(Math.min(OPENING_MS, ctx.deadline.remaining / 2))
  try {
    for (;;) {
      const window = await look()
      if (window || !ctx.patient || patience.expired) return window
      if (!(await watch.changed(Math.min(QUIET_MS, patience.remaining)))) return await look()
    }
  } catch (error) {
    // The choice was delivered, even if the windows cannot be listed.
    if (error instanceof AppError) return undefined
    throw error
  }
}
