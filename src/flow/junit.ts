import type { ErrorObject } from "../envelope.ts"
import type { FlowLine } from "./read.ts"

/** A line that ran. */
export interface Done {
  readonly line: FlowLine
  readonly ms: number
  /** Its failure; undefined if it succeeded. */
  readonly error?: ErrorObject
}

/**
 * A run of a flow as a JUnit report, with one test case for each line. Lines that did not run are skipped, and so are
 * steps that were not recorded.
 */
export function junitReport(name: string, lines: readonly FlowLine[], done: readonly Done[]): string {
  const failures = done.filter(({ error }) => error).length
  const seconds = done.reduce((sum, { ms }) => sum + ms, 0) / 1000
  const counts = `tests="${lines.length}" failures="${failures}" skipped="${lines.length - done.length}"`
  const cases = lines.map((line) =>
    caseOf(
      name,
      line,
      done.find((one) => one.line === line),
    ),
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${seconds.toFixed(3)}">`,
    `  <testsuite name="${escaped(name)}" ${counts} errors="0" time="${seconds.toFixed(3)}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n")
}

function caseOf(suite: string, { number, text, words }: FlowLine, done: Done | undefined): string {
  const head = `    <testcase classname="${escaped(suite)}" name="${escaped(`${number}: ${text}`)}"`
  const why = words.length === 0 ? ' message="Only a comment"' : ""
  if (!done) return `${head}>\n      <skipped${why}/>\n    </testcase>`
  const timed = `${head} time="${(done.ms / 1000).toFixed(3)}"`
  if (!done.error) return `${timed}/>`
  const { code, message, suggestion } = done.error
  const body = suggestion === undefined ? message : `${message}\n${suggestion}`
  return [
    `${timed}>`,
    `      <failure type="${escaped(code)}" message="${escaped(message)}">${escaped(body)}</failure>`,
    "    </testcase>",
  ].join("\n")
}

/** Text for XML. Characters that XML cannot contain become U+FFFD. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}")
    .replaceAll(/[&<>"\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`)
