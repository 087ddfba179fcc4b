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
