import type { Action } from "../action.ts"
import type { Handle } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellGrid, type CellPlace, type Cover, nameOfPlace, placeNamed } from "../content/grid.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { sendInput } from "./deliver.ts"
import { inputTarget } from "./pointer.ts"

/**
 * Cells that a merged cell covers: the app writes into them, and does not show the text. A sheet reports only those in
 * view. It scrolls to a cell that has got the focus only at the next key press.
 */

/** Refuses the focused cell of a sheet if it is covered. `mayGo`: the cell is not edited, so a key may scroll to it. */
export async function refuseCovered(
  ctx: Context,
  target: Target,
  action: Action,
  mayGo: boolean,
): Promise<void> {
  const place = placeNamed(target.seen.name ?? "")
  const grid = place && (await gridAround(ctx, target.seen.handle))
  const covers = grid?.covers
  if (!place || !covers) return
  const look = async (): Promise<Cover | undefined> => (await covers([place]))[0]
  const cover = (await look()) ?? (mayGo ? await afterGoing(ctx, target, action, look) : undefined)
  if (cover?.kind === "covered") throw covered(`${target.ref} (${nameOfPlace(place)}) is`, [place], cover.by)
}

/**
 * Refuses a block with covered cells. Scrolls through the parts of the block that are out of view: `focusOn` gives a
 * cell the focus, and ends an edit.
 */
export async function refuseCoveredIn(
  ctx: Context,
  grid: CellGrid<Handle>,
  block: readonly CellPlace[],
  focusOn: (place: CellPlace) => Promise<Target>,
): Promise<void> {
  const { covers } = grid
  if (!covers) return
  let rest = block
  const found: (CellPlace & { readonly by: CellPlace })[] = []
  const look = async (): Promise<boolean> => {
    const part = rest.slice(0, AT_ONCE)
    const answers = await covers(part)
    found.push(
      ...part.flatMap((place, at) => {
        const answer = answers[at]
        return answer?.kind === "covered" ? [{ ...place, by: answer.by }] : []
      }),
    )
    const left = part.filter((_, at) => !answers[at])
    const isSeen = left.length < part.length
    rest = [...left, ...rest.slice(part.length)]
    return isSeen
  }
  while (rest.length > 0 && !ctx.deadline.expired) {
    if (await look()) continue
    if (!(await goTo(ctx, await focusOn(rest[0]!), look))) rest = rest.slice(1)
  }
  const [first] = found
  if (!first) return
  const same = found.filter(({ by }) => nameOfPlace(by) === nameOfPlace(first.by))
  const names = same.slice(0, 5).map(nameOfPlace).join(", ")
  throw covered(`${names} ${same.length > 1 ? "are" : "is"}`, found, first.by)
}

/** Cells that are asked about together. */
const AT_ONCE = 400
/** How long the sheet may take to scroll to a cell. */
const GOING_MS = 1500

/** Brings the cell that has the focus into view. */
async function goTo(ctx: Context, cell: Target, look: () => Promise<boolean>): Promise<boolean> {
  return (await afterGoing(ctx, cell, FOCUS, async () => (await look()) || undefined)) === true
}

const FOCUS = { kind: "focus" } as const

/** Presses the key that makes a sheet scroll to the current cell. In a cell that is edited, it would delete a word. */
async function afterGoing<T>(
  ctx: Context,
  target: Target,
  action: Action,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const combo = { modifiers: ["ctrl"], key: "backspace" } as const
  await sendInput(ctx, { kind: "key", combo, phase: "press", target: inputTarget(target) }, action)
  return until(ctx, look, { pids: [target.entry.pid], deadline: ctx.deadline.slice(GOING_MS) })
}

async function gridAround(ctx: Context, handle: Handle): Promise<CellGrid<Handle> | undefined> {
  const table = await ctx.adapter.tableAround(handle)
  const grid = table && (await ctx.adapter.grid(table.handle))
  return grid?.kind === "cells" && grid.isSheet ? grid : undefined
}

function covered(subject: string, cells: readonly CellPlace[], by: CellPlace): AppError {
  const cover = nameOfPlace(by)
  return new AppError("ACTION_FAILED", `${subject} covered by the merged cell ${cover}`, {
    suggestion: `Nothing was written, because ${cover} would hide the text. Write into ${cover}, or split it first: agent-desktop click 'cell "${cover}"', then agent-desktop menu 'Format > Merge Cells > Split Cells'`,
    details: {
      kind: "not_actionable",
      reason: "covered",
      cells: cells.slice(0, 50).map(nameOfPlace),
      merged: cover,
    },
    disposition: NOTHING_DELIVERED,
  })
}
