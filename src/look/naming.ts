import type { Seen, SeenNode } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { hasTrait, isRow, type Role } from "../node.ts"
import { cut, type RefEntry, sameElement } from "../refmap.ts"
import { entriesFor } from "../refs/allocate.ts"
import { ownName } from "../refs/identity.ts"
import { lookUp, type RefChoice, resolveStored } from "../refs/resolve.ts"
import { type Position, wordsOf } from "../tree.ts"
import { type Description, descriptionText, type Wanted } from "./description.ts"
import { documentsIn, isLastingTitle, isTellingText, lastingName } from "./lasting-names.ts"
import { matching } from "./matching.ts"
import { inTheirRows } from "./places-in-rows.ts"
import { type Seeing, see, titled } from "./reachable.ts"
import { look } from "./search.ts"
import { describedInRows, focusIn } from "./target.ts"
import type { WindowChoice } from "./windows.ts"

/** Finds words that name an element: the inverse of target.ts. */

export interface Naming {
  /** The name of its app, which a later search needs. */
  readonly app: string
  readonly pid: number
  readonly isSecure: boolean
  /** The element in a few words, whether or not they match only this element. */
  readonly about: string
  /** The headings that are visible beside it. */
  readonly headings: readonly string[]
  /** The shortest description that matches only this element. undefined: there is none, for the given reason. */
  readonly target?: string
  readonly reason?: string
}

/**
 * Describes the element of a ref so that a search in its app finds only this element: in the window that the search
 * would choose now, and in any other window of the app, which a search may choose if a dialog opens late. A description
 * never counts elements, and never uses a name that may change.
 */
export async function nameElement(ctx: Context, choice: RefChoice): Promise<Naming> {
  const { entry, seen } = await resolveStored(ctx, await lookUp(ctx, choice))
  const about = {
    app: entry.source_app ?? "",
    pid: entry.pid,
    isSecure: seen.states.includes("secure"),
    about: aboutOf(seen),
  }
  return nameIn(ctx, about, await sameAs(ctx, { ...entry, address: seen.address ?? entry.address }))
}

/** Describes the focused element in the same way. undefined: no element of the window reports the focus. */
export async function nameFocused(ctx: Context, choice: WindowChoice): Promise<Naming | undefined> {
  const seen = await see(ctx, choice, focusIn)
  const [place, ...others] = seen?.found ?? []
  if (!seen || !place || others.length > 0) return undefined
  const { address, role, states } = place.node
  const about = {
    app: seen.window.app_name,
    pid: seen.tree.pid,
    isSecure: states.includes("secure"),
    about: aboutOf(place.node),
  }
  if (address === undefined)
    return { ...about, headings: [], reason: "its platform does not say where it is" }
  return nameIn(
    ctx,
    about,
    () =>
      ({ node }) =>
        node.address === address && node.role === role,
  )
}

/** Role and name, never a value. */
function aboutOf(seen: Seen): string {
  const name = ownName(seen) ?? seen.inferredName
  return descriptionText({
    role: seen.role,
    ...(name === undefined ? {} : { name: cut(name, 80) }),
    within: [],
  })
}

async function nameIn(
  ctx: Context,
  about: Pick<Naming, "app" | "pid" | "isSecure" | "about">,
  isIt: IsIt,
): Promise<Naming> {
  const { app, pid } = about
  const scope = app === "" ? undefined : await see(ctx, { app }, (places) => places.filter(isIt(places)))
  const [place] = scope?.found ?? []
  const headings = scope ? headingsIn(scope.places) : []
  const unnamed = (reason: string): Naming => ({ ...about, headings, reason })
  if (scope?.surface === "menu" && !place)
    return unnamed("a menu of its app is open, and a search would look only there")
  if (!scope || !place) return unnamed("it is not in the window of its app that a search would choose")
  if (!scope.tree.complete) return unnamed("its window could not be read completely")
  const titles = (await ctx.adapter.windows({ pid }))
    .filter((one) => one.pid === pid)
    .map(({ title }) => title)
  const places = await inTheirRows(ctx, scope.places)
  const inRow = places.find(({ node }) => node === place.node) ?? place
  const names = new Names(inRow, documentsIn(titles), titles.length > 1)
  const others = await elsewhere(ctx, scope)
  for (const description of names.descriptions()) {
    const [only, ...more] = matching(places, description)
    if (only?.node !== place.node || more.length > 0) continue
    // GTK 3 also has an open menu in its window's tree.
    if (others.some((places) => !matching(places, description).every(isIt(places)))) continue
    // The search of a replay decides.
    const again = await see(ctx, { app }, describedInRows(ctx, description))
    const [found, ...rest] = again?.found ?? []
    if (again && found && rest.length === 0 && isIt(again.places)(found))
      return { ...about, headings, target: descriptionText(description) }
  }
  return unnamed(names.reason())
}

/** The names of the headings of a tree. */
export const headingsIn = (places: readonly Position[]): readonly string[] =>
  places.flatMap(({ node }) => (node.role === "heading" ? (wordsOf(node) ?? []) : []))

type IsIt = (places: readonly Position[]) => (place: Position) => boolean

/** Recognizes an element in another tree: by its address, or by everything that a ref holds. */
async function sameAs(ctx: Context, entry: RefEntry): Promise<IsIt> {
  if (entry.address !== undefined)
    return () =>
      ({ node }) =>
        node.address === entry.address && node.role === entry.role
  const processStart = await ctx.adapter.processStart(entry.pid)
  return (places) => (place) => {
    if (place.node.role !== entry.role || (place.node.name || undefined) !== (entry.name || undefined))
      return false
    const source = { pid: entry.pid, app: "", windowId: entry.window_id ?? "", processStart, rootPath: [] }
    return entriesFor([place], places, source).some((one) => sameElement(entry, one))
  }
}

/** Reads the other windows of the app; for an element in a menu, also its window. */
async function elsewhere(ctx: Context, scope: Seeing): Promise<readonly (readonly Position[])[]> {
  const { window, surface } = scope
  const windows = await ctx.adapter.windows({ pid: window.pid })
  const others = windows.filter(
    ({ id, pid, accessible }) =>
      pid === window.pid && accessible !== false && (surface !== "window" || id !== window.id),
  )
  const seen: (readonly Position[])[] = []
  for (const other of others) {
    const read = await look(ctx, other, { includeHidden: false, fits: () => false })
    if (!read.tree.complete)
      throw new AppError("TIMEOUT", `Window '${other.id}' of the same app could not be read completely`)
    seen.push(await inTheirRows(ctx, titled(other, read)))
  }
  return seen
}

/** Roles that may be used without a name: a window has few of them, and their names are often their values. */
const isOftenAlone = (role: Role): boolean =>
  hasTrait(role, "typable") || hasTrait(role, "number") || hasTrait(role, "opensMenu") || ALONE.has(role)

const ALONE: ReadonlySet<Role> = new Set([
  "listbox",
  "list",
  "table",
  "grid",
  "outline",
  "document",
  "webarea",
])

/** The descriptions that an element may have, the shortest first. */
class Names {
  readonly #place: Position
  readonly #documents: readonly string[]
  readonly #name: string | undefined
  /** Its dialog. Without it, a description would match an element of the window below if the dialog opens late. */
  readonly #dialog: Wanted | undefined

  constructor(place: Position, documents: readonly string[], isOneOfSeveral: boolean) {
    this.#place = place
    this.#documents = documents
    this.#name = lastingName(place.node, documents)
    const dialog = place.ancestors.findLast(({ role }) => hasTrait(role, "dialog"))
    const [window] = place.ancestors
    // Not every toolkit reports that a dialog is one.
    const isTitled = isOneOfSeveral && window?.role === "window" && this.#titleOf(window) !== undefined
    const holder = dialog ?? (isTitled ? window : undefined)
    this.#dialog = holder && { role: holder.role, name: this.#titleOf(holder) }
  }

  *descriptions(): Generator<Description> {
    const { role } = this.#place.node
    const own: Wanted = { role, ...(this.#name === undefined ? {} : { name: this.#name }) }
    const last = this.#dialog ? [this.#dialog] : []
    if (this.#name !== undefined || (isOftenAlone(role) && this.#mayBeAlone())) yield { ...own, within: last }
    if (this.#name === undefined && !this.#mayBeAlone()) return
    const containers = this.#containers()
    for (const one of containers) yield { ...own, within: [one, ...last] }
    for (const [index, one] of containers.entries())
      for (const other of containers.slice(index + 1)) yield { ...own, within: [one, other, ...last] }
  }

  reason(): string {
    if (this.#name !== undefined)
      return "other elements have its role and name, and no name around it distinguishes them"
    return this.#mayBeAlone() ? "it has no name of its own" : "its name may be another one next time"
  }

  /** True if it has no name, or only its value as a name. */
  #mayBeAlone(): boolean {
    const { node } = this.#place
    return !node.name || ownName(node) === undefined
  }

  #titleOf(holder: SeenNode): string | undefined {
    const title = wordsOf(holder)
    return title !== undefined && isLastingTitle(title, this.#documents) ? title : undefined
  }

  /** Names and texts around it, the nearest first, without the window's own title. */
  #containers(): readonly Wanted[] {
    const { node, ancestors } = this.#place
    const names = ancestors
      .slice(1)
      .toReversed()
      .filter(({ role }) => !hasTrait(role, "dialog"))
      .flatMap((one) => {
        const name = lastingName(one, this.#documents)
        const texts = isRow(one) || one.isRecycled ? textsIn(one, node) : []
        return [...(name === undefined ? [] : [name]), ...texts]
      })
    return [...new Set(names)]
      .filter((name) => name !== this.#name)
      .slice(0, MOST_CONTAINERS)
      .map((name) => ({ name }))
  }
}

const MOST_CONTAINERS = 8

/** The texts of a row that may identify it. */
function textsIn(row: SeenNode, own: SeenNode): readonly string[] {
  return row.children.flatMap((child) => {
    if (child === own) return []
    const words = hasTrait(child.role, "control") ? undefined : wordsOf(child)
    return [...(words !== undefined && isTellingText(words) ? [words] : []), ...textsIn(child, own)]
  })
}
