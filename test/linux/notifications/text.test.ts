import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { NotificationTray, REASON } from "../../../src/linux/notifications/daemon.ts"
import { bodyText, textsOf } from "../../../src/linux/notifications/text.ts"

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/
const names = (...pairs: string[]) => textsOf("", "", "", pairs).actions

describe("the text of a notification", () => {
  test.each([
    ["<b>bold</b> <i>it</i> <u>un</u>", "bold it un"],
    ['see <a href="https://example.org/?a=1&amp;b=2">this</a>', "see this"],
    ['<img src="/x.png" alt="a cat"/> sat', "a cat sat"],
    ["one<br>two<br/>three", "one\ntwo\nthree"],
    ["AT&amp;T &lt;b&gt; &quot;&apos;&#65;&#x42;", "AT&T <b> \"'AB"],
    ["a < b && c > d <unknown> &nope;", "a < b && c > d <unknown> &nope;"],
    ["&amp;lt;", "&lt;"],
    ["bell\x07 escape\x1b[31m null\x00 c1\x9b end", "bell  escape [31m null  c1  end"],
    ["dos\r\nmac\rtab\tend", "dos\nmac\ntab\tend"],
    ["&#0;&#27;&#55296;&#9999999;", "\ufffd\ufffd"],
    ["", ""],
  ])("%j is read as %j", (markup, text) => {
    expect(bodyText(markup)).toBe(text)
  })

  test("stays within its limits and has no control characters, for any input", () => {
    const any = fc
      .tuple(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("<b ", '<img alt="', "&#27;")),
        fc.nat(5000),
      )
      .map(([text, times]) => text.repeat(times))
    fc.assert(
      fc.property(any, any, fc.array(fc.string({ unit: "binary" })), (title, body, actions) => {
        const texts = textsOf(title, title, body, actions)
        expect(texts.title.length).toBeLessThanOrEqual(1000)
        expect(texts.body.length).toBeLessThanOrEqual(10_000)
        expect(texts.title + texts.body).not.toMatch(CONTROL)
        expect(texts.title).not.toContain("\n")
        expect(texts.actions.length).toBeLessThanOrEqual(20)
      }),
      { numRuns: 50 },
    )
  })

  test("without markup is not changed", () => {
    const plain = fc.stringMatching(/^[a-zA-Z0-9 .,;:!?'"()äß日本✓\n-]*$/)
    fc.assert(fc.property(plain, (text) => expect(bodyText(text)).toBe(text.trim())))
  })

  test("is never cut inside a character", () => {
    const { title } = textsOf("", "😀".repeat(600), "", [])

    expect(title).toHaveLength(999)
    expect(title.isWellFormed()).toBe(true)
    expect(title).toEndWith("😀…")
  })

  test("has a unique name for every button", () => {
    expect(names("a", "Yes", "b", "No")).toEqual([
      { key: "a", name: "Yes" },
      { key: "b", name: "No" },
    ])
    expect(names("default", "", "b", "Reply", "c", "Reply")).toEqual([
      { key: "default", name: "default" },
      { key: "b", name: "Reply (b)" },
      { key: "c", name: "Reply (c)" },
    ])
    expect(names("a", "Yes", "a", "No", "odd")).toEqual([{ key: "a", name: "Yes" }])
  })
})

describe("a tray", () => {
  test("keeps each id once, the newest first, and distinguishes new content of the same id", () => {
    const replaces = fc.array(fc.nat({ max: 8 }), { maxLength: 40 })
    fc.assert(
      fc.property(replaces, (all) => {
        const tray = new NotificationTray(() => {})
        const added = all.map((replaced) =>
          tray.add({ ...NOTHING, title: String(replaced), replaces: replaced }),
        )
        const kept = tray.list()
        expect(new Set(kept.map(({ id }) => id)).size).toBe(kept.length)
        expect(new Set(kept.map(({ id }) => id))).toEqual(new Set(added))
        expect(kept.map(({ serial }) => serial)).toEqual(
          kept.map(({ serial }) => serial).sort((a, b) => b - a),
        )
        for (const { id, serial } of kept) {
          expect(tray.find(id, serial)?.id).toBe(id)
          expect(tray.find(id, serial - 1)).toBeUndefined()
        }
      }),
    )
  })

  test("drops the oldest if there are too many, and reports it", () => {
    const gone: [number, number][] = []
    const tray = new NotificationTray((...one) => gone.push(one))
    for (let i = 0; i < 203; i++) tray.add(NOTHING)

    expect(tray.list()).toHaveLength(200)
    expect(gone).toEqual([1, 2, 3].map((id) => [id, REASON.EXPIRED]))
  })

  test("closes each notification once", () => {
    const gone: [number, number][] = []
    const tray = new NotificationTray((...one) => gone.push(one))
    const id = tray.add(NOTHING)

    expect([tray.close(id, REASON.DISMISSED), tray.close(id, REASON.DISMISSED)]).toEqual([true, false])
    expect(gone).toEqual([[id, REASON.DISMISSED]])
  })
})

const NOTHING = { app: "", title: "", body: "", actions: [], replaces: 0, resident: false }
