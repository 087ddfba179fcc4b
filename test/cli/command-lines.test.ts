import { describe, expect, test } from "bun:test"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { renderCommandHelp } from "../../src/cli/help.ts"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { toArgv } from "../../src/flow/words.ts"
import { parseArgs } from "../../src/run.ts"
import { type Field, fieldsOf, positionalsOf, spellingsOf } from "../../src/schema/fields.ts"

const loaded = (await loadAll(commands)).map((command) => ({ name: command.name, command }))

describe.each(loaded)("$name", ({ command }) => {
  const fields = fieldsOf(command.input)

  test("has no flag, alias or letter twice, and none of a global option, unless it accepts more choices", () => {
    const own = new Map(fields.map((field) => [field.name, field.choices]))
    const isWider = ({ name, choices }: Field): boolean =>
      choices?.every((choice) => own.get(name)?.includes(choice)) ?? false
    const ofAll = fieldsOf(globals).filter((field) => !isWider(field))
    const spellings = [...fields, ...ofAll].flatMap(spellingsOf)
    expect(spellings).toEqual([...new Set(spellings)])
  })

  test("numbers its positionals without gaps, and has a list only at the end", () => {
    const places = positionalsOf(fields)
    expect(places.map((field) => field.position)).toEqual([...places.keys()])
    expect(places.slice(0, -1).filter((field) => field.kind === "list")).toEqual([])
  })

  test("describes every argument, in lines that fit the screen", () => {
    expect(fields.filter((field) => !field.description).map((field) => field.name)).toEqual([])
    for (const line of renderCommandHelp(command, globals).split("\n"))
      expect(line.length).toBeLessThanOrEqual(100)
  })

  test("has examples that parse, and that keep their meaning when formatted again", async () => {
    for (const example of command.examples ?? []) {
      const [program, ...argv] = wordsOf(example)
      expect(program).toBe("agent-desktop")
      const parsed = await parseArgv(argv, commands, globals)
      if (parsed.kind !== "run") throw new Error(`${example} asks for ${parsed.kind}`)
      await parseArgs(parsed.command, parsed.args)
      const again = await parseArgv(toArgv(parsed.command, parsed.args), commands, globals)
      expect(again).toMatchObject({ kind: "run", args: parsed.args })
    }
  })
})

/** Splits a shell line into words. Examples use only plain words and quotes without escapes. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  )
