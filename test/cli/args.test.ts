import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { parseArgv } from "../../src/cli/args.ts"
import type { Registry } from "../../src/command.ts"
import { toArgv } from "../../src/flow/words.ts"
import { argsOf, failure, ran, refused } from "../support/command-line.ts"
import { click, globals, registryOf, snapshot, taking } from "../support/synthetic-commands.ts"

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
