import { readFileSync } from "node:fs"

/** The reason why a process exposes no content, judging by its files in /proc. */
export interface Muteness {
  readonly reason: string
  /** True if no restart would change that. */
  readonly isFinal: boolean
}

/** For a process that is `starting`, only its toolkit is evidence: a bridge or a bus connection may still come. */
export function mutenessOf(pid: number, starting = false, root = "/proc"): Muteness | undefined {
  const maps = read(`${root}/${pid}/maps`)
  const toolkit = TOOLKITS.find(([, library]) => library.test(maps))?.[0]
  if (toolkit)
    return { reason: `it is built with ${toolkit}, which has no accessibility support`, isFinal: true }
  if (starting) return undefined
  const bridged = BRIDGED.find(([, library]) => library.test(maps))?.[0]
  const env = new Set(read(`${root}/${pid}/environ`).split("\0"))
  if (!SWITCHES.some((one) => env.has(one))) return undefined
  if (bridged)
    return {
      reason: `it is ${bridged} without its accessibility bridge; 'doctor' names the package`,
      isFinal: true,
    }
  return { reason: "it runs with accessibility switched on, but exposes nothing", isFinal: true }
}

/**
 * Toolkits without any accessibility support. Programs built with other toolkits may load libraries later, so a missing
 * library proves nothing.
 */
const TOOLKITS: readonly (readonly [string, RegExp])[] = [
  ["Tk", /\/libtk\d/],
  ["SDL", /\/libSDL/],
  ["GLFW", /\/libglfw/],
  ["FLTK", /\/libfltk/],
  ["the X toolkit", /\/libXt\.so/],
]

const BRIDGED: readonly (readonly [string, RegExp])[] = [
  ["a GTK 2 app", /\/libgtk-x11-2\.0/],
  ["a Java app", /\/libjvm\.so/],
]

/** Set by `launch` and `desktop-start`. */
const SWITCHES = ["QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1", "ACCESSIBILITY_ENABLED=1"]

function read(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process has ended, or belongs to another user.
    return ""
  }
}
