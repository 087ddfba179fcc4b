import { expect, test } from "bun:test"
import {
  allTexts,
  joint,
  orderOf,
  rowsMoved,
  rowsOf,
  type SeenRow,
  viewOf,
} from "../../src/look/rows-in-view.ts"

/** Two looks at a list that makes objects for some of its rows, and keeps that of the row with the focus. */

const row = (text: string, isShown = false): SeenRow => {
  const node = { role: "row", states: [], children: [] } as unknown as SeenRow["node"]
  return { node, actor: node, texts: [text], parts: [], key: text, isShown, bounds: undefined }
}
const rows = (first: number, last: number, shown = first): readonly SeenRow[] =>
  Array.from({ length: last - first + 1 }, (_, at) => row(`Row ${first + at}`, first + at === shown))

test("two looks overlap by two neighbouring rows, and a row that the list keeps from far away does not count", () => {
  const kept = row("Row 0")
  const before = [kept, ...rows(50, 99, 60)]
  const after = [kept, ...rows(90, 139, 100)]
  const down = joint(before, after, "down")!
  expect(down).toMatchObject({ added: 40, isAmbiguous: false })
  expect(rowsMoved(viewOf(before), viewOf(after), down)).toBe(40)
  const up = joint(after, before, "up")!
  expect(up).toMatchObject({ added: 40, isAmbiguous: false })
  expect(rowsMoved(viewOf(after), viewOf(before), up)).toBe(40)
})

test("two views without a common row do not overlap, although both have the row that stays in place", () => {
  const kept = rows(900, 901)
  expect(joint([...rows(0, 49), ...kept], [...rows(60, 109), ...kept], "down")).toBeUndefined()
})

test("a look at the end of a list adds nothing", () => {
  expect(joint(rows(0, 99), rows(50, 99), "down")).toMatchObject({ added: 0 })
})

test("in a sorted list the position of a text or number is known; in an unsorted list it is not", () => {
  const order = orderOf(rows(100, 150), "Row 9000")!
  expect(order.place(rows(100, 150), "Row 9000")).toBe(1)
  expect(order.place(rows(100, 150), "Row 20")).toBe(-1)
  expect(order.place(rows(100, 150), "Row 120")).toBe(0)
  const reversed = rows(100, 150).toReversed()
  expect(orderOf(reversed, "Row 9000")?.place(reversed, "Row 9000")).toBe(-1)
  expect(orderOf([...rows(100, 130), ...rows(0, 30)], "Row 9")).toBeUndefined()
  expect(orderOf(rows(1, 10), "Row 9")).toBeUndefined()
})

test("a row is also found by a text that is a part of its cell, but not by the name of a button in it", () => {
  const node = (role: string, name: string | undefined, ...children: readonly object[]) => ({
    role,
    name,
    states: [],
    children,
  })
  const subject = node("statictext", "Report 7")
  const card = node("option", "Ada, Report 7", node("group", undefined, subject, node("button", "Star")))
  const [found] = rowsOf(node("listbox", "Mails", card) as unknown as SeenRow["node"])
  expect(allTexts(found!)).toContain("Report 7")
  expect(allTexts(found!)).not.toContain("Star")
})
