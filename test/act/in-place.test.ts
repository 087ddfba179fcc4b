import { afterAll, describe, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { NOTHING } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { bounds, holding } from "./holding.ts"

afterAll(clearDesks)

const CELL: Spec = {
  role: "cell",
  name: "It",
  bounds,
  states: ["enabled"],
  editedBy: "F2",
  route: "absent",
  does: () => {},
}

const EDITOR: Spec = {
  role: "textfield",
  value: "It",
  states: ["enabled"],
  bounds: { x: 10, y: 60, width: 100, height: 20 },
}

/**
 * A cell whose editor opens with F2, unless `opens` is false, and closes with Escape, unless `closes` is false. The cell
 * keeps what `keeps` makes of its text.
 */
async function edited({
  cell = CELL,
  opens = true,
  closes = true,
  editor = EDITOR,
  keeps = (text: string): string => text,
  onKey = (_: string): void => {},
} = {}) {
  const it = await holding(cell, editor)
  const field = it.window.root.children[1]!
  const keys: string[] = []
  let isOpen = false
  const open = (value: boolean): void => {
    isOpen = value
    field.set({ states: value ? ["enabled", "focused"] : ["enabled"] })
  }
  it.world.editorOver = () => (isOpen ? field : undefined)
  it.world.onKey = (combo) => {
    keys.push(combo)
    if (combo === "f2" && opens) open(true)
    if (combo === "return") it.element.set({ name: keeps(field.value ?? "") })
    if (combo === "return" || (combo === "escape" && closes)) open(false)
    onKey(combo)
  }
  return { ...it, field, keys }
}

const silence = (): AppError => new AppError("APP_UNRESPONSIVE", "The app says nothing")

describe.concurrent("set-value on a cell that is edited in place", () => {
  test("opens its editor, sets the text, and presses Return once", async () => {
    const { act, keys } = await edited()
    expect((await act("set-value", { value: "=new" })).data).toMatchObject({
      post_state: { value: "=new" },
      method: "keyboard",
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(keys).toEqual(["f2", "return"])
  })

  test("that opens no editor writes nothing", async () => {
    const { act, keys, field } = await edited({ opens: false })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      details: { kind: "not_editable" },
      disposition: NOTHING,
    })
    expect(keys).toEqual(["f2"])
    expect(field.value).toBe("It")
  })

  test("whose editor shows another text closes it, and writes nothing", async () => {
    const { act, keys, field } = await edited({ editor: { ...EDITOR, value: "Another row" } })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_there" },
      disposition: NOTHING,
    })
    expect(keys).toEqual(["f2", "escape"])
    expect(field.value).toBe("Another row")
  })

  test("whose editor is a list of choices closes it", async () => {
    const { act, keys } = await edited({ editor: { ...EDITOR, role: "combobox" } })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      details: { kind: "not_editable", editor: "combobox" },
      disposition: NOTHING,
    })
    expect(keys).toEqual(["f2", "escape"])
  })

  test("that keeps its old text has failed, and nothing is tried again", async () => {
    const { act, keys } = await edited({ keeps: () => "It" })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "contradicted", observed: { value: "It" } },
      disposition: { delivery: "delivered_unverified" },
    })
    expect(keys).toEqual(["f2", "return"])
  })

  test("that shows another text is not verified, and the answer has that text", async () => {
    const { act } = await edited({ keeps: (text) => text.toUpperCase() })
    expect((await act("set-value", { value: "new" })).data).toMatchObject({
      post_state: { value: "NEW" },
      disposition: { delivery: "delivered_unverified" },
    })
  })

  test("with a spin box takes numbers only", async () => {
    const editor: Spec = { ...EDITOR, role: "incrementor", value: "5" }
    const text = await edited({ editor })
    expect((await text.act("set-value", { value: "many" })).error).toMatchObject({
      details: { kind: "not_taken" },
      disposition: NOTHING,
    })
    expect(text.keys).toEqual(["f2", "escape"])
    const number = await edited({ editor })
    expect((await number.act("set-value", { value: "7" })).data.post_state).toMatchObject({ value: "7" })
  })

  test("with an editor that is typed into gets no text that would end the edit", async () => {
    for (const value of ["one\ntwo", "one\ttwo"]) {
      const { act, keys, field } = await edited({ editor: { ...EDITOR, route: "absent" } })
      expect((await act("set-value", { value })).error).toMatchObject({
        details: { kind: "not_taken" },
        disposition: NOTHING,
      })
      expect(keys).toEqual(["f2", "escape"])
      expect(field.value).toBe("It")
    }
    const line = await edited({ editor: { ...EDITOR, route: "absent" } })
    expect((await line.act("set-value", { value: "one line" })).data.post_state.value).toBe("one line")
  })

  test("is refused without keys", async () => {
    const { act, keys } = await edited()
    expect((await act("set-value", { value: "new", input: "semantic" })).error).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      disposition: NOTHING,
    })
    expect(keys).toEqual([])
  })

  test.each(["read", "editorOver"])("is uncertain if '%s' fails after Return", async (method) => {
    const it = await edited({
      onKey: (combo) => {
        if (combo === "return") it.world.fail(method, silence())
      },
    })
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
    expect(it.keys).toEqual(["f2", "return"])
  })

  test("whose editor cannot be read closes the editor and keeps its old text", async () => {
    const it = await edited({ editor: { ...EDITOR, does: ({ world }) => world.fail("read", silence()) } })
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: NOTHING,
    })
    expect(it.keys).toEqual(["f2", "escape"])
    expect(it.element.name).toBe("It")
  })

  test("whose editor can neither be read nor closed may get the text", async () => {
    const editor: Spec = { ...EDITOR, does: ({ world }) => world.fail("read", silence()) }
    const it = await edited({ editor, closes: false })
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      disposition: { delivery: "delivery_uncertain" },
    })
  })

  test("in which F2 opens a dialog or a window says so", async () => {
    const UNKNOWN = { delivery: "delivered_unverified", retry: "unknown" }
    const dialog = await edited({ opens: false, onKey: () => dialog.world.dialogs.set("w-1", { id: "w-9" }) })
    expect((await dialog.act("set-value", { value: "new" })).error).toMatchObject({
      message: "@e1 opened window w-9 instead of an editor",
      suggestion: expect.stringContaining("the cell was clicked and F2 was pressed"),
      details: { kind: "not_editable", window_id: "w-9" },
      disposition: UNKNOWN,
    })
    const window = await edited({ opens: false, onKey: () => window.app.window("Rename", [], { id: "w-8" }) })
    expect((await window.act("set-value", { value: "new" })).error).toMatchObject({
      details: { kind: "not_editable", window_id: "w-8" },
      disposition: UNKNOWN,
    })
  })

  test("that a click opens gets no key", async () => {
    const cell: Spec = { ...CELL, does: ({ app }) => app.window("Opened", [], { id: "w-8" }) }
    const { act, keys } = await edited({ cell, opens: false })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      details: { window_id: "w-8" },
      disposition: { delivery: "delivered_unverified", retry: "unknown" },
    })
    expect(keys).toEqual([])
  })

  test("in which F2 changes something else is not safe to try again", async () => {
    const it = await edited({ opens: false, onKey: () => it.field.set({ name: "Renamed" }) })
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      suggestion: expect.stringMatching(/Nothing was written; .* the app reported changes/),
      details: { kind: "not_editable" },
      disposition: { delivery: "not_delivered", retry: "unknown" },
    })
  })

  test("that is gone after F2 does not say that it has no editor", async () => {
    const it = await edited({ opens: false, onKey: () => it.element.remove() })
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      message: expect.stringContaining("is gone, after it was clicked and F2 was pressed"),
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
  })

  test("in which F2 may have arrived is uncertain", async () => {
    const it = await edited()
    it.world.fail("input", undefined, silence())
    expect((await it.act("set-value", { value: "new" })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
  })

  test("that cannot be read after 'clear' is not verified", async () => {
    const it = await edited({
      onKey: (combo) => {
        if (combo === "return") it.element.remove()
      },
    })
    expect((await it.act("clear")).data.disposition).toEqual({
      delivery: "delivered_unverified",
      retry: "safe",
    })
  })

  test.each([
    ["5", "6", "another number"],
    ["5 cm", "6", "another number"],
    ["1.5", "15", "another number"],
    ["1,234", "1234", undefined],
    ["1,234.50", "1234.5", undefined],
    ["5.00", "5", undefined],
    ["", "6", undefined],
  ])("with '%s' and a spin box that shows %s is refused for %p", async (name, value, why) => {
    const { act, keys } = await edited({
      cell: { ...CELL, name },
      editor: { ...EDITOR, role: "incrementor", value },
    })
    const { data, error } = await act("set-value", { value: "7" })
    if (why) expect(error).toMatchObject({ details: { kind: "not_there" }, disposition: NOTHING })
    else expect(data.post_state).toMatchObject({ value: "7" })
    expect(keys).toEqual(["f2", why ? "escape" : "return"])
  })

  test("whose name hides blanks is not verified by it", async () => {
    const keeps = (text: string): string => text.replaceAll(/\s+/g, " ").trim()
    for (const value of [" a", "a ", "a  b", "It "]) {
      const { act } = await edited({ keeps })
      const { data, error } = await act("set-value", { value })
      expect({ value, ...(data ?? error) }).toMatchObject({
        disposition: { delivery: "delivered_unverified" },
      })
    }
    const plain = await edited({ keeps })
    expect((await plain.act("set-value", { value: "a b" })).data.disposition.delivery).toBe(
      "delivered_verified",
    )
  })

  test("whose editor does not close with Escape says so", async () => {
    const { act, keys } = await edited({ editor: { ...EDITOR, value: "Another row" }, closes: false })
    expect((await act("set-value", { value: "new" })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "still_open" },
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
    expect(keys).toEqual(["f2", "escape"])
  })
})

describe.concurrent("set-cells in a table whose cells are edited in place", () => {
  /** `keeps` changes the rows after a text was entered; it gets the row and column that were edited. */
  interface Behaviour {
    readonly closes?: boolean
    readonly keeps?: (rows: string[][], row: number, column: number, text: string) => void
  }

  const put = (rows: string[][], row: number, column: number, text: string): void => {
    rows[row]![column] = text
  }

  /** A table without access by row and column. Its cells belong to places, and its `model` to the app. */
  async function tableOf(model: string[][], { closes = true, keeps = put }: Behaviour = {}) {
    let current: readonly [number, number] = [0, 0]
    const rows = model.map(
      (texts, row): Spec => ({
        role: "row",
        children: texts.map((name, column) => ({
          ...CELL,
          name,
          bounds: { x: 10 + 100 * column, y: 10 + 30 * row, width: 90, height: 20 },
          does: () => {
            current = [row, column]
            clicked.push([row, column])
          },
        })),
      }),
    )
    const clicked: (readonly [number, number])[] = []
    const it = await holding(
      { role: "table", name: "It", states: ["enabled"], children: rows },
      { ...EDITOR, bounds: { x: 10, y: 400, width: 90, height: 20 } },
    )
    const cellAt = (row: number, column: number) => it.element.children[row]!.children[column]!
    const show = (): void => {
      for (const [row, texts] of model.entries())
        for (const [column, name] of texts.entries()) cellAt(row, column).set({ name })
    }
    const field = it.window.root.children[1]!
    let isOpen = false
    it.world.editorOver = (cell) => (isOpen && cell === cellAt(...current) ? field : undefined)
    const edits: unknown[] = []
    it.world.onKey = (combo) => {
      const [row, column] = current
      if (combo === "f2") {
        isOpen = true
        field.set({ value: model[row]![column], states: ["enabled", "focused"] })
      }
      if (combo === "return") {
        edits.push([row, column, field.value])
        keeps(model, row, column, field.value ?? "")
        show()
      }
      if (combo === "return" || (combo === "escape" && closes)) {
        isOpen = false
        field.set({ states: ["enabled"] })
      }
    }
    const set = (at: string, tsv: string) => it.act("set-cells", { ref_id: 'table "It"', at, tsv })
    return { ...it, model, show, set, edits, clicked }
  }

  const sorted: Behaviour = {
    keeps: (rows, row, column, text) => {
      put(rows, row, column, text)
      rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))
    },
  }

  test("stops as soon as a place shows another row", async () => {
    const it = await tableOf(
      [
        ["a", "0"],
        ["b", "0"],
      ],
      sorted,
    )
    expect((await it.set("A1", "c\t1\nd\t2")).error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining(
        "1 of 4 cells were written: A1 now shows another text than was written",
      ),
      details: { kind: "not_there", written: 1, next: "B1" },
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
    expect(it.edits).toEqual([[0, 0, "c"]])
    expect(it.model).toEqual([
      ["b", "0"],
      ["c", "0"],
    ])
  })

  test("says that the only cell was written if its row moves", async () => {
    const it = await tableOf([["a"], ["b"]], sorted)
    expect((await it.set("A1", "c")).error).toMatchObject({
      message: expect.stringContaining("1 of 1 cells were written"),
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
  })

  test("goes on if the app shows a text in another format", async () => {
    const it = await tableOf([["a", "0"]], {
      keeps: (rows, row, column, text) => put(rows, row, column, text.toUpperCase()),
    })
    expect((await it.set("A1", "loud\tnoise")).data).toMatchObject({
      differences: [
        { cell: "A1", wanted: "loud", shows: "LOUD" },
        { cell: "B1", wanted: "noise", shows: "NOISE" },
      ],
      disposition: { delivery: "delivered_unverified" },
    })
  })

  test("reports a cell that cannot be cleared, and blanks that do not show", async () => {
    const keeps: Behaviour["keeps"] = (rows, row, column, text) =>
      put(rows, row, column, text === "" ? "old" : text.trim())
    const refuses = await tableOf([["label", "old"]], { keeps })
    expect((await refuses.set("B1", "")).data ?? {}).toMatchObject({
      differences: [{ cell: "B1", wanted: "", shows: "old" }],
      disposition: { delivery: "delivered_unverified" },
    })
    const trims = await tableOf([["label", "old"]], { keeps })
    expect((await trims.set("B1", " new ")).data).toMatchObject({
      differences: [{ cell: "B1", wanted: " new ", shows: "new" }],
    })
  })

  test("reads the rows again before each cell", async () => {
    const it = await tableOf([
      ["Ada", "0"],
      ["Bob", "0"],
    ])
    const { onKey } = it.world
    it.world.onKey = (combo) => {
      onKey(combo)
      // The first cell has been tried.
      if (combo === "escape") it.model.reverse()
      if (combo === "escape") it.show()
    }
    expect((await it.set("B1", "1\n2")).error).toMatchObject({
      details: { kind: "not_there" },
      disposition: NOTHING,
    })
    expect(it.edits).toEqual([])
  })

  test("touches no other cell while an editor is open", async () => {
    const it = await tableOf([["a", "b"]], { closes: false })
    expect((await it.set("A1", "x\ty")).error).toMatchObject({
      message: expect.stringContaining("nothing was written, because of A1"),
      details: { kind: "still_open", cells: ["A1"] },
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
    expect(it.clicked).toEqual([[0, 0]])
    expect(it.edits).toEqual([])
  })
})
