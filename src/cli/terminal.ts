import { writeSync } from "node:fs"
import { isatty } from "node:tty"

/** Standard error, where a person looks at it. */
export interface Terminal {
  write(text: string): void
  /** Lines can be written over. */
  readonly isCapable: boolean
  readonly colour: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/** undefined where standard error is a file, a pipe or nothing. */
export function stderrTerminal(env: Env = process.env): Terminal | undefined {
  if (!isatty(2)) return undefined
  return { write, isCapable: env.TERM !== "dumb", colour: wantsColour(true, env) }
}

/** As no-color.org has it: any NO_COLOR that is not empty. */
export function wantsColour(isTerminal: boolean, env: Env = process.env): boolean {
  return Boolean(env.FORCE_COLOR) || (!env.NO_COLOR && env.TERM !== "dumb" && isTerminal)
}

function write(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // A terminal that is gone, or full: nobody looks, and nothing depends on it.
  }
}

/** What a person sees of work that takes long: one line on standard error, written over and gone at the end. */
export interface Progress {
  /** What is being done now. */
  say(text: string): void
  /** Lets something else be printed: the line is taken away, and comes back. */
  clear(): void
  end(): void
}

const REDRAW_MS = 200
/** So that no usual terminal breaks the line, which would stay. */
const WIDTH = 79

/** Where nobody looks, nothing is written. `limitMs` is when it ends at the latest. */
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

/** An error in one line, for a person who looks. */
export function tellFailure(
  command: string,
  { code, message, suggestion }: Failure,
  terminal: Terminal | undefined = stderrTerminal(),
): void {
  if (!terminal) return
  const head = `${command}: ${code}`
  const told = `${plain(message)}${suggestion ? ` (${plain(suggestion)})` : ""}`
  terminal.write(`${terminal.colour ? `\x1b[31m${head}\x1b[0m` : head} ${told}\n`)
}

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`

/** Applications name things in errors: nothing of theirs may move the cursor. */
const plain = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")

/** Logs go to stderr through consola, which is loaded with the first line that is to be shown. */

const WARN = 1
const DEBUG = 4

let level = WARN

export function setVerbose(verbose: boolean): void {
  level = verbose ? DEBUG : WARN
}

/** For whoever watches with --verbose. Never application text or typed text: it may be a secret. */
export async function debug(message: string): Promise<void> {
  if (level < DEBUG) return
  logger ??= create()
  ;(await logger).debug(message)
}

/** For something that is not as it should be, and does not keep the command from its work. */
export async function warn(message: string): Promise<void> {
  logger ??= create()
  ;(await logger).warn(message)
}

let logger: ReturnType<typeof create> | undefined

async function create() {
  const { createConsola } = await import("consola/core")
  const colour = wantsColour(stderrTerminal() !== undefined)
  const grey = (text: string) => (colour ? `\x1b[90m${text}\x1b[0m` : text)
  return createConsola({
    level,
    reporters: [{ log: ({ type, args }) => void writeSync(2, `${grey(type)} ${args.join(" ")}\n`) }],
  })
}
