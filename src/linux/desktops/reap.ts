import { readFileSync, rmSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import {
  allProcesses,
  identify,
  isAlive,
  type Process,
  type ProcessIdentity,
  startEnvironment,
  withAncestors,
} from "../host/processes.ts"
import { X11 } from "../x11/connection.ts"
import { Request } from "../x11/wire.ts"
import { fileIdentity, socketOf } from "./parts.ts"
import { type DesktopRecord, desktopDirectory, MARKER, notedApps } from "./record.ts"

/** Ends every process of the desktop and removes whatever it left on the machine. */
export async function removeDesktop(root: string, record: DesktopRecord, deadline: Deadline): Promise<void> {
  await endProcesses(record, deadline)
  removeSocket(record)
  if (record.runtime) {
    removeMounts(record.runtime)
    rmSync(record.runtime, { recursive: true, force: true })
  }
  rmSync(desktopDirectory(root, record.name), { recursive: true, force: true })
}

const GRACE_MS = 1000
const LOOK_AGAIN_MS = 10
const ASK_MS = 300

/** SIGTERM first, so that programs can put away what they hold; SIGKILL for what is left. */
async function endProcesses(record: DesktopRecord, deadline: Deadline): Promise<void> {
  const patience = deadline.slice(Math.min(GRACE_MS, deadline.remaining / 2))
  const asked = new Set<string>()
  const sessions = new Set<number>()
  let left = processesOf(
    record,
    [...notedApps(record), ...(await namelessClients(record, deadline))],
    sessions,
  )
  while (left.length > 0) {
    if (deadline.expired)
      throw new AppError("TIMEOUT", `Desktop '${record.name}' still has ${left.length} processes`, {
        details: { kind: "desktop", pids: left.map(({ pid }) => pid) },
        suggestion: `Run 'desktop-stop ${record.name}' again`,
      })
    for (const one of left) {
      if (patience.expired) signal(one, "SIGKILL")
      else if (!asked.has(lifeOf(one))) signal(one, "SIGTERM")
      asked.add(lifeOf(one))
    }
    await Bun.sleep(LOOK_AGAIN_MS)
    left = processesOf(record, left, sessions)
  }
}

/**
 * What belongs to the desktop: its parts, whatever carries its id, what they started, and whole
 * sessions that one of them leads. (Programs that rewrite their title, as Chromium does, overwrite
 * the environment that we look at.) `known` and `sessions` keep what an earlier look found: those
 * whose parent has ended since, and what was started by one that has. Never ourselves or those who
 * called us.
 */
function processesOf(
  record: DesktopRecord,
  known: readonly ProcessIdentity[],
  sessions: Set<number>,
): readonly Process[] {
  const all = allProcesses()
  const spared = withAncestors(process.pid)
  const certain = new Set([...record.parts, ...known].map(lifeOf))
  const ours = new Set(
    all.flatMap((one) =>
      certain.has(lifeOf(one)) || startEnvironment(one.pid)?.get(MARKER) === record.id ? one.pid : [],
    ),
  )
  // A number of a session stays taken until its last process is gone; then a stranger may lead one of that number.
  const foreign = new Set(
    all.flatMap((one) => (one.pid === one.session && !ours.has(one.pid) ? one.pid : [])),
  )
  for (let size = -1; size !== ours.size; ) {
    size = ours.size
    for (const one of all) {
      if (
        ours.has(one.parent) ||
        ours.has(one.session) ||
        (sessions.has(one.session) && !foreign.has(one.session))
      )
        ours.add(one.pid)
      if (ours.has(one.pid) && one.pid === one.session) sessions.add(one.pid)
    }
  }
  return all.filter(({ pid }) => ours.has(pid) && !spared.has(pid))
}

/**
 * Programs on the display that show no environment at all. (One that does, and does not carry the
 * desktop's id, only looks at the desktop from outside: a server of ours, a viewer.)
 */
async function namelessClients(
  { env }: DesktopRecord,
  deadline: Deadline,
): Promise<readonly ProcessIdentity[]> {
  if (!env.DISPLAY) return []
  const pids = await displayClients(env, deadline.slice(ASK_MS))
  return pids.flatMap((pid) => (startEnvironment(pid)?.size === 0 ? (identify(pid) ?? []) : []))
}

const lifeOf = ({ pid, start }: ProcessIdentity): string => `${pid} ${start}`

function signal(target: Process, name: "SIGTERM" | "SIGKILL"): void {
  if (!isAlive(target)) return
  try {
    process.kill(target.pid, name)
  } catch {
    // It ended in between, which is what we want.
  }
}

/** A killed X server leaves its socket (but no lock: -displayfd makes none). Another may have taken the number since. */
function removeSocket({ display, socket }: DesktopRecord): void {
  if (display && socket && fileIdentity(socketOf(display)) === socket)
    rmSync(socketOf(display), { force: true })
}

/**
 * Document portals and gvfs mount the user's own files below XDG_RUNTIME_DIR: a recursive removal
 * must never walk into one.
 */
function removeMounts(directory: string): void {
  for (const mount of mountsBelow(directory).reverse())
    for (const command of [
      ["fusermount3", "-uz"],
      ["fusermount", "-uz"],
      ["umount", "-l"],
    ])
      if (
        Bun.which(command[0]!) &&
        Bun.spawnSync([...command, mount], { stdio: ["ignore", "ignore", "ignore"] }).success
      )
        break
  const left = mountsBelow(directory)
  if (left.length === 0) return
  throw new AppError("ACTION_FAILED", `'${left[0]}' is still mounted`, {
    suggestion: `Run 'umount -l ${left[0]}'`,
  })
}

const mountsBelow = (directory: string): string[] =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4]?.replace(/\\040/g, " ") ?? [])
    .filter((path) => path.startsWith(`${directory}/`))

const QUERY_CLIENT_IDS = 4
const ALL_CLIENTS = 0
const LOCAL_CLIENT_PID = 2

/** The processes that are connected to a display, as its server knows them from their sockets. */
export async function displayClients(
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<readonly number[]> {
  let x: X11 | undefined
  try {
    x = await X11.connect(env, deadline)
    const extension = await x.extension("X-Resource", deadline)
    if (!extension) return []
    const request = new Request(extension.opcode, QUERY_CLIENT_IDS)
      .u32(1)
      .u32(ALL_CLIENTS)
      .u32(LOCAL_CLIENT_PID)
    const reply = await x.ask(request, deadline)
    const pids: number[] = []
    for (let at = 32, left = reply.u32(8); left > 0; left--) {
      const length = reply.u32(at + 8)
      if (length >= 4) pids.push(reply.u32(at + 12))
      at += 12 + length
    }
    return pids
  } catch {
    // A server that is gone or hangs knows nobody.
    return []
  } finally {
    x?.close()
  }
}
