import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { Deadline } from "../../src/deadline.ts"
import { startDesktop, stopDesktop } from "../../src/linux/desktops/desktop.ts"
import { openDesktop, PROGRAM } from "../support/desktop.ts"
import { temporary } from "../support/temporary.ts"
import { until } from "../support/until.ts"

/** Leftovers of desktops and servers after many runs. The file system and /proc decide, not the code under test. */

export interface DesktopFigures {
  readonly started: number
  /** How many of them had a process killed before they were stopped. */
  readonly killed: number
  /** Processes, sockets, locks and directories that were left, by name. */
  readonly left: readonly string[]
}

/** Starts and stops desktops one after the other; every second one loses a process first. */
export async function cycleDesktops(count: number, first = 0): Promise<DesktopFigures> {
  using place = temporary()
  const root = place.path
  const left: string[] = []
  let killed = 0
  for (let number = first; number < first + count; number++) {
    const desktop = await startDesktop(
      { root, width: 640, height: 480, env: process.env },
      Deadline.in(30_000),
    )
    const id = desktop.env.AGENT_DESKTOP_DESKTOP_ID!
    const socket = `/tmp/.X11-unix/X${desktop.display.slice(1)}`
    const identity = identityOf(socket)
    if (number % 2 === 1) {
      const victim = partsOf(id).toSorted((a, b) => a - b)[Math.floor(number / 2) % 5]
      if (victim !== undefined) {
        process.kill(victim, "SIGKILL")
        killed++
      }
    }
    await stopDesktop(root, desktop.name, Deadline.in(20_000))
    left.push(...partsOf(id).map((pid) => `process ${pid} of desktop ${number}`))
    if (existsSync(desktop.env.XDG_RUNTIME_DIR!)) left.push(desktop.env.XDG_RUNTIME_DIR!)
    if (existsSync(`${root}/desktops/${desktop.name}`)) left.push(`${root}/desktops/${desktop.name}`)
    // Another X server may have taken the number by now, and be about to create its own socket there.
    const isGone = () => identity === undefined || identityOf(socket) !== identity
    if (!(await until(isGone).catch(() => false))) left.push(socket)
    const lock = `/tmp/.X${desktop.display.slice(1)}-lock`
    if (existsSync(lock) && Number(readFileSync(lock, "utf8")) === desktop.pid) left.push(lock)
  }
  return { started: count, killed, left }
}

/** Identifies the file. The inode number is not enough, since it may be given again within a second. */
function identityOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.ino} ${file.ctimeNs}`
}

/** The processes that carry the desktop's id. */
function partsOf(id: string): readonly number[] {
  const found = Bun.spawnSync([
    "sh",
    "-c",
    `grep -lz "AGENT_DESKTOP_DESKTOP_ID=${id}" /proc/[0-9]*/environ 2>/dev/null`,
  ])
  return (found.stdout.toString().match(/\d+/g) ?? []).map(Number)
}

export interface ServerFigures {
  readonly calls: number
  readonly failed: number
  readonly descriptors: { readonly early: number; readonly late: number }
  /** Resident megabytes. */
  readonly memory: { readonly early: number; readonly middle: number; readonly late: number }
}

const CALLS = [
  ["desktop_list_windows", {}],
  ["desktop_snapshot", { app: "stubborn", interactive_only: true }],
  ["desktop_get", { ref_id: "@e1", property: "name" }],
  ["desktop_click", { ref_id: "@e1" }],
  ["desktop_find", { app: "stubborn", role: "textfield" }],
  ["desktop_list_apps", {}],
  ["desktop_get", { ref_id: "@e999", property: "name" }],
  ["desktop_snapshot", { app: "nobody" }],
  [
    "desktop_batch",
    { commands: [{ command: "status" }, { command: "get", args: { ref_id: "@e1", property: "states" } }] },
  ],
  ["desktop_wait", { text: "nowhere", app: "stubborn", timeout_ms: 1 }],
] as const

/** Calls one server again and again, and measures it after a tenth, half, and all of the calls. */
export async function askServer(calls: number): Promise<ServerFigures> {
  await using desktop = await openDesktop()
  desktop.spawnApp(["/usr/bin/python3", new URL("../fixtures/stubborn.py", import.meta.url).pathname])
  await until(async () => (await desktop.run("snapshot", "--app", "stubborn")).json.ok, 20_000)
  const child = Bun.spawn([PROGRAM, "mcp", "--tools", "all"], {
    env: { ...desktop.env },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const answers = answersOf(child.stdout)
  const say = async (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    await child.stdin.flush()
  }
  const clientInfo = { name: "test", version: "1" }
  await say({
    id: -1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  })
  await answers.next()
  await say({ method: "notifications/initialized" })
  const looks: { descriptors: number; memory: number }[] = []
  let failed = 0
  for (let id = 0; id < calls; id++) {
    const [name, args] = CALLS[id % CALLS.length]!
    await say({ id, method: "tools/call", params: { name, arguments: args } })
    const { value } = await answers.next()
    if (!value?.includes(`"id":${id}`)) throw new Error(`No answer to call ${id}: ${value}`)
    if (value.includes('"isError":true')) failed++
    if ([Math.floor(calls / 10), Math.floor(calls / 2), calls - 1].includes(id)) looks.push(lookAt(child.pid))
  }
  child.stdin.end()
  await child.exited
  const [early, middle, late] = looks
  return {
    calls,
    failed,
    descriptors: { early: early!.descriptors, late: late!.descriptors },
    memory: { early: early!.memory, middle: middle!.memory, late: late!.memory },
  }
}

function lookAt(pid: number): { descriptors: number; memory: number } {
  const resident = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, memory: Math.round(Number(resident) / 1024) }
}

async function* answersOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let heard = ""
  const decoder = new TextDecoder()
  for await (const piece of stream) {
    heard += decoder.decode(piece, { stream: true })
    const lines = heard.split("\n")
    heard = lines.pop() ?? ""
    yield* lines.filter((line) => line.includes('"id":'))
  }
  return undefined
}
