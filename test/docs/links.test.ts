import { expect, test } from "bun:test"
import { dirname, join } from "node:path"
import { PAGES, ROOT } from "./pages.ts"

/** Links between the pages, and the files that pages name. Addresses on the web are not asked for. */

test.each(PAGES)("every link of %s leads to a file, and to a heading in it", async (path, text) => {
  const links = [...prose(text).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)].map(([, link]) => link!)
  const broken: string[] = []
  for (const link of links) {
    const [file, heading] = link.split("#")
    const target = file ? join(dirname(path), file) : path
    const page = Bun.file(join(ROOT, target))
    if (!(await page.exists())) broken.push(link)
    else if (heading && !headingsOf(await page.text()).has(heading)) broken.push(link)
  }
  expect(broken).toEqual([])
})

test.each(PAGES)("every script, page and test that %s names exists", async (_path, text) => {
  const named = new Set(
    text.match(
      /(?<![\w/.-])(?:scripts|docs|bench|test|src|packaging)\/[\w/.-]*\w\.(?:ts|md|py|c|sh|html|png)\b/g,
    ),
  )
  const missing: string[] = []
  for (const file of named) if (!(await Bun.file(join(ROOT, file)).exists())) missing.push(file)
  expect(missing).toEqual([])
})

test("every page of the manual is linked from its index", () => {
  const index = PAGES.find(([path]) => path === "docs/README.md")![1]
  const pages = PAGES.map(([path]) => path).filter(
    (path) => path.startsWith("docs/") && path !== "docs/README.md",
  )
  expect(pages.filter((path) => !index.includes(`](${path.slice("docs/".length)})`))).toEqual([])
})

/** The text without code, in which brackets are not links. */
const prose = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "`")

/** The names that GitHub gives to the headings of a page. */
function headingsOf(text: string): ReadonlySet<string> {
  return new Set(
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  )
}
