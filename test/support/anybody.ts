import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Runs what follows as a user who is nobody in particular. */
export const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

export interface OpenCopy extends Disposable {
  /** Of Bun itself. */
  readonly bun: string
  /** Where a file of the sources or scripts is in the copy. */
  at(path: string): string
  readonly root: string
}

/** The sources and Bun, where anybody may read them: a checkout below a home directory is not such a place. */
export function openCopy(): OpenCopy {
  const root = mkdtempSync(join(tmpdir(), "open-copy-"))
  chmodSync(root, 0o755)
  for (const name of ["src", "ffi", "scripts"])
    cpSync(join(import.meta.dir, "../..", name), join(root, name), { recursive: true })
  const bun = join(root, "bun")
  cpSync(process.execPath, bun)
  return {
    bun,
    root,
    at: (path) => join(root, path),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}
