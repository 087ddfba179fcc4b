import { type Seen, type SeenNode, type SeenWindow, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { isList, withArticle } from "../node.ts"
import { entriesFor, type Source } from "../refs/allocate.ts"
import { readTarget } from "../refs/read-target.ts"
import { windowOf } from "../refs/resolve.ts"
import { type Position, walk, wordsOf } from "../tree.ts"
import { look } from "./search.ts"
import { refSource, waitForContent } from "./surface.ts"
import { chooseWindow, type WindowChoice } from "./windows.ts"

/** Finds the table, sheet, list or tree that a caller means. */

export interface TableChoice extends WindowChoice {
  readonly ref_id?: string
  readonly snapshot?: string
}

/** The element of the caller's ref, or the table around it; without a ref, the only table of a window. */
export const chooseTable = (ctx: Context, choice: TableChoice): Promise<Table> =>
  choice.ref_id === undefined ? findTable(ctx, choice) : tableOf(ctx, choice, choice.ref_id)

/** A table, and the tree that it is in. */
export interface Table {
  readonly ref: string
  readonly seen: Seen
  /** The table in a tree. Reading it may take a while; refs and rows of trees need it. */
  place(): Promise<TreePlace>
}

export interface TreePlace {
  readonly node: SeenNode
  /** All nodes of the tree around it. */
  readonly all: readonly Position[]
  readonly source: Source
  readonly snapshotId?: string
  readonly complete: boolean
}

async function tableOf(ctx: Context, choice: TableChoice, ref_id: string): Promise<Table> {
  const { target, around } = await readTarget(ctx, { ...choice, ref_id }, async (found) => ({
    target: found,
    around: await ctx.adapter.tableAround(found.seen.handle),
  }))
  const { ref, entry, seen, snapshotId } = target
  if (!around) throw notATable(ref, seen, await ctx.adapter.interfaceFor("table"))
  const isOwn = isSame(around, seen)
  const ofWindow = async (): Promise<TreePlace> => {
    const window = await windowOf(ctx.adapter, entry)
    if (!window) throw notInWindow(ref)
    return { ...(await placeIn(ctx, window, ref, around)), snapshotId }
  }
  const ofElement = async (): Promise<TreePlace> => {
    const window = await windowOf(ctx.adapter, entry)
    const tree = await ctx.adapter.tree({ kind: "element", handle: seen.handle, window }, WHOLE_TREE)
    const source = {
      ...refSource(tree, entry.process_start),
      windowId: entry.window_id ?? tree.window.id,
      rootPath: entry.path,
      rootContext: entry.context,
      rootPage: entry.page,
    }
    return { node: tree.root, all: [...walk(tree.root)], source, snapshotId, complete: tree.complete }
  }
  return { ref, seen: around, place: isOwn ? ofElement : ofWindow }
}

/** A table in the tree of its window, with the cells that are in view. */
async function placeIn(ctx: Context, window: SeenWindow, ref: string, table: Seen): Promise<TreePlace> {
  const { tree, places, processStart } = await look(ctx, window, { includeHidden: false, fits: () => false })
  const start = processStart ?? (await ctx.adapter.processStart(tree.pid))
  const found = places.find(({ node }) => isSame(table, node))
  if (!found) throw notInWindow(ref)
  const source = { ...refSource(tree, start), rootPath: [] }
  return { node: found.node, all: places, source, complete: tree.complete }
}

/** By address, or by handle: macOS has no addresses, and one handle for each element. */
const isSame = (one: Seen, other: Seen): boolean =>
  one.handle === other.handle || (one.address !== undefined && one.address === other.address)

/** The only table of a window. Lists count if there is no table. */
async function findTable(ctx: Context, choice: TableChoice): Promise<Table> {
  const window = await waitForContent(ctx, await chooseWindow(ctx.adapter, choice, { orApp: true }))
  const { tree, places, processStart } = await look(ctx, window, {
    includeHidden: false,
    fits: () => false,
    skipsSheets: true,
  })
  const source = {
    ...refSource(tree, processStart ?? (await ctx.adapter.processStart(tree.pid))),
    rootPath: [],
  }
  const isOuter = (node: SeenNode): boolean => isList(node) && !isFrame(node)
  const inner = places.filter(({ node, ancestors }) => isOuter(node) && !ancestors.some(isOuter))
  const tables = inner.filter(({ node }) => node.role !== "list" && node.role !== "listbox")
  const found = (tables.length > 0 ? tables : inner).filter(({ node }) => hasRows(node))
  if (found.length === 0) throw tree.complete ? noTable(window.id) : notSearched(window.id)
  const refs = await ctx.refs.append(entriesFor(found, places, source), undefined, source.reachedBy)
  if (found.length > 1) throw severalTables(found, refs, window.id)
  const [{ node }, ref] = [found[0]!, refs[0]!]
  const here = { node, all: places, source, complete: tree.complete }
  return {
    ref,
    seen: node,
    place: async () => (node.children.length > 0 ? here : placeIn(ctx, window, ref, node)),
  }
}

/** True for an outline around a table, as in file managers: the table has the rows. */
const isFrame = ({ role, children }: SeenNode): boolean =>
  role === "outline" && children.some((child) => child.role === "table")

const hasRows = (node: SeenNode): boolean => node.children.length > 0 || (node.children_count ?? 0) > 0

function notATable(ref: string, { role }: Seen, missing: string): AppError {
  return new AppError(
    "ACTION_NOT_SUPPORTED",
    `${ref} is ${withArticle(role)}, and is not in a table, list or tree`,
    {
      suggestion: "Leave the ref out to read the only table of a window: agent-desktop table --app NAME",
      platformDetail: `neither it nor anything around it has ${missing}, or rows`,
      details: { kind: "no_table_interface", interface: missing },
    },
  )
}

function notInWindow(ref: string): AppError {
  return new AppError("ELEMENT_NOT_FOUND", `The table of ${ref} is not in the tree of its window now`, {
    suggestion: "Run 'table' without a ref, with --app or --window-id",
  })
}

function noTable(id: string): AppError {
  return new AppError("ELEMENT_NOT_FOUND", `Window '${id}' shows no table, list or tree`, {
    suggestion: `See what it shows: agent-desktop snapshot --window-id ${id}`,
  })
}

function notSearched(id: string): AppError {
  return new AppError("TIMEOUT", `Window '${id}' could not be searched for a table to its end`, {
    suggestion: "Retry with a longer --timeout-ms",
    details: { kind: "deadline" },
  })
}

function severalTables(found: readonly Position[], refs: readonly string[], window: string): AppError {
  const candidates = found.map(({ node, ancestors }, at) => {
    const name = wordsOf(node)
    const around = ancestors.slice(1).findLast((one) => wordsOf(one))
    const place = name === undefined && around ? { in: wordsOf(around) } : {}
    return { ref_id: refs[at], role: node.role, ...(name ? { name } : {}), ...place }
  })
  const [ref] = refs
  return new AppError("AMBIGUOUS_TARGET", `Window '${window}' shows ${found.length} tables, lists or trees`, {
    suggestion: `Name one: agent-desktop table ${ref}`,
    details: { candidates },
  })
}
