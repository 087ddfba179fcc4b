import { existsSync, rmSync } from "node:fs"
import type { RefStore } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import type { Deadline } from "../../src/deadline.ts"
import type { Door } from "../../src/door.ts"
import { toLine } from "../../src/envelope.ts"
import type { Numbering } from "../../src/node.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { runCommand } from "../../src/run.ts"
import { demanding } from "./answers.ts"
import { fakeAdapter } from "./fake-adapter.ts"
import { World } from "./fake-world.ts"
import type { Json } from "./json.ts"
import { abandoned, type Temporary, temporary } from "./temporary.ts"

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
export function desk(door: Partial<Door> = {}, numbering?: Numbering): Desk {
  const world = new World()
  const root = temporaryDirectory()
  const refs = openRefStore({ root, numbering })
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
    ...demanding(run),
    async ref(name) {
      const found = [...(await refs.load()).inner].filter(([, entry]) => entry.name === name)
      if (found.length !== 1) throw new Error(`${found.length} refs are named ${name}`)
      return found[0]![0]
    },
  }
}

const directories: Temporary[] = []

// Memory is faster than a disk that other tests keep busy.
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : undefined
for (const path of abandoned(MEMORY)) rmSync(path, { recursive: true, force: true })

function temporaryDirectory(): string {
  const place = temporary(MEMORY)
  directories.push(place)
  return place.path
}

/** For afterAll of every file that uses desks. */
export function clearDesks(): void {
  for (const place of directories.splice(0)) place[Symbol.dispose]()
}
