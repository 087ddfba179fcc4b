import { afterAll, describe, expect, test } from "bun:test"
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

/** A cell whose editor opens with F2, unless `opens` is false. The cell keeps what `keeps` makes of its text. */
async function edited({ opens = true, editor = EDITOR, keeps = (text: string): string => text } = {}) {
  const it = await holding(CELL, editor)
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
    if (combo === "return" || combo === "escape") open(false)
  }
  return { ...it, field, keys }
}

const NOTHING = { delivery: "not_delivered", retry: "safe" }

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

  test("is refused without keys", async () => {
    const { act, keys } = await edited()
    expect((await act("set-value", { value: "new", input: "semantic" })).error).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      disposition: NOTHING,
    })
    expect(keys).toEqual([])
  })
})
