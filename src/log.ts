/** Logs go to stderr through consola, which is loaded with the first line that is to be shown. */

let level = 1

export function setVerbose(verbose: boolean): void {
  level = verbose ? 4 : 1
}

/** For whoever watches with --verbose. Never application text or typed text: it may be a secret. */
export function debug(message: string): void {
  if (level >= 4) void write("debug", message)
}

export function warn(message: string): void {
  if (level >= 1) void write("warn", message)
}

let logger: Promise<{ debug(message: string): void; warn(message: string): void }> | undefined

async function write(kind: "debug" | "warn", message: string): Promise<void> {
  logger ??= create()
  ;(await logger)[kind](message)
}

async function create() {
  const { createConsola } = await import("consola/core")
  const { writeSync } = await import("node:fs")
  const colour = Boolean(process.env["FORCE_COLOR"]) || (!process.env["NO_COLOR"] && isTerminal())
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  return createConsola({
    level,
    reporters: [
      {
        log: ({ type, args }) => {
          writeSync(2, `${paint(type === "warn" ? 33 : 90, type)} ${args.join(" ")}\n`)
        },
      },
    ],
  })
}

function isTerminal(): boolean {
  const { isatty } = require("node:tty") as typeof import("node:tty")
  return isatty(2)
}
