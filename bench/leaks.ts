import { askServer, cycleDesktops } from "../test/e2e/leaks.ts"

/**
 * Looks for leftovers after many starts and stops, and for growth of a long-lived server.
 *
 * bun bench/leaks.ts desktops [COUNT=1000] [FIRST=0]   kills a part of every second desktop before it stops it
 * bun bench/leaks.ts server [CALLS=10000]
 */
const [what = "", count, first] = process.argv.slice(2)
const start = performance.now()
const figures =
  what === "desktops"
    ? await cycleDesktops(Number(count ?? 1000), Number(first ?? 0))
    : what === "server"
      ? await askServer(Number(count ?? 10_000))
      : undefined
if (!figures) throw new Error("bun bench/leaks.ts desktops|server [COUNT]")
console.log(JSON.stringify({ ...figures, seconds: Math.round((performance.now() - start) / 1000) }))
