import * as v from "valibot"
import { FORMATS, type Format, NUMBERINGS } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Numbering } from "../node.ts"
import { namesIn } from "../policy.ts"
import { choice, flag, optionalText } from "../schema/inputs.ts"

/** Options that every command takes, before or after its name. */
export const globals = v.strictObject({
  session: optionalText("Keep a separate set of refs under this name, for several agents at once", {
    value: "NAME",
  }),
  desktop: optionalText("Linux: run in this isolated desktop, from desktop-start", { value: "NAME" }),
  refs: v.optional(
    choice(
      NUMBERINGS,
      "stable: an element keeps its number during the session, and no number is reused; fresh: every snapshot starts at @e1 (default; for mcp: stable)",
    ),
  ),
  format: v.optional(choice(FORMATS, "text: trees, matches and lists as plain lines, for fewer tokens")),
  read_only: flag("Refuse every command that acts"),
  trace: optionalText("Record every command in this directory; trace-show and trace-export read it", {
    value: "DIR",
  }),
  record: optionalText("Append successful commands to this flow", { value: "FILE" }),
  trace_screenshots: flag("Also keep pictures of the screen before and after commands that act"),
  verbose: flag("Log the steps of the command to stderr", { short: "v" }),
  help: flag("Show help", { short: "h" }),
  version: flag("Print the version as plain text", { short: "V" }),
})

export interface Settings {
  readonly session?: string
  readonly desktop?: string
  /** undefined: the door's default. */
  readonly numbering?: Numbering
  readonly format: Format
  /** The format that the caller asked for. An MCP server has another default. */
  readonly chosenFormat?: Format
  readonly readOnly: boolean
  /** The only apps that may be seen and acted on. */
  readonly apps?: readonly string[]
  /** The only variables that `--secret env:NAME` may read. */
  readonly secrets?: readonly string[]
  /** Directory of the trace. */
  readonly traceTo?: string
  readonly traceScreenshots: boolean
  /** File of the flow that is recorded. */
  readonly recordTo?: string
  readonly verbose: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Settings from flags and variables. A flag beats its variable, unless the variable restricts: a flag can add a
 * restriction, and cannot lift one. An empty variable counts as unset, except for lists of names.
 */
export function settingsOf(given: Readonly<Record<string, unknown>>, env: Env): Settings {
  const { session, desktop, refs, format, read_only, trace, trace_screenshots, record, verbose } = v.parse(
    globals,
    given,
  )
  const chosenFormat = format ?? wordOf("AGENT_DESKTOP_FORMAT", env.AGENT_DESKTOP_FORMAT, FORMATS)
  return {
    session: session ?? (env.AGENT_DESKTOP_SESSION || undefined),
    desktop: desktop ?? (env.AGENT_DESKTOP_DESKTOP || undefined),
    numbering: refs ?? numberingOf(env.AGENT_DESKTOP_REFS),
    format: chosenFormat ?? "json",
    chosenFormat,
    readOnly: read_only || isOn(env.AGENT_DESKTOP_READ_ONLY),
    apps: namesIn(env.AGENT_DESKTOP_APPS),
    secrets: namesIn(env.AGENT_DESKTOP_SECRETS),
    traceTo: trace || env.AGENT_DESKTOP_TRACE || undefined,
    traceScreenshots:
      given.trace_screenshots === undefined ? isOn(env.AGENT_DESKTOP_TRACE_SCREENSHOTS) : trace_screenshots,
    recordTo: record || env.AGENT_DESKTOP_RECORD || undefined,
    verbose,
  }
}

/** How refs are numbered, according to the variable. */
export const numberingOf = (value: string | undefined): Numbering | undefined =>
  wordOf("AGENT_DESKTOP_REFS", value, NUMBERINGS)

function wordOf<W extends string>(
  variable: string,
  value: string | undefined,
  words: readonly W[],
): W | undefined {
  const word = words.find((one) => one === value)
  if (word || !value) return word
  throw new AppError("INVALID_ARGS", `${variable} is '${value}', and must be ${words.join(" or ")}`, {
    suggestion: `unset ${variable}`,
  })
}

export const isOn = (value: string | undefined): boolean =>
  value !== undefined && value !== "" && value !== "0" && value.toLowerCase() !== "false"

/** Finds the value of an option in a command line that could not be parsed. */
export function givenOption(argv: readonly string[], flag: string): string | undefined {
  const end = argv.indexOf("--")
  const words = end < 0 ? argv : argv.slice(0, end)
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at < 0) return undefined
  return words[at] === flag ? words[at + 1] : words[at]?.slice(flag.length + 1)
}
