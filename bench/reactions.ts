import { startProgress } from "../src/cli/terminal.ts"
import { TOOLKITS, type Toolkit } from "../test/fuzz/fixtures.ts"
import { fuzzReactions, NO_REACTIONS, type ReactionReport } from "../test/fuzz/reactions.ts"

/**
 * Checks that a click never presses something that appeared because the pointer arrived, nor a window that another app
 * opened in between. Live programs change at the moment when the pointer enters the element.
 *
 *   bun bench/reactions.ts [--toolkits gtk3,gtk4,qt6,qt5,web] [--seed N] [--acts N] [--minutes M]
 *
 * `--acts` is per toolkit. A failure is printed with its seed; the same seed and toolkit repeat it.
 */

const option = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return (at > 0 ? process.argv[at + 1] : undefined) ?? otherwise
}

const isToolkit = (name: string): name is Toolkit => TOOLKITS.some((one) => one === name)
const toolkits = option("toolkits", "gtk3,gtk4,qt6,web").split(",").filter(isToolkit)
const seed = Number(option("seed", String(Date.now() % 1_000_000)))
const acts = Number(option("acts", "300"))
const end = performance.now() + Number(option("minutes", "120")) * 60_000

const progress = startProgress("bench: reactions", { limitMs: end - performance.now() })
const note = (line: string): void => {
  progress.clear()
  console.error(line)
}
const reports: ReactionReport[] = []
for (const toolkit of toolkits) {
  progress.say(toolkit)
  const report = await fuzzReactions({ toolkit, seed, acts, until: end, note })
  reports.push(report)
  progress.clear()
  console.log(JSON.stringify({ toolkit, seed, ...report.figures }))
}
progress.end()
const total = { ...NO_REACTIONS }
for (const { figures } of reports)
  for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += figures[key]
console.log(JSON.stringify({ toolkit: "all", seed, ...total }))
const isWhole = reports.every(({ faults }) => !faults.some((fault) => fault.startsWith("BROKEN OFF")))
process.exitCode = total.wrong === 0 && isWhole ? 0 : 1
