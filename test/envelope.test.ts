import { afterAll, expect, test } from "bun:test"
import fc from "fast-check"
import { errorObject, failure, success, toLine } from "../src/envelope.ts"
import { AppError, ERROR_CODES } from "../src/errors.ts"
import { clearDesks, desk } from "./support/fake-desk.ts"

afterAll(clearDesks)

/** Any text an app may show: all code units, lone surrogates, and characters that some readers take for line ends. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    maxLength: 60,
  }),
  fc.constantFrom(
    "\n",
    "\r\n",
    "\u2028",
    "\u2029",
    "\u0085",
    "\x1b[2J",
    "\x9b2J",
    "\x7f",
    "\0",
    "\ud800",
    "\udfff\ud800",
    '"}\n{"version":"1.0","ok":true}',
    "__proto__",
    "\ufeff",
  ),
)

/** Characters that end a line or steer a terminal for some reader. */
const DANGEROUS = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/

test("an envelope is one line that parses back to the same data, for any text", () => {
  fc.assert(
    fc.property(anyText, fc.dictionary(anyText, anyText), (text, members) => {
      const data = { text, members }
      const line = toLine(success("find", data))
      expect(line.indexOf("\n")).toBe(line.length - 1)
      expect(line).not.toMatch(DANGEROUS)
      expect(line.isWellFormed()).toBe(true)
      expect(JSON.parse(line).data).toEqual(JSON.parse(JSON.stringify(data)))
      expect(JSON.parse(line).data.text).toBe(text)
    }),
    { numRuns: 300 },
  )
})

test("an error is one line with a known code, for any thrown value", () => {
  const thrown = fc.oneof(
    anyText.map(
      (message) => new AppError("ACTION_FAILED", message, { platformDetail: message, suggestion: message }),
    ),
    anyText.map((message) => new Error(message)),
    anyText,
    fc.constantFrom(undefined, null, 5, Symbol("x"), { toString: () => "odd" }),
  )
  fc.assert(
    fc.property(thrown, (error) => {
      const line = toLine(failure("click", error))
      expect(line.indexOf("\n")).toBe(line.length - 1)
      expect(line).not.toMatch(DANGEROUS)
      const parsed = JSON.parse(line)
      expect(parsed.ok).toBe(false)
      expect(ERROR_CODES).toContain(parsed.error.code)
      expect(parsed.error.message).toBeString()
    }),
    { numRuns: 300 },
  )
})

test("an error shows exactly the members that it has, in the contract's order", () => {
  const whole = new AppError("ACTION_FAILED", "It failed", {
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    details: { kind: "x" },
    platformDetail: "AXError -25204: Action not supported",
    suggestion: "Try again",
  })
  expect(JSON.stringify(errorObject(whole))).toBe(
    '{"code":"ACTION_FAILED","message":"It failed","suggestion":"Try again",' +
      '"platform_detail":"AXError -25204: Action not supported","details":{"kind":"x"},' +
      '"disposition":{"delivery":"delivery_uncertain","retry":"unknown"}}',
  )
  expect(JSON.stringify(errorObject(new AppError("TIMEOUT", "Too late")))).toBe(
    '{"code":"TIMEOUT","message":"Too late"}',
  )
})

test("text shown in a window never breaks the output line of a command", async () => {
  await fc.assert(
    fc.asyncProperty(anyText, anyText, async (name, value) => {
      const it = desk()
      it.world.app(name).window(value, [
        { role: "button", name, description: value },
        { role: "textfield", name: value, value: name },
      ])
      const { tree, ref_count } = await it.ok("snapshot")
      expect(ref_count).toBe(2)
      expect(tree.children[1].value).toBe(name)
      expect((await it.ok("get", { ref_id: "@e2", property: "value" })).value).toBe(name)
      expect((await it.ok("click", { ref_id: "@e1" })).action).toBe("click")
      it.world.elements()[1]!.name = `${name}!`
      expect((await it.run("click", { ref_id: "@e1" })).error.code).toBe("STALE_REF")
    }),
    { numRuns: 60 },
  )
})

test("a megabyte-long name or value is returned whole, and error messages about it stay short", async () => {
  const it = desk()
  const long = "é\n".repeat(524_288)
  const window = it.world.app("App").window("Window", [{ role: "textfield", name: long, value: long }])
  const { tree } = await it.ok("snapshot")
  expect(tree.children[0].name).toBe(long)
  expect((await it.ok("get", { ref_id: "@e1", property: "value" })).value).toBe(long)
  window.root.children[0]!.name = "short"
  expect((await it.error("get", { ref_id: "@e1", property: "value" })).message.length).toBeLessThan(400)
})
