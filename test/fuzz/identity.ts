import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { describe } from "./descriptions.ts"
import { type Fixture, startFixture, type Toolkit } from "./fixtures.ts"
import { type Found, findRefs } from "./refs.ts"
import { EMPTY, Maker, type Mutation, type World } from "./world.ts"

export interface Figures {
  mutations: number
  acts: number
  right: number
  /** STALE_REF and AMBIGUOUS_TARGET. */
  refused: number
  /** The part of these that is AMBIGUOUS_TARGET. */
  ambiguous: number
  /** Hits of another element, of one that should not have been hit, or of one for the second time. Must stay 0. */
  wrong: number
  /** Hits of a model row with the text of the target, which is no longer shown. The snapshot showed only the target. */
  alike: number
  /** Targets that were still there, shown, and unique. */
  there: number
  /** Number of these that were acted on. */
  acted: number
  /** Other errors: nothing was hit, but the error is not a refusal. */
  failed: number
  /** The answer was ok, but the program did not report a hit. */
  silent: number
  /** Restarts under the same pid. */
  samePid: number
}

export const NO_FIGURES: Figures = {
  mutations: 0,
  acts: 0,
  right: 0,
  refused: 0,
  ambiguous: 0,
  wrong: 0,
  alike: 0,
  there: 0,
  acted: 0,
  failed: 0,
  silent: 0,
  samePid: 0,
}

export interface Report {
  readonly figures: Figures
  /** Failures and needless refusals, each with the steps since its snapshot. */
  readonly faults: readonly string[]
}

export interface FuzzOptions {
  readonly toolkit: Toolkit
  readonly seed: number
  readonly mutations: number
  /** Numbering of refs. With stable refs, another snapshot is taken between the first one and the acts. */
  readonly refs?: "stable"
  /** Acts by descriptions instead of refs, sometimes while the program changes. */
  readonly by?: "description"
  /** No new round starts after this time. */
  readonly until?: number
  readonly note?: (line: string) => void
}

/** A target of a round: a ref and the facts about its element. */
interface Target extends Found {
  /** Its native object was replaced since the snapshot, or given to another element. */
  replaced: boolean
  /** No other element with the same text was shown at the snapshot. */
  readonly wasAlone: boolean
}

/** Changes a live program between a snapshot and acts on its refs. The program itself reports the hits. */
export async function fuzz(options: FuzzOptions): Promise<Report> {
  await using desktop = await openDesktop({ name: `fuzz-${options.toolkit}` })
  const fixture = await startFixture(desktop, options.toolkit)
  try {
    return await new Run(desktop, fixture, options).all()
  } finally {
    await fixture.stop()
  }
}

/** Codes of an app or a machine that is busy. */
const LATE: ReadonlySet<string> = new Set(["TIMEOUT", "APP_UNRESPONSIVE"])
/** Codes of a description that is not followed. Its window may have closed since. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AMBIGUOUS_TARGET",
  "ELEMENT_NOT_FOUND",
  "STALE_REF",
  "WINDOW_NOT_FOUND",
])

class Run {
  readonly #desktop: TestDesktop
  readonly #fixture: Fixture
  readonly #options: FuzzOptions
  readonly #maker: Maker
  readonly #figures: Figures = { ...NO_FIGURES }
  readonly #faults: string[] = []
  #world: World = EMPTY
  #steps: string[] = []
  #window = ""

  constructor(desktop: TestDesktop, fixture: Fixture, options: FuzzOptions) {
    this.#desktop = desktop
    this.#fixture = fixture
    this.#options = options
    this.#maker = new Maker(options.seed, {
      canHide: options.toolkit !== "web",
      renewsMoved: options.toolkit === "gtk4",
      renewsRows: options.toolkit === "gtk4" || options.toolkit === "web",
    })
  }

  async all(): Promise<Report> {
    await this.#apply([this.#maker.start()])
    this.#figures.mutations = 0
    for (let round = 0; this.#figures.mutations < this.#options.mutations; round++) {
      if (this.#options.until !== undefined && performance.now() > this.#options.until) break
      await this.#round(round)
    }
    return { figures: this.#figures, faults: this.#faults }
  }

  async #round(round: number): Promise<void> {
    const { chance } = this.#maker
    await this.#apply([this.#maker.mutate(this.#world, true)])
    this.#steps = []
    const targets = await this.#snapshot()
    const acts = 4 + chance.below(5)
    for (let i = 0; i < acts; i++) {
      const mutations: Mutation[] = []
      let world = this.#world
      // A search by description takes longer than one by ref, so more changes come before it.
      for (let n = 1 + chance.below(this.#options.by ? 40 : 16); n > 0; n--) {
        const made = this.#maker.mutate(world)
        mutations.push(made)
        world = made.after
      }
      await this.#apply(mutations, targets)
      if (this.#options.refs === "stable") await this.#run("snapshot", "--window-id", this.#window)
      await this.#actOn(chance.of(targets))
    }
    // Rarely, since all refs are stale afterwards.
    if (round % 12 === 5) {
      await this.#apply([this.#maker.reopen(this.#world)], targets)
      for (let i = 0; i < 2; i++) await this.#actOn(chance.of(targets))
    }
    if (round % 24 === 11) {
      const isSame = await this.#fixture.restart()
      if (isSame) this.#figures.samePid++
      this.#steps.push(`restart${isSame ? " under the same pid" : ""}`)
      this.#figures.mutations++
      for (const target of targets) target.replaced = true
      await this.#fixture.obey(this.#maker.reopen(this.#world).ops)
      await this.#actOn(chance.of(targets))
    }
  }

  #actOn(target: Target): Promise<void> {
    return this.#options.by === "description" ? this.#actByWords(target) : this.#act(target)
  }

  /** Acts on the present matches of a description: another element, several, or none. */
  async #actByWords(found: Target): Promise<void> {
    const { chance } = this.#maker
    const { target, fits } = describe(found, chance)
    this.#fixture.takeHits()
    const before = fits(this.#world)
    const mutation = chance.next() < 0.3 ? this.#maker.mutate(this.#world) : undefined
    const click = (ms: number) =>
      this.#run("click", target, "--window-id", this.#window, "--timeout-ms", String(ms))
    const clicking = click(before.length === 1 ? 8000 : 2500)
    if (mutation) await this.#apply([mutation], [])
    let { json } = await clicking
    // A busy machine. Nothing was delivered, so the act can be repeated.
    const isLate = json?.error?.code === "TIMEOUT" || json?.error?.code === "APP_UNRESPONSIVE"
    if (isLate && json.error.disposition?.delivery === "not_delivered") ({ json } = await click(20_000))
    this.#figures.acts++
    if (json?.ok) await until(() => this.#fixture.hits.length > 0, 1500).catch(() => {})
    await this.#fixture.obey([])
    const hits = this.#fixture.takeHits()
    await this.#judgeWords({ ...found, ref: target }, json, hits, [before, fits(this.#world)])
  }

  /** `meant`: the elements that fit before and after the act. */
  async #judgeWords(
    target: Target,
    json: Json,
    hits: readonly number[],
    meant: readonly (readonly number[])[],
  ): Promise<void> {
    const figures = this.#figures
    const code = json?.error?.code
    // A model row that is out of view is not read. The answer says that such rows were not searched.
    const isPart = target.part === "model" && json?.data?.unsearched !== undefined
    const isMeant = meant.some((ids) => ids.includes(hits[0] ?? -1) && (ids.length === 1 || isPart))
    const isWrong = hits.length > 1 || (hits.length === 1 && (!json?.ok || !isMeant))
    const isOne = meant.every((ids) => ids.length === 1 && ids[0] === meant[0]?.[0])
    const isThere =
      isOne && (target.part !== "model" || ((await this.#shownNow())?.has(meant[0]![0]!) ?? false))
    const isRefusal = REFUSALS.has(code)
    if (code === "AMBIGUOUS_TARGET") figures.ambiguous++
    if (isThere) figures.there++
    if (isWrong) figures.wrong++
    else if (hits.length === 1) {
      figures.right++
      if (isThere) figures.acted++
    } else if (json?.ok) figures.silent++
    else if (isRefusal) figures.refused++
    else figures.failed++
    if (isWrong) this.#fault("WRONG", target, json, hits)
    else if (isThere && hits.length === 0)
      this.#fault(json?.ok ? "SILENT" : "REFUSED THOUGH THERE", target, json, hits)
    else if (!json?.ok && !isRefusal) this.#fault("FAILED", target, json, hits)
  }

  async #apply(mutations: readonly Mutation[], targets: readonly Target[] = []): Promise<void> {
    await this.#fixture.obey(mutations.flatMap(({ ops }) => ops))
    for (const { kind, ops, after, replaced = [] } of mutations) {
      this.#world = after
      this.#figures.mutations++
      this.#steps.push(
        `${kind}: ${ops
          .map((op) => JSON.stringify(op))
          .join(" ")
          .slice(0, 300)}`,
      )
      for (const target of targets) target.replaced ||= replaced.includes(target.id)
    }
  }

  async #snapshot(): Promise<Target[]> {
    let last: unknown
    const found = await until(async () => {
      const { json } = await this.#run("list-windows")
      last = json
      this.#window = json?.data?.windows?.find(
        (one: { title: string }) => one.title === this.#fixture.title,
      )?.id
      if (!this.#window) return undefined
      const { json: seen } = await this.#run(
        "snapshot",
        "--window-id",
        this.#window,
        "--max-depth",
        "40",
        "--include-bounds",
      )
      last = seen
      return seen?.ok ? findRefs(seen.data.tree, this.#world) : undefined
    }, 20_000).catch((error) => {
      throw new Error(
        `${this.#options.toolkit}: ${error.message}\n${JSON.stringify(this.#world)}\n${JSON.stringify(last)}\n${this.#steps.join("\n")}`,
      )
    })
    // Refs have the same numbers with -i, which reads less.
    if (this.#maker.chance.next() < 0.5)
      await this.#run("snapshot", "--window-id", this.#window, "--max-depth", "40", "-i")
    return found.map((one) => ({
      ...one,
      replaced: false,
      wasAlone: found.every((other) => other === one || other.part !== one.part || other.text !== one.text),
    }))
  }

  async #act(target: Target): Promise<void> {
    this.#fixture.takeHits()
    const click = (ms: number) => this.#run("click", target.ref, "--timeout-ms", String(ms))
    const first = (await click(4000)).json
    // A busy machine. Nothing was delivered, so the act can be repeated.
    const isLate = LATE.has(first?.error?.code) && first.error.disposition.delivery === "not_delivered"
    const json = isLate ? (await click(20_000)).json : first
    this.#figures.acts++
    if (json?.ok) await until(() => this.#fixture.hits.length > 0, 1500).catch(() => {})
    // When this returns, the program has reported every earlier hit.
    await this.#fixture.obey([])
    const hits = this.#fixture.takeHits()
    await this.#judge(target, json, hits)
  }

  async #judge(target: Target, json: Json, hits: readonly number[]): Promise<void> {
    const figures = this.#figures
    const isOther = hits.some((id) => id !== target.id) || hits.length > 1 || (!json?.ok && hits.length > 0)
    const isAlike = isOther && json?.ok && hits.length === 1 && (await this.#isAlike(target, hits[0]!))
    const isWrong = isOther && !isAlike
    const code = json?.error?.code
    const isRefusal = code === "STALE_REF" || code === "AMBIGUOUS_TARGET"
    const isRight = json?.ok && hits.length === 1 && !isOther
    if (isWrong) figures.wrong++
    else if (isAlike) figures.alike++
    else if (isRight) figures.right++
    else if (json?.ok) figures.silent++
    else if (isRefusal) figures.refused++
    else figures.failed++
    if (code === "AMBIGUOUS_TARGET") figures.ambiguous++
    const isThere = isRight ? this.#isUnique(target) : !isOther && (await this.#isThere(target))
    if (isThere) figures.there++
    if (isThere && isRight) figures.acted++
    if (isWrong) this.#fault("WRONG", target, json, hits)
    else if (isThere && !isRight)
      this.#fault(json?.ok ? "SILENT" : "REFUSED THOUGH THERE", target, json, hits)
    else if (!isRight && !isRefusal && !isAlike) this.#fault("FAILED", target, json, hits)
  }

  #fault(what: string, target: Target, json: unknown, hits: readonly number[]): void {
    const { toolkit, seed } = this.#options
    const text = [
      `${what} ${toolkit} --seed ${seed}, after ${this.#figures.mutations} mutations`,
      `  target ${JSON.stringify(target)}, hit ${JSON.stringify(hits)}`,
      `  answer ${JSON.stringify(json)?.slice(0, 600)}`,
      ...this.#steps.map((step) => `  - ${step}`),
    ].join("\n")
    this.#faults.push(text)
    this.#options.note?.(text)
  }

  /** True if the element is in the world with the same text as at the snapshot, and no other has or had that text. */
  #isUnique(target: Target): boolean {
    if (target.replaced || target.hadTwins) return false
    const { sections, rows, model } = this.#world
    const same = {
      thing: [...sections.Alpha, ...sections.Beta]
        .filter(({ name, kind }) => name === target.text && kind === target.kind)
        .map(({ id }) => id),
      row: rows.filter(({ text }) => text === target.text).map(({ id }) => id),
      model: model.filter(({ text }) => text === target.text).map(({ id }) => id),
    }[target.part]
    return same.length === 1 && same[0] === target.id
  }

  async #isThere(target: Target): Promise<boolean> {
    if (!this.#isUnique(target)) return false
    if (target.part !== "model") return true
    return (await this.#shownNow())?.has(target.id) ?? false
  }

  /** Every observer takes a row for the same if no other row was or is shown with its text. */
  async #isAlike(target: Target, hit: number): Promise<boolean> {
    if (target.part !== "model" || !target.wasAlone) return false
    if (this.#world.model.find(({ id }) => id === hit)?.text !== target.text) return false
    return (await this.#shownNow())?.has(target.id) === false
  }

  /** Takes a second snapshot, which shows the model rows that are in view. */
  async #shownNow(): Promise<ReadonlySet<number> | undefined> {
    const { json } = await this.#run(
      "snapshot",
      "--window-id",
      this.#window,
      "--max-depth",
      "40",
      "--session",
      "look",
    )
    const seen = json?.ok ? findRefs(json.data.tree, this.#world) : undefined
    return seen && new Set(seen.map(({ id }) => id))
  }

  #run(...args: readonly string[]) {
    const { refs = "fresh" } = this.#options
    return runProgram(args, { ...this.#desktop.env, AGENT_DESKTOP_REFS: refs })
  }
}
