import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import type { Command } from "../../src/command.ts"
import { fieldsOf } from "../../src/schema/fields.ts"
import { describeIssue } from "../../src/schema/issues.ts"
import { shown } from "../../src/schema/usage-errors.ts"
import { click, launch, mouseMove, snapshot, type } from "../support/synthetic-commands.ts"

/** The first problem that validation reports. */
function problem(command: Pick<Command, "input">, args: unknown): string {
  const parsed = v.safeParse(command.input, args)
  if (parsed.success) throw new Error("expected an issue")
  return describeIssue(parsed.issues[0], fieldsOf(command.input))
}

const cases: readonly (readonly [Command, unknown, string])[] = [
  [snapshot, { max_depth: 0 }, "--max-depth must be at least 1, got 0"],
  [snapshot, { max_depth: 51 }, "--max-depth must be at most 50, got 51"],
  [snapshot, { max_depth: 1.5 }, "--max-depth must be a whole number, got 1.5"],
  [snapshot, { max_depth: "3" }, "--max-depth must be a number, got '3'"],
  [snapshot, { max_depth: Number.NaN }, "--max-depth must be a number, got NaN"],
  [snapshot, { app: ["A"] }, "--app must be a string, got an array"],
  [snapshot, { app: null }, "--app must be a string, got null"],
  [snapshot, { compact: 1 }, "--compact must be a boolean, got 1"],
  [snapshot, { window_id: "99" }, "--window-id is not valid, got '99'"],
  [
    snapshot,
    { surface: "meun" },
    "--surface must be one of window, focused, menu, menubar, sheet, popover, alert; got 'meun', did you mean 'menu'?",
  ],
  [snapshot, { maxDepth: 3 }, "Unknown argument 'maxDepth'; did you mean 'max_depth'?"],
  [snapshot, { time_out: 3 }, "Unknown argument 'time_out'; did you mean 'timeout'?"],
  [
    click,
    { ref_id: "@e1", zzzz: 1 },
    "Unknown argument 'zzzz'; known are ref_id, snapshot, changes, timeout_ms",
  ],
  [click, {}, "REF (--ref-id) is missing"],
  [click, { ref_id: undefined }, "REF (--ref-id) must be a string, got nothing"],
  [click, "x", "Arguments must be an object, got 'x'"],
  [mouseMove, { xy: "5" }, "--xy must be X,Y; got '5'"],
  [mouseMove, {}, "--xy is missing"],
  [launch, { app: "x", arg: ["a", 5] }, "--arg (item 2) must be a string"],
  [launch, { app: "x", arg: "a" }, "--arg must be an array"],
  [launch, { app: "x", env: { A: 1 } }, "--env.A must be a string, got 1"],
]

describe("describeIssue", () => {
  test.each(cases.map(([command, args, message]) => [message, command, args] as const))(
    "%s",
    (message, command, args) => {
      expect(problem(command, args)).toBe(message)
    },
  )

  test("the message never repeats text that the caller typed", () => {
    expect(problem(type, { ref_id: "@e1", text: 5 })).toBe("TEXT (--text) must be a string")
    expect(problem(type, { ref_id: "@e1", text: "s3cret".repeat(1000) })).toBe(
      "TEXT (--text) must have at most 1000 characters",
    )
  })

  test("a check of the whole object uses its own message", () => {
    const input = v.pipe(
      snapshot.input,
      v.check(() => false, "--app and --window-id exclude each other"),
    )
    expect(problem({ input }, {})).toBe("--app and --window-id exclude each other")
  })

  test("a message that is a whole sentence follows a colon", () => {
    const input = v.strictObject({ size: v.pipe(v.string(), v.regex(/x/, "Write WxH")) })
    expect(problem({ input }, { size: "5" })).toBe("--size: Write WxH; got '5'")
  })
})

test("a value in a message is short and on one line", () => {
  expect(shown("a\tb\n\u001b[31m\u007f")).toBe("'a\\u0009b\\u000a\\u001b[31m\\u007f'")
  expect(shown("x".repeat(1000))).toHaveLength(62)
})
