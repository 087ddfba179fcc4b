import { startProgress } from "../src/cli/terminal.ts"
import { workAtOnce } from "../test/fuzz/concurrency.ts"

/**
 * Several processes observe and act at the same time; see docs/reliability.md.
 *
 *   bun bench/concurrency.ts [WORKERS=8] [OPERATIONS=200] [SEED]
 */

const [workers = "8", operations = "200", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
const progress = startProgress("bench: concurrency")
const began = performance.now()
const figures = await workAtOnce(Number(workers), Number(operations), Number(seed))
progress.end()
const seconds = Math.round((performance.now() - began) / 1000)
console.log(JSON.stringify({ seed: Number(seed), seconds, ...figures }))
