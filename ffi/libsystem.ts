import { type Declaration, lazily } from "./library.ts"

export const LIBSYSTEM = {
  library: "/usr/lib/libSystem.B.dylib",
  functions: {
    proc_pidinfo: { args: ["i32", "i32", "u64", "ptr", "i32"], returns: "i32" },
    proc_pidpath: { args: ["i32", "ptr", "u32"], returns: "i32" },
    proc_listallpids: { args: ["ptr", "i32"], returns: "i32" },
    flock: { args: ["i32", "i32"], returns: "i32" },
  } as const,
  addresses: [],
} satisfies Declaration

export const libsystem = lazily(LIBSYSTEM)

/** proc_pidinfo's flavor for struct proc_bsdinfo, its size, and where it keeps what we read. */
export const BSD_INFO = {
  flavor: 3,
  size: 136,
  parent: 16,
  startSeconds: 120,
  startMicroseconds: 128,
} as const

/** PROC_PIDPATHINFO_MAXSIZE */
export const PATH_SIZE = 4096

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
