import { AppError } from "../errors.ts"

/** Replaces a secret in results and errors. */
const HIDDEN = "[secret]"
/** A shorter text occurs in many other texts: replacing it everywhere would reveal it. */
const LEAST = 4

/** The texts that one command must not repeat, even if an app does. */
export class Secrets {
  readonly #texts: string[] = []

  /** Reads the secret that a source names; from standard input without the final line break. */
  async read(source: string, env: Env, stdin: () => Promise<string>): Promise<string> {
    const text = source === "stdin" ? (await stdin()).replace(/\r?\n$/, "") : env(source.slice("env:".length))
    if (text === undefined || text === "") throw noSecret(source)
    this.#texts.push(text)
    return text
  }

  /** The same data with every secret replaced. */
  hide<T>(data: T): T
  hide(data: unknown): unknown {
    if (this.#texts.length === 0) return data
    if (typeof data === "string") return this.#hidden(data)
    if (Array.isArray(data)) return data.map((one) => this.hide(one))
    if (typeof data !== "object" || data === null) return data
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, this.hide(value)]))
  }

  /** The same failure with every secret replaced. */
  hideIn(error: unknown): unknown {
    if (this.#texts.length === 0) return error
    if (!(error instanceof AppError))
      return this.hide(String(error)) === String(error) ? error : new Error("a failure that repeats a secret")
    return new AppError(error.code, this.hide(error.message), {
      suggestion: this.hide(error.suggestion),
      platformDetail: this.hide(error.platformDetail),
      details: this.hide(error.details),
      disposition: error.disposition,
    })
  }

  #hidden(text: string): string {
    return this.#texts.reduce(
      (rest, secret) =>
        rest === secret ? HIDDEN : secret.length < LEAST ? rest : rest.replaceAll(secret, HIDDEN),
      text,
    )
  }
}

type Env = (name: string) => string | undefined

/**
 * The variables that may be read as secrets: all, or only those that the operator named. A variable that the operator
 * did not name looks unset, so that a caller cannot find out which variables exist.
 */
export function namedOnly(env: Env, names: readonly string[] | undefined): Env {
  return (name) => (names === undefined || names.includes(name) ? env(name) : undefined)
}

function noSecret(source: string): AppError {
  const name = source.slice("env:".length)
  const what =
    source === "stdin"
      ? "Standard input is empty: there is no secret"
      : `There is no secret '${name}': the variable is not set, or AGENT_DESKTOP_SECRETS does not name it`
  return new AppError("INVALID_ARGS", what, {
    suggestion:
      source === "stdin"
        ? "Write the text to standard input"
        : "Ask the user to set the variable and to name it in AGENT_DESKTOP_SECRETS",
    details: { argument: "secret" },
  })
}
