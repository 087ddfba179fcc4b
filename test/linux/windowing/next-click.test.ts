import { expect, test } from "bun:test"
import fc from "fast-check"
import { insideOf, type LastClick, nextClick } from "../../../src/linux/windowing/next-click.ts"

const ROOM = { x: 100, y: 200, width: 80, height: 20 }
const AT = { x: 140, y: 210 }
const ASIDE = { x: 151, y: 210 }
const last = (at = AT, passedMs = 20, room = ROOM): LastClick => ({
  passedMs,
  at,
  inside: insideOf(at, room),
})

test("a second click on the same spot presses a point beside it, and the third the first point again", () => {
  const click = { at: AT, count: 1, room: ROOM }
  expect(nextClick(click, undefined)).toEqual({ at: AT, waitMs: 0 })
  expect(nextClick(click, last(AT))).toEqual({ at: ASIDE, waitMs: 0 })
  expect(nextClick(click, last(ASIDE))).toEqual({ at: AT, waitMs: 0 })
  expect(nextClick(click, last(AT, 520))).toEqual({ at: AT, waitMs: 0 })
})

test("a click waits if another point could belong to another element, and before a double click", () => {
  const waits = { at: AT, waitMs: 500 }
  expect(nextClick({ at: AT, count: 1 }, last())).toEqual(waits)
  expect(nextClick({ at: AT, count: 1, room: { ...ROOM, width: 50 } }, last())).toEqual(waits)
  expect(nextClick({ at: AT, count: 2, room: ROOM }, last())).toEqual(waits)
  expect(nextClick({ at: AT, count: 2, room: ROOM }, last({ x: 900, y: 900 }))).toEqual(waits)
})

test("a row that has scrolled since the last click is not pressed at the same point", () => {
  const click = { at: AT, count: 1, inList: true, room: ROOM }
  const before = { ...ROOM, y: 500 }
  expect(nextClick(click, last({ x: 140, y: 510 }, 20, before))).toEqual({ at: ASIDE, waitMs: 0 })
  const left = { ...ROOM, x: 400 }
  expect(nextClick(click, last({ x: 440, y: 210 }, 20, left))).toEqual({ at: ASIDE, waitMs: 0 })
  // The last click may have been in the same list, but its element is unknown.
  expect(nextClick(click, { passedMs: 20, at: { x: 440, y: 210 } })).toEqual({ at: AT, waitMs: 500 })
})

test("two presses differ either in time or in position", () => {
  const point = fc.record({ x: fc.nat(300), y: fc.nat(300) })
  const rooms = fc.record({ x: fc.nat(300), y: fc.nat(300), width: fc.nat(200), height: fc.nat(200) })
  fc.assert(
    fc.property(point, rooms, fc.boolean(), fc.nat(600), (at, room, inList, passedMs) => {
      const meant = { x: room.x + Math.floor(room.width / 2), y: room.y + Math.floor(room.height / 2) }
      const next = nextClick({ at: meant, count: 1, inList, room }, { passedMs, at })
      const isFar = Math.abs(next.at.x - at.x) > 10 || Math.abs(next.at.y - at.y) > 10
      expect(isFar || passedMs + next.waitMs >= 520).toBe(true)
      if (next.at !== meant) expect(next.at.x).toBeLessThan(room.x + room.width)
    }),
  )
})
