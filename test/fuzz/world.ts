/** The content of a test program and its changes. They are the same for every toolkit, and depend only on a seed. */

export type Kind = "button" | "checkbox"

export interface Thing {
  readonly id: number
  readonly kind: Kind
  readonly name: string
}

export interface Row {
  readonly id: number
  readonly text: string
}

export interface World {
  readonly sections: { readonly Alpha: readonly Thing[]; readonly Beta: readonly Thing[] }
  readonly rows: readonly Row[]
  readonly model: readonly Row[]
  readonly filter: string
}

type Section = keyof World["sections"]

/** A change in the form that the programs read; see gtk3.py. */
export type Op = { readonly op: string } & Readonly<Record<string, unknown>>

export interface Mutation {
  readonly kind: string
  readonly ops: readonly Op[]
  readonly after: World
  /** Ids of elements that still exist, but whose native object was replaced or given to another element. */
  readonly replaced?: readonly number[]
}

export const EMPTY: World = { sections: { Alpha: [], Beta: [] }, rows: [], model: [], filter: "" }

/** Random numbers that are the same for the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  weighted<T>(choices: readonly (readonly [number, T])[]): T {
    let at = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) {
      at -= weight
      if (at < 0) return choice
    }
    return choices[0]![1]
  }
}

const WORDS = ["Copy", "Paste", "Send", "Reply", "Print", "Share", "Close", "Save", "Undo", "Find"]
const MOST_THINGS = 6
const MOST_ROWS = 6
const MODEL = 24

export interface Habits {
  /** True if its window can be taken off the screen and shown again. */
  readonly canHide: boolean
  /** True if an element gets a new object when it moves. */
  readonly renewsMoved: boolean
  /** True if widget rows get new objects, too. Such rows are known by their text, so no row gets a used text. */
  readonly renewsRows: boolean
}

/** Makes worlds and changes. Every id is used once. */
export class Maker {
  readonly chance: Chance
  readonly #toolkit: Habits
  #ids = 0
  /** Names of removed things. A later thing with such a name is another element. */
  readonly #gone: string[] = []
  /** All names that an element's native object has had. With one of these, it would look as in an earlier snapshot. */
  #past = new Map<number, ReadonlySet<string>>()

  constructor(seed: number, toolkit: Habits) {
    this.chance = new Chance(seed)
    this.#toolkit = toolkit
  }

  start(): Mutation {
    const things = (n: number): Thing[] => Array.from({ length: n }, () => this.#thing())
    const after: World = {
      sections: { Alpha: things(4), Beta: things(3) },
      rows: Array.from({ length: 4 }, () => this.#row("Mail")),
      model: Array.from({ length: MODEL }, () => this.#row("File")),
      filter: "",
    }
    return this.reopen(after)
  }

  reopen(world: World): Mutation {
    const replaced = [...world.sections.Alpha, ...world.sections.Beta, ...world.rows].map(({ id }) => id)
    return { kind: "reopen", ops: [{ op: "reopen", state: world }], after: world, replaced }
  }

  mutate(world: World, beforeSnapshot = false): Mutation {
    for (;;) {
      const make = this.chance.weighted(MUTATIONS)
      const made = make(this, world, beforeSnapshot)
      if (made) return made
    }
  }

  #thing(name = this.#name()): Thing {
    return { id: ++this.#ids, kind: this.chance.next() < 0.7 ? "button" : "checkbox", name }
  }

  #row(word: string, text = `${word} ${++this.#ids}`): Row {
    return { id: ++this.#ids, text }
  }

  #name(): string {
    return `${this.chance.of(WORDS)} ${++this.#ids}`
  }

  /** A name that another thing has or had. It makes the two hard to distinguish. */
  #borrowed(world: World): string {
    const live = [...world.sections.Alpha, ...world.sections.Beta].map(({ name }) => name)
    const pool = this.chance.next() < 0.5 && this.#gone.length > 0 ? this.#gone.slice(-6) : live
    return pool.length > 0 ? this.chance.of(pool) : this.#name()
  }

  /** Adds the names of the object of `before` to the past of the element that it stands for now. */
  #remember(id: number, before: Thing): void {
    this.#past.set(id, this.#pastOf(before))
  }

  #pastOf({ id, name }: Thing): ReadonlySet<string> {
    return new Set([...(this.#past.get(id) ?? []), name])
  }

  #section(): Section {
    return this.chance.next() < 0.5 ? "Alpha" : "Beta"
  }

  #anyThing(world: World): { section: Section; index: number; thing: Thing } | undefined {
    const all = (["Alpha", "Beta"] as const).flatMap((section) =>
      world.sections[section].map((thing, index) => ({ section, index, thing })),
    )
    return all.length > 0 ? this.chance.of(all) : undefined
  }

  add(world: World, borrowed: boolean): Mutation | undefined {
    const section = this.#section()
    const list = world.sections[section]
    if (list.length >= MOST_THINGS) return undefined
    const thing = this.#thing(borrowed ? this.#borrowed(world) : undefined)
    const index = this.chance.below(list.length + 1)
    return {
      kind: borrowed ? "insert a look-alike" : "insert",
      ops: [{ op: "add", section, index, ...thing }],
      after: withSection(world, section, list.toSpliced(index, 0, thing)),
    }
  }

  remove(world: World): Mutation | undefined {
    const found = this.#anyThing(world)
    if (!found) return undefined
    const { section, index, thing } = found
    this.#gone.push(thing.name)
    return {
      kind: "delete",
      ops: [{ op: "remove", id: thing.id }],
      after: withSection(world, section, world.sections[section].toSpliced(index, 1)),
    }
  }

  /** Replaces a thing by another one that looks the same. */
  substitute(world: World): Mutation | undefined {
    const found = this.#anyThing(world)
    if (!found) return undefined
    const { section, index, thing } = found
    const other = { ...thing, id: ++this.#ids }
    return {
      kind: "substitute",
      ops: [
        { op: "remove", id: thing.id },
        { op: "add", section, index, ...other },
      ],
      after: withSection(world, section, world.sections[section].toSpliced(index, 1, other)),
    }
  }

  move(world: World, elsewhere: boolean): Mutation | undefined {
    const found = this.#anyThing(world)
    if (!found) return undefined
    const { section: from, thing } = found
    const to = elsewhere ? (from === "Alpha" ? "Beta" : "Alpha") : from
    const without = withSection(
      world,
      from,
      world.sections[from].filter((one) => one !== thing),
    )
    if (without.sections[to].length >= MOST_THINGS) return undefined
    const index = this.chance.below(without.sections[to].length + 1)
    return {
      kind: elsewhere ? "re-parent" : "reorder",
      ops: [{ op: "move", id: thing.id, section: to, index }],
      after: withSection(without, to, without.sections[to].toSpliced(index, 0, thing)),
      replaced: elsewhere && this.#toolkit.renewsMoved ? [thing.id] : [],
    }
  }

  rename(world: World, borrowed: boolean): Mutation | undefined {
    const found = this.#anyThing(world)
    if (!found) return undefined
    const { section, index, thing } = found
    const name = borrowed ? this.#borrowed(world) : this.#name()
    if (this.#past.get(thing.id)?.has(name)) return undefined
    this.#remember(thing.id, thing)
    this.#gone.push(thing.name)
    return {
      kind: borrowed ? "rename to another's name" : "rename",
      ops: [{ op: "name", id: thing.id, name }],
      after: withSection(world, section, world.sections[section].toSpliced(index, 1, { ...thing, name })),
    }
  }

  /** Keeps the native object, and lets it stand for another element. */
  recycle(world: World): Mutation | undefined {
    const found = this.#anyThing(world)
    if (!found) return undefined
    const { section, index, thing } = found
    const other = { ...thing, id: ++this.#ids, name: this.#name() }
    this.#remember(other.id, thing)
    this.#gone.push(thing.name)
    return {
      kind: "recycle",
      ops: [{ op: "become", id: thing.id, new: other.id, name: other.name }],
      after: withSection(world, section, world.sections[section].toSpliced(index, 1, other)),
    }
  }

  /** Lets two native objects stand for each other's elements. */
  exchange(world: World): Mutation | undefined {
    const a = this.#anyThing(world)
    const b = this.#anyThing(world)
    if (!a || !b || a.thing.id === b.thing.id || a.thing.kind !== b.thing.kind) return undefined
    const between = ++this.#ids
    const [pastOfA, pastOfB] = [this.#pastOf(a.thing), this.#pastOf(b.thing)]
    if (pastOfA.has(b.thing.name) || pastOfB.has(a.thing.name)) return undefined
    this.#past.set(b.thing.id, pastOfA)
    this.#past.set(a.thing.id, pastOfB)
    const first = withSection(world, a.section, world.sections[a.section].with(a.index, b.thing))
    return {
      kind: "exchange",
      ops: [
        { op: "become", id: a.thing.id, new: between, name: b.thing.name },
        { op: "become", id: b.thing.id, new: a.thing.id, name: a.thing.name },
        { op: "become", id: between, new: b.thing.id, name: b.thing.name },
      ],
      after: withSection(first, b.section, first.sections[b.section].with(b.index, a.thing)),
      replaced: [a.thing.id, b.thing.id],
    }
  }

  changeRow(
    world: World,
    what: "insert" | "delete" | "reorder" | "rename" | "recycle",
    beforeSnapshot: boolean,
  ): Mutation | undefined {
    const { rows } = world
    const at = this.chance.below(rows.length)
    const row = rows[at]
    if (what === "insert") {
      if (rows.length >= MOST_ROWS) return undefined
      const index = this.chance.below(rows.length + 1)
      const fresh = this.#row(
        "Mail",
        beforeSnapshot || !this.#toolkit.renewsRows ? this.#twinText(rows) : undefined,
      )
      return {
        kind: "insert a row",
        ops: [{ op: "row-add", index, ...fresh }],
        after: { ...world, rows: rows.toSpliced(index, 0, fresh) },
      }
    }
    if (!row || rows.length < 2) return undefined
    switch (what) {
      case "delete":
        return {
          kind: "delete a row",
          ops: [{ op: "remove", id: row.id }],
          after: { ...world, rows: rows.toSpliced(at, 1) },
        }
      case "reorder": {
        const index = this.chance.below(rows.length)
        return {
          kind: "reorder a row",
          ops: [{ op: "row-move", id: row.id, index }],
          after: { ...world, rows: rows.toSpliced(at, 1).toSpliced(index, 0, row) },
        }
      }
      case "rename": {
        const text = this.#row("Mail").text
        return {
          kind: "rename a row",
          ops: [{ op: "row-text", id: row.id, text }],
          after: { ...world, rows: rows.with(at, { ...row, text }) },
        }
      }
      case "recycle": {
        const fresh = this.#row("Mail")
        return {
          kind: "recycle a row",
          ops: [{ op: "row-become", id: row.id, new: fresh.id, text: fresh.text }],
          after: { ...world, rows: rows.with(at, fresh) },
        }
      }
      default:
        return what satisfies never
    }
  }

  changeModel(
    world: World,
    what: "insert" | "delete" | "reorder" | "rename" | "refill" | "shuffle",
    beforeSnapshot: boolean,
  ): Mutation | undefined {
    const { model } = world
    const at = this.chance.below(model.length)
    const item = model[at]
    if (what === "insert") {
      const index = this.chance.below(model.length + 1)
      // Model rows are known by their text: every observer takes a later row with the same text for the same one.
      const fresh = this.#row("File", beforeSnapshot ? this.#twinText(model) : undefined)
      return {
        kind: "insert into the model",
        ops: [{ op: "model-add", index, ...fresh }],
        after: { ...world, model: model.toSpliced(index, 0, fresh) },
      }
    }
    if (what === "refill" || what === "shuffle") {
      const items =
        what === "shuffle"
          ? model.toSorted(() => this.chance.next() - 0.5)
          : model.map((one) => (this.chance.next() < 0.5 ? one : this.#row("File")))
      return {
        kind: what === "shuffle" ? "sort the model" : "refill the model",
        ops: [{ op: "model-reset", items }],
        after: { ...world, model: items },
      }
    }
    if (!item || model.length < 12) return undefined
    switch (what) {
      case "delete":
        return {
          kind: "delete from the model",
          ops: [{ op: "model-remove", id: item.id }],
          after: { ...world, model: model.toSpliced(at, 1) },
        }
      case "reorder": {
        const index = this.chance.below(model.length)
        return {
          kind: "reorder the model",
          ops: [{ op: "model-move", id: item.id, index }],
          after: { ...world, model: model.toSpliced(at, 1).toSpliced(index, 0, item) },
        }
      }
      case "rename": {
        const { text } = this.#row("File")
        return {
          kind: "rename in the model",
          ops: [{ op: "model-text", id: item.id, text }],
          after: { ...world, model: model.with(at, { ...item, text }) },
        }
      }
      default:
        return what satisfies never
    }
  }

  filter(world: World): Mutation {
    const filter = world.filter === "" ? String(this.chance.below(10)) : ""
    return { kind: "filter", ops: [{ op: "filter", text: filter }], after: { ...world, filter } }
  }

  scroll(world: World): Mutation {
    const shown = world.model.filter(({ text }) => text.includes(world.filter)).length
    return {
      kind: "scroll",
      ops: [{ op: "scroll", index: this.chance.below(Math.max(1, shown)) }],
      after: world,
    }
  }

  hideAndShow(world: World): Mutation | undefined {
    if (!this.#toolkit.canHide) return undefined
    return { kind: "close and reopen", ops: [{ op: "hide" }, { op: "show" }], after: world }
  }

  /** Sometimes returns the text of another row. */
  #twinText(rows: readonly Row[]): string | undefined {
    return rows.length > 0 && this.chance.next() < 0.3 ? this.chance.of(rows).text : undefined
  }
}

type Make = (maker: Maker, world: World, beforeSnapshot: boolean) => Mutation | undefined

const MUTATIONS: readonly (readonly [number, Make])[] = [
  [6, (maker, world) => maker.add(world, false)],
  [4, (maker, world) => maker.add(world, true)],
  [7, (maker, world) => maker.remove(world)],
  [2, (maker, world) => maker.substitute(world)],
  [6, (maker, world) => maker.move(world, false)],
  [4, (maker, world) => maker.move(world, true)],
  [3, (maker, world) => maker.rename(world, false)],
  [3, (maker, world) => maker.rename(world, true)],
  [3, (maker, world) => maker.recycle(world)],
  [2, (maker, world) => maker.exchange(world)],
  [5, (maker, world, before) => maker.changeRow(world, "insert", before)],
  [4, (maker, world, before) => maker.changeRow(world, "delete", before)],
  [5, (maker, world, before) => maker.changeRow(world, "reorder", before)],
  [2, (maker, world, before) => maker.changeRow(world, "rename", before)],
  [4, (maker, world, before) => maker.changeRow(world, "recycle", before)],
  [5, (maker, world, before) => maker.changeModel(world, "insert", before)],
  [5, (maker, world, before) => maker.changeModel(world, "delete", before)],
  [4, (maker, world, before) => maker.changeModel(world, "reorder", before)],
  [2, (maker, world, before) => maker.changeModel(world, "rename", before)],
  [2, (maker, world, before) => maker.changeModel(world, "refill", before)],
  [2, (maker, world, before) => maker.changeModel(world, "shuffle", before)],
  [2, (maker, world) => maker.filter(world)],
  [3, (maker, world) => maker.scroll(world)],
  [1, (maker, world) => maker.hideAndShow(world)],
]

function withSection(world: World, section: Section, list: readonly Thing[]): World {
  return { ...world, sections: { ...world.sections, [section]: list } }
}
