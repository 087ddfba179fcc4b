import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"

afterAll(clearDesks)

const TEXT = "First 😀 line, it's here\n\nsecond line\nthird"

async function withField(value = TEXT): Promise<Desk & { field: string }> {
  const it = desk()
  it.world.app("Editor").window("notes", [
    {
      role: "textfield",
      name: "Notes",
      value,
      states: ["enabled", "multiline"],
      bounds: { x: 0, y: 0, width: 9, height: 9 },
    },
    {
      role: "textfield",
      name: "Key",
      value: "secret",
      states: ["enabled", "secure"],
      bounds: { x: 0, y: 20, width: 9, height: 9 },
    },
    { role: "button", name: "Save", bounds: { x: 0, y: 40, width: 9, height: 9 } },
  ])
  await it.ok("snapshot")
  return { ...it, field: await it.ref("Notes") }
}

describe("a text by characters", () => {
  test("continues where the last answer was cut, and always reports the whole length", async () => {
    const long = "0123456789".repeat(500)
    const it = await withField(long)
    expect(await it.ok("get", { ref_id: it.field, property: "text" })).toMatchObject({ length: 5000 })
    let read = ""
    for (let end = 0; end < 5000; ) {
      const part = await it.ok("get", { ref_id: it.field, property: "text", range: `${end}:${end + 1999}` })
      expect(part).toMatchObject({ start: end, length: 5000 })
      read += part.value
      end = part.end
    }
    expect(read).toBe(long)
    expect(await it.ok("get", { ref_id: it.field, property: "text", range: "4998:" })).toMatchObject({
      value: "89",
    })
  })

  test.each([
    [{ match: "line" }, "line", 9],
    [{ match: "line", nth: 2 }, "line", 33],
    [{ range: "0:5" }, "First", 0],
    [{ word: 3 }, "it's", 15],
    [{ paragraph: 2 }, "second line", 26],
  ])("%j selects %j", async (wanted, text, start) => {
    const it = await withField()
    expect(await it.ok("select-text", { ref_id: it.field, ...wanted })).toMatchObject({
      action: "select-text",
      text,
      start,
      end: start + text.length,
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect((await it.ok("get", { ref_id: it.field, property: "selection" })).value).toEqual({
      start,
      end: start + text.length,
      text,
    })
    expect(await it.ok("select-text", { ref_id: it.field, ...wanted })).toMatchObject({
      already: true,
      disposition: { delivery: "not_delivered" },
    })
  })

  test("has a caret that can be placed, which takes the selection away", async () => {
    const it = await withField()
    await it.ok("select-text", { ref_id: it.field, word: 1 })
    expect(await it.ok("caret", { ref_id: it.field, offset: 4 })).toMatchObject({ start: 4, end: 4 })
    expect((await it.ok("get", { ref_id: it.field, property: "caret" })).value).toBe(4)
    expect((await it.ok("get", { ref_id: it.field, property: "selection" })).value).toBe(null)
  })

  test("has attributes", async () => {
    const it = await withField()
    expect((await it.ok("get", { ref_id: it.field, property: "attributes", range: "2:4" })).value).toEqual([
      { start: 2, end: 4, bold: false },
    ])
  })

  test.each([
    ["select-text", { match: "nowhere" }, "ELEMENT_NOT_FOUND", "has 0 such matches"],
    ["select-text", { word: 99 }, "ELEMENT_NOT_FOUND", "such words"],
    ["select-text", { range: "9:3" }, "INVALID_ARGS", "is not a range of characters"],
    ["select-text", { range: "900:901" }, "INVALID_ARGS", "900 is past the end"],
    ["select-text", { word: 1, paragraph: 1 }, "INVALID_ARGS", "exclude each other"],
    ["caret", { offset: 900 }, "INVALID_ARGS", "900 is past the end"],
    ["get", { property: "text", range: "x" }, "INVALID_ARGS", "is not a range of characters"],
    ["get", { property: "name", range: "0:1" }, "INVALID_ARGS", "--range is for text and attributes"],
  ])("%s %j is %s: %s", async (command, args, code, message) => {
    const it = await withField()
    expect(await it.error(command, { ref_id: it.field, ...args })).toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
  })

  test("is never read of a secure field, and not offered by an element without text", async () => {
    const it = await withField()
    const key = await it.ref("Key")
    for (const property of ["text", "attributes"])
      expect(await it.error("get", { ref_id: key, property, range: "0:3" })).toMatchObject({
        code: "ACTION_NOT_SUPPORTED",
        message: expect.stringContaining("never read"),
      })
    expect(it.world.calls).not.toContain("text")
    expect(await it.error("get", { ref_id: await it.ref("Save"), property: "caret" })).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      platform_detail: "it lacks Text",
    })
  })

  test("that the app does not show as asked for is not called selected", async () => {
    const it = await withField()
    it.world.fail("selectText", undefined as never)
  })
})
