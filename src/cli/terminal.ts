import { writeSync } from "node:fs"
import { isatty } from "node:tty"
import type { ConsolaInstance } from "consola/core"
import type { Env } from "../adapter.ts"
import { escapeHidden } from "../shown-text.ts"

/** Standard error, if it is a terminal with a person in front of it. */
export interface Terminal {
  write(text: string): void
  /** Lines can be written over. */
  readonly isCapable: boolean
  readonly colour: boolean
}

/** undefined if standard error is a file, a pipe or closed. */
export function stderrTerminal(env: Env = process.env): Terminal | undefined {
  if (!isatty(2)) return undefined
  return { write, isCapable: env.TERM !== "dumb", colour: wantsColour(true, env) }
}

/** The rule of no-color.org: any NO_COLOR that is not empty. */
export function wantsColour(isTerminal: boolean, env: Env = process.env): boolean {
  return Boolean(env.FORCE_COLOR) || (!env.NO_COLOR && env.TERM !== "dumb" && isTerminal)
}

function write(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // The terminal is gone or full. No command depends on its output.
  }
}

/** A progress line on standard error. Each new text replaces the last one, and `end` removes it. */
export interface Progress {
  /** Shows the current step. */
  say(text: string): void
  /** Removes the line so that something else can be printed; it returns soon after. */
  clear(): void
  end(): void
}

const REDRAW_MS = 200
/** Fits into common terminals: a line that breaks could not be removed. */
const WIDTH = 79

/** Writes nothing without a terminal. `limitMs`: the longest that the work can take. */
export function startProgress(
  title: string,
  { limitMs, since = performance.now() }: { readonly limitMs?: number; readonly since?: number } = {},
  terminal: Terminal | undefined = stderrTerminal(),
): Progress {
  if (!terminal) return { say: () => {}, clear: () => {}, end: () => {} }
  let text = ""
  let drawn = ""
  const limit = limitMs ? ` of at most ${seconds(limitMs)}` : ""
  const clear = (): void => {
    if (drawn) terminal.write("\r\x1b[K")
    drawn = ""
  }
  if (!terminal.isCapable) {
    terminal.write(`${title} …\n`)
    return { say: (words) => terminal.write(`${title}: ${plain(words)}\n`), clear: () => {}, end: () => {} }
  }
  const draw = (): void => {
    const line = `${title} ${seconds(performance.now() - since)}${limit}${text ? `  ${text}` : ""}`
    const cut = [...line].length > WIDTH ? `${[...line].slice(0, WIDTH - 1).join("")}…` : line
    if (cut === drawn) return
    drawn = cut
    terminal.write(`\r\x1b[K${terminal.colour ? `\x1b[2m${cut}\x1b[0m` : cut}`)
  }
  draw()
  const timer = setInterval(draw, REDRAW_MS)
  // The work decides how long the program lives.
  timer.unref()
  return {
    say(words) {
      text = plain(words)
      draw()
    },
    clear,
    end() {
      clearInterval(timer)
      clear()
    },
  }
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly suggestion?: string
}

/** Prints an error in one line, for a person at the terminal. */
export function printFailure(
  command: string,
  { code, message, suggestion }: Failure,
  terminal: Terminal | undefined = stderrTerminal(),
): void {
  if (!terminal) return
  const head = `${command}: ${code}`
  const text = `${plain(message)}${suggestion ? ` (${plain(suggestion)})` : ""}`
  terminal.write(`${terminal.colour ? `\x1b[31m${head}\x1b[0m` : head} ${text}\n`)
}

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`

/** Errors repeat names from apps, and those must not move the cursor. */
const plain = (text: string): string => escapeHidden(text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " "))

export type Log = Pick<ConsolaInstance, "debug" | "warn">

/**
 * A log on standard error, for a person. consola filters by level: warnings always, the rest with --verbose. Texts of
 * apps and typed texts never go into it: they may be secret.
 */
export async function openLog(verbose: boolean): Promise<Log> {
  // consola's own reporters load node:util and touch process.stderr, which costs more than a whole command.
  const { createConsola, LogLevels } = await import("consola/core")
  const colour = wantsColour(isatty(2))
  const grey = (text: string): string => (colour ? `\x1b[90m${text}\x1b[0m` : text)
  return createConsola({
    level: verbose ? LogLevels.debug : LogLevels.warn,
    reporters: [{ log: ({ type, args }) => write(`${grey(type)} ${args.join(" ")}\n`) }],
  })
}
