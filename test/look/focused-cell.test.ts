import { afterAll, describe, expect, test } from "bun:test"
import type { Handle } from "../../src/adapter.ts"
import { type CellGrid, nameOfPlace } from "../../src/content/grid.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"
import { shortTimeout } from "../support/pace.ts"

/** `@focused` in a window with a sheet, whose cells are expensive to read. */

afterAll(clearDesks)

const [ROWS, COLUMNS] = [30, 4]
const bounds = { x: 10, y: 10, width: 100, height: 20 }

/** A window with a sheet. Its cells in view are too many for one look. `focus` names the cell with the focus. */
function withSheet({ nameBox = "", focus = "", more = [] as readonly Spec[] }) {
  const it = desk()
  const cells = Array.from({ length: ROWS * COLUMNS }, (_, at): Spec => {
    const name = nameOfPlace({ row: Math.floor(at / COLUMNS), column: at % COLUMNS })
    const states: Spec["states"] = name === focus ? ["enabled", "focused"] : ["enabled"]
    return { role: "cell", name, value: "", bounds, states }
  })
  const sheet: Spec = {
    role: "table",
    name: "Sheet",
    total: 2 ** 31,
    children: cells,
    grid: (table) => gridOf(table),
  }
  const app = it.world.app("Calc", { pid: 10 })
  const box: Spec = { role: "textfield", name: "Name Box", value: nameBox, bounds, states: ["enabled"] }
  app.window("Window", [box, ...more, sheet], { id: "w-1" })
  it.world.popups = () => 0
  return it
}

const gridOf = (table: FakeElement): CellGrid<Handle> => ({
  kind: "cells",
  rowCount: 1_048_576,
  columnCount: 16_384,
  isSheet: true,
  indexOf: (row, column) => row * COLUMNS + column,
  placeOf: (index) => ({ row: Math.floor(index / COLUMNS), column: index % COLUMNS }),
  titles: async () => undefined,
  inView: async () => undefined,
  texts: async () => [],
  // A handle of the fake adapter is the element itself.
  cell: async ({ row, column }) => table.children[row * COLUMNS + column] as unknown as Handle | undefined,
  unwritable: async () => [],
  doubt: async () => undefined,
})

const read = (it: ReturnType<typeof withSheet>) =>
  it.run("get", { ref_id: "@focused", property: "name", timeout_ms: shortTimeout(1500) })

describe.concurrent("@focused in a sheet", () => {
  test.each([
    ["C7", "C7"],
    // A range has the focus in one of its corners.
    ["B2:D5", "D2"],
    ["A1", "A1"],
  ])("is the cell that the name box shows as %s, and no other cell is read", async (nameBox, focus) => {
    const it = withSheet({ nameBox, focus })
    it.world.nodeLimit = 10
    expect((await read(it)).data).toMatchObject({ value: focus })
  })

  test("is searched for among all cells if the name box shows a name, or another cell", async () => {
    for (const nameBox of ["Total", "A1", "A1:B2", "ZZZ9", ""])
      expect((await read(withSheet({ nameBox, focus: "C7" }))).data).toMatchObject({ value: "C7" })
  })

  test("is the field beside it that has the focus", async () => {
    const more: readonly Spec[] = [
      { role: "textfield", name: "Line", bounds, states: ["enabled", "focused"] },
    ]
    const it = withSheet({ nameBox: "C7", more })
    it.world.nodeLimit = 10
    expect((await read(it)).data).toMatchObject({ value: "Line" })
  })
})
