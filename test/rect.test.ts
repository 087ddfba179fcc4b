import { expect, test } from "bun:test"
import {
  around,
  contains,
  encloses,
  finiteRect,
  isEmpty,
  isSameRect,
  middle,
  overlaps,
  partOnScreen,
} from "../src/rect.ts"

const box = { x: 10, y: 20, width: 30, height: 40 }

test.each([
  [{ x: 10, y: 20 }, true],
  [{ x: 39, y: 59 }, true],
  [{ x: 40, y: 30 }, false],
  [{ x: 20, y: 60 }, false],
  [{ x: 9, y: 30 }, false],
])("the right and bottom edges are outside: %j is inside: %j", (point, isIn) => {
  expect(contains(box, point)).toBe(isIn)
})

test.each([
  [box, true, true],
  [{ x: 11, y: 21, width: 28, height: 38 }, true, true],
  [{ x: 11, y: 21, width: 30, height: 38 }, false, true],
  [{ x: 40, y: 20, width: 5, height: 5 }, false, false],
  [{ x: 0, y: 0, width: 11, height: 21 }, false, true],
])("it encloses %j: %j, overlaps it: %j", (other, all, some) => {
  expect(encloses(box, other)).toBe(all)
  expect(overlaps(box, other)).toBe(some)
  expect(overlaps(other, box)).toBe(some)
})

test("a rectangle without a known size is empty, and its numbers become zeros", () => {
  expect(isEmpty(box)).toBe(false)
  expect(isEmpty({ ...box, height: 0 })).toBe(true)
  expect(isEmpty({ ...box, width: -1 })).toBe(true)
  expect(isEmpty({ ...box, width: Number.NaN })).toBe(true)
  expect(finiteRect({ ...box, x: Number.NaN, width: Number.POSITIVE_INFINITY })).toEqual({
    ...box,
    x: 0,
    width: 0,
  })
})

test("the centre may lie between two pixels", () => {
  expect(middle({ x: 1, y: 2, width: 3, height: 4 })).toEqual({ x: 2.5, y: 4 })
})

test("the rectangle around several ends where the last of them ends", () => {
  expect(around([box])).toEqual(box)
  expect(around([box, { x: 0, y: 50, width: 5, height: 30 }])).toEqual({ x: 0, y: 20, width: 40, height: 60 })
})

test("the part on the screen has whole pixels, and may be none", () => {
  const screen = { width: 35, height: 100 }
  expect(partOnScreen(box, screen)).toEqual({ x: 10, y: 20, width: 25, height: 40 })
  expect(partOnScreen({ x: -0.5, y: 2.5, width: 2, height: 2 }, screen)).toEqual({
    x: 0,
    y: 2,
    width: 2,
    height: 3,
  })
  expect(partOnScreen({ ...box, x: 35 }, screen)).toBeUndefined()
})

test("two rectangles are the same if place and size are, or if both are unknown", () => {
  expect(isSameRect(box, { ...box })).toBe(true)
  expect(isSameRect(box, { ...box, height: 41 })).toBe(false)
  expect(isSameRect(box, undefined)).toBe(false)
  expect(isSameRect(undefined, undefined)).toBe(true)
})
