import type { Env } from "./adapter.ts"

declare const LIBRARY_MAIN: string | undefined

/** The command line that starts this program again as one of its own parts; see platform.ts. */
export function ownCommand(part: string): readonly string[] {
  if (import.meta.dir.startsWith("/$bunfs")) return [process.execPath, part]
  // Bundled as a library, all files are in one folder.
  const main = typeof LIBRARY_MAIN === "string" ? LIBRARY_MAIN : "./main.ts"
  return [process.execPath, new URL(main, import.meta.url).pathname, part]
}

/** Starts a process that holds a text for other programs, and outlives this one. It writes when it is ready. */
export function startHolder(command: readonly string[], text: string, env: Env) {
  return Bun.spawn([...command], {
    env,
    cwd: "/",
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
  })
}
