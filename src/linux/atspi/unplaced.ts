import type { Ref } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import type { Source } from "./facts.ts"
import { isBox } from "./sight.ts"

/**
 * True if something shows in a box that is not SHOWING. A box on a page that is not shown is one as well, so the search
 * is short: a few boxes, a few levels down.
 */
export async function holdsShown(source: Source, box: Ref, levels = MOST_LEVELS): Promise<boolean> {
  const children = (await source.children(box, false)).slice(0, MOST_CHILDREN)
  const looks = await Promise.all(children.map(({ ref }) => source.look(ref, false)))
  if (looks.some(({ states }) => has(states, STATE.SHOWING))) return true
  if (levels === 1) return false
  const boxes = children.filter((_, i) => isBox(looks[i]!)).slice(0, MOST_BOXES)
  for (const { ref } of boxes) if (await holdsShown(source, ref, levels - 1)) return true
  return false
}

const MOST_LEVELS = 3
const MOST_CHILDREN = 20
const MOST_BOXES = 4
