import type { SeenWindow } from "../adapter.ts"
import type { Node, SurfaceInfo } from "../node.ts"
import { fitTree } from "./budget.ts"
import { isDialog } from "./cover.ts"
import type { Added, Changes } from "./diff.ts"
import { changeLines } from "./outline.ts"
import { estimateTokens } from "./tokens.ts"

/** The member that `--changes` adds to the result of an action: the changes since just before it. */
export interface ActionChanges extends Changes {
  readonly snapshot_id?: string
  /** The snapshot whose refs stay valid. */
  readonly since?: string
  /** Windows and menus that opened. Those of the app are shown whole. */
  readonly opened?: readonly Opened[]
  readonly closed?: readonly Closed[]
  /** The number of changes that did not fit. */
  readonly omitted?: number
  /** false: the window was still changing when it was read. */
  readonly settled?: boolean
  readonly complete?: boolean
  /** The reason why the window could not be read. */
  readonly reason?: string
}

export type Closed = ShownWindow | Pick<SurfaceInfo, "type" | "title">
export type Opened = (ShownWindow | SurfaceInfo) & { readonly tree?: Node }

export type ShownWindow = Pick<SeenWindow, "id" | "title" | "app_name">

/** Tokens that the changes of an action may take. */
const MOST_TOKENS = 1500
/** A smaller part is not worth printing. */
const LEAST_TOKENS = 40

/**
 * Fits the changes into the tokens that an answer may take, and counts those that do not fit. First come windows and
 * menus that opened, then other new elements, then changed ones, then those that are gone.
 */
export function fitChanges(changes: ActionChanges, isText: boolean): ActionChanges {
  const print = (part: ActionChanges): string => (isText ? changeLines(part) : JSON.stringify(part))
  if (estimateTokens(print(changes)) <= MOST_TOKENS) return changes
  let left = MOST_TOKENS
  let omitted = 0
  const fit = <T>(
    list: readonly T[] | undefined,
    wrap: (one: T) => ActionChanges,
    cut?: Cut<T>,
  ): readonly T[] => {
    const kept: T[] = []
    for (const one of list ?? []) {
      const cost = (some: T): number => estimateTokens(print(wrap(some)))
      const fitting = cost(one) <= left ? one : left > LEAST_TOKENS ? cut?.(one, left, cost) : undefined
      if (fitting === undefined) omitted++
      else {
        kept.push(fitting)
        left -= cost(fitting)
      }
    }
    return kept
  }
  const opened = fit(changes.opened, (one) => ({ opened: [one] }), cutOpened)
  const added = fit(newestFirst(changes.added), (one) => ({ added: [one] }), cutTree)
  const changed = fit(changes.changed, (one) => ({ changed: [one] }))
  const closed = fit(changes.closed, (one) => ({ closed: [one] }))
  const removed = fit(changes.removed, (one) => ({ removed: [one] }))
  const { opened: _, added: _a, changed: _c, closed: _d, removed: _r, ...rest } = changes
  return {
    ...rest,
    ...(added.length ? { added } : {}),
    ...(removed.length ? { removed } : {}),
    ...(changed.length ? { changed } : {}),
    ...(opened.length ? { opened } : {}),
    ...(closed.length ? { closed } : {}),
    ...(omitted ? { omitted } : {}),
  }
}

type Cut<T> = (one: T, tokens: number, cost: (some: T) => number) => T | undefined

/** The most important part of a tree that fits; omitted children are counted. */
const cutTree: Cut<Added> = (node, tokens, cost) => fitTree(node, { tokens, cost, spell: () => "" })?.tree

const cutOpened: Cut<Opened> = (one, tokens, cost) => {
  const { tree, ...own } = one
  const cut = tree && fitTree(tree, { tokens, cost: (some) => cost({ ...own, tree: some }), spell: () => "" })
  return cut ? { ...own, tree: cut.tree } : own
}

/** Dialogs and menus first: they are the answer to most actions. */
function newestFirst(added: ActionChanges["added"]): readonly Added[] | undefined {
  const isOpening = (one: Node): boolean => OPENINGS.has(one.role) || isDialog(one)
  return added && [...added.filter(isOpening), ...added.filter((one) => !isOpening(one))]
}

const OPENINGS: ReadonlySet<Node["role"]> = new Set(["menu", "popover", "listbox"])
