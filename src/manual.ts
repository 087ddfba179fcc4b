import { type Command, GROUPS, type Input } from "./command.ts"
import { ERROR_GUIDE } from "./error-guide.ts"
import { fieldsOf, positionalsOf } from "./fields.ts"
import { argumentRow, optionRow, type Row, TITLES, usageOf } from "./help.ts"

/** The manual page, section 1, for `man`. */
export function manualPage(commands: readonly Command[], globals: Input, version: string): string {
  return `${[
    `.TH AGENT\\-DESKTOP 1 "" "agent\\-desktop ${roff(version)}" "User Commands"`,
    ".SH NAME",
    "agent\\-desktop \\- see and control desktop applications",
    ".SH SYNOPSIS",
    ".B agent\\-desktop",
    ".I COMMAND",
    "[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]",
    ".SH DESCRIPTION",
    text(
      "Reads the accessibility tree of a window, gives every element that can be acted on a ref such as @e3, and acts on refs. Every command prints one line of JSON: version, ok, command, and data or error.",
    ),
    ".PP",
    text("A short introduction, for agents as for people: agent-desktop skills get core"),
    ".SH COMMANDS",
    ...GROUPS.flatMap((group) => [
      `.SS ${roff(TITLES[group])}`,
      ...commands.filter((command) => command.group === group).flatMap(entryOf),
    ]),
    ".SH OPTIONS OF EVERY COMMAND",
    ...fieldsOf(globals).map(optionRow).flatMap(termOf),
    ".SH EXIT STATUS",
    ...[["0", "Done."] as const, ["1", "Failed; the error's code says how."] as const].flatMap(termOf),
    ...termOf(["2", "The arguments did not parse. It is still an envelope, with the code INVALID_ARGS."]),
    ".SH ERRORS",
    ...Object.entries(ERROR_GUIDE).flatMap(([code, { cause, recovery }]) =>
      termOf([code, `${cause} ${plain(recovery)}`]),
    ),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(termOf),
    ".SH FILES",
    ...termOf(["~/.agent-desktop", "Refs of the newest snapshots, readable by their owner only."]),
  ].join("\n")}\n`
}

const ENVIRONMENT: readonly Row[] = [
  ["AGENT_DESKTOP_SESSION", "As --session: a namespace of refs."],
  ["AGENT_DESKTOP_DESKTOP", "As --desktop: an isolated desktop."],
  ["AGENT_DESKTOP_FORMAT", "As --format."],
  ["AGENT_DESKTOP_READ_ONLY", "As --read-only."],
  ["AGENT_DESKTOP_APPS", "Names of apps, separated by commas: only these may be seen and acted on."],
  ["AGENT_DESKTOP_TRACE", "As --trace: a directory in which every command is written down."],
  ["AGENT_DESKTOP_TRACE_SCREENSHOTS", "As --trace-screenshots."],
  ["AGENT_DESKTOP_HOME", "Where state is kept instead of ~/.agent-desktop."],
  ["NO_COLOR", "No colours in what is logged."],
]

function entryOf(command: Command): readonly string[] {
  const fields = fieldsOf(command.input)
  const places = positionalsOf(fields)
  const options = fields.filter((field) => field.position === undefined)
  const rows = [...places.map(argumentRow), ...options.map(optionRow)]
  const usage = [...places, ...options.filter((field) => field.required)].map(usageOf).join(" ")
  return [
    ".TP",
    `\\fB${roff(command.name)}\\fR ${roff(usage)}`.trimEnd(),
    text(`${command.summary}.`),
    ".RS",
    ...rows.flatMap(termOf),
    ".RE",
    ...(command.examples ? [".RS", ".sp", ".EX", ...command.examples.map(text), ".EE", ".RE"] : []),
  ]
}

const termOf = ([term, said]: Row): readonly string[] => [".TP", `\\fB${roff(term)}\\fR`, text(said)]

/** A line of text: what begins like a request must not be one. */
const text = (line: string): string => roff(line).replace(/^(?=[.'])/, "\\&")

const roff = (line: string): string => line.replaceAll("\\", "\\e").replaceAll("-", "\\-")

const plain = (markdown: string): string => markdown.replaceAll("`", "")
