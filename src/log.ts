/** Logs go to stderr through consola, which is loaded with the first line that is to be shown. */

const WARN = 1
const DEBUG = 4

let level = WARN

export function setVerbose(verbose: boolean): void {
  level = verbose ? DEBUG : WARN
}

/** For whoever watches with --verbose. Never application text or typed text: it may be a secret. */
export async function debug(message: string): Promise<void> {
  if (level < DEBUG) return
  logger ??= create()
  ;(await logger).debug(message)
}

/** For something that is not as it should be, and does not keep the command from its work. */
export async function warn(message: string): Promise<void> {
  logger ??= create()
  ;(await logger).warn(message)
}

let logger: ReturnType<typeof create> | undefined

async function create() {
  const [{ createConsola }, { writeSync }, { stderrTerminal, wantsColour }] = await Promise.all([
    import("consola/core"),
    import("node:fs"),
    import("./terminal.ts"),
  ])
  const colour = wantsColour(stderrTerminal() !== undefined)
  const grey = (text: string) => (colour ? `\x1b[90m${text}\x1b[0m` : text)
  return createConsola({
    level,
    reporters: [{ log: ({ type, args }) => void writeSync(2, `${grey(type)} ${args.join(" ")}\n`) }],
  })
}
