import { closeSync, renameSync, rmSync } from "node:fs"
import { MODIFIERS, type Modifier } from "../adapter.ts"
import { inWords, openPrivateDirectory, readPrivateFile, writePrivateFile } from "../home.ts"

const FILE = "held.json"
const MAX_BYTES = 4096
/** Whoever holds a key for longer has forgotten it: it must not change what is clicked an hour later. */
const LONGEST_MS = 60_000

/**
 * The modifiers that `key-down` holds. macOS lets go of them when the process ends that pressed them, and
 * judges every event by the flags that it carries: so the next commands have to know.
 */
export class HeldKeys {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  get modifiers(): readonly Modifier[] {
    return told(() => {
      const text = readPrivateFile(this.#path, MAX_BYTES)
      return text === undefined ? [] : parse(text)
    })
  }

  hold(modifiers: readonly Modifier[]): void {
    if (modifiers.length > 0) this.#write([...this.modifiers, ...modifiers])
  }

  release(modifiers: readonly Modifier[]): void {
    const held = this.modifiers
    const left = held.filter((name) => !modifiers.includes(name))
    if (left.length < held.length) this.#write(left)
  }

  get #path(): string {
    return `${this.#root}/${FILE}`
  }

  #write(modifiers: readonly Modifier[]): void {
    told(() => {
      if (modifiers.length === 0) return rmSync(this.#path, { force: true })
      closeSync(openPrivateDirectory(this.#root, "root"))
      const fresh = `${this.#path}.${crypto.randomUUID()}`
      const held = { modifiers: [...new Set(modifiers)], at: Date.now() }
      writePrivateFile(fresh, new TextEncoder().encode(JSON.stringify(held)), true)
      renameSync(fresh, this.#path)
    })
  }
}

function parse(text: string): readonly Modifier[] {
  try {
    const held: unknown = JSON.parse(text)
    if (typeof held !== "object" || held === null || !("modifiers" in held) || !("at" in held)) return []
    const { modifiers, at } = held
    const age = typeof at === "number" ? Date.now() - at : LONGEST_MS
    if (!Array.isArray(modifiers) || age < 0 || age >= LONGEST_MS) return []
    return MODIFIERS.filter((name) => modifiers.includes(name))
  } catch (error) {
    // Cut short, or not written by us: as good as none.
    if (!(error instanceof SyntaxError)) throw error
    return []
  }
}

function told<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw inWords(error, "The keys that are held could not be kept or found")
  }
}
