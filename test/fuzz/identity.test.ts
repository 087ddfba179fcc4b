import { expect, test } from "bun:test"
import { fuzz, NO_FIGURES } from "./identity.ts"

const TOOLKITS = ["gtk3", "gtk4", "qt6", "web"] as const

test("no ref ever leads to another element, however much changes in between; what is there is acted on", async () => {
  const reports = await Promise.all(TOOLKITS.map((toolkit) => fuzz({ toolkit, seed: 1, mutations: 500 })))
  const total = { ...NO_FIGURES }
  for (const { figures } of reports)
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += figures[key]
  const faults = reports.flatMap(({ faults }) => faults)
  expect(faults.filter((fault) => fault.startsWith("WRONG"))).toEqual([])
  expect(total.wrong).toBe(0)
  expect(total.mutations).toBeGreaterThanOrEqual(2000)
  expect(total.there).toBeGreaterThan(100)
  if (total.acted < total.there * 0.99) throw new Error(faults.join("\n\n"))
}, 300_000)
