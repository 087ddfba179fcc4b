import { expect } from "bun:test"
import { commands } from "../../src/commands/index.ts"
import type { Door } from "../../src/door.ts"
import { toLine } from "../../src/envelope.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { runCommand } from "../../src/run.ts"
import { demanding } from "../support/answers.ts"
import type { Json } from "../support/json.ts"
import { lineOf } from "./compiled.ts"
import { buildFake } from "./fake/build.ts"
import { type FakeMac, type StartOptions, startScene } from "./fake.ts"
import { inSceneTime } from "./scene-time.ts"

// Compiled at import: it may take longer than the timeout of the first test.
buildFake()

/** The whole program in this process, as an MCP server runs it: many commands over one connection. */
export interface Program {
  readonly mac: FakeMac
  /** Runs a command and returns its envelope. */
  run(command: string, args?: object): Promise<Json>
  /** Runs a command that must succeed and returns its data. */
  ok(command: string, args?: object): Promise<Json>
  /** Runs a command that must fail and returns its error. */
  error(command: string, args?: object): Promise<Json>
  /** The ref of the only element of that name, and that role if one is given, in the current map. */
  ref(name: string, role?: string): Promise<string>
  /** The actions that the apps received since the last call, one line each. */
  deeds(): readonly string[]
}

/**
 * Uses the program on a scene. Expects no leaks and no violations afterwards. With a virtual clock, the program runs in
 * the time of the scene.
 */
export async function onMac(
  scene: string | object,
  use: (program: Program) => Promise<void>,
  options: StartOptions = {},
): Promise<void> {
  const mac = startScene(scene, options)
  const platform = connectMacos({ env: { TMPDIR: mac.directory }, root: mac.directory })
  const refs = openRefStore({ root: mac.directory })
  const door: Door = {
    commands,
    platform: async () => platform,
    refs,
    readOnly: false,
    stdin: async () => "",
    writeFile: async () => {},
  }
  const run = async (name: string, args: object = {}): Promise<Json> =>
    JSON.parse(toLine(await asOnMac(() => inTime(() => runCommand(door, name, args)))))
  const inTime = <T>(work: () => Promise<T>) => (options.virtualClock ? inSceneTime(mac, work) : work())
  let seen = 0
  const program: Program = {
    mac,
    run,
    ...demanding(run),
    async ref(name, role) {
      const found = [...(await refs.load()).inner].filter(
        ([, entry]) => entry.name === name && (role === undefined || entry.role === role),
      )
      if (found.length !== 1) throw new Error(`${found.length} refs are a ${role ?? "control"} named ${name}`)
      return found[0]![0]
    },
    deeds() {
      const record = mac.record()
      const fresh = record.slice(seen)
      seen = record.length
      return fresh.map(lineOf)
    },
  }
  try {
    await use(program)
    await platform.close()
    const { violations, leaks, pools, held } = mac.report()
    expect({ violations, leaks, pools, held }).toEqual({ violations: [], leaks: [], pools: 0, held: [] })
  } finally {
    await platform.close()
    mac.close()
  }
}

/** Some combos depend on the platform. */
async function asOnMac<T>(work: () => Promise<T>): Promise<T> {
  const { platform } = process
  Object.defineProperty(process, "platform", { value: "darwin" })
  try {
    return await work()
  } finally {
    Object.defineProperty(process, "platform", { value: platform })
  }
}
