import { noteApp } from "../../src/linux/desktops/record.ts"
import type { Point } from "../../src/node.ts"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { type Fixture, startFixture, type Toolkit } from "./fixtures.ts"
import { type Found, findRefs } from "./refs.ts"
import { EMPTY, Maker, type Mutation, type World } from "./world.ts"

/** Numbers of presses by the pointer and of their outcomes. */
export interface ReactionFigures {
  acts: number
  /** Number of these in which the app reacted to the pointer, or another app opened a window. */
  reactions: number
  right: number
  refused: number
  /** ok, but nothing was hit. */
  silent: number
  /** Something else was hit, or a refusal was false. Must stay 0. */
  wrong: number
  /**
   * A window of another process, opened at the moment of the press, got the press, and the answer was
   * delivery_uncertain. An X client cannot prevent that; see docs/reliability.md.
   */
  strayed: number
  /** Refused although the element was there and nothing had reacted. */
  needless: number
}

export const NO_REACTIONS: ReactionFigures = {
  acts: 0,
  reactions: 0,
  right: 0,
  refused: 0,
  silent: 0,
  wrong: 0,
  strayed: 0,
  needless: 0,
}

export interface ReactionReport {
  readonly figures: ReactionFigures
  readonly faults: readonly string[]
}

export interface ReactionOptions {
  readonly toolkit: Toolkit
  readonly seed: number
  readonly acts: number
  /** No act starts after this time. */
  readonly until?: number
  readonly note?: (line: string) => void
}

/** Changes a live program at the moment when the pointer arrives at the element to press. */
export async function fuzzReactions(options: ReactionOptions): Promise<ReactionReport> {
  await using desktop = await openDesktop({ name: `react-${options.toolkit}` })
  const fixture = await startFixture(desktop, options.toolkit)
  const cover = await startCover(desktop)
  try {
    return await new Run(desktop, fixture, cover, options).all()
  } finally {
    cover.stop()
    await fixture.stop()
  }
}

const ACTS_PER_SNAPSHOT = 4
const ACTS_PER_NOTE = 100
const AWAY = "1275,1015"
/** Time limit for a look at a program on a busy machine. */
const PATIENCE_MS = 120_000
/** Latest time at which a window of another app opens during an act. */
const LONGEST_MS = 500
const COVER_ID = 1_000_000

type Reaction =
  | { readonly kind: "nothing" | "cover" | "popup" | "window" }
  | { readonly kind: "opens by itself"; readonly ms: number; readonly popup: boolean }
  | { readonly kind: "mutation"; readonly made: Mutation }

interface Target extends Found {
  readonly at: Point
}

class Run {
  readonly #desktop: TestDesktop
  readonly #fixture: Fixture
  readonly #cover: Cover
  readonly #options: ReactionOptions
  readonly #maker: Maker
  readonly #figures: ReactionFigures = { ...NO_REACTIONS }
  readonly #faults: string[] = []
  #world: World = EMPTY

  constructor(desktop: TestDesktop, fixture: Fixture, cover: Cover, options: ReactionOptions) {
    this.#desktop = desktop
    this.#fixture = fixture
    this.#cover = cover
    this.#options = options
    this.#maker = new Maker(options.seed, {
      canHide: false,
      renewsMoved: options.toolkit === "gtk4",
      renewsRows: options.toolkit === "gtk4" || options.toolkit === "web",
    })
  }

  /** Runs all acts. If the run breaks off, for example on a busy machine, reports the acts so far. */
  async all(): Promise<ReactionReport> {
    await this.#acts().catch((error: unknown) => {
      const text = `BROKEN OFF ${this.#options.toolkit} after ${this.#figures.acts} acts: ${error instanceof Error ? error.message : error}`
      this.#faults.push(text)
      this.#options.note?.(text)
    })
    return { figures: this.#figures, faults: this.#faults }
  }

  async #acts(): Promise<void> {
    let targets: readonly Target[] = []
    for (let act = 0; act < this.#options.acts; act++) {
      if (this.#options.until !== undefined && performance.now() > this.#options.until) break
      if (act % ACTS_PER_SNAPSHOT === 0) {
        // Restores everything that was deleted.
        const { ops, after } = this.#maker.start()
        await this.#fixture.obey(ops)
        this.#world = after
        targets = await this.#snapshot()
      }
      await this.#act(this.#maker.chance.of(targets))
      // Keeps the figures of a run that is ended from outside.
      if ((act + 1) % ACTS_PER_NOTE === 0) this.#options.note?.(JSON.stringify(this.#figures))
    }
  }

  async #snapshot(): Promise<readonly Target[]> {
    let last: unknown
    const taken = until(async () => {
      const { json: listed } = await this.#run("list-windows")
      const window = listed?.data?.windows?.find(
        ({ title }: { title: string }) => title === this.#fixture.title,
      )
      if (!window) return undefined
      const look = ["snapshot", "--window-id", window.id, "--max-depth", "40", "--include-bounds"]
      const { json } = await this.#run(...look)
      last = json
      const found = json?.ok ? findRefs(json.data.tree, this.#world) : undefined
      if (!found) return undefined
      const places = new Map(all(json.data.tree).map((node) => [node.ref_id, node.bounds]))
      const targets = found
        .filter(({ part }) => part !== "model")
        .flatMap((one) => {
          const bounds = places.get(one.ref)
          return bounds ? [{ ...one, at: middle(bounds) }] : []
        })
      // A busy program may not have placed its elements yet.
      return targets.length > 0 ? targets : undefined
    }, PATIENCE_MS)
    return taken.catch((error: Error) => {
      const { toolkit } = this.#options
      throw new Error(`${toolkit}: ${error.message}\n${JSON.stringify(this.#world)}\n${JSON.stringify(last)}`)
    })
  }

  async #act(target: Target): Promise<void> {
    const { chance } = this.#maker
    const reaction = this.#choose(target)
    const isThere = this.#isThere(target)
    const count = chance.next() < 0.25 ? 2 : 1
    await this.#run("mouse-move", "--xy", AWAY)
    let hasReacted = false
    // Set before the element is armed: the app may notice only then that the pointer is on the element.
    this.#fixture.onEntered = () => {
      hasReacted = reaction.kind !== "nothing"
      if (reaction.kind === "popup" || reaction.kind === "window")
        this.#cover.open(target.at, reaction.kind === "popup")
    }
    await this.#fixture.obey([{ op: "arm", id: target.id, ops: this.#opsOf(reaction) }])
    const timer =
      reaction.kind === "opens by itself" &&
      setTimeout(() => {
        hasReacted = true
        this.#cover.open(target.at, reaction.popup)
      }, reaction.ms)
    this.#fixture.takeHits()
    const verb = count === 2 ? ["double-click"] : ["click", "--input", "physical"]
    const { json } = await this.#run(...verb, target.ref, "--timeout-ms", "4000")
    if (timer) clearTimeout(timer)
    if (json?.ok) await until(() => this.#fixture.hits.length + this.#cover.hits > 0, 500).catch(() => {})
    await this.#cover.close()
    await this.#fixture.obey([{ op: "disarm" }])
    if (hasReacted && reaction.kind === "mutation") this.#world = reaction.made.after
    const hits = [...this.#fixture.takeHits(), ...this.#cover.takeHits()]
    this.#judge({ target, reaction, count, isThere, hasReacted, json, hits })
  }

  /** An earlier act on the same snapshot may have changed it. */
  #isThere({ id, text, hadTwins }: Target): boolean {
    const { sections, rows } = this.#world
    const things = [...sections.Alpha, ...sections.Beta].map(({ id, name }) => ({ id, text: name }))
    const alike = [...things, ...rows].filter((one) => one.text === text)
    return !hadTwins && alike.length === 1 && alike[0]?.id === id
  }

  #choose(target: Target): Reaction {
    const { chance } = this.#maker
    const kind = chance.weighted([
      [1, "nothing"],
      [3, "cover"],
      [2, "popup"],
      [1, "window"],
      [2, "opens by itself"],
      [6, "mutation"],
    ] as const)
    if (kind === "opens by itself") return { kind, ms: chance.below(LONGEST_MS), popup: chance.next() < 0.5 }
    if (kind !== "mutation") return { kind }
    for (let tries = 0; ; tries++) {
      const made = this.#maker.mutate(this.#world)
      const ops = JSON.stringify(made.ops)
      // The dangerous changes are those of the element and its surroundings.
      const concerns = tries > 20 || ops.includes(`"id":${target.id}`) || this.#maker.chance.next() < 0.2
      if (concerns && !/"op":"(model|filter|scroll|reopen|hide|show)/.test(ops)) return { kind, made }
    }
  }

  #opsOf(reaction: Reaction): Mutation["ops"] {
    if (reaction.kind === "mutation") return reaction.made.ops
    return reaction.kind === "cover" ? [{ op: "cover", id: COVER_ID }] : []
  }

  #judge(seen: {
    readonly target: Target
    readonly reaction: Reaction
    readonly count: number
    readonly isThere: boolean
    readonly hasReacted: boolean
    // biome-ignore lint/suspicious/noExplicitAny: an envelope
    readonly json: any
    readonly hits: readonly number[]
  }): void {
    const { target, reaction, count, isThere, hasReacted, json, hits } = seen
    const figures = this.#figures
    figures.acts++
    if (hasReacted) figures.reactions++
    const isUntrue = json?.error?.disposition?.delivery === "not_delivered" && hits.length > 0
    const isOther = hits.some((id) => id !== target.id)
    const isForeign = reaction.kind !== "mutation" && reaction.kind !== "cover"
    const isTold = json?.error?.disposition?.delivery === "delivery_uncertain"
    const hasStrayed = isOther && isForeign && isTold && hits.length <= count
    const isWrong = (isOther && !hasStrayed) || hits.length > count || isUntrue
    if (isWrong) figures.wrong++
    else if (hasStrayed) figures.strayed++
    else if (!json?.ok) figures.refused++
    else if (hits.length > 0) figures.right++
    else figures.silent++
    const isNeedless = !isWrong && !json?.ok && isThere && !hasReacted
    if (isNeedless) figures.needless++
    if (!isWrong && !isNeedless && !hasStrayed) return
    const { toolkit, seed } = this.#options
    const text = [
      `${isWrong ? "WRONG" : hasStrayed ? "STRAYED" : "NEEDLESS"} ${toolkit} --seed ${seed}, act ${figures.acts}: ${JSON.stringify(reaction)?.slice(0, 400)}`,
      `  target ${JSON.stringify(target)}, count ${count}, reacted ${hasReacted}, hit ${JSON.stringify(hits)}`,
      `  answer ${JSON.stringify(json)?.slice(0, 600)}`,
    ].join("\n")
    this.#faults.push(text)
    this.#options.note?.(text)
  }

  #run(...args: readonly string[]) {
    return runProgram(args, this.#desktop.env)
  }
}

interface Node {
  readonly ref_id?: string
  readonly bounds?: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
  readonly children?: readonly Node[]
}

const all = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(all)]
const middle = ({ x, y, width, height }: NonNullable<Node["bounds"]>): Point => ({
  x: Math.floor(x + width / 2),
  y: Math.floor(y + height / 2),
})

interface Cover {
  open(at: Point, popup: boolean): void
  close(): Promise<void>
  readonly hits: number
  takeHits(): readonly number[]
  stop(): void
}

/** Another process. Its windows open above the element. */
async function startCover(desktop: TestDesktop): Promise<Cover> {
  const app = Bun.spawn(["/usr/bin/python3", new URL("cover.py", import.meta.url).pathname], {
    env: { ...desktop.env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  })
  noteApp(desktop.env, app.pid)
  const hits: number[] = []
  let done = 0
  void (async () => {
    let rest = ""
    for await (const piece of app.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const message = JSON.parse(line)
        if (message.hit !== undefined) hits.push(message.hit)
        if (message.done !== undefined) done++
      }
    }
  })()
  await until(() => done > 0, 20_000)
  const send = (command: object): void => {
    app.stdin.write(`${JSON.stringify(command)}\n`)
    void app.stdin.flush()
  }
  let sent = 1
  return {
    open(at, popup) {
      sent++
      send({ open: COVER_ID, at: [at.x, at.y], popup })
    },
    async close() {
      sent++
      send({ close: true })
      await until(() => done >= sent)
    },
    get hits() {
      return hits.length
    },
    takeHits: () => hits.splice(0),
    stop: () => app.kill("SIGKILL"),
  }
}
