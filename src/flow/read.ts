import { AppError } from "../errors.ts"

/** One command of a flow, one `expect`, or the comment in place of a step that could not be recorded. */
export interface FlowLine {
  /** The number of its first line in the file, from 1. */
  readonly number: number
  /** The line as it stands in the file, with `${NAME}` unexpanded: a variable may hold a secret. */
  readonly text: string
  /** Empty for a comment. */
  readonly words: readonly string[]
}

/** The value of a variable; undefined if it is not set. */
export type Variables = (name: string) => string | undefined

/** The start of the comment in place of a step that could not be recorded. */
export const NOT_RECORDED = "# Not recorded: "

const MOST_CHARACTERS = 1_048_576

/**
 * Splits a flow into lines and words, as a POSIX shell does: quotes, backslashes, and `#` for comments. Of the shell's
 * expansions there is only `${NAME}`, and its value is never split. Comments are left out, except for those in place of
 * recorded steps. Throws INVALID_ARGS with `details.line`.
 */
export function readFlow(text: string, variables: Variables): readonly FlowLine[] {
  if (text.length > MOST_CHARACTERS)
    throw new AppError("INVALID_ARGS", `The flow is longer than ${MOST_CHARACTERS} characters`, {
      suggestion: "Split it into several files",
    })
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  return new Reader(plain, variables).lines()
}

/** Characters that mean something else to a shell. A flow has no pipes, so they are mistakes unless quoted. */
const OPERATORS: ReadonlySet<string> = new Set(["|", "&", ";", "<", ">", "(", ")", "`"])
/** Characters that a backslash escapes inside double quotes. Before other characters it is a plain backslash. */
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

  /** The words up to the end of the line, which is skipped. A backslash or a quote carries a line on. */
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
      this.#fail(`'${first}' means something to a shell, and a flow has no such thing`, "Put it into quotes")
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

  /** The value of the variable at this place; a `$` that names none is just that. */
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
      this.#variables(name) ??
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

/** The same failure, with the number of its line in the message and in the details. */
export function atLine(line: number, error: AppError): AppError {
  const { code, message, suggestion, platformDetail, details, disposition } = error
  return new AppError(code, `Line ${line}: ${message}`, {
    suggestion,
    platformDetail,
    details: { ...details, line },
    disposition,
  })
}
