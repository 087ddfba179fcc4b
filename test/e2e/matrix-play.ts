import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Toolkit } from "../fixtures/fixture.ts"
import type { RunResult } from "../support/desktop.ts"
import { type Cell, type Done, type Refused, type Route, titleOf, type Want, wanted } from "./matrix-cell.ts"
import { CELLS } from "./matrix-cells.ts"
import { PARKED, type Printed, Stage } from "./matrix-stage.ts"

/**
 * Every cell of one toolkit, judged by the fixture's own log: that it happened, once, and nothing else
 * with it.
 */
export function playMatrix(toolkit: Toolkit): void {
  // A loaded machine takes its time.
  setDefaultTimeout(60_000)
  describe(`${toolkit}:`, () => {
    let stage: Stage

    beforeAll(async () => {
      stage = await Stage.open(toolkit)
    })
    afterAll(() => stage?.desktop.close())

    for (const cell of CELLS) test(titleOf(cell, toolkit), () => check(stage, cell, wanted(cell, toolkit)))
  })
}

/** More than the program's own, for a machine with other things to do. */
const PATIENCE_MS = 15_000

async function check(stage: Stage, cell: Cell, want: Want): Promise<void> {
  await stage.reset()
  const nodes = await stage.recall(...(cell.look ?? []))
  const target = find(nodes, cell)
  if ("absent" in want) {
    expect(target).toBeUndefined()
    return
  }
  for (const command of cell.given ?? []) await stage.fixture.command(command)
  const mark = await stage.mark()
  const result = await stage.run(
    cell.command,
    ...(cell.isBare ? [] : [refOf(target)]),
    ...(cell.args ?? []).map((arg) => meant(nodes, arg)),
    ...(cell.input ? ["--input", cell.input] : []),
    "--timeout-ms",
    String(cell.timeoutMs ?? PATIENCE_MS),
  )
  const log = want.log ?? []
  const seen = await stage.seenSince(mark, log)
  if (seen.some(({ event }) => RESHAPING.has(event))) stage.forget()
  const [is, should] = [
    { ...outcome(result), log: seen },
    { ...expected(want), log },
  ]
  // The program's own words, only where they are needed.
  if (!Bun.deepEquals(is, should)) expect({ ...is, said: result.stdout }).toEqual({ ...should, said: "" })
  if ("code" in want) {
    expect(result.exitCode).toBe(1)
    return
  }
  expect(result.exitCode).toBe(0)
  await checkAttention(stage, want.how, target)
  if (want.how !== "keyboard") expect(await stage.keysSince(mark)).toEqual([])
  checkStory(result, want, log.length)
  if (want.states) {
    const { json } = await stage.run("get", refOf(target), "states")
    expect(json.data.value).toEqual(expect.arrayContaining([...want.states]))
  }
}

/** What makes toolkits build parts of their trees anew. */
const RESHAPING: ReadonlySet<string> = new Set(["expand", "popover", "context", "scroll", "select"])

function find(
  nodes: readonly Printed[],
  { on, role, nth = 0 }: Pick<Cell, "on" | "role" | "nth">,
): Printed | undefined {
  return nodes.filter((node) => node.ref_id && node.name === on && (!role || node.role === role))[nth]
}

/** "@Name" is the ref of a control, "#Name" the point in its middle. */
function meant(nodes: readonly Printed[], arg: string): string {
  if (arg.startsWith("@")) return refOf(find(nodes, { on: arg.slice(1) }))
  if (!arg.startsWith("#")) return arg
  const { x, y, width, height } = find(nodes, { on: arg.slice(1) })?.bounds ?? NOWHERE
  return `${Math.floor(x + width / 2)},${Math.floor(y + height / 2)}`
}

const NOWHERE = { x: 0, y: 0, width: 0, height: 0 }

function refOf(node: Printed | undefined): string {
  if (!node?.ref_id) throw new Error("The control has no ref")
  return node.ref_id
}

/** How it says that it went. */
function outcome({ json, stdout }: RunResult): object {
  if (!json) throw new Error(`No envelope: ${stdout}`)
  if (!json.ok) return { code: json.error.code, kind: json.error.details?.kind }
  const { method, action } = json.data
  return { how: method ? routeOf(method) : (ROUTE_OF[action] ?? action) }
}

/** Of commands that have no other. */
const ROUTE_OF: Readonly<Record<string, Route>> = {
  press: "keyboard",
  "mouse-wheel": "wheel",
  "mouse-move": "pointer",
  "mouse-click": "pointer",
  hover: "pointer",
  drag: "pointer",
}

function expected(want: Done | Refused): object {
  return "code" in want ? { code: want.code, kind: want.kind } : { how: want.how }
}

const routeOf = (method: string): Route | string =>
  method.startsWith("atspi:") ? "accessibility" : method === "none" ? "nothing" : method

/** The pointer where it was, unless it was needed; the keyboard still with the fixture, or with a popup of it. */
async function checkAttention(stage: Stage, how: Route, target: Printed | undefined): Promise<void> {
  const { at, window } = await stage.attention()
  expect([stage.fixture.title, ""]).toContain(window)
  if (how === "accessibility" || how === "nothing") expect(at).toEqual(PARKED)
  // What was out of view has moved since.
  if (how === "pointer") expect(at).not.toEqual(PARKED)
  expect(target).toBeDefined()
}

/** What the result claims must be what happened. */
function checkStory({ json }: RunResult, want: Done, events: number): void {
  const { disposition, post_state } = json.data
  if (want.proof) expect(disposition.delivery).toBe(`delivered_${want.proof}`)
  if (want.how === "nothing") expect(disposition).toEqual({ delivery: "not_delivered", retry: "safe" })
  const changedNothing = events === 0 && !want.states
  if (disposition && changedNothing) expect(disposition.delivery).not.toBe("delivered_verified")
  const last = want.log.at(-1)?.value
  if (post_state?.value !== undefined && last !== undefined && want.proof === "verified")
    expect(post_state.value).toBe(String(last))
}
