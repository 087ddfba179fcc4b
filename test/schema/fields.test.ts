import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { AppError } from "../../src/errors.ts"
import { applyAliases, type Field, fieldsOf, positionalsOf, spellingsOf } from "../../src/schema/fields.ts"
import { moveWindow, snapshot } from "../support/synthetic-commands.ts"

/** The one field of an object with one member. */
function fieldFor(schema: v.GenericSchema): Field {
  const [field] = fieldsOf(v.strictObject({ max_depth: schema }))
  if (!field) throw new Error("no field")
  return field
}

const hints = <T>(cli: object) => v.metadata<T, { readonly cli: object }>({ cli })

describe("fieldsOf", () => {
  test("reads all facts of a member from its schema", () => {
    const schema = v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(50),
        v.description("How deep"),
        hints({
          position: 2,
          short: "d",
          aliases: ["depth_limit"],
          value: "DEPTH",
          freeText: true,
          traced: true,
        }),
      ),
      10,
    )
    expect(fieldFor(schema)).toEqual({
      name: "max_depth",
      flag: "--max-depth",
      aliases: ["depth_limit"],
      short: "d",
      position: 2,
      placeholder: "DEPTH",
      description: "How deep",
      kind: "number",
      required: false,
      default: 10,
      traced: true,
      integer: true,
      min: 1,
      max: 50,
      freeText: true,
    })
  })

  const choices = ["a", "b"] as const
  const kinds: readonly (readonly [string, v.GenericSchema, Partial<Field>])[] = [
    ["string", v.string(), { kind: "string", required: true, placeholder: "MAX_DEPTH" }],
    ["number", v.number(), { kind: "number", integer: false, placeholder: "N" }],
    ["boolean", v.boolean(), { kind: "boolean" }],
    ["picklist", v.picklist(choices), { kind: "choice", choices, placeholder: "a|b" }],
    ["picklist of numbers", v.picklist([1, 2]), { kind: "json" }],
    ["array of strings", v.array(v.string()), { kind: "list", item: "string" }],
    ["array of choices", v.array(v.pipe(v.picklist(choices))), { kind: "list", item: "choice", choices }],
    ["array of numbers", v.array(v.number()), { kind: "list", item: "number" }],
    ["array of wrapped strings", v.array(v.optional(v.string())), { kind: "list", item: "string" }],
    ["array of objects", v.array(v.object({})), { kind: "json" }],
    ["object", v.strictObject({}), { kind: "json" }],
    ["custom value", v.custom<string>(() => true), { kind: "string" }],
    ["union", v.union([v.string(), v.array(v.string())]), { kind: "string" }],
    ["optional", v.optional(v.string()), { kind: "string", required: false, default: undefined }],
    ["default", v.optional(v.string(), "x"), { required: false, default: "x" }],
    ["computed default", v.optional(v.string(), () => "y"), { required: false, default: "y" }],
    ["default in a default", v.optional(v.optional(v.string(), "in"), "out"), { default: "out" }],
    [
      "optional result",
      v.pipe(
        v.string(),
        v.transform((text): number | undefined => text.length || undefined),
        v.optional(v.number(), 3),
      ),
      { kind: "string", required: true, default: undefined },
    ],
    [
      "hints in two places",
      v.pipe(v.string(), hints({ position: 0, value: "IN" }), hints({ value: "OUT" })),
      { position: 0, placeholder: "OUT" },
    ],
    [
      "pipe around optional",
      v.pipe(v.optional(v.boolean(), true), v.description("D")),
      { kind: "boolean", required: false, default: true, description: "D" },
    ],
    [
      "pipe in a pipe",
      v.pipe(v.pipe(v.string(), v.description("in")), v.description("out")),
      { kind: "string", description: "out" },
    ],
    ["regex", v.pipe(v.string(), v.regex(/x/)), { kind: "string" }],
    [
      "check",
      v.pipe(
        v.number(),
        v.check(() => true),
      ),
      { kind: "number" },
    ],
    [
      "transform",
      v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(3)),
      { kind: "string", min: undefined },
    ],
    ["an optional value", v.pipe(v.string(), hints({ optionalValue: "last" })), { optionalValue: "last" }],
  ]
  test.each(kinds)("%s", (_, schema, facts) => {
    expect(fieldFor(schema)).toMatchObject(facts)
  })

  test("keeps the schema's order, through a pipe around the object as well", () => {
    const checked = v.pipe(
      snapshot.input,
      v.check(() => true),
    )
    expect(fieldsOf(checked)).toEqual(fieldsOf(snapshot.input))
    expect(fieldsOf(snapshot.input).map((field) => field.name)).toEqual(Object.keys(snapshot.input.entries))
  })

  test("lists the positionals in order, and every spelling", () => {
    const fields = fieldsOf(moveWindow.input)
    expect(positionalsOf([...fields].reverse()).map((field) => field.name)).toEqual(["window_id", "x", "y"])
    const field = fieldFor(v.pipe(v.number(), hints({ short: "d", aliases: ["depth_limit"] })))
    expect(spellingsOf(field)).toEqual(["--max-depth", "--depth-limit", "-d"])
  })
})

describe("applyAliases", () => {
  test("renames aliases to the member's own name", () => {
    expect(applyAliases(snapshot.input, { app: "A", timeout: 5 })).toEqual({ app: "A", timeout_ms: 5 })
    expect(applyAliases(snapshot.input, { timeout_ms: 5, bogus: 1 })).toEqual({ timeout_ms: 5, bogus: 1 })
  })

  test("rejects a name together with its alias", () => {
    expect(() => applyAliases(snapshot.input, { timeout: 5, timeout_ms: 6 })).toThrow(
      new AppError("INVALID_ARGS", "'timeout' and 'timeout_ms' mean the same: pass only 'timeout_ms'"),
    )
  })

  test("leaves values that are not objects to validation, but rejects an array", () => {
    expect(applyAliases(snapshot.input, 5)).toBe(5)
    expect(applyAliases(snapshot.input, null)).toBeNull()
    expect(applyAliases(snapshot.input, undefined)).toBeUndefined()
    expect(() => applyAliases(snapshot.input, [])).toThrow("Arguments must be an object, got an array")
  })

  test("carries a member named __proto__ on to validation", () => {
    const renamed = applyAliases(snapshot.input, JSON.parse('{"__proto__":{"app":"A"}}'))
    expect(v.safeParse(snapshot.input, renamed).success).toBeFalse()
  })
})
