import { chmodSync, cpSync } from "node:fs"
import { join } from "node:path"
import { temporary } from "./temporary.ts"

/** Prefix of a command that runs it as an unprivileged user. */
export const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

export interface OpenCopy extends Disposable {
  /** Path of the copied Bun. */
  readonly bun: string
  /** Path of a source file or script in the copy. */
  at(path: string): string
  readonly root: string
}

/** Copies the sources and Bun to a place that any user may read; a home directory may not be readable. */
export function openCopy(): OpenCopy {
  const place = temporary()
  const root = place.path
  chmodSync(root, 0o755)
  for (const name of ["src", "ffi", "scripts"])
    cpSync(join(import.meta.dir, "../..", name), join(root, name), { recursive: true })
  const bun = join(root, "bun")
  cpSync(process.execPath, bun)
  return {
    bun,
    root,
    at: (path) => join(root, path),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}
