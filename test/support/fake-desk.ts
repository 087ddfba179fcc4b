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

/** An envelope as an agent reads it. */
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, and every test knows the shape it expects
export type Json = any

export interface Desk {
  readonly world: World
  readonly door: Door
  readonly refs: RefStore
  /** Directory of the ref store. */
  readonly root: string
  /** Runs a command on the usual path and returns its envelope. */
  run(name: string, args?: object): Promise<Json>
  /** Runs a command that must succeed and returns its data. */
  ok(name: string, args?: object): Promise<Json>
  /** Runs a command that must fail and returns its error. */
  error(name: string, args?: object): Promise<Json>
  /** The ref of the element of that name in the current map. */
  ref(name: string): Promise<string>
}

/** A desk with a scripted world and the real commands. */
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

// Every snapshot is synced to disk, which may be slow; memory needs no sync.
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()
const PREFIX = "agent-desktop-desks-"

// Removes directories of test runs that were killed.
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

/** For afterAll of every file that uses desks. */
export function clearDesks(): void {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true })
}
