import { ptr } from "bun:ffi"
import { guardedly } from "./library.ts"

/** Files that stand for processes, in Linux since 5.3. Since 6.15 they report how a process ended. */

// Variadic functions of C take their arguments like any other on Linux, on x86-64 and arm64.
const libc = guardedly({
  library: "libc.so.6",
  functions: {
    syscall: { args: ["i64", "i64", "i64"], returns: "i64" },
    ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  },
  addresses: [],
})

const PIDFD_OPEN = 434n

/** struct pidfd_info in its first version: a mask of 8 bytes, and the status at its end. */
const SIZE = 64
const STATUS = 60
const EXIT_ASKED = 1n << 3n
/** _IOWR(0xFF, 11, struct pidfd_info) */
const GET_INFO = (3n << 30n) | (BigInt(SIZE) << 16n) | (0xffn << 8n) | 11n

/**
 * Opens a file that stands for the process; undefined if that fails. It must be open when the process ends, and the
 * caller closes it.
 */
export function openProcess(pid: number): number | undefined {
  const fd = Number(libc()?.syscall(PIDFD_OPEN, BigInt(pid), 0n) ?? -1)
  return fd < 0 ? undefined : fd
}

/** The wait(2) status, once the parent has collected the process. undefined: the kernel does not report it. */
export function exitStatus(fd: number): number | undefined {
  const info = new DataView(new ArrayBuffer(SIZE))
  info.setBigUint64(0, EXIT_ASKED, true)
  if (libc()?.ioctl(fd, GET_INFO, ptr(info)) !== 0) return undefined
  return info.getBigUint64(0, true) & EXIT_ASKED ? info.getInt32(STATUS, true) : undefined
}

export function closeProcess(fd: number): void {
  libc()?.close(fd)
}
