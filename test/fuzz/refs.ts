import type { Row, World } from "./world.ts"

export interface Found {
  readonly ref: string
  readonly part: "thing" | "row" | "model"
  readonly id: number
  /** The text that identifies it: its name, or its row's text. */
  readonly text: string
  readonly kind: string
  readonly hadTwins: boolean
  /** True if the ref is that of a button in its row. */
  readonly hasButton?: boolean
  readonly section?: "Alpha" | "Beta"
}

interface Node {
  readonly ref_id?: string
  readonly role: string
  readonly name?: string
  readonly value?: string
  readonly bounds?: { readonly x: number; readonly y: number }
  readonly children?: readonly Node[]
}

/** Pairs the refs of a snapshot with the elements of the world. undefined: the two do not agree yet. */
export function findRefs(tree: Node, world: World): Found[] | undefined {
  const things = (["Alpha", "Beta"] as const).map((section) => {
    const box = find(
      tree,
      (node) => node.name === section && !node.ref_id && (node.children?.length ?? 0) > 0,
    )
    // Qt lists children in the order of their creation.
    const nodes = (box ? all(box) : [])
      .filter(({ role }) => role === "button" || role === "checkbox")
      .toSorted((a, b) => (a.bounds?.x ?? 0) - (b.bounds?.x ?? 0))
    const wanted = world.sections[section]
    if (nodes.length !== wanted.length) return undefined
    if (nodes.some((node, i) => node.name !== wanted[i]?.name || node.role !== wanted[i]?.kind))
      return undefined
    return nodes.flatMap((node, i) => (node.ref_id ? [{ ref: node.ref_id, thing: wanted[i]!, section }] : []))
  })
  if (things.includes(undefined)) return undefined
  const everything = [...world.sections.Alpha, ...world.sections.Beta]
  const rows = openButtons(tree)
  if (rows.length < world.rows.length) return undefined
  const own = rows.slice(0, world.rows.length)
  if (own.some(({ text }, i) => text !== world.rows[i]?.text)) return undefined
  const shown = world.model.filter(({ text }) => text.includes(world.filter))
  const hasButtons = rows.length > world.rows.length
  const cells = hasButtons ? rows.slice(world.rows.length) : modelCells(tree)
  const offset = offsetOf(
    cells.map(({ text }) => text),
    shown,
  )
  return [
    ...things.flatMap((list) =>
      (list ?? []).map(({ ref, thing, section }) => ({
        ref,
        section,
        part: "thing" as const,
        id: thing.id,
        text: thing.name,
        kind: thing.kind,
        hadTwins:
          everything.filter(({ name, kind }) => name === thing.name && kind === thing.kind).length > 1,
      })),
    ),
    ...own.flatMap(({ ref }, i) => found("row", ref, world.rows[i]!, world.rows, true)),
    ...(offset === undefined
      ? []
      : cells.flatMap(({ ref }, i) => found("model", ref, shown[offset + i]!, world.model, hasButtons))),
  ]
}

function found(
  part: "row" | "model",
  ref: string | undefined,
  row: Row,
  among: readonly Row[],
  hasButton: boolean,
): Found[] {
  if (!ref) return []
  const hadTwins = among.filter(({ text }) => text === row.text).length > 1
  return [{ ref, part, id: row.id, text: row.text, kind: "row", hadTwins, hasButton }]
}

interface Cell {
  readonly ref: string | undefined
  readonly text: string
  readonly y: number
}

/** Every "Open" button with the text before it. */
function openButtons(tree: Node): Cell[] {
  const cells: Cell[] = []
  let last = ""
  for (const node of all(tree)) {
    const text = node.name ?? node.value
    if (text && TEXT.test(text)) last = text
    if (node.role === "button" && node.name === "Open")
      cells.push({ ref: node.ref_id, text: last, y: node.bounds?.y ?? 0 })
  }
  const isMail = ({ text }: Cell) => text.startsWith("Mail")
  return [...cells.filter(isMail).toSorted((a, b) => a.y - b.y), ...cells.filter((cell) => !isMail(cell))]
}

const TEXT = /^(Mail|File) \d+$/

const modelCells = (tree: Node): Cell[] =>
  all(tree)
    .filter(({ name, ref_id }) => ref_id && name && /^File \d+$/.test(name))
    .map(({ ref_id, name, bounds }) => ({ ref: ref_id, text: name!, y: bounds?.y ?? 0 }))

/** The index in the list at which the shown part starts; undefined unless exactly one index fits. */
function offsetOf(texts: readonly string[], shown: readonly Row[]): number | undefined {
  const fits = shown
    .map((_, offset) => offset)
    .filter((offset) => texts.every((text, i) => shown[offset + i]?.text === text))
  return texts.length > 0 && fits.length === 1 ? fits[0] : undefined
}

function all(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(all)]
}

function find(node: Node, fits: (node: Node) => boolean): Node | undefined {
  return all(node).find(fits)
}
