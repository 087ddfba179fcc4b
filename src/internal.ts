type Environment = Readonly<Record<string, string | undefined>>

/** Runs until its work is done; returns the exit code. */
export type Part = (env: Environment) => Promise<number>

/**
 * What this program does for itself in a process of its own, by the first word of its command line.
 * No user ever types these.
 */
export async function internalPart(word: string): Promise<Part | undefined> {
  if (process.platform !== "linux") return undefined
  switch (word) {
    case "__notification-daemon":
      return (await import("./linux/notification-daemon.ts")).serveNotifications
    default:
      return undefined
  }
}
