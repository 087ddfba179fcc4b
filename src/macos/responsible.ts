import { responsibility } from "../../ffi/accessibility.ts"
import { startOver } from "../../ffi/respawn.ts"
import { bundlePlace, executableOf, parentOf } from "./apps.ts"

/**
 * macOS stores a privacy grant for the responsible process: the app that started us, or this program if launchd
 * started it.
 */
export interface Responsible {
  /** The name of an app, or the path of a bare program. */
  readonly name: string
  /** How to find it: "Terminal (/System/Applications/Utilities/Terminal.app)". */
  readonly full: string
  readonly kind: "app" | "program" | "self"
}

/** The program that needs the grants; undefined if macOS does not say. */
export function responsibleProgram(): Responsible | undefined {
  const pid = responsiblePid()
  if (pid === undefined) return undefined
  const kind = pid === process.pid ? "self" : "app"
  const place = bundlePlace(pid)
  if (place) return { name: place.name, full: `${place.name} (${place.path})`, kind }
  const path = executableOf(pid) ?? `the process ${pid}`
  return { name: path, full: path, kind: kind === "self" ? kind : "program" }
}

function responsiblePid(): number | undefined {
  const pid = responsibility()?.responsibility_get_pid_responsible_for_pid(process.pid) ?? 0
  return pid > 0 ? pid : undefined
}

/** Levels of parent processes in which to look for the app that started us. */
const PARENTS = 16

/** The name of the nearest app above this process. */
export function nearestApp(): string | undefined {
  let pid: number | undefined = process.ppid
  for (let i = 0; i < PARENTS && pid && pid > 1; i++) {
    const place = bundlePlace(pid)
    if (place) return place.name
    pid = parentOf(pid)
  }
  return undefined
}

/** The identifier of `Agent Desktop.app`. macOS stores grants under it, so it must never change. */
export const BUNDLE_IDENTIFIER = "agent-desktop.AgentDesktop"

/** The command line of the bundle: a user who opens it in Finder wants to grant it its permissions. */
export function wordsOfBundle(argv: readonly string[]): readonly string[] {
  // LaunchServices sets it to the identifier of the app that it starts; a terminal's children have the terminal's.
  const isOpened = argv.length === 0 && process.env.__CFBundleIdentifier === BUNDLE_IDENTIFIER
  return isOpened ? ["permissions", "--request"] : argv
}

/** A variable for the restarted program: its pid, which the restart keeps. Prevents a second restart. */
const STARTED_OVER = "AGENT_DESKTOP_STARTED_OVER"

/**
 * In a bundle: restarts this program as its own responsible process. Then the grants of the bundle count, not those of
 * the terminal or agent that runs it. Returns if there is nothing to do, or if macOS refused.
 */
export function takeResponsibility(): void {
  const pid = responsiblePid()
  if (pid === undefined || pid === process.pid || process.env[STARTED_OVER] === `${process.pid}`) return
  const { [STARTED_OVER]: _, ...env } = process.env
  const variables = Object.entries({ ...env, [STARTED_OVER]: `${process.pid}` })
  startOver(
    process.execPath,
    [process.argv0, ...process.argv.slice(2)],
    variables.map(([name, value]) => `${name}=${value ?? ""}`),
  )
}
