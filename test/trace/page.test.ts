import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import fc from "fast-check"
import { type Browser, chromium, type Page } from "playwright-core"
import { encodePng } from "../../src/picture/png.ts"
import type { TraceEntry } from "../../src/trace/entry.ts"
import { tracePage } from "../../src/trace/page.ts"
import { readTrace } from "../../src/trace/read.ts"
import { temporaryForFile } from "../support/temporary.ts"

const directory = temporaryForFile()
const executablePath = Bun.which("chromium") ?? undefined

const HOSTILE = [
  `<script>document.title = "taken"</script>`,
  `<img src=x onerror="document.title = 'taken'">`,
  `"><svg onload="document.title = 'taken'">`,
  `</style></pre></details><h1>forged</h1>`,
  `<a href="javascript:document.title='taken'">click</a>`,
  "&lt;b&gt; & &amp; \u202eesrever\u2069 \x00\x1b[31m \ud800",
  "url(https://example.com/x) {{7*7}}",
] as const

/** An entry with this text in every member that an app or a caller chooses. */
const saying = (text: string, index: number): TraceEntry => ({
  time: new Date(Date.UTC(2026, 1, 3, 10, 0, index)).toISOString(),
  duration_ms: 12.5 * index,
  pid: 1,
  door: text,
  command: text,
  arguments: { [text]: text, name: text },
  ok: index % 2 === 0,
  ...(index % 2 === 0
    ? { data: { window: { title: text }, method: text, snapshot_id: text, tree: `${text}\n`, [text]: text } }
    : { error: { code: text, message: text, suggestion: text } }),
  before: "pictures/aa.png",
  after: "pictures/bb.png",
})

const picture = (shade: number): Uint8Array =>
  encodePng({ width: 64, height: 48, bgrx: new Uint8Array(64 * 48 * 4).fill(shade) })

let browser: Browser
let page: Page
const complaints: string[] = []
const requests: string[] = []

beforeAll(async () => {
  if (!executablePath) return
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  page = await browser.newPage({ viewport: { width: 1160, height: 900 } })
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("console", (message) => complaints.push(message.text()))
  page.on("request", (request) => requests.push(request.url().slice(0, 40)))
})

afterAll(() => browser?.close())

async function show(html: string): Promise<void> {
  const file = `${directory}/trace.html`
  writeFileSync(file, html)
  complaints.length = 0
  requests.length = 0
  await page.goto(`file://${file}`)
}

describe.skipIf(!executablePath)("in a browser, the page of a trace", () => {
  test("shows every entry, every failure with its reason, and the tree", async () => {
    const { entries } = readTrace(new URL("../fixtures/trace", import.meta.url).pathname)
    await show(tracePage(entries, new Map(), 0))
    expect(await page.locator("article").count()).toBe(4)
    expect(await page.locator("article h2 code").allInnerTexts()).toEqual([
      "launch",
      "snapshot",
      "type",
      "click",
    ])
    expect(await page.locator(".facts").textContent()).toMatch(/4\s*commands\s*1\s*failed/)
    expect(await page.locator("article.bad .error").textContent()).toContain("STALE_REF @e9 not found")
    await page.getByText("Tree", { exact: true }).click()
    expect(await page.locator("details[open] pre").textContent()).toContain('menuitem "File" [@e1]')
    // A bar links to its entry.
    await page.locator(".strip a").nth(3).click()
    expect(new URL(page.url()).hash).toBe("#c3")
    expect(complaints).toEqual([])
  })

  test("treats app texts as text, and runs and fetches nothing", async () => {
    const entries = HOSTILE.map(saying)
    const pictures = new Map([
      ["pictures/aa.png", picture(40)],
      ["pictures/bb.png", picture(200)],
    ])
    await show(tracePage(entries, pictures, 1))
    expect(await page.title()).toBe("agent-desktop trace")
    expect(await page.locator("article").count()).toBe(HOSTILE.length)
    const tags = await page.locator("body *").evaluateAll((all) => all.map((one) => one.localName))
    const ours = "header h1 ul li b p nav a main article aside time small section h2 code span i div figure"
    const more = "button figcaption details summary pre"
    expect([...new Set(tags)].filter((tag) => !`${ours} ${more}`.split(" ").includes(tag))).toEqual([])
    expect(tags.filter((tag) => tag === "h1")).toHaveLength(1)
    const links = await page.locator("a").evaluateAll((all) => all.map((one) => one.getAttribute("href")))
    expect(links.every((link) => /^#c\d+$/.test(link ?? ""))).toBe(true)
    const said = await page.locator("article h2 code").allInnerTexts()
    expect(said.slice(0, 5)).toEqual(HOSTILE.slice(0, 5))
    expect(said[5]).toContain("\\u202e")
    expect(complaints).toEqual([])
    expect(requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:image/png"))).toEqual(
      [],
    )
  })

  test("contains each picture once, and enlarges it without a script", async () => {
    const pictures = new Map([
      ["pictures/aa.png", picture(40)],
      ["pictures/bb.png", picture(200)],
    ])
    const html = tracePage([saying("one", 2), saying("two", 4)], pictures, 0)
    expect(html.split("data:image/png;base64,")).toHaveLength(3)
    expect(html).not.toContain("<script")
    await show(html)
    const shots = page.locator(".shot")
    expect(await shots.count()).toBe(4)
    expect((await shots.first().boundingBox())!.width).toBeGreaterThan(100)
    const large = page.locator(".large").first()
    expect(await large.isVisible()).toBe(false)
    await shots.first().click()
    expect(await large.isVisible()).toBe(true)
  })

  test("has enough contrast in light and dark mode", async () => {
    await show(tracePage([saying("one", 2), saying("two", 3)], new Map(), 0))
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      const shades: readonly (readonly [string, string])[] = await page.evaluate(SHADES)
      const low = shades.map(([ink, ground]) => contrast(ink, ground)).filter((one) => one < 4.5)
      expect({ colorScheme, shades: shades.length, low }).toEqual({ colorScheme, shades: 5, low: [] })
    }
  })
})

/** Runs in the page: the colours of some texts and of their backgrounds. */
const SHADES = `[
  [".ok h2 code", ".ok section"],
  [".bad .error b", ".bad section"],
  [".bad .error small", ".bad section"],
  [".took", ".ok section"],
  ["time", "body"],
].map(([text, ground]) => [
  getComputedStyle(document.querySelector(text)).color,
  getComputedStyle(document.querySelector(ground)).backgroundColor,
])`

/** The contrast ratio as WCAG defines it. */
function contrast(...colours: readonly [string, string]): number {
  const [dark = 0, bright = 0] = colours
    .map((colour) => {
      const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    })
    .sort((a, b) => a - b)
  return (bright + 0.05) / (dark + 0.05)
}

test("no tag in a text ever gets into the page", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const html = tracePage([saying(`<x-forged ${text}`, 2), saying(`<x-forged ${text}`, 3)], new Map(), 0)
      expect(html).not.toContain("<x-forged")
    }),
    { numRuns: 50 },
  )
})
