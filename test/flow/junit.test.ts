import { expect, test } from "bun:test"
import fc from "fast-check"
import { junitReport } from "../../src/flow/junit.ts"

/** Prints the texts of a report, as a parser of XML reads them. */
const PARSER = `
import json, sys, xml.etree.ElementTree as tree
out = []
for report in json.load(sys.stdin):
    suites = tree.fromstring(report.encode("utf-8"))
    failure = suites.find(".//failure")
    out.append([suites.find("testsuite").get("name"), suites.find(".//testcase").get("name"), failure.get("message"), failure.text])
json.dump(out, sys.stdout)
`

const HOSTILE = [
  "]]>",
  "<!--",
  "&amp;",
  "&#0;",
  '"><script>',
  "a\tb\nc\rd\r\ne",
  "\u0000\u0001\u0008\u000b\u001f\u007f\u0085\u009f",
  "\u2028\u202e\ufffe\uffff\ufdd0",
  "\ud800 \udfff",
  "\u{1f600}\u{10ffff}",
]

test("a parser reads every text of a report as it was, except for characters that XML cannot hold", () => {
  const word = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary" }))
  const texts = [
    ...HOSTILE.map((one) => [one, one, one] as const),
    ...fc.sample(fc.tuple(word, word, word), 60),
  ]
  const reports = texts.map(([name, text, message]) => {
    const line = { number: 1, text, words: ["version"] }
    return junitReport(
      name,
      [line],
      [{ line, ms: 1, error: { code: "INTERNAL", message, suggestion: name } }],
    )
  })
  const { stdout, stderr } = Bun.spawnSync(["python3", "-c", PARSER], {
    stdin: Buffer.from(JSON.stringify(reports)),
  })
  expect(stderr.toString()).toBe("")
  expect(JSON.parse(stdout.toString())).toEqual(
    texts.map(([name, text, message]) =>
      [name, `1: ${text}`, message, `${message}\n${name}`].map((one) => readable(one)),
    ),
  )
})

/** The text that XML 1.0 can hold. */
const readable = (text: string): string =>
  [...text.toWellFormed()]
    .map((character) => {
      const code = character.codePointAt(0)!
      return code < 0x20
        ? "\t\n\r".includes(character)
          ? character
          : "\ufffd"
        : code === 0xfffe || code === 0xffff
          ? "\ufffd"
          : character
    })
    .join("")
