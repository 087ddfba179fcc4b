import { ptr } from "bun:ffi"
import { type Declaration, guardedly } from "./library.ts"

/** posix_spawn with the private attribute by which a process takes over its own responsibility for privacy grants. */
export const RESPAWN = {
  library: "/usr/lib/libSystem.B.dylib",
  functions: {
    responsibility_spawnattrs_setdisclaim: { args: ["ptr", "i32"], returns: "i32" },
    posix_spawnattr_init: { args: ["ptr"], returns: "i32" },
    posix_spawnattr_setflags: { args: ["ptr", "i32"], returns: "i32" },
    posix_spawnattr_destroy: { args: ["ptr"], returns: "i32" },
    posix_spawn: { args: ["ptr", "cstring", "u64", "ptr", "ptr", "ptr"], returns: "i32" },
  } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

const respawn = guardedly(RESPAWN)

/** POSIX_SPAWN_SETEXEC: replaces this process, like execve. */
const SET_EXEC = 0x40

/**
 * Replaces this process by a new start of a program, in the same pid with the same open files, that is responsible for
 * itself. Returns only if that failed.
 */
export function startOver(path: string, args: readonly string[], environment: readonly string[]): void {
  const calls = respawn()
  if (!calls) return
  // posix_spawnattr_t is a pointer; C allocates what it points to.
  const attributes = new BigUint64Array(1)
  if (calls.posix_spawnattr_init(attributes) !== 0) return
  calls.posix_spawnattr_setflags(attributes, SET_EXEC)
  const words = stringList(args)
  const variables = stringList(environment)
  if (calls.responsibility_spawnattrs_setdisclaim(attributes, 1) === 0)
    calls.posix_spawn(
      new Int32Array(1),
      Buffer.from(`${path}\0`),
      0n,
      attributes,
      words.pointers,
      variables.pointers,
    )
  calls.posix_spawnattr_destroy(attributes)
}

/** A char *[] that ends with NULL, and the strings, which must live as long as it. */
function stringList(texts: readonly string[]) {
  const strings = texts.map((text) => Buffer.from(`${text}\0`))
  return { strings, pointers: new BigUint64Array([...strings.map((one) => BigInt(ptr(one))), 0n]) }
}
