import type { SeenTree } from "../adapter.ts"
import type { Context } from "../command.ts"
import { pathOf } from "../match.ts"
import type { Role, State } from "../node.ts"
import { entriesFor, inferenceOf } from "../refs/allocate.ts"
import { isInteractive, nameAndValue, type Position } from "../tree.ts"
import { refSource } from "./surface.ts"

/** An element that matches a search. */
export interface Match {
  readonly ref_id?: string
  readonly role: Role
  readonly name?: string
  /** The name is the text of a label beside or above it. */
  readonly name_inferred?: true
  readonly value?: string
  readonly value_length?: number
  readonly states?: readonly State[]
  readonly interactive: boolean
  /** Names of its ancestors, from the window down. */
  readonly path: readonly string[]
}

/**
 * The matches to print. Interactive ones get refs in the current map, so that the next command can act on them. `all`
 * is the whole tree, which shows which of them have look-alikes.
 */
export async function toMatches(
  ctx: Context,
  tree: SeenTree,
  shown: readonly Position[],
  all: readonly Position[],
): Promise<readonly Match[]> {
  const chosen = shown.filter(({ node }) => isInteractive(node))
  const refs = chosen.length > 0 ? await appendFound(ctx, tree, chosen, all) : []
  const numbers = new Map(chosen.map(({ node }, i) => [node, refs[i]]))
  return shown.map((place) => {
    const { role, states } = place.node
    const { name, value } = nameAndValue(place.node)
    const ref = numbers.get(place.node)
    return {
      ...(ref ? { ref_id: ref } : {}),
      role,
      ...(name ? { name } : {}),
      ...inferenceOf(place.node),
      ...(value !== undefined && !states.includes("secure") ? { value } : {}),
      ...(place.node.valueLength === undefined ? {} : { value_length: place.node.valueLength }),
      ...(states.length ? { states } : {}),
      interactive: isInteractive(place.node),
      path: pathOf(place),
    }
  })
}

async function appendFound(
  ctx: Context,
  tree: SeenTree,
  chosen: readonly Position[],
  all: readonly Position[],
): Promise<readonly string[]> {
  const source = refSource(tree, await ctx.adapter.processStart(tree.pid))
  return ctx.refs.append(entriesFor(chosen, all, { ...source, rootPath: [] }), undefined, source.reachedBy)
}
