import { readFileSync } from "node:fs"
import { parseRefMap } from "../../src/refs/refmap-json.ts"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { type Fixture, startFixture } from "./fixtures.ts"
import { type Found, findRefs } from "./refs.ts"
import { Chance, Maker, type World } from "./world.ts"

export interface ConcurrencyFigures {
  operations: number
  clicks: number
  /** Number of times that the shared map was read while other processes wrote it. */
  reads: number
  /** Shared refs whose snapshot was dropped in favour of newer ones. */
  expired: number
}

interface Stage {
  readonly desktop: TestDesktop
  readonly shown: readonly { readonly fixture: Fixture; readonly world: World; readonly window: string }[]
  readonly figures: ConcurrencyFigures
}

/**
 * Runs processes that look and act at the same time, each in a private session and all in a shared one. Throws as soon
 * as a process gets a ref of another one, an element is hit that no process clicked, or a map is incomplete.
 */
export async function workAtOnce(
  workers: number,
  operations: number,
  seed: number,
): Promise<ConcurrencyFigures> {
  await using desktop = await openDesktop({ name: "concurrency" })
  const figures: ConcurrencyFigures = { operations: 0, clicks: 0, reads: 0, expired: 0 }
  const shown = await Promise.all(
    (["gtk3", "qt6"] as const).map(async (toolkit, i) => {
      const fixture = await startFixture(desktop, toolkit)
      const made = new Maker(seed + i, { canHide: true, renewsMoved: false, renewsRows: false }).start()
      await fixture.obey(made.ops)
      const window = await until(
        async () =>
          (await desktop.run("list-windows")).json?.data?.windows?.find(
            (one: { title: string }) => one.title === fixture.title,
          )?.id,
      )
      return { fixture, world: made.after, window: String(window) }
    }),
  )
  const stage = { desktop, shown, figures }
  try {
    let isOver = false
    const reading = readShared(stage, () => isOver)
    const clicked = await Promise.all(
      Array.from({ length: workers }, (_, i) => work(stage, i, operations, new Chance(seed * 1000 + i))),
    )
    isOver = true
    await reading
    await Promise.all(shown.map(({ fixture }) => fixture.obey([])))
    const hits = shown.map(({ fixture }) => fixture.takeHits().toSorted())
    const wanted = shown.map((_, which) =>
      clicked
        .flat()
        .filter((one) => one.which === which)
        .map(({ id }) => id)
        .toSorted(),
    )
    if (!wanted.every((ids, which) => fits(ids, hits[which]!)))
      throw new Error(`clicked ${JSON.stringify(wanted)}, but hit ${JSON.stringify(hits)}`)
    return figures
  } finally {
    await Promise.all(shown.map(({ fixture }) => fixture.stop()))
  }
}

interface Click {
  readonly which: number
  readonly id: number
}

async function work(stage: Stage, worker: number, operations: number, chance: Chance): Promise<Click[]> {
  const { desktop, shown, figures } = stage
  const which = worker % shown.length
  const { world, window } = shown[which]!
  const clicks: Click[] = []
  const run = async (session: string, ...args: readonly string[]) => {
    figures.operations++
    return (await runProgram([...args, "--session", session, "--timeout-ms", "30000"], desktop.env)).json
  }
  const own = `own-${worker}`
  const snapshot = async (session: string): Promise<{ id: string; refs: Found[] }> => {
    const json = await run(
      session,
      "snapshot",
      "--window-id",
      window,
      "--max-depth",
      "40",
      "--include-bounds",
    )
    const refs = json?.ok ? findRefs(json.data.tree, world) : undefined
    if (!refs) throw new Error(`worker ${worker} cannot see: ${JSON.stringify(json).slice(0, 500)}`)
    return { id: json.data.snapshot_id, refs: refs.filter(({ part }) => part === "thing") }
  }
  let mine = await snapshot(own)
  let shared = await snapshot("shared")
  for (let i = 2; i < operations; i++) {
    const target = chance.of(mine.refs)
    switch (chance.of(["snapshot", "share", "find", "get", "click", "get shared", "status"])) {
      case "snapshot":
        mine = await snapshot(own)
        break
      case "share":
        shared = await snapshot("shared")
        break
      case "find": {
        const json = await run(
          own,
          "find",
          "--window-id",
          window,
          "--name",
          target.text,
          "--exact",
          "--first",
        )
        expectSame(json?.data?.match?.ref_id, target.ref, "find", json)
        break
      }
      case "get": {
        const json = await run(own, "get", target.ref, "name")
        expectSame(json?.data?.value, target.text, "get", json)
        break
      }
      case "click": {
        const json = await run(own, "click", target.ref)
        expectSame(json?.ok, true, "click", json)
        figures.clicks++
        clicks.push({ which, id: target.id })
        break
      }
      case "get shared": {
        const there = chance.of(shared.refs)
        const json = await run("shared", "get", `@${shared.id}:${there.ref.slice(1)}`, "name")
        if (json?.error?.code === "SNAPSHOT_NOT_FOUND") figures.expired++
        else expectSame(json?.data?.value, there.text, "get shared", json)
        break
      }
      case "status": {
        const json = await run(own, "status")
        expectSame(json?.data?.snapshot_id, mine.id, "status", json)
        break
      }
    }
  }
  return clicks
}

/**
 * True if no other element was hit, and none more often than clicked. Two simultaneous clicks on a button may count as
 * one: Qt holds it down for a tenth of a second (QAbstractButton::animateClick), and another press only prolongs that.
 */
function fits(wanted: readonly number[], hits: readonly number[]): boolean {
  const count = (ids: readonly number[], id: number) => ids.filter((one) => one === id).length
  return (
    hits.every((id) => count(hits, id) <= count(wanted, id)) && wanted.every((id) => count(hits, id) >= 1)
  )
}

function expectSame(actual: unknown, expected: unknown, what: string, json: unknown): void {
  if (actual !== expected)
    throw new Error(`${what}: ${actual} instead of ${expected} in ${JSON.stringify(json).slice(0, 600)}`)
}

/** Reads the map that all processes write. It must be complete every time. */
async function readShared({ desktop, figures }: Stage, isOver: () => boolean): Promise<void> {
  const path = `${desktop.home}/sessions/shared/last_refmap.json`
  await until(() => Bun.file(path).exists(), 60_000)
  while (!isOver()) {
    const map = parseRefMap(readFileSync(path, "utf8"))
    const refs = [...map.inner.values()].length
    if (refs === 0 || !map.snapshot_id) throw new Error("the shared map is not whole")
    figures.reads++
    await Bun.sleep(5)
  }
}
