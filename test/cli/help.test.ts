import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { helpFor, renderCommandHelp, renderHelp } from "../../src/cli/help.ts"
import { GROUPS, type Registry } from "../../src/command.ts"
import { fieldsOf } from "../../src/schema/fields.ts"
import {
  click,
  clipboardSet,
  commands,
  globals,
  launch,
  moveWindow,
  open,
  registry,
  snapshot,
  taking,
  type,
} from "../support/synthetic-commands.ts"

const linesOf = (text: string) => text.split("\n")

describe("the program's help", () => {
  const text = renderHelp(commands, globals)

  test("lists every command once with its summary, under its group", () => {
    expect(text).toContain(
      "\nAct on elements\n  click               Click an element\n  type                Type text into an element\n",
    )
    for (const { name, summary } of commands)
      expect(
        linesOf(text).filter((line) => line.startsWith(`  ${name} `) && line.endsWith(summary)),
      ).toHaveLength(1)
  })

  test("shows the groups in their order, without empty ones", () => {
    const one = GROUPS.map((group) => ({ name: `a-${group}`, summary: "Does it", group })).reverse()
    const names = linesOf(renderHelp(one, globals)).filter((line) => line.startsWith("  a-"))
    expect(names.map((line) => line.slice(4).split(" ")[0])).toEqual([...GROUPS])
    expect(text).not.toContain("Notifications")
  })

  test("lists the global options, the exit codes and where to read on", () => {
    expect(text).toContain("\n  --format json|text  How the result is written (default json)\n")
    expect(text).toContain("\n  -v, --verbose       Log more\n")
    expect(text).toContain("Exit codes: 0 success, 1 failure, 2 invalid arguments.")
    expect(text).toContain("'agent-desktop help COMMAND'")
  })
})

describe("a command's help", () => {
  test("is complete", () => {
    expect(renderCommandHelp(click, globals)).toBe(`Click an element

Usage: agent-desktop click REF [--snapshot SNAPSHOT] [--no-changes] [--timeout-ms MS]

Arguments
  REF  Ref of the element (or --ref-id)

Options
  --snapshot SNAPSHOT
  --no-changes
  --timeout-ms MS      Give up after this many milliseconds; 0 tries once (0 to 86400000; default
                       5000; or --timeout)

Examples
  agent-desktop click @e3

Options of every command: --session NAME, --format json|text, --verbose, --read-only, --help,
                          --version
`)
  })

  const usageOf = (command: Parameters<typeof renderCommandHelp>[0]) =>
    renderCommandHelp(command, globals).match(/^Usage: .*?(?=\n\n)/ms)?.[0]

  test("derives the usage line from the fields", () => {
    expect(usageOf(type)).toBe("Usage: agent-desktop type REF TEXT [--changes] [--timeout-ms MS]")
    expect(usageOf(moveWindow)).toBe("Usage: agent-desktop move-window [ID] [X] [Y] [--timeout-ms MS]")
    expect(usageOf(open)).toBe("Usage: agent-desktop open PATH... [--wait] [--timeout-ms MS]")
    expect(usageOf(launch)).toBe(
      "Usage: agent-desktop launch APP [--arg A]... [--level low|high]... [--env ENV] [--timeout-ms MS]",
    )
    expect(usageOf({ name: "none", summary: "", input: v.strictObject({}) })).toBe(
      "Usage: agent-desktop none",
    )
  })

  test("puts required options before the others", () => {
    const input = v.strictObject({ b: v.optional(v.string()), a: v.string() })
    expect(usageOf({ name: "x", summary: "", input })).toBe("Usage: agent-desktop x --a A [--b B]")
  })

  test("shows choices, ranges, defaults and optional values", () => {
    const text = renderCommandHelp(snapshot, globals).replace(/\s+/g, " ")
    expect(text).toContain("--max-depth N (1 to 50; default 10)")
    expect(text).toContain("-i, --interactive-only Only what can be acted on")
    expect(text).toContain(
      "--surface SURFACE Which surface of the app to read (one of window, focused, menu, menubar, sheet, popover, alert; default window)",
    )
    expect(text).toContain("--diff [SNAPSHOT_ID]")
    const limited = v.strictObject({
      least: v.pipe(v.number(), v.minValue(2)),
      most: v.pipe(v.number(), v.maxValue(3)),
    })
    const limits = renderCommandHelp({ name: "x", summary: "", input: limited }, globals)
    expect(limits).toContain("--least N  (at least 2)\n  --most N   (at most 3)")
  })

  test("explains how to pass text that looks like an option", () => {
    expect(renderCommandHelp(clipboardSet, globals)).toContain(
      "TEXT  (after -- if it looks like an option; or --text)",
    )
  })
})

test("no line is wider than 100 columns, ends in blanks or contains colours", () => {
  const wordy = taking({
    name: "a-command-with-quite-a-long-name",
    summary: "word ".repeat(60).trim(),
    group: "system",
    input: {
      a_member_whose_name_is_long: v.optional(
        v.pipe(v.string(), v.description("word ".repeat(80).trim()), v.metadata({ cli: { value: "TEXT" } })),
      ),
      ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`member_${i}`, v.optional(v.string())])),
    },
  })
  const texts = [
    renderHelp([...commands, wordy], globals),
    ...[...commands, wordy].map((command) => renderCommandHelp(command, globals)),
  ]
  for (const line of texts.flatMap(linesOf)) {
    expect(line.length).toBeLessThanOrEqual(100)
    expect(line).toBe(line.trimEnd())
    expect(line).not.toContain("\u001b")
  }
})

test("every flag of a command is in its help", () => {
  for (const command of commands) {
    const text = renderCommandHelp(command, globals)
    for (const field of fieldsOf(command.input))
      expect(text).toContain(field.default === true ? `--no-${field.flag.slice(2)}` : field.flag)
  }
})

test("help on one command loads no other", async () => {
  const lazy: Registry = { type: () => Promise.reject(new Error("loaded")) }
  expect(await helpFor(click, lazy, globals)).toBe(renderCommandHelp(click, globals))
  expect(await helpFor(undefined, registry, globals)).toBe(renderHelp(commands, globals))
})
