import { mkdirSync, rmSync } from "node:fs"
import type { BunFile } from "bun"
import { Deadline } from "../../src/deadline.ts"
import {
  type DesktopOptions,
  desktopEnv,
  listDesktops,
  startDesktop,
  stopDesktop,
} from "../../src/linux/desktops/desktop.ts"
import { noteApp } from "../../src/linux/desktops/record.ts"
import type { Json } from "./json.ts"
import { abandoned, temporary } from "./temporary.ts"
import { envelopeIn } from "./validated.ts"

export interface TestDesktop extends AsyncDisposable {
  /** The environment of programs on this desktop, with its own AGENT_DESKTOP_HOME and HOME. */
  readonly env: Readonly<Record<string, string>>
  readonly display: string
  /** AGENT_DESKTOP_HOME of `run`. */
  readonly home: string
  /** A directory that is removed with the desktop. */
  readonly directory: string
  /** Starts a program on the desktop, with its stderr in `app.log` of the directory; `close` ends it. */
  spawnApp(command: readonly string[], options?: AppOptions): Bun.Subprocess<"pipe", "ignore", BunFile>
  /** Runs the compiled program on the desktop. */
  run(...args: readonly string[]): Promise<RunResult>
  close(): Promise<void>
}

export interface AppOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface RunResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly json: Json
}

export type TestDesktopOptions = Partial<
  Pick<DesktopOptions, "name" | "kind" | "width" | "height" | "windowManager">
>

export const PROGRAM = new URL("../../dist/agent-desktop", import.meta.url).pathname

/** A private desktop: it has nothing of the user's session, files or settings. */
export async function openDesktop(options: TestDesktopOptions = {}): Promise<TestDesktop> {
  await removeAbandoned()
  const directory = temporary().path
  const root = `${directory}/state`
  for (const path of [root, `${directory}/home`]) mkdirSync(path, { mode: 0o700 })
  const own = { HOME: `${directory}/home`, LC_ALL: "C.UTF-8", AGENT_DESKTOP_HOME: root }
  const base = { PATH: process.env.PATH, XDG_DATA_DIRS: process.env.XDG_DATA_DIRS, ...own }
  const desktop = await startDesktop(
    { root, name: "test", width: 1280, height: 1024, ...options, env: base },
    Deadline.in(30_000),
  )
  const env = { ...desktopEnv(root, desktop.name, base), ...own }

  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= removeAll(directory)
    return closed
  }

  return {
    env,
    display: desktop.display,
    home: root,
    directory,
    spawnApp: (command, { env: more, cwd = directory } = {}) => {
      const app = Bun.spawn([...command], {
        env: { ...env, ...more },
        cwd,
        stdin: "pipe",
        stdout: "ignore",
        stderr: Bun.file(`${directory}/app.log`),
        detached: true,
      })
      noteApp(env, app.pid)
      return app
    },
    run: (...args) => runProgram(args, env),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Removes desktops and directories of test runs that were killed. */
async function removeAbandoned(): Promise<void> {
  // Another run may remove them at the same time.
  for (const directory of abandoned()) await removeAll(directory).catch(() => {})
}

/** Stops the test's desktop and those it started with `run`, and removes the directory. */
async function removeAll(directory: string): Promise<void> {
  const root = `${directory}/state`
  await Promise.all(listDesktops(root).map(({ name }) => stopDesktop(root, name, Deadline.in(15_000))))
  rmSync(directory, { recursive: true, force: true })
}

/** Runs the compiled program with this environment; `json` is its envelope, if stdout is one. */
export async function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RunResult> {
  const child = Bun.spawn([PROGRAM, ...args], { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr, json: envelopeIn(stdout) }
}
