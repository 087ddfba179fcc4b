import { expect, test } from "bun:test"
import { placeNamed } from "../../src/content/grid.ts"

test.each([
  ["A1", { row: 0, column: 0 }],
  ["D18", { row: 17, column: 3 }],
  ["Z9", { row: 8, column: 25 }],
  ["AA10", { row: 9, column: 26 }],
  ["XFD1048576", { row: 1_048_575, column: 16_383 }],
  ["", undefined],
  ["A0", undefined],
  ["a1", { row: 0, column: 0 }],
  ["$B$2", { row: 1, column: 1 }],
  ["ABCD1", undefined],
  ["Total", undefined],
  ["A1:B2", undefined],
])("the cell %j is at %j", (name, place) => {
  expect(placeNamed(name)).toEqual(place)
})
