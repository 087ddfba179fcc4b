import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { parseArgv } from "../../src/cli/args.ts"
import type { Registry } from "../../src/command.ts"
import { UsageError } from "../../src/usage-errors.ts"
import {
  click,
  globals,
  launch,
  moveWindow,
  registry,
  registryOf,
  snapshot,
  taking,
  type,
} from "../support/synthetic-commands.ts"
import { toArgv } from "../support/to-argv.ts"

const parse = (...argv: string[]) => parseArgv(argv, registry, globals)

/** The run that would follow: the command's name, its arguments and the global options. */
async function ran(...argv: string[]) {
  const parsed = await parse(...argv)
  if (parsed.kind !== "run") throw new Error(`expected a run, got ${parsed.kind}`)
  return { command: parsed.command.name, args: parsed.args, globals: parsed.globals }
}

const argsOf = async (...argv: string[]) => (await ran(...argv)).args

async function failure(...argv: string[]): Promise<UsageError> {
  const thrown = await parse(...argv).catch((error: unknown) => error)
  if (!(thrown instanceof UsageError)) throw new Error(`expected a UsageError, got ${Bun.inspect(thrown)}`)
  expect(thrown.code).toBe("INVALID_ARGS")
  expect(thrown.suggestion).toContain("'agent-desktop help")
  return thrown
}

/** Each line of arguments must fail with this message, for this command. */
function refused(command: string, cases: readonly (readonly [argv: readonly string[], message: string])[]) {
  test.each(cases.map(([argv, message]) => [argv.join(" "), argv, message] as const))(
    "refuses: %s",
    async (_, argv, message) => {
      const error = await failure(...argv)
      expect(error.message).toBe(message)
      expect(error.command).toBe(command)
    },
  )
}

describe("a command and its arguments", () => {
  test("positional and flag spellings give the same arguments", async () => {
    const expected = { command: "click", args: { ref_id: "@e1" }, globals: {} }
    expect(await ran("click", "@e1")).toEqual(expected)
    expect(await ran("click", "--ref-id", "@e1")).toEqual(expected)
    expect(await ran("click", "--ref-id=@e1")).toEqual(expected)
  })

  test("a member given as a flag leaves its position to the next one", async () => {
    const expected = { window_id: "w-1", x: 5, y: 6 }
    expect(await argsOf("move-window", "--window-id", "w-1", "5", "6")).toEqual(expected)
    expect(await argsOf("move-window", "5", "6", "--window-id", "w-1")).toEqual(expected)
    expect(await argsOf("move-window", "w-1", "--x", "5", "6")).toEqual(expected)
  })

  test("flags may appear anywhere after the command", async () => {
    const expected = { ref_id: "@e1", snapshot: "s1" }
    expect(await argsOf("click", "--snapshot", "s1", "@e1")).toEqual(expected)
    expect(await argsOf("click", "@e1", "--snapshot", "s1")).toEqual(expected)
  })

  test("the schema decides the type of a value", async () => {
    expect(
      await argsOf("snapshot", "--app", "12", "--max-depth", "3", "--surface=menu", "--include-bounds"),
    ).toEqual({ app: "12", max_depth: 3, surface: "menu", include_bounds: true })
  })

  test("members that were not given are absent, even if they have a default", async () => {
    expect(await argsOf("snapshot")).toEqual({})
  })

  test("an alias means the same flag", async () => {
    expect(await argsOf("click", "@e1", "--timeout", "9")).toEqual({ ref_id: "@e1", timeout_ms: 9 })
  })

  test("only the chosen command is loaded", async () => {
    const lazy: Registry = {
      click: async () => click,
      type: () => Promise.reject(new Error("loaded")),
    }
    expect((await parseArgv(["click", "@e1"], lazy, globals)).kind).toBe("run")
    expect((await parseArgv(["help"], lazy, globals)).kind).toBe("help")
  })

  test("everything after the first = belongs to the value", async () => {
    expect(await argsOf("snapshot", "--app=a=b")).toEqual({ app: "a=b" })
    expect(await argsOf("snapshot", "--app=")).toEqual({ app: "" })
    expect(await argsOf("snapshot", "--app", "")).toEqual({ app: "" })
  })

  test("a command whose schema checks the whole object parses the same", async () => {
    const checked = {
      ...snapshot,
      input: v.pipe(
        snapshot.input,
        v.check(() => false, "never"),
      ),
    }
    const parsed = await parseArgv(["snapshot", "--app", "A"], registryOf([checked]), globals)
    expect(parsed).toMatchObject({ kind: "run", args: { app: "A" } })
  })

  refused("click", [
    [["click", "@e1", "@e2"], "Unexpected argument '@e2'"],
    [["click", "@e1", ""], "Unexpected argument ''"],
    [["click", "@e1", "-5"], "Unexpected argument '-5'"],
    [["click", "@e1", "-"], "Unexpected argument '-'"],
    [["click", "@e1", "--ref-id", "@e2"], "Unexpected argument '@e1'; REF was given as --ref-id"],
    [["click", "--ref-id", "@e2", "@e1"], "Unexpected argument '@e1'; REF was given as --ref-id"],
    [["click"], "Missing REF (--ref-id)"],
    [["click", "--"], "Missing REF (--ref-id)"],
  ])
  refused("type", [
    [
      ["type", "@e1", "two", "words"],
      "Unexpected argument 'words'; text with blanks must be one quoted argument",
    ],
    [["type"], "Missing REF (--ref-id), TEXT (--text)"],
    [["type", "@e1"], "Missing TEXT (--text)"],
  ])
  refused("mouse-move", [[["mouse-move"], "Missing --xy"]])
})

describe("unknown flags", () => {
  refused("snapshot", [
    [["snapshot", "--max-dept", "3"], "Unknown option '--max-dept'; did you mean '--max-depth'?"],
    [["snapshot", "--window_id", "w-1"], "Unknown option '--window_id'; did you mean '--window-id'?"],
    [["snapshot", "--App=secret"], "Unknown option '--App'; did you mean '--app'?"],
    [["snapshot", "--max", "3"], "Unknown option '--max'; did you mean '--max-depth'?"],
    [["snapshot", "-app", "x"], "Unknown option '-app'; did you mean '--app'?"],
    [["snapshot", "-help"], "Unknown option '-help'; did you mean '--help'?"],
    [["snapshot", "--sesion", "x"], "Unknown option '--sesion'; did you mean '--session'?"],
    [["snapshot", "--zzzzz"], "Unknown option '--zzzzz'"],
    [["snapshot", "-z"], "Unknown option '-z'"],
    [["snapshot", "-iz"], "Unknown option '-iz'"],
    [["snapshot", "---"], "Unknown option '---'"],
    [["snapshot", "--=x"], "Unknown option '--'"],
  ])

  test("the error names the kind and the nearest spelling", async () => {
    expect((await failure("snapshot", "--max-dept=3")).details).toEqual({
      kind: "unknown_flag",
      argument: "--max-dept",
      nearest: "--max-depth",
    })
  })

  refused("unknown", [
    [
      ["--max-depth", "3", "snapshot"],
      "Unknown option '--max-depth' before the command; a command's own options come after its name",
    ],
    [["--sesion", "x", "snapshot"], "Unknown option '--sesion'; did you mean '--session'?"],
  ])
})

describe("booleans", () => {
  test.each([
    ["--include-bounds", true],
    ["--include-bounds=true", true],
    ["--include-bounds=false", false],
    ["--no-include-bounds", false],
  ])("%s", async (token, value) => {
    expect(await argsOf("snapshot", token)).toEqual({ include_bounds: value })
  })

  test("a letter means its flag, and letters can be combined", async () => {
    expect(await argsOf("snapshot", "-i")).toEqual({ interactive_only: true })
    expect(await argsOf("snapshot", "-i=false")).toEqual({ interactive_only: false })
    expect(await ran("snapshot", "-icv")).toEqual({
      command: "snapshot",
      args: { interactive_only: true, compact: true },
      globals: { verbose: true },
    })
  })

  test("a letter with a value cannot be combined", async () => {
    expect(await argsOf("snapshot", "-a", "A", "-i")).toEqual({ app: "A", interactive_only: true })
    expect(await argsOf("snapshot", "-a=A")).toEqual({ app: "A" })
    expect((await failure("snapshot", "-ia", "A")).message).toBe("Unknown option '-ia'")
    expect((await failure("snapshot", "-aA")).message).toBe("Unknown option '-aA'")
  })

  test("--no- negates known booleans only: a value that starts with it stays a value", async () => {
    expect(await argsOf("launch", "x", "--arg", "--no-sandbox")).toEqual({ app: "x", arg: ["--no-sandbox"] })
    expect(await argsOf("launch", "x", "--arg=--no-way")).toEqual({ app: "x", arg: ["--no-way"] })
  })

  test("--no- does not hide a flag whose real name starts with it", async () => {
    const named = taking({
      name: "named",
      summary: "",
      group: "system",
      input: { wait: v.optional(v.boolean()), no_wait: v.optional(v.boolean()) },
    })
    const own: Registry = { named: async () => named }
    const parsed = await parseArgv(["named", "--no-wait"], own, globals)
    expect(parsed).toMatchObject({ args: { no_wait: true } })
    expect(await parseArgv(toArgv(named, { wait: false }), own, globals)).toMatchObject({
      args: { wait: false },
    })
  })

  refused("snapshot", [
    [["snapshot", "--no-way"], "Unknown option '--no-way'"],
    [["snapshot", "--no-app"], "Unknown option '--no-app'"],
    [["snapshot", "--no-compact=true"], "Unknown option '--no-compact'; did you mean '--compact'?"],
    [["snapshot", "--compact=yes"], "--compact must be true or false, got 'yes'"],
    [["snapshot", "--compact="], "--compact must be true or false, got ''"],
    [["snapshot", "--compact", "true"], "Unexpected argument 'true'"],
    [["snapshot", "--compact", "--no-compact"], "--compact was given more than once"],
    [["snapshot", "-ii"], "--interactive-only was given more than once"],
  ])
})

describe("values", () => {
  refused("snapshot", [
    [["snapshot", "--app"], "--app needs a value (NAME)"],
    [
      ["snapshot", "--app", "--compact"],
      "--app needs a value (NAME); to give it '--compact', write '--app=--compact'",
    ],
    [
      ["snapshot", "--app", "--unknown"],
      "--app needs a value (NAME); to give it '--unknown', write '--app=--unknown'",
    ],
    [["snapshot", "--app", "--", "x"], "--app needs a value (NAME); to give it '--', write '--app=--'"],
    [["snapshot", "--app", "a", "--app", "b"], "--app was given more than once"],
    [
      ["snapshot", "--surface", "windw"],
      "--surface must be one of window, focused, menu, menubar, sheet, popover, alert; got 'windw', did you mean 'window'?",
    ],
    [
      ["snapshot", "--surface="],
      "--surface must be one of window, focused, menu, menubar, sheet, popover, alert; got ''",
    ],
    [["snapshot", "--timeout", "1", "--timeout-ms", "2"], "--timeout-ms was given more than once"],
  ])

  test("a bad choice lists the choices", async () => {
    expect((await failure("launch", "x", "--level", "hihg")).details).toEqual({
      kind: "bad_value",
      argument: "--level",
      choices: ["low", "high"],
    })
  })

  test("text that looks like an option is a value after =", async () => {
    expect(await argsOf("snapshot", "--app=--compact")).toEqual({ app: "--compact" })
  })

  test("a value may start like a negative number", async () => {
    expect(await argsOf("mouse-move", "--xy", "-5,10")).toEqual({ xy: "-5,10" })
    expect(await argsOf("mouse-move", "--xy=-5,-10")).toEqual({ xy: "-5,-10" })
  })

  test("list flags accumulate in order", async () => {
    expect(
      await argsOf("launch", "x", "--arg", "A", "--level", "high", "--arg=B", "--arg", "-rf", "--level=low"),
    ).toEqual({ app: "x", arg: ["A", "B", "-rf"], level: ["high", "low"] })
  })

  test("a positional list takes all remaining words", async () => {
    expect(await argsOf("open", "a", "--wait", "b", "--", "-c")).toEqual({
      path: ["a", "b", "-c"],
      wait: true,
    })
  })

  test("a list is given by position or by flag, not by both", async () => {
    expect((await failure("open", "a", "--path", "b")).message).toBe(
      "Unexpected argument 'a'; PATH was given as --path",
    )
  })

  test("a structured member is written as JSON", async () => {
    expect(await argsOf("launch", "x", "--env", '{"A":"1"}')).toEqual({ app: "x", env: { A: "1" } })
    expect((await failure("launch", "x", "--env", "{")).message).toBe("--env must be JSON")
  })

  test("an optional value is taken if it is given", async () => {
    expect(await argsOf("snapshot", "--diff", "s12")).toEqual({ diff: "s12" })
    expect(await argsOf("snapshot", "--diff=s12")).toEqual({ diff: "s12" })
    expect(await argsOf("snapshot", "--diff")).toEqual({ diff: "last" })
    expect(await argsOf("snapshot", "--diff", "--app", "A")).toEqual({ diff: "last", app: "A" })
    expect(await argsOf("snapshot", "--diff", "-i")).toEqual({ diff: "last", interactive_only: true })
  })
})

describe("numbers", () => {
  test("negative numbers work as positionals and as values", async () => {
    expect(await argsOf("move-window", "w-1", "-5", "20")).toEqual({ window_id: "w-1", x: -5, y: 20 })
    expect(await argsOf("move-window", "w-1", "--x", "-5", "--y=-1.5")).toEqual({
      window_id: "w-1",
      x: -5,
      y: -1.5,
    })
  })

  test.each([
    ["12", 12],
    ["007", 7],
    ["0", 0],
    ["-0", 0],
    ["1.50", 1.5],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("%s is a number", async (text, value) => {
    expect(await argsOf("move-window", "--x", text)).toEqual({ x: value })
  })

  test.each([
    "",
    " ",
    "1 ",
    "0x10",
    "1e9",
    "+5",
    ".5",
    "5.",
    "1,5",
    "1_000",
    "NaN",
    "Infinity",
    "５",
    "5s",
    "1\n",
  ])("%j is not a number", async (text) => {
    const error = await failure("move-window", `--x=${text}`)
    expect(error.message).toStartWith("--x must be a number, got ")
    expect(error.details).toEqual({ kind: "bad_value", argument: "--x" })
  })

  test("a number that cannot be represented exactly is rejected, not rounded", async () => {
    for (const text of ["9007199254740993", "-9007199254740992", "9".repeat(400)])
      expect((await failure("move-window", "--x", text)).message).toStartWith("--x is out of range")
  })

  test("a whole number is required if the schema asks for one", async () => {
    expect((await failure("snapshot", "--max-depth", "ten")).message).toBe(
      "--max-depth must be a whole number, got 'ten'",
    )
  })

  test("ranges are left to validation", async () => {
    expect(await argsOf("snapshot", "--max-depth", "0")).toEqual({ max_depth: 0 })
  })

  test("a positional that is not a number is named in the error", async () => {
    expect((await failure("move-window", "w-1", "left", "3")).message).toBe(
      "X (--x) must be a number, got 'left'",
    )
  })
})

describe("free text", () => {
  const typed = async (...argv: string[]) => (await argsOf("type", ...argv)).text

  test.each([
    "hello",
    "",
    "-5",
    "-rf",
    "-",
    "--help",
    "-h",
    "--version",
    "-V",
    "--unknown=1",
    "--no-way",
    "two\nlines",
    "\ud800",
    "---",
    "--=",
    "😀 é",
  ])("%j after the ref is typed unchanged", async (text) => {
    expect(await argsOf("type", "@e2", text)).toEqual({ ref_id: "@e2", text })
  })

  test("after -- everything is text, -- itself included", async () => {
    expect(await typed("@e2", "--", "--")).toBe("--")
    expect(await typed("@e2", "--", "--timeout-ms")).toBe("--timeout-ms")
    expect(await typed("@e2", "--", "-v")).toBe("-v")
    expect(await typed("--", "@e2", "--help")).toBe("--help")
  })

  test("a known flag in the position of the text stays a flag", async () => {
    expect(await ran("type", "@e2", "-v", "hi", "--timeout-ms=7", "--changes")).toEqual({
      command: "type",
      args: { ref_id: "@e2", text: "hi", timeout_ms: 7, changes: true },
      globals: { verbose: true },
    })
  })

  test("text that was read as a flag is explained", async () => {
    const error = await failure("type", "@e2", "-v")
    expect(error.message).toBe("Missing TEXT (--text)")
    expect(error.suggestion).toBe(
      "Run 'agent-desktop help type'; TEXT that looks like an option goes after '--'",
    )
    expect((await failure("type", "@e2", "--timeout-ms")).message).toBe("--timeout-ms needs a value (MS)")
  })

  test("the text moves up a position if the ref is given as a flag", async () => {
    expect(await argsOf("type", "--ref-id", "@e2", "-rf")).toEqual({ ref_id: "@e2", text: "-rf" })
  })

  test("every word of a free-text list is text", async () => {
    const say = taking({
      name: "say",
      summary: "",
      group: "system",
      input: { word: v.pipe(v.array(v.string()), v.metadata({ cli: { position: 0, freeText: true } })) },
    })
    const own: Registry = { say: async () => say }
    expect(await parseArgv(["say", "a", "-b", "--help", "-v"], own, globals)).toMatchObject({
      args: { word: ["a", "-b", "--help"] },
      globals: { verbose: true },
    })
  })

  test("--text takes values with dashes too, but not a known flag", async () => {
    expect(await typed("@e2", "--text", "-rf")).toBe("-rf")
    expect(await typed("@e2", "--text=--help")).toBe("--help")
    expect((await failure("type", "@e2", "--text", "--", "x")).details).toEqual({
      kind: "missing_value",
      argument: "--text",
    })
    expect((await failure("type", "@e2", "--text", "--help")).message).toBe(
      "--text needs a value (TEXT); to give it '--help', write '--text=--help'",
    )
  })

  test("after the text, flags are flags again", async () => {
    expect(await parse("type", "@e2", "hi", "--help")).toEqual({ kind: "help", command: type })
    expect((await failure("type", "@e2", "hi", "--bogus")).message).toBe("Unknown option '--bogus'")
  })

  test("--help as the first argument shows help and is not taken as text", async () => {
    expect(await parse("clipboard-set", "--help")).toMatchObject({ kind: "help" })
    expect(await argsOf("clipboard-set", "--", "--help")).toEqual({ text: "--help" })
    expect(await argsOf("clipboard-set", "-rf")).toEqual({ text: "-rf" })
  })

  test("an error message does not repeat a long or multi-line argument", async () => {
    const { message } = await failure("type", "@e2", "a", `x\n${"y".repeat(5000)}`)
    expect(message).toStartWith("Unexpected argument 'x\\u000ayyy")
    expect(message.length).toBeLessThan(150)
  })
})

describe("global options", () => {
  test("are accepted before and after the command's name", async () => {
    const expected = { command: "click", args: { ref_id: "@e1" }, globals: { session: "a", verbose: true } }
    expect(await ran("--session", "a", "-v", "click", "@e1")).toEqual(expected)
    expect(await ran("-v", "click", "@e1", "--session=a")).toEqual(expected)
    expect(await ran("click", "--session", "a", "@e1", "-v")).toEqual(expected)
  })

  test("a global's value is not taken for the command", async () => {
    expect((await ran("--session", "click", "snapshot")).command).toBe("snapshot")
  })

  test("a command's own flag wins over a global one after the command's name", async () => {
    const save = taking({
      name: "save",
      summary: "",
      group: "system",
      input: { format: v.optional(v.string()) },
    })
    const own: Registry = { save: async () => save }
    expect(await parseArgv(["--format=text", "save", "--format", "png"], own, globals)).toMatchObject({
      args: { format: "png" },
      globals: { format: "text" },
    })
  })

  refused("click", [
    [["--session", "a", "click", "@e1", "--session", "b"], "--session was given more than once"],
  ])
  refused("unknown", [
    [["--session"], "--session needs a value (NAME)"],
    [["--session", "a"], "No command was given"],
    [["--format", "jsn", "click"], "--format must be one of json, text; got 'jsn', did you mean 'json'?"],
    [["--"], "No command was given"],
  ])
})

describe("help and version", () => {
  test.each([[[]], [["help"]], [["--help"]], [["-h"]], [["help", "help"]], [["-vh"]], [["help", "--help"]]])(
    "%j shows the program's help",
    async (argv) => {
      expect(await parse(...argv)).toEqual({ kind: "help" })
    },
  )

  test.each([
    [["help", "click"]],
    [["click", "--help"]],
    [["click", "-h"]],
    [["--help", "click"]],
    [["-h", "click", "--bogus"]],
    [["click", "@e1", "--help"]],
    [["--session", "a", "help", "-v", "click"]],
  ])("%j shows the command's help", async (argv) => {
    expect(await parse(...argv)).toEqual({ kind: "help", command: click })
  })

  test.each([
    [["--version"]],
    [["-V"]],
    [["--version", "--bogus"]],
    [["--version", "click"]],
    [["help", "--version"]],
    [["click", "-V"]],
  ])("%j shows the version", async (argv) => {
    expect(await parse(...argv)).toEqual({ kind: "version" })
  })

  test("a flag set to false has no effect", async () => {
    expect(await ran("click", "@e1", "--help=false", "--no-version")).toMatchObject({
      args: { ref_id: "@e1" },
    })
  })

  test("a registry's own help command wins over the built-in one", async () => {
    const own: Registry = { help: async () => snapshot }
    expect((await parseArgv(["help"], own, globals)).kind).toBe("run")
  })

  refused("help", [[["help", "click", "type"], "Unexpected argument 'type'"]])
  refused("unknown", [
    [["help", "clik"], "Unknown command 'clik'; did you mean 'click'?"],
    [["--help", "clik"], "Unknown command 'clik'; did you mean 'click'?"],
  ])
})

describe("unknown commands", () => {
  refused("unknown", [
    [["clik", "@e1"], "Unknown command 'clik'; did you mean 'click'?"],
    [["Snapshot"], "Unknown command 'Snapshot'; did you mean 'snapshot'?"],
    [["snap"], "Unknown command 'snap'; did you mean 'snapshot'?"],
    [["clipboard_set"], "Unknown command 'clipboard_set'; did you mean 'clipboard-set'?"],
    [["window-move"], "Unknown command 'window-move'; did you mean 'move-window'?"],
    [["hepl"], "Unknown command 'hepl'; did you mean 'help'?"],
    [["constructor"], "Unknown command 'constructor'"],
    [[""], "Unknown command ''"],
    [["@e1", "click"], "Unknown command '@e1'"],
  ])

  test("the suggestion names the nearest command's help, or the list", async () => {
    expect((await failure("clik")).suggestion).toBe("Run 'agent-desktop help click' to see what it takes")
    expect((await failure("qqqqqq")).suggestion).toBe("Run 'agent-desktop help' for the list of commands")
  })
})

describe("toArgv", () => {
  test("writes positionals plainly and the rest as flags", () => {
    expect(toArgv(click, { ref_id: "@e1", timeout_ms: 5, changes: false })).toEqual([
      "click",
      "@e1",
      "--changes=false",
      "--timeout-ms=5",
    ])
  })

  test("puts positionals after -- if one starts with a dash", () => {
    expect(toArgv(type, { ref_id: "@e1", text: "--help", changes: true })).toEqual([
      "type",
      "--changes",
      "--",
      "@e1",
      "--help",
    ])
  })

  test("spells a member as a flag if an earlier positional is missing", () => {
    expect(toArgv(moveWindow, { x: -5, y: 6 })).toEqual(["move-window", "--x=-5", "--y=6"])
  })

  test("repeats list flags and writes numbers without exponents", () => {
    expect(toArgv(launch, { app: "x", arg: ["a", ""] })).toEqual(["launch", "x", "--arg=a", "--arg="])
    expect(toArgv(moveWindow, { x: 1.5e-9 })).toEqual(["move-window", "--x=0.0000000015"])
  })
})
