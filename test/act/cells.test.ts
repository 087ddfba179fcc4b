import { afterAll, describe, expect, test } from "bun:test"
import type { Handle } from "../../src/adapter.ts"
import type { CellGrid } from "../../src/content/grid.ts"
import { AppError, NOTHING_DELIVERED } from "../../src/errors.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { FakeElement, Spec, World } from "../support/fake-world.ts"
import { FIELD, holding } from "./holding.ts"

afterAll(clearDesks)

/** A cell of a sheet. Its text comes from the keyboard, and it shows the old one until Enter ends the new one. */
const CELL: Spec = {
  ...FIELD,
  role: "cell",
  value: "old",
  states: ["enabled", "focused"],
  actions: ["Click", "SetValue", "TypeText", "Clear"],
  isTypedOver: true,
  route: "absent",
}

/** The cell takes what is typed when Enter is pressed, and shows it as `shown`. */
async function cellShowing(shown: string | undefined, spec: Spec = CELL) {
  const it = await holding({ ...spec, does: (element) => element.set({ value: spec.value }) })
  it.world.onKey = (combo) => {
    if (combo === "return" && shown !== undefined) it.element.set({ value: shown })
  }
  return it
}

describe.concurrent("set-value on a cell", () => {
  test("types over its text and ends the edit", async () => {
    const { act, world, sent } = await cellShowing("Total")
    expect((await act("set-value", { value: "Total" })).data).toMatchObject({
      post_state: { value: "Total" },
      method: "keyboard",
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(world.keys).toEqual(["escape", "shift+backspace", "forwarddelete", "return"])
    expect(sent()).toEqual(["keyboard type"])
  })

  test.each([
    ["the result of a formula", "=6*7", "42", "delivered_unverified"],
    ["the old text after a formula, which may have the same result", "=1", undefined, "delivered_unverified"],
    ["another format", "1/2", "01/02/26", "delivered_unverified"],
    ["the old text, which was set again", "old", undefined, "delivered_unverified"],
    ["the number", "7.0", "7", "delivered_verified"],
  ])("that shows %s is %j", async (_, value, shown, delivery) => {
    const { act } = await cellShowing(shown)
    expect((await act("set-value", { value })).data.disposition.delivery).toBe(delivery)
  })

  test("that keeps its old text has failed", async () => {
    const { act } = await cellShowing(undefined)
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "contradicted" },
    })
  })

  test.each(["a\tb", "a\r", "\na", "=1+\n1"])("is refused for %j before a key is pressed", async (value) => {
    const { act, world, sent } = await cellShowing("a")
    expect((await act("set-value", { value })).error).toMatchObject({
      message:
        "Set Value action failed on @e1: it takes no tab, and no line break at its start or in a formula",
      details: { kind: "not_typable" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    expect(world.keys).toEqual([])
    expect(sent()).toEqual([])
  })
})

const LATE = new AppError("APP_UNRESPONSIVE", "App 'App' did not answer in time")

function dropsReadsAfterReturn(world: World): void {
  world.onKey = (combo) => {
    if (combo === "return") world.fail("read", ...Array<Error>(20).fill(LATE))
  }
}

describe.concurrent("an app that does not answer after the keys", () => {
  test.each([
    ["set-value", { value: "new" }],
    ["clear", {}],
  ])("leaves %s unverified, not failed", async (name, args) => {
    const { act, world } = await holding(CELL)
    dropsReadsAfterReturn(world)
    expect((await act(name, args)).data).toMatchObject({
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
    expect(world.keys.at(-1)).toBe("return")
  })

  test("may have got the first line if the input fails after that line", async () => {
    const { act, world } = await holding(CELL)
    world.onKey = (combo) => {
      if (combo === "ctrl+return")
        world.fail("input", new AppError("ACTION_FAILED", "No", { disposition: NOTHING_DELIVERED }))
    }
    expect((await act("set-value", { value: "one\ntwo" })).error).toMatchObject({
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
  })

  /** A sheet with two cells that are typed into. */
  function sheet(texts: CellGrid<Handle>["texts"] = async () => [["new"], ["next"]]) {
    const cells = ["A1", "A2"].map((name): Spec => ({ ...CELL, name, value: "" }))
    const grid = (table: FakeElement): CellGrid<Handle> => ({
      texts,
      kind: "cells",
      rowCount: 9,
      columnCount: 9,
      isSheet: true,
      forgetsTexts: false,
      indexOf: (row) => row,
      placeOf: (row) => ({ row, column: 0 }),
      titles: async () => undefined,
      inView: async () => undefined,
      cell: async ({ row }) => table.children[row] as unknown as Handle,
      unwritable: async () => [],
      doubt: async () => undefined,
    })
    return holding({ role: "table", name: "It", states: ["enabled"], grid, children: cells })
  }

  test("may replace the object of the cell during set-cells", async () => {
    const { act, world, element } = await sheet(async () => [["new"]])
    const first = element.children[0]!
    world.onKey = (combo) => {
      if (combo === "forwarddelete") {
        first.remove()
        first.route = "errs"
        element.add({ ...CELL, name: "A1", value: "", route: "works" }, 0)
      }
      if (combo === "return") element.children[0]!.set({ states: ["enabled"] })
    }
    expect((await act("set-cells", { at: "A1", tsv: "new" })).data).toMatchObject({
      cells: 1,
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(world.sent("A1").at(-1)).toBe("semantic focus")
  })

  const removed = new AppError("ACTION_FAILED", "App 'It' removed an element while it was read", {
    details: { kind: "removed" },
  })

  test("may replace the object of the ref while set-cells reads the sheet", async () => {
    const { act, world } = await sheet(async () => [["new"]])
    world.fail("tableAround", removed)
    expect((await act("set-cells", { at: "A1", tsv: "new" })).data).toMatchObject({ cells: 1 })
  })

  test("is an error if it keeps removing the object of the ref, and nothing is written", async () => {
    const { act, world } = await sheet()
    world.fail("tableAround", removed, removed, removed)
    expect((await act("set-cells", { at: "A1", tsv: "new" })).error).toMatchObject({
      details: { kind: "removed" },
      disposition: { delivery: "not_delivered" },
    })
    expect(world.keys).toEqual([])
  })

  test("ends set-cells after the cell that has its text, and the error counts it", async () => {
    const { act, world } = await sheet()
    dropsReadsAfterReturn(world)
    const { error } = await act("set-cells", { at: "A1", tsv: "new\nnext" })
    expect(error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      message: expect.stringContaining("1 of 2 cells were written"),
      details: { written: 1, next: "A2" },
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
    expect(world.keys.filter((combo) => combo === "return")).toHaveLength(1)
  })

  test("ends set-cells in the middle of a cell, and the error names the cell", async () => {
    const { act, world } = await sheet()
    world.onKey = (combo) => {
      if (combo === "forwarddelete") world.fail("input", new AppError("ACTION_FAILED", "No"))
    }
    expect((await act("set-cells", { at: "A1", tsv: "new\nnext" })).error).toMatchObject({
      message: expect.stringContaining("0 of 2 cells were written, and perhaps A1: No"),
      details: { written: 0, next: "A1" },
      disposition: { delivery: "delivery_uncertain" },
    })
  })

  test("ends set-cells at the first cell with the suggestion of the refusal", async () => {
    const { act, world } = await sheet()
    const locked = new AppError("ACTION_FAILED", "No", {
      suggestion: "Unlock it",
      disposition: NOTHING_DELIVERED,
    })
    world.fail("input", locked)
    expect((await act("set-cells", { at: "A1", tsv: "new\nnext" })).error).toMatchObject({
      message: expect.stringContaining("0 of 2 cells were written: No"),
      suggestion: "Unlock it",
      disposition: { delivery: "not_delivered" },
    })
  })

  const lost = new AppError("ACTION_FAILED", "The keyboard focus is in another window", {
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })

  test("may open a window that takes the focus once before set-cells presses its first key", async () => {
    const { act, world } = await sheet(async () => [["new"]])
    world.fail("input", lost)
    expect((await act("set-cells", { at: "A1", tsv: "new" })).data).toMatchObject({ cells: 1 })
    expect(world.keys.filter((combo) => combo === "return")).toHaveLength(1)
  })

  test("ends set-cells if another window keeps the focus, and nothing is written", async () => {
    const { act, world } = await sheet()
    world.fail("input", lost, lost)
    expect((await act("set-cells", { at: "A1", tsv: "new" })).error).toMatchObject({
      message: expect.stringContaining("0 of 1 cells were written: The keyboard focus is in another window"),
      disposition: { delivery: "not_delivered" },
    })
    expect(world.keys).toEqual([])
  })

  test("leaves the last cell of set-cells in doubt", async () => {
    const { act, world } = await sheet(async () => {
      throw LATE
    })
    dropsReadsAfterReturn(world)
    const { data } = await act("set-cells", { at: "A1", tsv: "new" })
    expect(data).toMatchObject({
      cells: 1,
      disposition: { delivery: "delivered_unverified", retry: "safe" },
      doubt: expect.stringContaining("could not be read back"),
    })
  })
})

describe.concurrent("clear on a cell", () => {
  test("never presses Delete, which would empty other selected cells as well", async () => {
    const { act, world, sent } = await cellShowing("")
    expect((await act("clear")).data).toMatchObject({
      post_state: { value: "" },
      method: "keyboard",
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(world.keys).toEqual(["escape", "shift+backspace", "backspace", "return"])
    expect(sent()).toEqual(["keyboard type"])
  })

  test("ignores that the cell still shows its old text", async () => {
    const { act } = await cellShowing(undefined)
    expect((await act("clear")).data).toEqual({
      action: "clear",
      ref_id: "@e1",
      element: { role: "cell", name: "It" },
      method: "keyboard",
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
  })
})

describe.concurrent("type on a cell", () => {
  test("that still shows its old text neither contradicts the action nor appears in post_state", async () => {
    const { act, element } = await cellShowing(undefined)
    element.does = (it) => it.set({ value: "old", states: ["enabled", "focused", "selected"] })
    const { data } = await act("type", { text: "xyz" })
    expect(data).toMatchObject({
      post_state: { role: "cell", states: ["enabled", "focused", "selected"] },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    expect(data.post_state.value).toBeUndefined()
  })

  test("is verified by the first of several cells", async () => {
    const { act } = await holding({ ...CELL, does: (it) => it.set({ value: "a" }) })
    const { data } = await act("type", { text: "a\tb\nc\td\n" })
    expect(data).toMatchObject({
      post_state: { value: "a" },
      disposition: { delivery: "delivered_verified" },
    })
  })
})

describe.concurrent("set-cells in a table of fields", () => {
  const NAMES = ["Ada", "Bob", "Cyd"]

  /** A table with a field in each row. `written` is called after each text, with the number of texts so far. */
  async function tableOf(written: (count: number) => void) {
    let count = 0
    const field: Spec = {
      ...FIELD,
      name: "Amount",
      value: "",
      actions: ["SetValue"],
      does: (it, action) => {
        if (action.kind === "set-value") it.set({ value: String(action.value) })
        written(++count)
      },
    }
    const rows = NAMES.map((name): Spec => {
      const cells: Spec[] = [{ role: "statictext", value: name }, field]
      return { role: "row", children: cells.map((content) => ({ role: "cell", children: [content] })) }
    })
    const it = await holding({ role: "table", name: "It", states: ["enabled"], children: rows })
    const set = () => it.act("set-cells", { ref_id: 'table "It"', at: "B1", tsv: "1\n2\n3" })
    return { ...it, set }
  }

  test("stops if the table shows other rows in the same fields", async () => {
    const it = await tableOf((count) => {
      const labels = it.element.children.map((row) => row.children[0]!.children[0]!)
      if (count === 2) for (const [i, label] of labels.entries()) label.set({ value: NAMES[2 - i] })
    })
    expect((await it.set()).error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("2 of 3 cells were written: The row of B3 now shows another entry"),
      details: { written: 2, next: "B3" },
    })
    expect(it.world.deliveries).toHaveLength(2)
  })

  test("stops if a modal dialog opens", async () => {
    const it = await tableOf(() => it.world.dialogs.set("w-1", { id: "w-9" }))
    expect((await it.set()).error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("1 of 3 cells were written"),
      suggestion: "Answer the dialog first: agent-desktop snapshot -i --window-id w-9",
      details: { written: 1, next: "B2", reason: "behind a modal dialog", window_id: "w-9" },
    })
    expect(it.world.deliveries).toHaveLength(1)
  })
})
