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

/** proc_pidinfo's flavor for struct proc_bsdinfo, its size, and the offsets of the fields that we read. */
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
 * Locks an open file; false if another open file holds the lock. The kernel releases the lock when the file
 * is closed, also if the process dies, so there are no stale locks to detect.
 */
export function tryLock(fd: number): boolean {
  return prepareLocks().flock(fd, LOCK_EX | LOCK_NB) === 0
}

/** Opens the library, so that the first lock does not have to. */
export function prepareLocks() {
  return process.platform === "darwin" ? libsystem() : libc()
}

const LOCK_EX = 2
const LOCK_NB = 4

// glibc's name works on musl too: its loader resolves any library named libc.* to itself.
const libc = lazily({
  library: "libc.so.6",
  functions: { flock: { args: ["i32", "i32"], returns: "i32" } },
  addresses: [],
})
