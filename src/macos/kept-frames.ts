import { closeSync, readdirSync, renameSync, rmSync } from "node:fs"
import { inWords, openPrivateDirectory, readPrivateFile, writePrivateFile } from "../home.ts"
import type { Rect } from "../node.ts"
import { processStart } from "./processes.ts"

/**
 * Where windows were before `maximize`: macOS keeps that only for windows that the user zoomed. One file
 * a window, in a directory of our own.
 */
const FOLDER = "frames"
const MAX_BYTES = 4096

interface KeptFrame {
  readonly pid: number
  /** Which life of the pid it was: window numbers are used again, too. */
  readonly start: string
  readonly before: Rect
  readonly maximized: Rect
}

export class KeptFrames {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  keep(id: string, pid: number, before: Rect, maximized: Rect): void {
    const start = processStart(pid)
    if (start === undefined) return
    const kept: KeptFrame = { pid, start, before, maximized }
    told(() => {
      closeSync(openPrivateDirectory(this.#root, "root"))
      closeSync(openPrivateDirectory(`${this.#root}/${FOLDER}`, "inner"))
      this.#dropEnded()
      const fresh = `${this.#path(id)}.${crypto.randomUUID()}`
      writePrivateFile(fresh, new TextEncoder().encode(JSON.stringify(kept)), true)
      renameSync(fresh, this.#path(id))
    })
  }

  /** The frames of that window of that process; undefined when none were kept. */
  find(id: string, pid: number): KeptFrame | undefined {
    const kept = told(() => this.#read(this.#path(id)))
    return kept?.pid === pid && kept.start === processStart(pid) ? kept : undefined
  }

  forget(id: string): void {
    told(() => rmSync(this.#path(id), { force: true }))
  }

  #path(id: string): string {
    return `${this.#root}/${FOLDER}/${id}.json`
  }

  /** Windows of processes that are gone do not come back. */
  #dropEnded(): void {
    // What another process is about to rename into place does not end so.
    const names = readdirSync(`${this.#root}/${FOLDER}`).filter((name) => name.endsWith(".json"))
    for (const name of names) {
      const path = `${this.#root}/${FOLDER}/${name}`
      const kept = this.#read(path)
      if (!kept || processStart(kept.pid) !== kept.start) rmSync(path, { force: true })
    }
  }

  #read(path: string): KeptFrame | undefined {
    const text = readPrivateFile(path, MAX_BYTES)
    if (text === undefined) return undefined
    try {
      const kept: unknown = JSON.parse(text)
      return isKept(kept) ? kept : undefined
    } catch (error) {
      // Cut short, or not written by us: as good as none.
      if (!(error instanceof SyntaxError)) throw error
      return undefined
    }
  }
}

function told<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw inWords(error, "The size that the window had could not be kept or found")
  }
}

function isKept(kept: unknown): kept is KeptFrame {
  return (
    isObject(kept) &&
    typeof kept.pid === "number" &&
    typeof kept.start === "string" &&
    isRect(kept.before) &&
    isRect(kept.maximized)
  )
}

function isRect(rect: unknown): boolean {
  return isObject(rect) && ["x", "y", "width", "height"].every((side) => Number.isFinite(rect[side]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
}
