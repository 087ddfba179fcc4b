import { expect, test } from "bun:test"
import { pages } from "../../scripts/docs.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { ERROR_CODES } from "../../src/errors.ts"
import { fieldsOf } from "../../src/schema/fields.ts"

const root = new URL("../..", import.meta.url).pathname
const generated = await pages()

test.each(Object.entries(generated))(
  "%s matches the schemas and the matrix; 'bun scripts/docs.ts' writes it",
  async (path, text) => {
    expect(await Bun.file(`${root}${path}`).text()).toBe(text)
  },
)

test("the page about commands has every command with all its flags", async () => {
  const page = generated["docs/commands.md"]!
  const sections = new Map(
    page
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split("\n", 1)[0]!, section]),
  )
  expect([...sections.keys()].sort()).toEqual(Object.keys(commands).sort())
  for (const { name, input } of await loadAll(commands)) {
    const words = sections.get(name)!
    expect(
      fieldsOf(input)
        .filter(({ flag }) => !words.includes(flag))
        .map(({ flag }) => flag),
    ).toEqual([])
  }
})

test("the table of the README has every command", () => {
  const page = generated["README.md"]!
  const between = (name: string) => page.split(`<!-- ${name}: `)[1]!.split(`<!-- /${name} -->`)[0]!
  const words = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, word]) => word!)
  expect(words(between("commands")).sort()).toEqual(Object.keys(commands).sort())
})

test("the page about errors has the cause and next step of every code", () => {
  const sections = generated["docs/errors.md"]!.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split("\n", 1)[0]!)).toEqual([...ERROR_CODES])
  for (const section of sections) expect(section).toMatch(/\n\n[A-Z].+\n\n\*\*What to do:\*\* [A-Z`].+/)
})
