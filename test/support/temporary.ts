import { afterAll } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"

/** A directory that exists as long as the block that made it: `using place = temporary()`. */
export interface Temporary extends Disposable {
  readonly path: string
}

const PARENT = realpathSync(tmpdir())
const PREFIX = "agent-desktop-test-"

/** Makes a directory that only the user of the tests may read. Its name carries the pid of the test run. */
export function temporary(parent = PARENT): Temporary {
  const path = mkdtempSync(`${parent}/${PREFIX}${process.pid}-`)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}

/** The path of a directory that exists until the last test of the file has ended. */
export function temporaryForFile(parent?: string): string {
  const place = temporary(parent)
  afterAll(() => place[Symbol.dispose]())
  return place.path
}

/** Temporary directories of this user whose test run was killed before it could remove them. */
export function abandoned(parent = PARENT): readonly string[] {
  return readdirSync(parent).flatMap((name) => {
    const owner = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : process.pid
    const path = `${parent}/${name}`
    if (existsSync(`/proc/${owner}`)) return []
    return statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.() ? [path] : []
  })
}
