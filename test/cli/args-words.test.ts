import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { parseArgv } from "../../src/cli/args.ts"
import type { Registry } from "../../src/command.ts"
import { toArgv } from "../../src/flow/words.ts"
import { argsOf, failure, parse, ran, refused } from "../support/command-line.ts"
import { click, globals, launch, moveWindow, snapshot, taking, type } from "../support/synthetic-commands.ts"

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

  test("the value of a global option is not mistaken for the command", async () => {
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
      "--timeout-ms",
      "5",
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
    expect(toArgv(moveWindow, { x: -5, y: 6 })).toEqual(["move-window", "--x=-5", "--y", "6"])
  })

  test("repeats list flags and writes numbers without exponents", () => {
    expect(toArgv(launch, { app: "x", arg: ["a", ""] })).toEqual(["launch", "x", "--arg", "a", "--arg", ""])
    expect(toArgv(moveWindow, { x: 1.5e-9 })).toEqual(["move-window", "--x", "0.0000000015"])
  })
})
