import { type Command, GROUPS, type Group, loadAll, type Registry } from "../command.ts"
import { ERROR_GUIDE } from "../schema/error-guide.ts"
import { type Field, fieldsOf, type Input, positionalsOf, spellingsOf } from "../schema/fields.ts"

/** Help on a command, or on the program if none is given. */
export async function helpFor(
  command: Command | undefined,
  registry: Registry,
  globals: Input,
): Promise<string> {
  return command ? renderCommandHelp(command, globals) : renderHelp(await loadAll(registry), globals)
}

/** The members of a command that the list shows. */
export type Summary = Pick<Command, "name" | "summary" | "group">

/** The program's help: every command in its group, and the options that all of them take. */
export function renderHelp(commands: readonly Summary[], globals: Input): string {
  const options = fieldsOf(globals).map(optionRow)
  const column = columnFor([...commands.map(({ name }) => name), ...options.map(([term]) => term)])
  const groups = GROUPS.map((group) => {
    const members = commands.filter((command) => command.group === group)
    return section(
      TITLES[group],
      members.map(({ name, summary }) => [name, summary]),
      column,
    )
  })
  return page([
    "agent-desktop: see and control desktop applications",
    "Usage: agent-desktop COMMAND [ARGUMENTS] [OPTIONS]",
    "Agents: run 'agent-desktop skills get core' first. It explains how to use this program.",
    ...groups,
    section("Options of every command", options, column),
    [
      "A command prints one line of JSON: version, ok, command, and data or error.",
      "Exit codes: 0 success, 1 failure, 2 invalid arguments.",
      "Run 'agent-desktop help COMMAND' for a command's arguments and examples.",
    ].join("\n"),
  ])
}

/** One command's help: usage, arguments, options, examples. */
export function renderCommandHelp(
  command: Pick<Command, "name" | "summary" | "input" | "examples">,
  globals: Input,
): string {
  const fields = fieldsOf(command.input)
  const places = positionalsOf(fields)
  const options = fields.filter((field) => field.position === undefined)
  const ordered = [
    ...options.filter((field) => field.required),
    ...options.filter((field) => !field.required),
  ]
  return page([
    wrap(command.summary.split(" "), WIDTH).join("\n"),
    paragraph(`Usage: agent-desktop ${command.name}`, [...places, ...ordered].map(usageOf)),
    section("Arguments", places.map(argumentRow)),
    section("Options", ordered.map(optionRow)),
    command.examples?.length ? ["Examples", ...command.examples.map((line) => `  ${line}`)].join("\n") : "",
    paragraph(
      "Options of every command:",
      fieldsOf(globals).map((field, index, all) => `${flagPart(field)}${index < all.length - 1 ? "," : ""}`),
    ),
  ])
}

export type Row = readonly [term: string, text: string]

const WIDTH = 100

export const TITLES: Readonly<Record<Group, string>> = {
  observe: "Observe",
  act: "Act on elements",
  input: "Keyboard and mouse",
  window: "Apps and windows",
  clipboard: "Clipboard",
  notification: "Notifications",
  desktop: "Desktops",
  system: "System",
  integrate: "For agents and shells",
}

const page = (blocks: readonly string[]) => `${blocks.filter((block) => block !== "").join("\n\n")}\n`

/** Start of the second column. Terms that are too long for the first column do not widen it. */
const columnFor = (terms: readonly string[]) =>
  4 + Math.max(0, ...terms.map((term) => term.length).filter((length) => length <= 22))

/** A title and its rows in two columns; a long term has its text on the next line. Empty without rows. */
function section(
  title: string,
  rows: readonly Row[],
  column = columnFor(rows.map(([term]) => term)),
): string {
  const lines = rows.flatMap(([term, text]) => {
    const [first = "", ...more] = wrap(text.split(" "), WIDTH - column)
    const indent = " ".repeat(column)
    return term.length + 4 <= column
      ? [`  ${term}`.padEnd(column) + first, ...more.map((line) => indent + line)]
      : [`  ${term}`, ...[first, ...more].map((line) => indent + line)]
  })
  return rows.length === 0 ? "" : [title, ...lines.map((line) => line.trimEnd())].join("\n")
}

/** A prefix and pieces after it, wrapped between pieces and indented to the first piece. */
function paragraph(start: string, pieces: readonly string[]): string {
  const indent = start.length + 1
  return pieces.length === 0
    ? start
    : `${start} ${wrap(pieces, WIDTH - indent).join(`\n${" ".repeat(indent)}`)}`
}

function wrap(pieces: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const piece of pieces) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + piece.length <= width)
      lines[lines.length - 1] = `${last} ${piece}`
    else if (piece !== "") lines.push(piece)
  }
  return lines
}

export function usageOf(field: Field): string {
  const text = field.position === undefined ? flagPart(field) : field.placeholder
  return `${field.required ? text : `[${text}]`}${field.kind === "list" ? "..." : ""}`
}

export const argumentRow = (field: Field): Row => [
  field.placeholder,
  textOf(field, [...(field.freeText ? ["after -- if it looks like an option"] : []), `or ${field.flag}`]),
]

export const optionRow = (field: Field): Row => [
  `${field.short ? `-${field.short}, ` : ""}${flagPart(field)}`,
  textOf(
    field,
    spellingsOf(field)
      .slice(1)
      .filter((spelling) => spelling.startsWith("--"))
      .map((spelling) => `or ${spelling}`),
  ),
]

function flagPart(field: Field): string {
  // A boolean that is on by default is shown as the flag that turns it off.
  if (field.kind === "boolean") return field.default === true ? `--no-${field.flag.slice(2)}` : field.flag
  return `${field.flag} ${field.optionalValue === undefined ? field.placeholder : `[${field.placeholder}]`}`
}

function textOf(field: Field, spellings: readonly string[]): string {
  const facts = [
    ...(field.choices && !field.placeholder.includes("|") ? [`one of ${field.choices.join(", ")}`] : []),
    ...rangeOf(field),
    ...(field.kind === "list" ? ["may be repeated"] : []),
    ...(field.default === undefined || field.kind === "boolean" || `${field.default}` === ""
      ? []
      : [`default ${field.default}`]),
    ...spellings,
  ]
  return `${field.description ?? ""}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`.trim()
}

function rangeOf({ min, max }: Field): readonly string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max}`]
  if (min !== undefined) return [`at least ${min}`]
  return max === undefined ? [] : [`at most ${max}`]
}

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
  ["AGENT_DESKTOP_REFS", "As --refs: how refs are numbered."],
  ["AGENT_DESKTOP_DESKTOP", "As --desktop: an isolated desktop."],
  ["AGENT_DESKTOP_FORMAT", "As --format."],
  ["AGENT_DESKTOP_READ_ONLY", "As --read-only, and no flag lifts it."],
  ["AGENT_DESKTOP_APPS", "Names of apps, separated by commas: only these may be seen and acted on."],
  [
    "AGENT_DESKTOP_SECRETS",
    "Names of variables, separated by commas: --secret env:NAME may read only these.",
  ],
  ["AGENT_DESKTOP_TRACE", "As --trace: a directory in which every command is recorded."],
  ["AGENT_DESKTOP_TRACE_SCREENSHOTS", "As --trace-screenshots."],
  ["AGENT_DESKTOP_RECORD", "As --record: a flow to which commands that succeed are appended."],
  ["AGENT_DESKTOP_HOME", "Directory of the state, instead of ~/.agent-desktop."],
  ["NO_COLOR", "Log without colours."],
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

const termOf = ([term, explanation]: Row): readonly string[] => [
  ".TP",
  `\\fB${roff(term)}\\fR`,
  text(explanation),
]

/** A line of text, escaped so that roff does not read its start as a request. */
const text = (line: string): string => roff(line).replace(/^(?=[.'])/, "\\&")

/** Terminals without UTF-8 have no "…", and man complains about it. */
const roff = (line: string): string =>
  line.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...")

const plain = (markdown: string): string => markdown.replaceAll("`", "")
