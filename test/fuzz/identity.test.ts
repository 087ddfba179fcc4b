import { expect, test } from "bun:test"
import { openDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { startFixture } from "./fixtures.ts"
import { fuzz, NO_FIGURES } from "./identity.ts"
import { fuzzReactions, NO_REACTIONS } from "./reactions.ts"
import { findRefs } from "./refs.ts"
import { EMPTY } from "./world.ts"

const TOOLKITS = ["gtk3", "gtk4", "qt6", "web"] as const

test.each([
  ["", undefined],
  [", even if there was another snapshot since, with stable numbers", "stable"],
] as const)(
  "no ref ever leads to another element, however much changes in between%s; elements that are still there are acted on",
  async (_, refs) => {
    const reports = await Promise.all(
      TOOLKITS.map((toolkit) => fuzz({ toolkit, seed: 1, mutations: 300, refs })),
    )
    const total = { ...NO_FIGURES }
    for (const { figures } of reports)
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += figures[key]
    const faults = reports.flatMap(({ faults }) => faults)
    expect(faults.filter((fault) => fault.startsWith("WRONG"))).toEqual([])
    expect(total.wrong).toBe(0)
    expect(total.mutations).toBeGreaterThanOrEqual(1200)
    expect(total.there).toBeGreaterThan(50)
    if (total.acted < total.there * 0.99) throw new Error(faults.join("\n\n"))
  },
  300_000,
)

test("a description leads to the only element that matches at that moment, or to none", async () => {
  const reports = await Promise.all(
    TOOLKITS.map((toolkit) => fuzz({ toolkit, seed: 1, mutations: 100, by: "description" })),
  )
  const faults = reports.flatMap(({ faults }) => faults)
  expect(faults.filter((fault) => fault.startsWith("WRONG"))).toEqual([])
  const sum = (of: "there" | "acted") => reports.reduce((all, { figures }) => all + figures[of], 0)
  expect(sum("there")).toBeGreaterThan(4)
  if (sum("acted") < sum("there") - 1) throw new Error(faults.join("\n\n"))
}, 300_000)

test("the pointer does not press elements that appear as it arrives, and presses the element if it stays", async () => {
  const reports = await Promise.all(TOOLKITS.map((toolkit) => fuzzReactions({ toolkit, seed: 1, acts: 16 })))
  const total = { ...NO_REACTIONS }
  for (const { figures } of reports)
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += figures[key]
  const faults = reports.flatMap(({ faults }) => faults)
  expect(faults.filter((fault) => fault.startsWith("WRONG"))).toEqual([])
  expect(total.reactions).toBeGreaterThan(32)
  expect(total.right).toBeGreaterThan(4)
  if (total.needless > 1) throw new Error(faults.join("\n\n"))
}, 300_000)

test("a ref to the button of the only row is refused after the row was reused for another entry", async () => {
  await using desktop = await openDesktop({ name: "only-row" })
  const fixture = await startFixture(desktop, "qt6")
  try {
    const world = { ...EMPTY, rows: [{ id: 1, text: "Mail 11" }], model: [{ id: 2, text: "File 12" }] }
    await fixture.obey([{ op: "reopen", state: world }])
    const [button] = await until(async () => {
      const { json } = await desktop.run(
        "snapshot",
        "--app",
        "fuzz-qt6",
        "--max-depth",
        "40",
        "--include-bounds",
      )
      return json.ok ? findRefs(json.data.tree, world)?.filter(({ part }) => part === "row") : undefined
    })
    expect((await desktop.run("click", button!.ref)).json.ok).toBe(true)
    await until(() => fixture.hits.length > 0)
    expect(fixture.takeHits()).toEqual([1])
    await fixture.obey([{ op: "row-become", id: 1, new: 3, text: "Mail 13" }])
    expect((await desktop.run("click", button!.ref)).json.error).toMatchObject({
      code: "STALE_REF",
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    await fixture.obey([])
    expect(fixture.takeHits()).toEqual([])
  } finally {
    await fixture.stop()
  }
})
