import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** The look of a text on macOS. AppKit, WebKit and Chromium report it in different ways, and some apps wrongly. */

const TEXT = "Plain bold italic red link 😀 end"
const range = (words: string): readonly [number, number] => {
  const at = TEXT.indexOf(words)
  return [at, at + words.length]
}

const font = (name: string, more: object = {}) => ({
  AXFont: { AXFontName: name, AXFontFamily: "Helvetica", AXFontSize: 12, ...more },
})

const area = (more: object) => ({
  id: "text",
  AXRole: "AXTextArea",
  AXTitle: "Notes",
  AXValue: TEXT,
  frame: [200, 200, 400, 200],
  ...more,
})

const link = { id: "link", AXRole: "AXLink", AXTitle: "link", AXURL: { $url: "https://example.com/a" } }

const looking = (looks: unknown, use: (program: Program, ref: string) => Promise<void>, more: object = {}) =>
  onMac(appWith([area({ looks, children: [link], ...more })]), async (program) => {
    await program.ok("snapshot", { app: "Demo" })
    await use(program, await program.ref("Notes", "textfield"))
  })

test("get attributes reads fonts, colours and links, and changes nothing", () =>
  looking(
    [
      [...range("Plain "), font("Helvetica")],
      [...range("bold "), font("Helvetica-Bold", { AXFontSize: 14.5 })],
      [...range("italic "), font("Helvetica-Oblique")],
      [
        ...range("red "),
        {
          ...font("Helvetica"),
          AXForegroundColor: { $color: [1, 0, 0, 1] },
          AXBackgroundColor: { $color: [0.5, 1] },
          AXUnderline: 1,
          AXStrikethrough: true,
        },
      ],
      [...range("link"), { ...font("Helvetica"), AXLink: { $element: "link" } }],
    ],
    async ({ mac, ok }, ref) => {
      const plain = { bold: false, italic: false, size: 12, family: "Helvetica" }
      expect(await ok("get", { ref_id: ref, property: "attributes" })).toMatchObject({
        length: TEXT.length,
        value: [
          { start: 0, end: 6, ...plain },
          { start: 6, end: 11, ...plain, bold: true, size: 14.5 },
          { start: 11, end: 18, ...plain, italic: true },
          {
            start: 18,
            end: 22,
            ...plain,
            color: "#ff0000",
            background: "#808080",
            underline: true,
            strikethrough: true,
          },
          { start: 22, end: 26, ...plain, link: "https://example.com/a" },
          { start: 26, end: TEXT.length },
        ],
      })
      // A range begins and ends inside runs, and counts UTF-16 units as Apple does.
      const part = await ok("get", { ref_id: ref, property: "attributes", range: "8:12" })
      expect(part.value).toEqual([
        { start: 8, end: 11, ...plain, bold: true, size: 14.5 },
        { start: 11, end: 12, ...plain, italic: true },
      ])
      expect(mac.record("write")).toEqual([])
    },
  ))

test("browsers say bold and italic by flags, and the system's fonts by a name without a hyphen", () =>
  looking(
    [
      [0, 6, { AXFont: { AXFontSize: 16, AXFontBold: true } }],
      [6, 11, { AXFont: { AXFontSize: 16, AXFontItalic: 1 } }],
      [11, 18, { AXFont: { AXFontName: ".AppleSystemUIFontBold", AXFontSize: 13 } }],
      [
        18,
        22,
        { AXFont: { AXFontName: "Blackadder", AXFontSize: 13 }, AXLink: { $url: "https://b.example/" } },
      ],
    ],
    async ({ ok }, ref) => {
      const { value } = await ok("get", { ref_id: ref, property: "attributes", range: "0:22" })
      expect(value).toEqual([
        { start: 0, end: 6, bold: true, size: 16 },
        { start: 6, end: 11, italic: true, size: 16 },
        { start: 11, end: 18, bold: true, italic: false, size: 13 },
        { start: 18, end: 22, bold: false, italic: false, size: 13, link: "https://b.example/" },
      ])
    },
  ))

test("attributes of the wrong kind are left out", () =>
  looking(
    [
      [0, 6, { AXFont: "Helvetica", AXForegroundColor: "red", AXUnderline: "yes", AXLink: 7 }],
      [
        6,
        11,
        { AXFont: { AXFontName: 7, AXFontSize: "large" }, AXForegroundColor: { $color: [0, 1, 1, 0, 1] } },
      ],
    ],
    async ({ ok }, ref) => {
      const { value } = await ok("get", { ref_id: ref, property: "attributes", range: "0:11" })
      expect(value).toEqual([{ start: 0, end: 11 }])
    },
  ))

test.each([
  ["plain", "a plain string"],
  ["nil", "success without an object"],
])("an app that returns %s instead of an attributed string gets an error with the next step", (looks) =>
  looking(looks, async ({ error, ok }, ref) => {
    expect(await error("get", { ref_id: ref, property: "attributes" })).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      details: { kind: "no_text_interface" },
      platform_detail: "AXAttributedStringForRange returned no attributed string",
      suggestion: expect.stringContaining("screenshot"),
    })
    expect((await ok("get", { ref_id: ref, property: "text", range: "0:5" })).value).toBe("Plain")
  }),
)

test("an app that returns half of the text makes the answer incomplete, and is not asked again and again", () =>
  looking("half", async ({ mac, ok }, ref) => {
    const before = mac.report().round_trips
    const read = await ok("get", { ref_id: ref, property: "attributes" })
    expect(read).toMatchObject({ value: [{ start: 0, end: Math.floor(TEXT.length / 2) }], complete: false })
    expect(mac.report().round_trips - before).toBeLessThan(100)
  }))

test("an app without attributed strings says so; without strings by range the value is read instead", () =>
  looking(
    [],
    async ({ error, ok }, ref) => {
      expect(await error("get", { ref_id: ref, property: "attributes" })).toMatchObject({
        code: "ACTION_NOT_SUPPORTED",
        platform_detail: expect.stringContaining("not supported"),
      })
      expect((await ok("get", { ref_id: ref, property: "text", range: "6:10" })).value).toBe("bold")
    },
    { errors: { AXAttributedStringForRange: -25_213, AXStringForRange: -25_213 } },
  ))

test("a long text is read piece by piece", () => {
  const long = "abcdefghij".repeat(3000)
  return onMac(
    appWith([
      area({
        AXValue: long,
        looks: [
          [0, 15_000, font("Arial")],
          [15_000, 30_000, font("Arial-Black")],
        ],
      }),
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      const ref_id = await ref("Notes", "textfield")
      const read = await ok("get", { ref_id, property: "attributes" })
      expect(read.value).toMatchObject([
        { start: 0, end: 15_000, bold: false },
        { start: 15_000, end: 30_000, bold: true },
      ])
      expect(mac.report().attributes.AXAttributedStringForRange).toBe(3)
    },
  )
})
