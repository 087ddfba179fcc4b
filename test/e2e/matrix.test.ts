import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { RunResult } from "../desktop.ts"
import { TOOLKITS } from "../fixtures/fixture.ts"
import { type Absent, CELLS, type Cell, type Done, type Refused, type Route, wanted } from "./matrix-cells.ts"
import { PARKED, type Printed, Stage } from "./matrix-stage.ts"

/** Each cell is judged by the fixture's own log: that it happened, once, and nothing else with it. */

// A loaded machine takes its time.
setDefaultTimeout(60_000)

describe.each(TOOLKITS)("%s:", (toolkit) => {
  let stage: Stage

  beforeAll(async () => {
    stage = await Stage.open(toolkit)
  })
  afterAll(() => stage?.desktop.close())

  for (const cell of CELLS) {
    const want = wanted(cell, toolkit)
    test(titleOf(cell, want), () => check(stage, cell, want))
  }
})

/** More than the program's own, for a machine with other things to do. */
const PATIENCE_MS = 15_000

async function check(stage: Stage, cell: Cell, want: Done | Refused | Absent): Promise<void> {
  await stage.reset()
  const nodes = await stage.recall(...(cell.look ?? []))
  const target = find(nodes, cell)
  if ("absent" in want) {
    expect(target).toBeUndefined()
    return
  }
  for (const command of cell.given ?? []) await stage.fixture.command(command)
  const mark = await stage.mark()
  const args = (cell.args ?? []).map((arg) =>
    arg.startsWith("@") ? refOf(find(nodes, { on: arg.slice(1) })) : arg,
  )
  const result = await stage.run(
    cell.command,
    refOf(target),
    ...args,
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
  await checkPointer(stage, want.how, target)
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

function refOf(node: Printed | undefined): string {
  if (!node?.ref_id) throw new Error("The control has no ref")
  return node.ref_id
}

/** How it says that it went. */
function outcome({ json, stdout }: RunResult): object {
  if (!json) throw new Error(`No envelope: ${stdout}`)
  if (!json.ok) return { code: json.error.code, kind: json.error.details?.kind }
  const { method, x, from } = json.data
  return { how: method ? routeOf(method) : x !== undefined || from ? "pointer" : undefined }
}

function expected(want: Done | Refused): object {
  return "code" in want ? { code: want.code, kind: want.kind } : { how: want.how }
}

const routeOf = (method: string): Route | string =>
  method.startsWith("atspi:") ? "accessibility" : method === "none" ? "nothing" : method

async function checkPointer(stage: Stage, how: Route, target: Printed | undefined): Promise<void> {
  const at = await stage.pointer()
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

function titleOf({ command, on, about, args, input }: Cell, want: Done | Refused | Absent): string {
  const given = (args ?? []).map((arg) => JSON.stringify(arg)).join(" ")
  const what = [command, about ?? on, given, input ? `by ${input} input` : ""].filter(Boolean).join(" ")
  if ("absent" in want) return `${what}: ${want.absent}`
  return `${what}: ${"code" in want ? want.code : want.how}`
}
