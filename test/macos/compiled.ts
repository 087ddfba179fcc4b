import { expect } from "bun:test"
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../support/json.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { buildFake, type Machine } from "./fake/build.ts"
import { type FakeMac, type Line, startScene } from "./fake.ts"

/** The answer of the compiled program, and the log of the scene. */
export interface Answer {
  readonly envelope: Json
  /** The acts on the scene, one line each. */
  readonly log: readonly string[]
  readonly trips: number
}

export interface Stage {
  readonly mac: FakeMac
  /** Runs one command. Expects that it breaks no rule of the frameworks, and releases everything. */
  ask(...args: readonly string[]): Promise<Answer>
  /** The ref of the only element with that name, and that role if one is given, in the current map. */
  ref(name: string, role?: string): string
}

/** The machine that the program is compiled for. arm64 runs under qemu-user. */
export const MACHINE: Machine = process.env.AGENT_DESKTOP_TEST_MACHINE === "arm64" ? "arm64" : "x64"
const ROOT = new URL("../..", import.meta.url).pathname

/** The macOS side of the program, tree-shaken as for a Mac, as an executable of this system. */
export function compileProgram(machine: Machine = MACHINE): string {
  const directory = temporaryForFile()
  const outfile = join(directory, "agent-desktop")
  // Uses the command line, since in Bun.build the platform of the target overrides the definition.
  const command = ["build", "--compile", "--minify", "--splitting", "--bytecode", "--format", "esm"]
  const defined = ['process.platform="darwin"', `BUILD_TARGET="darwin-${machine}"`, 'BUILD_COMMIT=""']
  const built = Bun.spawnSync(
    [
      process.execPath,
      ...command,
      ...defined.flatMap((one) => ["--define", one]),
      ...["--target", `bun-linux-${machine}`, "--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
      ...[`${ROOT}src/main.ts`, "--outfile", outfile],
    ],
    { cwd: directory, stdout: "ignore", stderr: "pipe" },
  )
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
  return outfile
}

/** Shows a scene to the compiled program. */
export async function onStage(
  program: string,
  scene: string | object,
  use: (stage: Stage) => Promise<void>,
): Promise<void> {
  const mac = startScene(scene)
  const { command, env } = starter(program)
  const home = join(mac.directory, "home")
  const stage: Stage = {
    mac,
    ask: async (...args) => {
      const before = mac.record().length
      const run = await mac.run([...command, ...args, ...patience(args)], {
        // Each scene has its own home, so that it does not see the pointer of another scene.
        env: { ...env, AGENT_DESKTOP_HOME: home, HOME: mac.directory, TMPDIR: mac.directory },
        timeoutMs: MACHINE === process.arch ? 60_000 : 180_000,
      })
      const said = `${args.join(" ")}\n${run.stdout.slice(0, 2000)}${run.stderr.slice(0, 2000)}`
      const log = mac.record().slice(before).map(lineOf)
      // A command that opens no framework leaves no report.
      if (run.report || log.length > 0) {
        const { violations, leaks, pools, held } = run.report ?? {}
        const mayHold = args[0] === "key-down" || args[0] === "mouse-down"
        expect({ said, violations, leaks, pools, held: mayHold ? [] : held }).toEqual({
          said,
          violations: [],
          leaks: [],
          pools: 0,
          held: [],
        })
      }
      const envelope: Json = JSON.parse(run.stdout || `{"ok":false,"command":${JSON.stringify(said)}}`)
      const exitCode = envelope.ok ? 0 : envelope.error?.code === "INVALID_ARGS" ? 2 : 1
      expect({ said, exitCode: run.exitCode }).toEqual({ said, exitCode })
      return { envelope, log, trips: run.report?.round_trips ?? 0 }
    },
    ref: (name, role) => {
      const map: { inner: Record<string, { role: string; name?: string }> } = JSON.parse(
        readFileSync(join(home, "last_refmap.json"), "utf8"),
      )
      const found = Object.entries(map.inner).filter(
        ([, entry]) => entry.name === name && (role === undefined || entry.role === role),
      )
      if (found.length !== 1 || !found[0])
        throw new Error(`${found.length} elements are a ${role ?? "control"} named ${name}`)
      return found[0][0]
    },
  }
  try {
    await use(stage)
  } finally {
    mac.close()
  }
}

/** One act without the parts that differ from run to run: "perform save AXPress". */
export function lineOf(line: Line): string {
  const { kind, node, action, attribute, value, effect, event, text, program, pid } = line
  switch (kind) {
    case "perform":
      // An action of the app's own is "Name:Reply\nTarget:0x0\nSelector:(null)".
      return `perform ${node} ${/^Name:(.*)/.exec(`${action}`)?.[1] ?? action} ${effect}`
    case "write":
      return `write ${node} ${attribute} ${JSON.stringify(value)} ${effect}`
    case "post":
      return `post ${eventOf(event)}`
    default:
      return [kind, text ?? program ?? pid].filter((part) => part !== undefined).join(" ")
  }
}

function eventOf(event: unknown): string {
  const { name, x, y, key, clicks, dy } = event as Readonly<Record<string, string | number>>
  if (key !== undefined) return `${name} ${key}`
  return `${name} ${x},${y}${dy === undefined ? (clicks ? ` x${clicks}` : "") : ` by ${dy}`}`
}

/** An emulated machine is slow, so commands get more than the default five seconds there. */
function patience(args: readonly string[]): readonly string[] {
  const short = MACHINE === process.arch || args.includes("--timeout") || UNTIMED.has(args[0] ?? "")
  return short ? [] : ["--timeout-ms", "120000"]
}

const UNTIMED: ReadonlySet<string> = new Set(["launch", "wait"])

function starter(program: string): { command: readonly string[]; env: Readonly<Record<string, string>> } {
  if (MACHINE === process.arch) return { command: [program], env: {} }
  const build = buildFake(MACHINE)
  // The programs that it starts are built for this machine: the kernel cannot run others.
  const mixed = `${build.directory}-mixed`
  if (!existsSync(mixed)) {
    mkdirSync(mixed)
    symlinkSync(build.library, join(mixed, "libfakemac.so"))
    symlinkSync(build.redirect, join(mixed, "dlredirect.so"))
    symlinkSync(buildFake().bin, join(mixed, "bin"))
  }
  const preload = `LD_PRELOAD=${join(mixed, "dlredirect.so")}`
  const libraries = `LD_LIBRARY_PATH=${process.env.AGENT_DESKTOP_TEST_LIBRARIES ?? ""}`
  return {
    command: ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", preload, "-E", libraries, program],
    env: { LD_PRELOAD: "" },
  }
}
