import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { pause } from "../until.ts"

/** One command of a flow, one `expect`, or the comment in place of a step that could not be recorded. */
export interface FlowLine {
  /** The number of its first line in the file, from 1. */
  readonly number: number
  /** The line as written in the file. `${NAME}` is not expanded: a variable may contain a secret. */
  readonly text: string
  /** Empty for a comment. */
  readonly words: readonly string[]
}

/** The value of a variable on a line; undefined if it is not set. */
export type Variables = (name: string, line: number) => string | undefined

/** The start of the comment in place of a step that could not be recorded. */
export const NOT_RECORDED = "# Not recorded: "

const MOST_CHARACTERS = 1_048_576

/**
 * Splits a flow into lines and words like a POSIX shell: quotes, backslashes, and `#` for comments. The only expansion
 * is `${NAME}`, whose value is never split. Comments are dropped, except for those that replace recorded steps. Throws
 * INVALID_ARGS with `details.line`.
 */
export function readFlow(text: string, variables: Variables): readonly FlowLine[] {
  if (text.length > MOST_CHARACTERS) throw tooLong()
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  return new Reader(plain, variables).lines()
}

const tooLong = (): AppError =>
  new AppError("INVALID_ARGS", `The flow is longer than ${MOST_CHARACTERS} characters`, {
    suggestion: "Split it into several files",
    details: { argument: "file" },
  })

/** Characters with a meaning in a shell. A flow has no pipes, so they are mistakes unless quoted. */
const OPERATORS: ReadonlySet<string> = new Set(["|", "&", ";", "<", ">", "(", ")", "`"])
/** Characters that a backslash escapes in double quotes. Before any other character it is a plain backslash. */
const ESCAPED_IN_QUOTES: ReadonlySet<string> = new Set(["$", "`", '"', "\\"])
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/y

/** Reads one flow from its start to its end. */
class Reader {
  readonly #text: string
  readonly #variables: Variables
  #at = 0
  #line = 1

  constructor(text: string, variables: Variables) {
    this.#text = text
    this.#variables = variables
  }

  lines(): readonly FlowLine[] {
    const lines: FlowLine[] = []
    while (this.#at < this.#text.length) {
      const [start, number] = [this.#at, this.#line]
      const words = this.#words()
      const text = this.#text.slice(start, this.#at).trim()
      if (words.length > 0 || text.startsWith(NOT_RECORDED)) lines.push({ number, text, words })
    }
    return lines
  }

  /** The words up to the end of the line. A backslash or a quote continues a line. */
  #words(): readonly string[] {
    const words: string[] = []
    let word: string | undefined
    const end = (): void => {
      if (word !== undefined) words.push(word)
      word = undefined
    }
    for (let next = this.#take(); next !== ""; next = this.#take()) {
      if (next === "\n") break
      if (next === " " || next === "\t") end()
      else if (next === "#" && word === undefined) this.#skipComment()
      else if (next === "\\" && this.#peek() === "\n") this.#take()
      else word = (word ?? "") + this.#part(next)
    }
    end()
    return words
  }

  /** The part of a word that begins with this character. */
  #part(first: string): string {
    if (first === "'") return this.#quoted("'")
    if (first === '"') return this.#quoted('"')
    if (first === "\\") return this.#take() || this.#fail("A backslash ends the flow")
    if (first === "$") return this.#variable()
    if (OPERATORS.has(first))
      this.#fail(`'${first}' has a meaning in a shell, but not in a flow`, "Put it into quotes")
    return this.#plain(first)
  }

  /** The text up to the closing quote. */
  #quoted(quote: "'" | '"'): string {
    const line = this.#line
    let text = ""
    for (let next = this.#take(); next !== quote; next = this.#take()) {
      if (next === "") this.#fail(`The quote ${quote} is not closed`, "Close the quote", line)
      if (quote === '"' && next === "\\") text += this.#escape()
      else text += quote === '"' && next === "$" ? this.#variable() : this.#plain(next)
    }
    return text
  }

  #escape(): string {
    const next = this.#peek()
    if (next === "\n") {
      this.#take()
      return ""
    }
    return ESCAPED_IN_QUOTES.has(next) ? this.#take() : "\\"
  }

  /** The value of the variable at this place. A `$` without a name is a plain character. */
  #variable(): string {
    VARIABLE.lastIndex = this.#at - 1
    const name = VARIABLE.exec(this.#text)?.[1]
    if (name === undefined) {
      if (this.#peek() === "{")
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
        this.#fail("'${' must be followed by a name and '}'", "Write ${NAME}, or \\$ for the character")
      return "$"
    }
    this.#at = VARIABLE.lastIndex
    return (
      this.#variables(name, this.#line) ??
      this.#fail(`The variable ${name} is not set`, `Pass --set ${name}=VALUE, or export ${name}`)
    )
  }

  #plain(character: string): string {
    if (character === "\0") this.#fail("The flow contains a NUL character", "Save it as plain text")
    return character
  }

  #skipComment(): void {
    const end = this.#text.indexOf("\n", this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #take(): string {
    const next = this.#text.charAt(this.#at)
    this.#at += next.length
    if (next === "\n") this.#line++
    return next
  }

  #fail(message: string, suggestion?: string, line = this.#line): never {
    throw atLine(line, new AppError("INVALID_ARGS", message, { suggestion }))
  }
}

/** The same failure, with its line number in the message and in the details. */
export function atLine(line: number, error: AppError): AppError {
  const { code, message, suggestion, platformDetail, details, disposition } = error
  return new AppError(code, `Line ${line}: ${message}`, {
    suggestion,
    platformDetail,
    details: { ...details, line },
    disposition,
  })
}

/** Time between two attempts to read from a pipe. */
const POLL_MS = 10
/** Time limit for the writer of a named pipe to open it. */
const WRITER_MS = 5000

/**
 * The text of a flow. It may come through a pipe, such as `<(…)` in a shell. So opening it does not wait for a
 * writer, and reading ends at the deadline. Throws INVALID_ARGS if the file cannot be read or is too long, and TIMEOUT if the
 * pipe is not closed in time.
 */
export async function readSource(file: string, deadline: Deadline): Promise<string> {
  let fd: number | undefined
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    return new TextDecoder().decode(await bytesOf(fd, deadline))
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError("INVALID_ARGS", `The flow '${file}' cannot be read`, {
      suggestion: "Name a file of command lines, or - for standard input",
      platformDetail: error instanceof Error ? error.message : String(error),
      details: { argument: "file" },
    })
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

async function bytesOf(fd: number, deadline: Deadline): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const writer = fstatSync(fd).isFIFO() ? deadline.slice(WRITER_MS) : undefined
  for (;;) {
    const chunk = readNow(fd)
    const isEnd = chunk?.length === 0
    // A pipe without a writer looks like one at its end. The writer may still come.
    if (isEnd && writer && length === 0 && !writer.expired) {
      await pause(POLL_MS, deadline)
      continue
    }
    if (isEnd) return Buffer.concat(chunks)
    length += chunk?.length ?? 0
    // A character has at most four bytes.
    if (length > 4 * MOST_CHARACTERS) throw tooLong()
    if (chunk) chunks.push(chunk)
    else if (deadline.expired) throw notEnded()
    else await pause(POLL_MS, deadline)
  }
}

const notEnded = (): AppError =>
  new AppError("TIMEOUT", "The flow did not end in time", {
    suggestion: "Check the program that writes it; it must close the pipe",
    details: { kind: "stdin" },
    disposition: NOTHING_DELIVERED,
  })

/** The next bytes; empty at the end. undefined: a pipe is empty now. */
function readNow(fd: number): Uint8Array | undefined {
  const buffer = new Uint8Array(65_536)
  try {
    return buffer.subarray(0, readSync(fd, buffer))
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined
    throw error
  }
}
