import { expect, test } from "bun:test"
import { pages } from "../scripts/docs.ts"
import { commands } from "../src/commands/index.ts"
import { ERROR_CODES } from "../src/errors.ts"
import { fieldsOf } from "../src/fields.ts"

const root = new URL("..", import.meta.url).pathname
const generated = await pages()

test.each(Object.entries(generated))(
  "%s is as the schemas and the matrix say; 'bun scripts/docs.ts' writes it",
  async (path, text) => {
    expect(await Bun.file(`${root}${path}`).text()).toBe(text)
  },
)

test("the page about commands has every command, and every flag of it", async () => {
  const page = generated["docs/commands.md"]!
  const sections = new Map(
    page
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split("\n", 1)[0]!, section]),
  )
  expect([...sections.keys()].sort()).toEqual([...commands.keys()].sort())
  for (const [name, load] of commands) {
    const { input } = (await load()).default
    const words = sections.get(name)!
    expect(
      fieldsOf(input)
        .filter(({ flag }) => !words.includes(flag))
        .map(({ flag }) => flag),
    ).toEqual([])
  }
})

test("the page about errors has every code, its cause and what to do", () => {
  const sections = generated["docs/errors.md"]!.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split("\n", 1)[0]!)).toEqual([...ERROR_CODES])
  for (const section of sections) expect(section).toMatch(/\n\n[A-Z].+\n\n\*\*What to do:\*\* [A-Z`].+/)
})
