import { lazily } from "./library.ts"
import { libsystem } from "./libsystem.ts"

/**
 * Takes the lock of an open file unless another open file has it. The kernel takes it back when the
 * file is closed, also when the process dies: there is no stale lock to judge, and no pid to trust.
 */
export function tryLock(fd: number): boolean {
  return prepareLocks().flock(fd, LOCK_EX | LOCK_NB) === 0
}

/** Opens the library, which otherwise the first lock does. */
export function prepareLocks() {
  return process.platform === "darwin" ? libsystem() : libc()
}

const LOCK_EX = 2
const LOCK_NB = 4

// musl's loader takes any library named libc.* for itself, so that the name of glibc's does there too.
const libc = lazily({
  library: "libc.so.6",
  functions: { flock: { args: ["i32", "i32"], returns: "i32" } },
  addresses: [],
})
