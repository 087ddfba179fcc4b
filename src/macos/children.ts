import type { Ax } from "./ax.ts"
import {
  ATTRIBUTE_UNSUPPORTED,
  Failure,
  ILLEGAL_ARGUMENT,
  INVALID_ELEMENT,
  NO_VALUE,
  readFailed,
} from "./failure.ts"
import { type Attributes, asElements, type Element } from "./value.ts"

/** Where elements keep their children. An index of a path names the place and, by its stride, the attribute. */
const SOURCES = ["AXChildren", "AXColumns", "AXContents"] as const
const STRIDE = 1 << 20
const ALL = STRIDE

export interface Children {
  readonly elements: readonly Element[]
  /** What the first one's place is in a path. */
  readonly offset: number
  /** They could not be read. */
  readonly unread: boolean
}

const NONE: Children = { elements: [], offset: 0, unread: false }

/** Roles for which it would be strange to have no children. */
const CONTAINERS: ReadonlySet<string> = new Set([
  "browser",
  "grid",
  "group",
  "list",
  "outline",
  "scrollarea",
  "splitter",
  "table",
  "tablist",
  "toolbar",
  "unknown",
  "webarea",
  "window",
])

/** The children from a node's structure; a second question only where the answer is missing or would be strange. */
export function childrenOf(ax: Ax, element: Element, role: string, { AXChildren }: Attributes): Children {
  if (role === "browser") return below(ax, element, 1)
  const elements = asElements(AXChildren)
  if (elements.length > 0) return { elements, offset: 0, unread: false }
  if (AXChildren instanceof Failure && AXChildren.code !== NO_VALUE) {
    // Some apps refuse the list as a whole and give it in parts; most leaves just have none.
    const odd = AXChildren.code !== ATTRIBUTE_UNSUPPORTED || CONTAINERS.has(role)
    return odd ? below(ax, element, 0) : NONE
  }
  return role === "scrollarea" ? below(ax, element, 2) : NONE
}

function below(ax: Ax, element: Element, source: 0 | 1 | 2): Children {
  const elements = ax.some(element, SOURCES[source], 0, ALL)
  if (!(elements instanceof Failure)) return { elements, offset: source * STRIDE, unread: false }
  // The first of none is an illegal argument.
  const absent = [ATTRIBUTE_UNSUPPORTED, NO_VALUE, ILLEGAL_ARGUMENT].includes(elements.code)
  return absent && source > 0 ? NONE : { ...NONE, unread: !absent }
}

/** The child at a place of a path, by one call; undefined when there is none. */
export function childAt(ax: Ax, element: Element, index: number): Element | undefined {
  const source = SOURCES[Math.floor(index / STRIDE)]
  if (!source) return undefined
  const found = ax.some(element, source, index % STRIDE, 1)
  if (!(found instanceof Failure)) return found[0]
  if (ABSENT.has(found.code)) return undefined
  throw readFailed("A child on the way to the element", found.code)
}

/** What an element without that child answers; an index beyond the end is an illegal argument. */
const ABSENT: ReadonlySet<number> = new Set([
  ILLEGAL_ARGUMENT,
  INVALID_ELEMENT,
  ATTRIBUTE_UNSUPPORTED,
  NO_VALUE,
])
