import { globals } from "../src/cli/globals.ts"
import { argumentRow, manualPage, optionRow, type Row, TITLES, usageOf } from "../src/cli/help.ts"
import { type Command, GROUPS, loadAll, type Registry } from "../src/command.ts"
import { commands } from "../src/commands/index.ts"
import { resultSchema } from "../src/mcp/json-schema.ts"
import { errorSections } from "../src/schema/error-guide.ts"
import { fieldsOf, positionalsOf } from "../src/schema/fields.ts"
import { VERSION } from "../src/version.ts"
import { actionsPage, cellCount } from "../test/e2e/matrix-table.ts"
import { notices } from "./notices.ts"

/**
 * Writes everything that is generated. The schemas give pages in docs/, the table of commands in README.md and the
 * manual page. The matrix of the tests gives the support tables. The licenses of the packages give the notices.
 *
 *   bun scripts/docs.ts
 */

const root = new URL("..", import.meta.url).pathname

/** The expected content of every generated file, by its path. */
export async function pages(registry: Registry = commands): Promise<Readonly<Record<string, string>>> {
  const all = await loadAll(registry)
  return {
    "docs/actions.md": actionsPage(),
    "docs/commands.md": commandsPage(all),
    "docs/errors.md": errorsPage(),
    "docs/agent-desktop.1": manualPage(all, globals, VERSION),
    "README.md": await readme(all),
    "THIRD-PARTY-NOTICES.txt": await notices(),
  }
}

/** The existing file with the text between its marks, and the number of cells, replaced. */
async function readme(all: readonly Command[]): Promise<string> {
  const parts = {
    commands: table(
      ["", "Commands"],
      GROUPS.map((group) => [
        TITLES[group],
        all
          .filter((command) => command.group === group)
          .map(({ name }) => code(name))
          .join(", "),
      ]),
    ),
  }
  const text = (await Bun.file(`${root}README.md`).text()).replace(/\d+ cells/, `${cellCount} cells`)
  return Object.entries(parts).reduce((whole, [name, part]) => {
    const [begin, end] = [`<!-- ${name}: written by scripts/docs.ts -->`, `<!-- /${name} -->`]
    const [before, rest] = whole.split(begin)
    const [, after] = rest?.split(end) ?? []
    if (after === undefined) throw new Error(`README.md has no marks for ${name}`)
    return `${before}${begin}\n${part}\n${end}${after}`
  }, text)
}

const NOTE = "<!-- Written by scripts/docs.ts from the commands' schemas. Do not edit. -->"

function commandsPage(all: readonly Command[]): string {
  const groups = GROUPS.map((group) => all.filter((command) => command.group === group))
  return `${[
    NOTE,
    "# Commands",
    "Every command prints one line of JSON: `version`, `ok`, `command`, and `data` or `error`. `agent-desktop schema COMMAND` has the JSON Schemas. The same arguments, by their names in snake case, are those of `batch` items and MCP tools.",
    ...groups.flatMap((members, index) => [
      `## ${TITLES[GROUPS[index]!]}`,
      table(
        ["Command", ""],
        members.map(({ name, summary }) => [`[${code(name)}](#${name})`, summary]),
      ),
      ...members.flatMap(commandSection),
    ]),
    "## Options of every command",
    table(["Option", ""], fieldsOf(globals).map(optionRow).map(coded)),
  ].join("\n\n")}\n`
}

function commandSection(command: Command): readonly string[] {
  const fields = fieldsOf(command.input)
  const places = positionalsOf(fields)
  const options = fields.filter((field) => field.position === undefined)
  const usage = ["agent-desktop", command.name, ...[...places, ...options].map(usageOf)].join(" ")
  return [
    `### ${command.name}`,
    `${command.summary}.${command.effect === "reads" ? " Changes nothing." : ""}`,
    `\`\`\`\n${usage}\n\`\`\``,
    table(["Argument", ""], [...places.map(argumentRow), ...options.map(optionRow)].map(coded)),
    returned(command),
    ...(command.examples ? [["```sh", ...command.examples, "```"].join("\n")] : []),
  ]
}

function returned(command: Command): string {
  const { properties = {}, required = [] } = resultSchema(command)
  const members = Object.keys(properties).map((member) =>
    code(`${member}${required.includes(member) ? "" : "?"}`),
  )
  return `Returns ${members.join(", ")}.`
}

function errorsPage(): string {
  return [
    NOTE,
    "# Errors",
    "A command that fails ends with exit code 1 (2 for `INVALID_ARGS`) and prints `error`: `code`, `message`, and, if known, `suggestion` (what to run next), `platform_detail` (the system's own words), `details` (facts, by code) and `disposition`.",
    table(
      ["`disposition`", "means"],
      [
        ["`delivery: not_delivered`", "nothing reached the app"],
        ["`delivery: delivery_uncertain`", "it may have arrived, or not"],
        ["`delivery: delivered_unverified`", "it was sent, but no effect was seen"],
        ["`delivery: delivered_verified`", "its effect was seen"],
        ["`retry: safe`", "repeating it does no harm"],
        ["`retry: unsafe`, `retry: unknown`", "it may have happened: look first"],
      ],
    ),
    errorSections(),
  ].join("\n\n")
}

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(head), "|---|---|", ...rows.map(line)].join("\n")
}

const code = (words: string): string => `\`${words}\``
const coded = ([term, said]: Row): Row => [code(term), said]

if (import.meta.main) {
  for (const [path, content] of Object.entries(await pages())) await Bun.write(`${root}${path}`, content)
}
