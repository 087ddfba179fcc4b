import { dlopen } from "bun:ffi"

/**
 * Takes the lock of an open file unless another open file has it. The kernel takes it back when the
 * file is closed, also when the process dies: there is no stale lock to judge, and no pid to trust.
 */
export function tryLock(fd: number): boolean {
  return prepareLocks().symbols.flock(fd, LOCK_EX | LOCK_NB) === 0
}

/** Opens the library, which otherwise the first lock does. */
export function prepareLocks(): ReturnType<typeof open> {
  library ??= open()
  return library
}

const LOCK_EX = 2
const LOCK_NB = 4

let library: ReturnType<typeof open> | undefined

const open = () =>
  dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
    flock: { args: ["i32", "i32"], returns: "i32" },
  })
