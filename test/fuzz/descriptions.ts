import type { Found } from "./refs.ts"
import type { Chance, Row, Thing, World } from "./world.ts"

/** A description of an element, and the elements of a world that fit it. */
export interface Described {
  readonly target: string
  fits(world: World): readonly number[]
}

/** A description of an element that a snapshot showed, in one of the forms that callers can use. */
export function describe(found: Found, chance: Chance): Described {
  const { part, kind, text, hasButton, section } = found
  if (part !== "thing") {
    const rows = (world: World): readonly Row[] => (part === "row" ? world.rows : shownModel(world))
    const name = chance.next() < 0.2 ? text.toUpperCase() : text
    return {
      target: hasButton ? `button "Open" in "${name}"` : `"${name}"`,
      fits: (world) => idsOf(rows(world).filter((row) => row.text === text)),
    }
  }
  const withRole = chance.next() < 0.6
  const within = section !== undefined && chance.next() < 0.4 ? section : undefined
  const things = ({ sections }: World): readonly Thing[] =>
    within ? sections[within] : [...sections.Alpha, ...sections.Beta]
  return {
    target: `${withRole ? `${kind} ` : ""}"${text}"${within ? ` in "${within}"` : ""}`,
    fits: (world) =>
      idsOf(things(world).filter((thing) => thing.name === text && (!withRole || thing.kind === kind))),
  }
}

const idsOf = (list: readonly { readonly id: number }[]): readonly number[] => list.map(({ id }) => id)

const shownModel = ({ model, filter }: World): readonly Row[] =>
  model.filter(({ text }) => text.includes(filter))
