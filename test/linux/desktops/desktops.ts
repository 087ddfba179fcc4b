import { afterEach, beforeEach } from "bun:test"
import { existsSync, readFileSync, statSync } from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import type { DesktopInfo } from "../../../src/desktop.ts"
import { listDesktops, startDesktop, stopDesktop } from "../../../src/linux/desktops/desktop.ts"
import { NOBODY, type OpenCopy } from "../../support/anybody.ts"
import { type Temporary, temporary } from "../../support/temporary.ts"

/** Isolated desktops for tests, and observations that do not use the code under test. */

type Options = Partial<Parameters<typeof startDesktop>[0]>

interface Part {
  readonly program: string
  readonly pid: number
}

interface Recorded {
  readonly id: string
  readonly ready: boolean
  readonly parts: readonly Part[]
  readonly env: Readonly<Record<string, string>>
}

export interface Desktops {
  /** AGENT_DESKTOP_HOME of the test. */
  readonly root: string
  start(options?: Options, deadline?: Deadline): Promise<DesktopInfo>
  stop(name: string): Promise<DesktopInfo>
  list(): readonly DesktopInfo[]
  /** The file that describes a desktop; undefined while there is none. */
  record(name: string): Recorded | undefined
  /**
   * Runs a script in another process. The script has `root`, `options`, `Deadline` and the functions of
   * the module. With a copy of the sources it runs as the user `nobody`.
   */
  spawnChild(
    body: string,
    env?: Readonly<Record<string, string>>,
    copy?: OpenCopy,
  ): Bun.Subprocess<"ignore", "pipe", "inherit">
}

export const sourceOf = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname

/** A new root for each test. Everything that the test leaves running is stopped after it. */
export function desktopsOfEachTest(): Desktops {
  let place: Temporary
  beforeEach(() => {
    place = temporary()
  })
  afterEach(async () => {
    for (const { name } of listDesktops(place.path)) await desktops.stop(name)
    place[Symbol.dispose]()
  })
  const desktops: Desktops = {
    get root() {
      return place.path
    },
    start: async (options = {}, deadline = Deadline.in(30_000)) => {
      const whole = { root: place.path, width: 640, height: 480, env: process.env, ...options }
      const desktop = await startDesktop(whole, deadline)
      sockets.set(idOf(desktop), fileIdentity(socketOf(desktop.display)))
      return desktop
    },
    stop: (name) => stopDesktop(place.path, name, Deadline.in(15_000)),
    list: () => listDesktops(place.path),
    record: (name) => {
      const path = `${place.path}/desktops/${name}/desktop.json`
      return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined
    },
    spawnChild: (body, env = {}, copy) => {
      const script = scriptOn(place.path, body, copy?.at)
      return Bun.spawn([...(copy ? [...NOBODY, copy.bun] : [process.execPath]), "-e", script], {
        cwd: copy?.root,
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      })
    },
  }
  return desktops
}

/** A script for another process. It has `root`, `options`, `Deadline` and the functions of the module. */
export const scriptOn = (root: string, body: string, at = sourceOf): string => `
  import { listDesktops, startDesktop, stopDesktop } from ${JSON.stringify(at("src/linux/desktops/desktop.ts"))}
  import { Deadline } from ${JSON.stringify(at("src/deadline.ts"))}
  const root = ${JSON.stringify(root)}
  const options = { root, width: 640, height: 480, env: process.env }
  ${body}`

export async function jsonOf(child: { readonly stdout: ReadableStream<Uint8Array> }) {
  return JSON.parse(await new Response(child.stdout).text())
}

export const launch = (desktop: DesktopInfo, command: readonly string[]) =>
  Bun.spawn([...command], {
    env: { ...process.env, ...desktop.env },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  })

export async function output(desktop: DesktopInfo, ...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...desktop.env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  return new Response(child.stdout).text()
}

export const idOf = ({ env }: DesktopInfo): string => env.AGENT_DESKTOP_DESKTOP_ID!

/** The socket of each started desktop. Another X server may take the number as soon as it is free. */
const sockets = new Map<string, string | undefined>()

export const NO_TRACES = { processes: [] as string[], files: [] as string[] }

/** Processes and files of a desktop that are still there. Files of other X servers in /tmp do not count. */
export function traces(desktop: DesktopInfo) {
  const { display, env, pid } = desktop
  const socket = fileIdentity(socketOf(display))
  return {
    processes: marked(idOf(desktop)),
    files: [
      ...(socket !== undefined && socket === sockets.get(idOf(desktop)) ? [socketOf(display)] : []),
      ...(lockOwner(display) === pid ? [lockOf(display)] : []),
      ...(existsSync(env.XDG_RUNTIME_DIR!) ? [env.XDG_RUNTIME_DIR!] : []),
    ],
  }
}

/** The processes that carry the desktop's id in their environment. */
export const marked = (id: string): string[] =>
  Bun.spawnSync(["sh", "-c", `grep -lz "AGENT_DESKTOP_DESKTOP_ID=${id}" /proc/[0-9]*/environ 2>/dev/null`])
    .stdout.toString()
    .split("\n")
    .filter(Boolean)

/** False also for a zombie: it has ended, and only waits for its parent. */
export const isRunning = (pid: number) =>
  /^[^Z]/.test(Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString())

export const socketOf = (display: string) => `/tmp/.X11-unix/X${display.slice(1)}`

/** Differs for a new file of the same name, even if it has the inode of the old one. */
export function fileIdentity(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.ino} ${file.ctimeNs}`
}

const lockOf = (display: string) => `/tmp/.X${display.slice(1)}-lock`

/** The pid in an X server's lock. A lock that cannot be read belongs to another user. */
function lockOwner(display: string): number | undefined {
  try {
    return Number(readFileSync(lockOf(display), "utf8"))
  } catch {
    return undefined
  }
}
