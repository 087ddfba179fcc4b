import { startProgress } from "../src/cli/terminal.ts"
import { killAtRandom } from "../test/fuzz/crash.ts"

/**
 * Kills commands with SIGKILL at random moments; see docs/reliability.md.
 *
 *   bun bench/crash.ts [KILLS=1000] [SEED]
 */

const [kills = "1000", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
const progress = startProgress("bench: crash")
const figures = await killAtRandom(Number(kills), Number(seed))
progress.end()
console.log(JSON.stringify({ seed: Number(seed), ...figures }))
