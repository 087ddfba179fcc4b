import type { Env } from "../../adapter.ts"
import { allEntries, type DesktopEntry, entryById, fittingEntry, programOf } from "./desktop-files.ts"
import { commandLine, executablePath, startEnvironment } from "./processes.ts"

/** Hints of the session about a running app. */
export interface AppHints {
  /** Instance and class of WM_CLASS. */
  readonly wmClass?: readonly string[]
  /** The app id or desktop file that its window names. */
  readonly desktopFile?: string
  readonly accessibleName?: string
}

/** Every name that an agent may use for this process. */
export function aliasesOf(pid: number, hints: AppHints, env: Env): readonly string[] {
  const programs = programNames(pid)
  const entry = desktopEntryOf(pid, hints, env, programs)
  const names = [
    hints.accessibleName,
    ...(entry ? [...entry.names, entry.id, entry.wmClass, fileName(programOf(entry))] : []),
    ...programs,
    ...(hints.wmClass ?? []),
    hints.desktopFile && fileName(hints.desktopFile).replace(/\.desktop$/, ""),
  ]
  const seen = new Map(names.flatMap((name) => (name ? [[name.toLowerCase(), name] as const] : [])).reverse())
  return [...seen.values()].reverse()
}

/** The desktop file of a running app. Ids are tried first; only if none fits, all desktop files are read. */
export function desktopEntryOf(
  pid: number,
  hints: AppHints,
  env: Env,
  programs = programNames(pid),
): DesktopEntry | undefined {
  const classes = (hints.wmClass ?? []).filter(Boolean)
  const ids = [hints.desktopFile, launchedFile(pid), ...classes, ...classes.map(lower), ...programs]
  for (const id of new Set(ids.map((one) => fileName(one ?? "")))) {
    const entry = id ? entryById(id, env) : undefined
    if (entry) return entry
  }
  const entries = [...allEntries(env).values()]
  const args = commandLine(pid)
  return (
    fittingEntry(
      entries.filter(({ wmClass }) => wmClass && classes.map(lower).includes(lower(wmClass))),
      args,
    ) ??
    fittingEntry(
      entries.filter((entry) => programs.includes(fileName(programOf(entry)))),
      args,
    )
  )
}

/** The file name of the program; of the script if the program is an interpreter. */
function programNames(pid: number): readonly string[] {
  const program = fileName(executablePath(pid) ?? "")
  const [called = "", ...args] = commandLine(pid)
  const script = INTERPRETER.test(program) ? args.find((arg) => !arg.startsWith("-")) : undefined
  if (script) return [fileName(script), fileName(script).replace(/\.\w+$/, "")]
  return [program, wrapperOf(pid) ?? "", fileName(called.split(" ", 1)[0]!)].filter(Boolean)
}

/** The name of the script that starts the program: `soffice` for `soffice.bin`. undefined for other programs. */
export function wrapperOf(pid: number): string | undefined {
  const program = fileName(executablePath(pid) ?? "")
  return program.endsWith(".bin") ? program.slice(0, -".bin".length) || undefined : undefined
}

const INTERPRETER = /^(python|perl|ruby|node|gjs|bash|dash|sh|java|mono|guile)[\d.]*(-console)?$/

/** The desktop file that a launcher noted for the process. Children inherit the note, so the pid must match. */
function launchedFile(pid: number): string | undefined {
  const env = startEnvironment(pid, "GIO_LAUNCHED_")
  return env?.get("GIO_LAUNCHED_DESKTOP_FILE_PID") === String(pid)
    ? env.get("GIO_LAUNCHED_DESKTOP_FILE")
    : undefined
}

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const lower = (text: string): string => text.toLowerCase()
