import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { formatDate, isSameDate, parseDate } from "../../src/content/dates.ts"

describe("dates of fields", () => {
  test.each([
    ["date", "2024-02-29", { year: 2024, month: 2, day: 29 }],
    ["date", "2023-02-29", undefined],
    ["date", "2024-04-31", undefined],
    ["date", "2024-5-7", undefined],
    ["date", "17.05.2024", undefined],
    ["month", "2024-13", undefined],
    ["month", "2024-12", { year: 2024, month: 12 }],
    ["week", "2020-W53", { year: 2020, week: 53 }],
    ["week", "2021-W53", undefined],
    ["time", "24:00", undefined],
    ["time", "09:05", { hour: 9, minute: 5 }],
    ["time", "23:59:58.007", { hour: 23, minute: 59, second: 58, millisecond: 7 }],
    ["datetime-local", "2024-05-17 09:05", { year: 2024, month: 5, day: 17, hour: 9, minute: 5 }],
    ["datetime-local", "2024-05-17", undefined],
  ] as const)("%s %s", (kind, text, want) => {
    expect(parseDate(kind, text)).toEqual(want)
  })

  test("a date that was read is written the same way", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString().slice(0, -1)
          const parts = parseDate("datetime-local", text)
          expect(formatDate("datetime-local", parts ?? {})).toBe(text)
          expect(formatDate("date", parseDate("date", text.slice(0, 10)) ?? {})).toBe(text.slice(0, 10))
        },
      ),
    )
  })

  test("a field that lacks a part is empty", () => {
    expect(formatDate("date", { year: 2024, day: 3 })).toBe("")
    expect(formatDate("time", { hour: 3, minute: 0 })).toBe("03:00")
  })

  test("seconds that are left out are 0, and nothing else is", () => {
    expect(isSameDate("2024-05-17 09:05", "2024-05-17T09:05:00")).toBe(true)
    expect(isSameDate("09:05", "09:05:00.000")).toBe(true)
    expect(isSameDate("09:00", "09:05:00")).toBe(false)
    expect(isSameDate("10:09:00", "10:09")).toBe(true)
    expect(isSameDate("10:09:01", "10:09")).toBe(false)
  })
})
