import { readFileSync, rmSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { pause } from "../../until.ts"
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
import { compositorDirectory } from "./compositor.ts"
import { removeNumber } from "./number.ts"
import { type DesktopRecord, desktopDirectory, MARKER, notedApps, ownDirectory } from "./record.ts"

/** Ends every process of the desktop and removes its files, sockets and mounts. */
export async function removeDesktop(root: string, record: DesktopRecord, deadline: Deadline): Promise<void> {
  await endProcesses(record, deadline)
  if (record.display) removeNumber(record.display, record.socket, record.lock)
  if (ownDirectory(record.runtime)) {
    removeMounts(record.runtime)
    rmSync(record.runtime, { recursive: true, force: true })
    if (record.kind === "wayland")
      rmSync(compositorDirectory(record.runtime), { recursive: true, force: true })
  }
  rmSync(desktopDirectory(root, record.name), { recursive: true, force: true })
}

const GRACE_MS = 1000
const LOOK_AGAIN_MS = 10
const ASK_MS = 300

/**
 * Sends SIGTERM first, so that programs can clean up, then SIGKILL to the rest. Not to the X server: on SIGTERM it
 * removes its socket's path, even if another server listens there by now.
 */
async function endProcesses(record: DesktopRecord, deadline: Deadline): Promise<void> {
  const patience = deadline.slice(Math.min(GRACE_MS, deadline.remaining / 2))
  const server = record.socket ? record.parts[0] : undefined
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
      if (patience.expired || one.pid === server?.pid) signal(one, "SIGKILL")
      else if (!asked.has(lifeOf(one))) signal(one, "SIGTERM")
      asked.add(lifeOf(one))
    }
    await pause(LOOK_AGAIN_MS, deadline)
    left = processesOf(record, left, sessions)
  }
}

/**
 * The processes of the desktop: its parts, processes that carry its id, their children, and all members of
 * sessions that one of them leads. (Chromium and others rewrite their title, which overwrites the environment
 * that we read.) `known` and `sessions` keep earlier findings: processes whose parent has ended since, and their
 * children. This process and its ancestors are never included.
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
  // A session id stays taken until its last process is gone; then an unrelated session may get it.
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
 * Programs on the display without a readable environment. (A program with a readable environment and without the
 * desktop's id only watches the desktop from outside: a server of ours, a viewer.)
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
    // The process has ended already.
  }
}

/**
 * Document portals and gvfs mount the user's own files below XDG_RUNTIME_DIR. A recursive removal must never enter
 * such a mount.
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
    suggestion: "Unmount it with 'umount -l', then run 'desktop-stop' again",
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

/** The processes that are connected to a display, read by its server from their sockets. */
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
    // A server that is gone or hangs reports no clients.
    return []
  } finally {
    x?.close()
  }
}
