import type { DesktopKind } from "../../src/desktop.ts"
import type { Point } from "../../src/node.ts"
import { type Fixture, type FixtureEvent, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import { openDesktop, type RunResult, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** A desktop with one fixture on it. Runs commands, and reads the fixture's window and log. */
export class Stage implements AsyncDisposable {
  readonly desktop: TestDesktop
  readonly fixture: Fixture
  readonly toolkit: Toolkit
  #id: string | undefined
  readonly #first = new Map<string, readonly Printed[]>()
  #last: { readonly key: string; readonly nodes: readonly Printed[] } | undefined

  static async open(toolkit: Toolkit, kind?: DesktopKind): Promise<Stage> {
    const desktop = await openDesktop(kind === undefined ? {} : { kind })
    try {
      const stage = new Stage(desktop, await startFixture(desktop, toolkit), toolkit)
      await until(async () => (await stage.attention()).window === stage.fixture.title)
      return stage
    } catch (error) {
      await desktop.close()
      throw error
    }
  }

  constructor(desktop: TestDesktop, fixture: Fixture, toolkit: Toolkit) {
    this.desktop = desktop
    this.fixture = fixture
    this.toolkit = toolkit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.desktop.close()
  }

  /** Brings everything back to the start, and moves the pointer out of the way. */
  async reset(): Promise<void> {
    if (this.desktop.env.SWAYSOCK)
      await this.#sway("seat", "-", "cursor", "set", `${PARKED.x}`, `${PARKED.y}`)
    else await this.#xdotool("mousemove", String(PARKED.x), String(PARKED.y))
    await this.fixture.command({ do: "reset" })
  }

  run(...args: readonly string[]): Promise<RunResult> {
    return this.desktop.run(...args)
  }

  /** All nodes of the fixture's window, with bounds. */
  async look(...options: readonly string[]): Promise<readonly Printed[]> {
    this.#id ??= await this.windowId()
    const { json, stdout } = await this.run(
      "snapshot",
      "--window-id",
      this.#id,
      "--include-bounds",
      "--timeout-ms",
      "20000",
      ...options,
    )
    if (!json?.ok || !json.data.complete) throw new Error(`No snapshot: ${stdout}`)
    return flatten(json.data.tree)
  }

  /**
   * Like look(), but may return an earlier look, since refs survive changes of other controls. A new look
   * waits until everything shows as it did at first, since some apps report changes late.
   */
  async recall(...options: readonly string[]): Promise<readonly Printed[]> {
    const key = options.join(" ")
    if (this.#last?.key === key) return this.#last.nodes
    let nodes = await this.look(...options)
    const first = this.#first.get(key) ?? nodes
    this.#first.set(key, first)
    await until(async () => {
      if (differences(nodes, first).length === 0) return true
      nodes = await this.look(...options)
      return false
    }, EFFECT_MS).catch(() => {
      throw new Error(`Not as it was at first: ${differences(nodes, first).join("; ")}`)
    })
    this.#last = { key, nodes }
    return nodes
  }

  /** Drops the earlier look, since the tree has changed. */
  forget(): void {
    this.#last = undefined
  }

  async windowId(title = this.fixture.title): Promise<string> {
    return until(async () => {
      const { json } = await this.run("list-windows")
      return json?.data?.windows.find((window: { title: string }) => window.title === title)?.id
    })
  }

  /** The place of the pointer and the title of the window that gets keys, by the X server. Sway reports only the title. */
  async attention(): Promise<{ readonly at?: Point; readonly window: string }> {
    if (this.desktop.env.SWAYSOCK) {
      const tree = await this.#sway("-t", "get_tree")
      return { window: focusedIn(JSON.parse(tree || "{}")) ?? "" }
    }
    const said = await this.#xdotool("getmouselocation", "getactivewindow", "getwindowname")
    const [, x, y] = /x:(\d+) y:(\d+)/.exec(said) ?? []
    return { at: { x: Number(x), y: Number(y) }, window: said.split("\n").slice(1).join("\n") }
  }

  /** The number of events so far, for seenSince(). */
  async mark(): Promise<number> {
    await this.fixture.command({ do: "sync" })
    return (await this.fixture.events()).length
  }

  /**
   * The events since a mark. Waits until there are as many as expected, and until the fixture has handled
   * everything sent before.
   */
  async seenSince(mark: number, expected: readonly FixtureEvent[]): Promise<readonly FixtureEvent[]> {
    const news = async () => told((await this.fixture.events()).slice(mark))
    await until(async () => (await news()).length >= expected.length, EFFECT_MS).catch(() => undefined)
    if (this.fixture.isAlive()) await this.fixture.command({ do: "sync" })
    return news()
  }

  /** Keys that went down in the fixture since a mark. */
  async keysSince(mark: number): Promise<readonly FixtureEvent[]> {
    const events = (await this.fixture.events()).slice(mark)
    return events.filter(({ event, phase }) => event === "key" && phase === "down")
  }

  async #sway(...args: readonly string[]): Promise<string> {
    return Bun.$`swaymsg -r ${args}`.env(this.desktop.env).quiet().nothrow().text()
  }

  async #xdotool(...args: readonly string[]): Promise<string> {
    return (await Bun.$`xdotool ${args}`.env(this.desktop.env).quiet().nothrow().text()).trim()
  }
}

/** The title of the focused window. */
function focusedIn({ focused, name, pid, nodes = [], floating_nodes = [] }: Json): string | undefined {
  if (focused && pid) return name
  return [...nodes, ...floating_nodes].map(focusedIn).find((title) => title !== undefined)
}

export type FixtureCommand = Parameters<Fixture["command"]>[0]

/** A point outside all windows. */
export const PARKED = { x: 1275, y: 1020 }

/** How long an effect may take to reach the log on a busy machine. */
const EFFECT_MS = 5000

/** A node of a printed tree. */
export interface Printed {
  readonly ref_id?: string
  readonly role: string
  readonly name?: string
  readonly value?: string
  readonly states?: readonly string[]
  readonly bounds?: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
  readonly children?: readonly Printed[]
}

const flatten = (node: Printed): readonly Printed[] => [node, ...(node.children ?? []).flatMap(flatten)]

/** States to ignore: the focus moves, and an arrow of GTK 4 is reported as collapsed only after it was expanded. */
const FLEETING: ReadonlySet<string> = new Set(["focused", "collapsed"])

/** Controls and states that only one of two looks shows. */
function differences(now: readonly Printed[], first: readonly Printed[]): readonly string[] {
  const print = ({ role, name, value, states = [] }: Printed) =>
    [role, name, value, ...states.filter((state) => !FLEETING.has(state))].join(" ")
  const printed = (nodes: readonly Printed[]) => nodes.filter(({ ref_id }) => ref_id).map(print)
  const [a, b] = [printed(now), printed(first)]
  const lines = [
    ...a.filter((one) => !b.includes(one)).map((one) => `new: ${one}`),
    ...b.filter((one) => !a.includes(one)).map((one) => `missing: ${one}`),
  ]
  return lines.length > 0 || a.join("\n") === b.join("\n") ? lines : ["in another order or number"]
}

/**
 * The events of controls without accompanying ones and running counts. All scrolls of an area are one event: GTK 4
 * scrolls a row a little further when it gets the focus, before or after its click.
 */
function told(events: readonly FixtureEvent[]): readonly FixtureEvent[] {
  return events
    .filter(({ event }) => !ACCOMPANYING.has(event))
    .map(plain)
    .filter((one, at, all) => one.event !== "scroll" || all.findIndex(isSameScroll(one)) === at)
}

const isSameScroll =
  ({ event, name }: FixtureEvent) =>
  (other: FixtureEvent): boolean =>
    other.event === event && other.name === name

const ACCOMPANYING: ReadonlySet<string> = new Set(["done", "ready", "moved", "key", "pointer"])

function plain({ x: _, y: __, at: ___, count, ...event }: FixtureEvent): FixtureEvent {
  return event.event === "click" ? { ...event, count } : event
}
