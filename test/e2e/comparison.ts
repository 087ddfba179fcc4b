import { type Dump, type Expected, expectedElements, expectedTexts, JUDGED } from "./expected.ts"

/** One interactive node of a snapshot, with the address that the ref map holds for it. */
export interface Printed {
  readonly address: string
  readonly role: string
  readonly name?: string
  readonly name_inferred?: true
  readonly value?: string
  readonly states?: readonly string[]
  readonly bounds?: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}

/** The offset from AT-SPI coordinates to screen coordinates. */
export interface Shift {
  readonly x: number
  readonly y: number
  /** A further offset for elements that the app draws itself. */
  readonly drawnY?: number
  /** The offsets in popovers, by their addresses. */
  readonly popovers?: ReadonlyMap<string, Pick<Shift, "x" | "y">>
}

/** Texts that pyatspi saw on the screen and that the tree does not have. */
export function missingTexts(dump: Dump, printed: ReadonlySet<string>): readonly string[] {
  return [...expectedTexts(dump)].filter((text) => !printed.has(text)).map((text) => `missing text: ${text}`)
}

/** One sentence for each difference between the printed elements and the dump by pyatspi. */
export function differences(dump: Dump, printed: readonly Printed[], shift: Shift): readonly string[] {
  const expected = expectedElements(dump)
  const pairs = pair(dump, expected, printed)
  const matched = new Set(pairs.map(([, ours]) => ours))
  const found = new Set(pairs.map(([theirs]) => theirs))
  const addresses = new Set<string>()
  return [
    ...expected.filter((one) => !found.has(one)).map((one) => `missing: ${describe(one)}`),
    ...printed.filter((one) => !matched.has(one)).map((one) => `invented: ${JSON.stringify(one)}`),
    ...printed
      .filter(({ address }) => addresses.size === addresses.add(address).size)
      .map((one) => `twice: ${JSON.stringify(one)}`),
    ...pairs.flatMap(([theirs, ours]) => compare(theirs, ours, shift)),
  ]
}

/**
 * Pairs by address. Qt 6 gives tree items new addresses at each look, and so does LibreOffice with the cells of a sheet:
 * those are paired by role and name.
 */
function pair(dump: Dump, expected: readonly Expected[], printed: readonly Printed[]): [Expected, Printed][] {
  const byAddress = new Map(printed.map((one) => [one.address, one]))
  const exact = expected.flatMap((one): [Expected, Printed][] => {
    const ours = byAddress.get(one.address)
    return ours ? [[one, ours]] : []
  })
  const used = new Set(exact.map(([, ours]) => ours))
  const looks = new Set(exact.map(([theirs]) => theirs))
  const left = expected.filter((one) => !looks.has(one) && isMadeAgain(dump, one))
  return [
    ...exact,
    ...left.flatMap((one): [Expected, Printed][] => {
      const ours = printed.find(
        (other) => !used.has(other) && other.role === one.role && one.names.has(other.name ?? ""),
      )
      if (ours) used.add(ours)
      return ours ? [[one, ours]] : []
    }),
  ]
}

const isMadeAgain = ({ toolkit }: Dump, { role, names }: Expected): boolean =>
  toolkit === "Qt"
    ? role === "treeitem"
    : role === "cell" && [...names].every((name) => /^[A-Z]{1,3}\d+$/.test(name))

function compare(theirs: Expected, ours: Printed, shift: Shift): string[] {
  const states = (ours.states ?? []).filter((state) => JUDGED.has(state)).sort()
  // A name that was taken from a label beside the element is not the app's own.
  const own = ours.name_inferred ? undefined : ours.name
  const name = own ?? (TEXTS.has(ours.role) ? ours.value : undefined) ?? ""
  const who = `${ours.role} "${name}" ${ours.address}`
  const isNamed = theirs.names.has(name) || (theirs.choice !== undefined && theirs.choice === ours.value)
  return [
    ...(ours.role === theirs.role ? [] : [`role ${theirs.role} is printed as ${ours.role}: ${who}`]),
    ...(isNamed ? [] : [`name ${[...theirs.names].join("|")} is printed as "${name}": ${who}`]),
    ...(states.join() === theirs.states.join()
      ? []
      : [`states ${theirs.states} are printed as ${states}: ${who}`]),
    ...compareBounds(theirs, ours, shift).map((text) => `${text}: ${who}`),
  ]
}

/** Roles whose text is printed as their value. */
const TEXTS: ReadonlySet<string> = new Set(["statictext", "label", "paragraph"])

function compareBounds({ extents, drawn, popover }: Expected, { bounds }: Printed, whole: Shift): string[] {
  const shift: Shift = (popover && whole.popovers?.get(popover)) || whole
  const isPlaced = extents !== null && extents[0] > -0x7ffffff0 && extents[2] >= 0 && extents[3] >= 0
  if (!isPlaced) return bounds ? [`bounds ${JSON.stringify(bounds)} of what has none (${extents})`] : []
  if (!bounds) return [`no bounds instead of ${extents}`]
  const downs = drawn && shift.drawnY !== undefined ? [shift.y, shift.y + shift.drawnY] : [shift.y]
  const isNear = downs.some(
    (down) =>
      Math.abs(bounds.x - extents[0] - shift.x) <= 1 &&
      Math.abs(bounds.y - extents[1] - down) <= 1 &&
      Math.abs(bounds.width - extents[2]) <= 1 &&
      Math.abs(bounds.height - extents[3]) <= 1,
  )
  return isNear
    ? []
    : [`bounds ${extents} shifted by ${shift.x},${downs.join("|")} are printed as ${JSON.stringify(bounds)}`]
}

const describe = (one: Expected): string =>
  `${one.role} "${[...one.names][0]}" ${one.states} ${one.extents} ${one.address}`
