import { readdirSync, readFileSync, statSync } from "node:fs"
import { parseRefMap } from "../../src/refs/refmap-json.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { startFixture } from "./fixtures.ts"
import { Chance, Maker } from "./world.ts"

export interface CrashFigures {
  kills: number
  /** Commands that were killed before their own end. */
  alive: number
  /** Temporary files that were found right after a kill. */
  leftovers: number
  /** Commands between the kills, all of which must work. */
  commands: number
}

/**
 * Kills snapshot, find and click at random moments. Throws as soon as the map is neither the old one nor a complete and
 * private new one, the next command fails, or a temporary file remains.
 */
export async function killAtRandom(kills: number, seed: number): Promise<CrashFigures> {
  await using desktop = await openDesktop({ name: "crash" })
  const fixture = await startFixture(desktop, "gtk3")
  const chance = new Chance(seed)
  const maker = new Maker(seed, { canHide: true, renewsMoved: false, renewsRows: false })
  const figures: CrashFigures = { kills: 0, alive: 0, leftovers: 0, commands: 0 }
  const run = async (...args: readonly string[]) => {
    figures.commands++
    const { json } = await desktop.run(...args)
    if (!json?.ok) throw new Error(`${args.join(" ")} after ${figures.kills} kills: ${JSON.stringify(json)}`)
    return json.data
  }
  try {
    await fixture.obey(maker.start().ops)
    const window = await until(
      async () =>
        (await desktop.run("list-windows")).json?.data?.windows?.find(
          (one: { title: string }) => one.title === fixture.title,
        )?.id,
    )
    const snapshot = ["snapshot", "--window-id", window]
    const find = ["find", "--window-id", window, "--role", "button"]
    await run(...snapshot)
    let usual = 80
    for (; figures.kills < kills; figures.kills++) {
      const before = stateOf(desktop)
      const command = chance.of([snapshot, find, ["click", "@e1"]])
      const child = Bun.spawn([PROGRAM, ...command], {
        env: { ...desktop.env },
        stdio: ["ignore", "ignore", "ignore"],
      })
      const started = performance.now()
      const ended = child.exited.then(() => performance.now() - started)
      await Promise.race([ended, Bun.sleep(chance.next() * usual)])
      child.kill("SIGKILL")
      const took = await ended
      if (child.signalCode === "SIGKILL") figures.alive++
      // Most kills should hit a running command. Writing the map is its last step.
      else usual = Math.max(20, usual * 0.9 + took * 0.1)
      if (child.signalCode === "SIGKILL" && chance.next() < 0.1) usual *= 1.1
      inspect(desktop, before)
      figures.leftovers += temporaries(desktop).length
      if (figures.kills % 10 === 9) {
        const data = await run(...snapshot)
        if (stateOf(desktop).id !== data.snapshot_id)
          throw new Error("the next snapshot is not the current one")
        await run("click", "@e1")
      }
    }
    await until(async () => {
      await run(...find)
      await run(...snapshot)
      return temporaries(desktop).length === 0
    }, 20_000)
    return figures
  } finally {
    await fixture.stop()
  }
}

interface State {
  readonly text: string
  readonly id: string | undefined
  readonly refs: number
}

const current = ({ home }: TestDesktop) => `${home}/last_refmap.json`

function stateOf(desktop: TestDesktop): State {
  const text = readFileSync(current(desktop), "utf8")
  const map = parseRefMap(text)
  // Reads and checks every entry.
  return { text, id: map.snapshot_id, refs: [...map.inner.values()].length }
}

/** Expects the old map or a complete new one, equal to the copy under its snapshot id. */
function inspect(desktop: TestDesktop, before: State): void {
  const now = stateOf(desktop)
  for (const [path, mode] of [
    [current(desktop), 0o600],
    [desktop.home, 0o700],
    [`${desktop.home}/snapshots`, 0o700],
  ] as const)
    if ((statSync(path).mode & 0o777) !== mode) throw new Error(`${path} has another mode`)
  if (now.text === before.text) return
  const copy = readFileSync(`${desktop.home}/snapshots/${now.id}.json`, "utf8")
  if (copy !== now.text) throw new Error(`the copy of ${now.id} is another one`)
  if (now.id === before.id ? now.refs < before.refs : now.refs === 0) throw new Error(`${now.id} lost refs`)
}

const temporaries = ({ home }: TestDesktop): readonly string[] =>
  readdirSync(home).filter((name) => name.startsWith(".tmp-"))
