import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { RefStore } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import type { Deadline } from "../../src/deadline.ts"
import { toLine } from "../../src/envelope.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { type Door, runCommand } from "../../src/run.ts"
import { fakeAdapter } from "./fake-adapter.ts"
import { World } from "./fake-world.ts"

/** What a test asserts: the envelope as an agent reads it. */
// biome-ignore lint/suspicious/noExplicitAny: it comes out of JSON, and every test knows what it asked for
export type Json = any

export interface Desk {
  readonly world: World
  readonly door: Door
  readonly refs: RefStore
  /** Directory of the ref store. */
  readonly root: string
  /** Runs a command through the one path and returns its envelope. */
  run(name: string, args?: object): Promise<Json>
  /** The same, for one that must succeed. */
  ok(name: string, args?: object): Promise<Json>
  /** The same, for one that must fail: its error. */
  error(name: string, args?: object): Promise<Json>
  /** The ref of the element of that name in the current map. */
  ref(name: string): Promise<string>
}

/** A desk with a world on it, and the commands as they are. */
export function desk(door: Partial<Door> = {}): Desk {
  const world = new World()
  const root = temporaryDirectory()
  const refs = openRefStore({ root })
  const whole: Door = {
    commands,
    platform: async () => ({ adapter: (deadline: Deadline) => fakeAdapter(world, deadline) }),
    refs,
    readOnly: false,
    stdin: async () => "",
    writeFile: async () => {},
    ...door,
  }
  const run = async (name: string, args: object = {}): Promise<Json> =>
    JSON.parse(toLine(await runCommand(whole, name, args)))
  return {
    world,
    door: whole,
    refs,
    root,
    run,
    async ok(name, args) {
      const envelope = await run(name, args)
      if (!envelope.ok) throw new Error(`${name}: ${JSON.stringify(envelope.error)}`)
      return envelope.data
    },
    async error(name, args) {
      const envelope = await run(name, args)
      if (envelope.ok) throw new Error(`${name} succeeded: ${JSON.stringify(envelope.data)}`)
      return envelope.error
    },
    async ref(name) {
      const found = [...(await refs.load()).inner].filter(([, entry]) => entry.name === name)
      if (found.length !== 1) throw new Error(`${found.length} refs are named ${name}`)
      return found[0]![0]
    },
  }
}

const directories: string[] = []

// Every snapshot is synced to the disk, which may be busy; what is in memory has nothing to sync.
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()
const PREFIX = "agent-desktop-desks-"

// What runs left behind that were killed.
for (const name of readdirSync(place)) {
  const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : process.pid
  if (!isRunning(pid)) rmSync(join(place, name), { recursive: true, force: true })
}

function temporaryDirectory(): string {
  const path = mkdtempSync(join(place, `${PREFIX}${process.pid}-`))
  directories.push(path)
  return path
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** For afterAll of every file that has desks. */
export function clearDesks(): void {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true })
}
