import { startProgress } from "../src/cli/terminal.ts"
import { TOOLKITS, type Toolkit } from "../test/fuzz/fixtures.ts"
import { fuzz, NO_FIGURES, type Report } from "../test/fuzz/identity.ts"

/**
 * Checks that refs never lead to another element: changes live programs between a snapshot and acts. With `--by
 * description` it checks that a description acts on the only element that matches it then, and on none if several match.
 *
 *   bun bench/identity.ts [--toolkits gtk3,gtk4,qt6,qt5,web] [--seed N] [--mutations N] [--minutes M] [--refs stable]
 *     [--by description]
 *
 * A failure is printed with its seed and the steps since its snapshot; the same seed and toolkit repeat it.
 */

const option = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return (at > 0 ? process.argv[at + 1] : undefined) ?? otherwise
}

const isToolkit = (name: string): name is Toolkit => TOOLKITS.some((one) => one === name)
const toolkits = option("toolkits", "gtk3,gtk4,qt6,web").split(",").filter(isToolkit)
const seed = Number(option("seed", String(Date.now() % 1_000_000)))
const mutations = Number(option("mutations", "2000")) / toolkits.length
const refs = option("refs", "fresh") === "stable" ? "stable" : undefined
const by = option("by", "ref") === "description" ? "description" : undefined
const end = performance.now() + Number(option("minutes", "60")) * 60_000

const progress = startProgress("bench: identity", { limitMs: end - performance.now() })
const note = (line: string): void => {
  progress.clear()
  console.error(line)
}
const began = performance.now()
const reports = new Map<Toolkit, Report>()
await Promise.all(
  toolkits.map(async (toolkit) => {
    const report = await fuzz({ toolkit, seed, mutations, refs, by, until: end, note }).catch(
      (error: unknown) =>
        note(`BROKEN OFF ${toolkit} --seed ${seed}: ${error instanceof Error ? error.message : error}`),
    )
    if (report) reports.set(toolkit, report)
  }),
)
progress.end()
const total = { ...NO_FIGURES }
for (const [toolkit, { figures }] of reports) {
  console.log(JSON.stringify({ toolkit, seed, ...figures }))
  for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += figures[key]
}
const seconds = Math.round((performance.now() - began) / 1000)
console.log(JSON.stringify({ toolkit: "all", seed, seconds, ...total }))
process.exitCode = total.wrong === 0 && reports.size === toolkits.length ? 0 : 1
