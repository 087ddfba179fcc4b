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
        "__own-clipboard": async () => (await import("./linux/x11-clipboard-owner.ts")).serveClipboard,
        "__notification-daemon": async () =>
          (await import("./linux/notification-daemon.ts")).serveNotifications,
      }
    : {}

export async function internalPart(word: string): Promise<Part | undefined> {
  return Object.hasOwn(PARTS, word) ? PARTS[word]?.() : undefined
}
