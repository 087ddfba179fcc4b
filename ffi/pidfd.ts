import { ptr } from "bun:ffi"
import { guardedly } from "./library.ts"

/** Files that stand for processes, which Linux has had since 5.3. They tell how a process ended since 6.15. */

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

/** struct pidfd_info, as it was first defined: a mask of 8 bytes, and the status at its end. */
const SIZE = 64
const STATUS = 60
const EXIT_ASKED = 1n << 3n
/** _IOWR(0xFF, 11, struct pidfd_info) */
const GET_INFO = (3n << 30n) | (BigInt(SIZE) << 16n) | (0xffn << 8n) | 11n

/** A file that stands for the process, or undefined. It must be open when the process ends, and be closed by the caller. */
export function openProcess(pid: number): number | undefined {
  const fd = Number(libc()?.syscall(PIDFD_OPEN, BigInt(pid), 0n) ?? -1)
  return fd < 0 ? undefined : fd
}

/** The status of wait(2), once the parent has collected the process. undefined: the kernel does not tell. */
export function exitStatus(fd: number): number | undefined {
  const info = new DataView(new ArrayBuffer(SIZE))
  info.setBigUint64(0, EXIT_ASKED, true)
  if (libc()?.ioctl(fd, GET_INFO, ptr(info)) !== 0) return undefined
  return info.getBigUint64(0, true) & EXIT_ASKED ? info.getInt32(STATUS, true) : undefined
}

export function closeProcess(fd: number): void {
  libc()?.close(fd)
}
