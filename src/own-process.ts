type Environment = Readonly<Record<string, string | undefined>>

/** Runs until its work is done; returns the exit code. */
export type Part = (env: Environment) => Promise<number>

/**
 * What this program does for itself in a process of its own, by the first word of its command line.
 * No user ever types these. A compiled binary keeps only those of its own platform.
 */
const PARTS: Readonly<Record<string, () => Promise<Part>>> =
  process.platform === "linux"
    ? {
        "__own-clipboard": async () => (await import("./linux/x11/clipboard-owner.ts")).serveClipboard,
        "__notification-daemon": async () =>
          (await import("./linux/notifications/daemon.ts")).serveNotifications,
      }
    : {}

export async function internalPart(word: string): Promise<Part | undefined> {
  return Object.hasOwn(PARTS, word) ? PARTS[word]?.() : undefined
}

declare const LIBRARY_MAIN: string | undefined

/** How to start this same program again in one of the parts that PARTS names. */
export function ownCommand(part: string): readonly string[] {
  if (import.meta.dir.startsWith("/$bunfs")) return [process.execPath, part]
  // Bundled as a library, all files are in one folder.
  const main = typeof LIBRARY_MAIN === "string" ? LIBRARY_MAIN : "./main.ts"
  return [process.execPath, new URL(main, import.meta.url).pathname, part]
}
