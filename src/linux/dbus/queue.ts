import { readFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { pause } from "../../until.ts"

/** How long to wait before a full queue is tried again. The kernel does not report when it has room. */
const RETRY_MS = 5

/**
 * Connects again while the queue of a socket's listener is full, until the deadline. A busy server accepts late, and the
 * runtime reports a full queue as a refused connection, like a socket without a listener. `refused` is the failure of
 * the first attempt. It is thrown if there is no listener.
 */
export async function connectWhileFull<T>(
  unix: string,
  deadline: Deadline,
  refused: unknown,
  connect: () => Promise<T>,
): Promise<T> {
  for (let failure = refused; ; ) {
    if (!isListenedOn(unix) || deadline.expired) throw failure
    await pause(RETRY_MS, deadline)
    try {
      return await connect()
    } catch (error) {
      failure = error
    }
  }
}

/** True if a process listens on the socket: the kernel's list marks it as accepting connections. */
export function isListenedOn(unix: string): boolean {
  const path = unix.startsWith("\0") ? `@${unix.slice(1)}` : unix
  return readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .some((line) => LISTENER.exec(line)?.[1] === path)
}

/** A line of the kernel's list: number, references, protocol, flags, type, state, inode, path. */
const LISTENER = /^\S+ \S+ \S+ 00010000 \S+ \S+ +\d+ (.+)$/
