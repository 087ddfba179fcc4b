import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseArgv } from "../../src/cli/args.ts"
import type { Command } from "../../src/command.ts"
import { toArgv } from "../../src/flow/words.ts"
import { type Field, fieldsOf, spellingsOf } from "../../src/schema/fields.ts"
import { UsageError } from "../../src/schema/usage-errors.ts"
import { commands, globals, registry } from "../support/synthetic-commands.ts"

/** Text of every kind: empty, with dashes, like flags, with lone surrogates. */
const someText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("-", "=", "a", "5", " ", "\n", "\ud83d") }),
  fc.constantFrom(
    "--",
    "-",
    "--help",
    "-h",
    "--timeout-ms",
    "-v",
    "--no-way",
    "-5",
    "help",
    "--version=true",
  ),
)

function valueFor(field: Pick<Field, "kind" | "item" | "choices">): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case "boolean":
      return fc.boolean()
    case "number":
      return fc.oneof(
        fc.maxSafeInteger(),
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map((value) => (value === 0 ? 0 : value)),
      )
    case "choice":
      return fc.constantFrom(...(field.choices ?? []))
    case "list":
      return fc.array(valueFor({ kind: field.item ?? "string", choices: field.choices }), {
        minLength: 1,
        maxLength: 4,
      })
    case "json":
      return fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })
    case "string":
      return someText
  }
}

const argsFor = (command: Command) => {
  const fields = fieldsOf(command.input)
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, valueFor(field)])), {
    requiredKeys: fields.filter((field) => field.required).map((field) => field.name),
    noNullPrototype: true,
  })
}

test.each(commands.map((command) => [command.name, command] as const))(
  "%s: arguments survive the round trip through the command line",
  async (_, command) => {
    await fc.assert(
      fc.asyncProperty(argsFor(command), async (args) => {
        expect(await parseArgv(toArgv(command, args), registry, globals)).toEqual({
          kind: "run",
          command,
          args,
          globals: {},
        })
      }),
      { numRuns: 300 },
    )
  },
)

test("a global option changes no argument, before or after the command", async () => {
  const [some] = commands.filter((command) => command.name === "type")
  const command = some!
  await fc.assert(
    fc.asyncProperty(argsFor(command), fc.boolean(), someText, async (args, isBefore, session) => {
      const [name, ...rest] = toArgv(command, args)
      const option = `--session=${session}`
      const argv = isBefore ? [option, name!, ...rest] : [name!, option, ...rest]
      expect(await parseArgv(argv, registry, globals)).toMatchObject({
        kind: "run",
        args,
        globals: { session },
      })
    }),
  )
})

const anyFlag = [globals, ...commands.map((command) => command.input)].flatMap(fieldsOf).flatMap(spellingsOf)

/** Tokens that are likely to parse, and any text. */
const token = fc.oneof(
  someText,
  fc.constantFrom(...anyFlag, ...Object.keys(registry), "help", "@e1", "3", "menu", "{}"),
  fc.tuple(fc.constantFrom(...anyFlag), someText).map(([flag, text]) => `${flag}=${text}`),
  fc.constantFrom(...anyFlag).map((flag) => flag.replace("--", "--no-")),
)

const anyArgv = fc.oneof(
  fc.array(fc.string({ unit: "binary" }), { maxLength: 6 }),
  fc.array(token, { maxLength: 8 }),
  fc
    .tuple(fc.constantFrom(...Object.keys(registry)), fc.array(token, { maxLength: 7 }))
    .map(([name, rest]) => [name, ...rest]),
)

test("any command line parses or fails with a usage error that names its command", async () => {
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(anyArgv, async (argv) => {
      try {
        kinds.add((await parseArgv(argv, registry, globals)).kind)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        kinds.add("error")
        expect(error.code).toBe("INVALID_ARGS")
        expect(["unknown", "help", ...Object.keys(registry)]).toContain(error.command)
        expect(error.suggestion).toContain("'agent-desktop help")
        expect(error.message).not.toMatch(/[\x00-\x1f\x7f]/)
      }
    }),
    { numRuns: 3000 },
  )
  expect([...kinds].sort()).toEqual(["error", "help", "run", "version"])
})

test("no word of the command line is dropped: each one is in the arguments", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(token, { maxLength: 5 }), async (rest) => {
      const parsed = await parseArgv(["open", "--", ...rest, "x"], registry, globals)
      expect(parsed).toMatchObject({ kind: "run", args: { path: [...rest, "x"] } })
    }),
  )
})

test("any text after -- is typed unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(someText, async (text) => {
      expect(await parseArgv(["type", "@e1", "--", text], registry, globals)).toMatchObject({
        kind: "run",
        args: { ref_id: "@e1", text },
      })
    }),
  )
})

test("text that is not a flag of the command needs no --", async () => {
  const isKnown = (text: string) =>
    text === "--" ||
    /^-v+$/.test(text) ||
    anyFlag.some((flag) => text === flag || text.startsWith(`${flag}=`))
  await fc.assert(
    fc.asyncProperty(
      someText.filter((text) => !isKnown(text)),
      async (text) => {
        expect(await parseArgv(["type", "@e1", text], registry, globals)).toMatchObject({
          kind: "run",
          args: { ref_id: "@e1", text },
        })
      },
    ),
  )
})
