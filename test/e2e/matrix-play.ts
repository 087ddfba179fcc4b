import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { DESKTOP_KINDS, type DesktopKind } from "../../src/desktop.ts"
import type { Toolkit } from "../fixtures/fixture.ts"
import { type Cell, type Route, titleOf, type Want, wanted } from "./matrix-cell.ts"
import { CELLS } from "./matrix-cells.ts"
import { checkStory, outcomeOf, wantedOutcome } from "./matrix-outcome.ts"
import { PARKED, type Printed, Stage } from "./matrix-stage.ts"

/** Plays every cell of one toolkit. The fixture's log decides: it happened, once, and nothing else did. */
export function playMatrix(toolkit: Toolkit, kind = KIND): void {
  describe(`${toolkit}:`, () => {
    let stage: Stage

    beforeAll(async () => {
      stage = await Stage.open(toolkit, kind)
    })
    afterAll(() => stage?.desktop.close())

    for (const cell of CELLS)
      test(titleOf(cell, toolkit), () => check(stage, cell, wantedOn(kind, cell, toolkit)))
  })
}

/**
 * On Wayland the places of lists and menus are unknown. A choice that only the pointer can make there is refused. A menu
 * of Qt is in no tree, so its effect cannot be proved.
 */
function wantedOn(kind: DesktopKind | undefined, cell: Cell, toolkit: Toolkit): Want {
  const want = wanted(cell, toolkit)
  if (kind !== "wayland") return want
  // The list of GTK 4 is in no tree before it opens.
  const isByPointer =
    "how" in want ? want.how === "pointer" : toolkit === "gtk4" && cell.input !== "semantic" && "code" in want
  if (cell.command === "select" && COMBO_BOXES.has(cell.on) && isByPointer)
    return { code: "PLATFORM_NOT_SUPPORTED" }
  if (!("how" in want) || want.how !== "pointer") return want
  return cell.command === "right-click" && toolkit.startsWith("qt") ? { ...want, proof: undefined } : want
}

const COMBO_BOXES: ReadonlySet<string> = new Set(["Fruit", "City"])

/** The window system, from `bun run matrix --kind wayland`. */
const KIND = DESKTOP_KINDS.find((one) => one === process.env.MATRIX_KIND)

/** Longer than the program's default, for a busy machine. */
const PATIENCE_MS = 30_000

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
  if (!result.json) throw new Error(`No envelope: ${result.stdout}`)
  const [is, should] = [
    { ...outcomeOf(result.json), log: seen },
    { ...wantedOutcome(want), log },
  ]
  // Shows the whole answer if they differ.
  if (!Bun.deepEquals(is, should)) expect({ ...is, said: result.stdout }).toEqual({ ...should, said: "" })
  if ("code" in want) {
    expect(result.exitCode).toBe(1)
    return
  }
  expect(result.exitCode).toBe(0)
  // In GTK 4 only a click gives a field the focus. A key then moves the caret behind the text.
  const mayClick = stage.toolkit === "gtk4" && FOCUSING.has(cell.command) && cell.input !== "semantic"
  await checkAttention(stage, mayClick ? undefined : want.how, target)
  if (want.how !== "keyboard" && !mayClick) expect(await stage.keysSince(mark)).toEqual([])
  checkStory(result.json, want)
  if (want.states) {
    const { json } = await stage.run("get", refOf(target), "states")
    expect(json.data.value).toEqual(expect.arrayContaining([...want.states]))
  }
}

/** Events after which toolkits rebuild parts of their trees. */
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

/** Expects the pointer to be in its old place unless it was needed, and the fixture or its popup to have the keyboard. */
async function checkAttention(
  stage: Stage,
  how: Route | undefined,
  target: Printed | undefined,
): Promise<void> {
  const { at, window } = await stage.attention()
  expect([stage.fixture.title, ""]).toContain(window)
  if (at && (how === "accessibility" || how === "nothing")) expect(at).toEqual(PARKED)
  // The target itself may have moved into view, so its old bounds are not compared.
  if (how === "pointer") expect(at).not.toEqual(PARKED)
  expect(target).toBeDefined()
}

/** Commands that leave the focus in their field. */
const FOCUSING: ReadonlySet<string> = new Set(["type", "set-value"])
