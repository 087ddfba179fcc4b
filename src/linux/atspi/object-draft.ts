import type { Draft, Standing } from "../../describe/draft.ts"
import type { Beyond } from "../../node.ts"
import { refKey } from "./atspi.ts"
import type { Element } from "./element.ts"
import type { Look, Source } from "./facts.ts"
import type { Reading } from "./reading.ts"
import { LISTS, ROLE } from "./roles.ts"
import type { Around, Sight } from "./sight.ts"

export interface Step extends Standing {
  /** Levels beyond the depth that are still read, to name the object or one above it. */
  readonly spare: number | undefined
}

export const ROOT: Step = { level: 0, depth: 0, spare: undefined }

/** One object on its way through the collector. Its members are only declared, since thousands are created at once. */
export class ObjectDraft implements Step {
  declare readonly element: Element
  declare readonly source: Source
  declare readonly parent: ObjectDraft | undefined
  declare readonly key: string
  declare readonly level: number
  declare readonly depth: number
  declare readonly spare: number | undefined
  /** Absent: it is hidden, it is gone, or it did not answer. */
  declare reading: Reading | undefined
  declare isUnread: boolean
  declare children: readonly ObjectDraft[]
  declare isCut: boolean
  /** The number of children that it lists, and that it says it has. */
  declare listed: number
  declare total: number | undefined
  /** True if a child was left out because it does not show. */
  declare leavesOut: boolean
  declare sight: Sight
  /** True if its content may be scrolled out of view. */
  declare scrolls: boolean
  /** It does not report that it shows, and is read only for visible content. */
  declare isBridge: boolean
  /** Set for an object that is out of view, and only counted. */
  declare look: Look | undefined
  declare beyond: Beyond | undefined

  constructor(element: Element, source: Source, parent: ObjectDraft | undefined, step: Step) {
    this.element = element
    this.source = source
    this.parent = parent
    this.key = refKey(element.ref)
    this.level = step.level
    this.depth = step.depth
    this.spare = step.spare
    this.reading = undefined
    this.isUnread = false
    this.children = NONE
    this.isCut = false
    this.listed = 0
    this.total = undefined
    this.leavesOut = false
    this.sight = "shown"
    this.scrolls = false
    this.isBridge = false
    this.look = undefined
    this.beyond = undefined
  }

  get parts(): readonly ReadDraft[] {
    return this.children.filter(isPart)
  }

  get around(): Around | undefined {
    if (!this.reading) return undefined
    const { role, states } = this.reading.facts
    return { sight: this.sight, role, states, scrolls: this.scrolls }
  }

  get count(): number | undefined {
    if (this.isCut || this.total !== undefined) return this.total
    const isPart = this.children.some(({ isUnread }) => isUnread) || (this.leavesOut && this.#hasRows)
    return isPart ? this.listed : undefined
  }

  /** The rows of a list may be out of view. Those of a combo box show when it is open. */
  get #hasRows(): boolean {
    const { parentRole } = this.element
    return LISTS.has(this.reading?.facts.role ?? 0) && parentRole !== ROLE.COMBO_BOX
  }
}

const NONE: readonly ObjectDraft[] = []

const isPart = (draft: ObjectDraft): draft is ObjectDraft & ReadDraft =>
  isRead(draft) && (!draft.isBridge || draft.children.some(isPart))

export interface ReadDraft extends Draft<ReadDraft> {
  readonly reading: Reading
}

export function isRead(draft: ObjectDraft): draft is ObjectDraft & ReadDraft {
  return draft.reading !== undefined
}
