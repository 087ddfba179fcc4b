import { dlopen, ptr } from "bun:ffi"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { temporary } from "../support/temporary.ts"
import { buildFake } from "./fake/build.ts"

/** A broken rule of the frameworks, or a note. */
export interface Finding {
  readonly kind: string
  readonly symbol: string
  readonly detail: string
  readonly count: number
}

export interface Leak {
  readonly type: string
  readonly creator: string
  readonly count: number
  readonly value: string
}

export interface Report {
  readonly violations: readonly Finding[]
  readonly notes: readonly Finding[]
  readonly leaks: readonly Leak[]
  /** Autorelease pools that are still open. */
  readonly pools: number
  /** Keys and mouse buttons that are still down: "key 55", "button 0". */
  readonly held: readonly string[]
  readonly calls: Readonly<Record<string, number>>
  readonly attributes: Readonly<Record<string, number>>
  /** Messages to applications. On a Mac they take most of the time. */
  readonly round_trips: number
  readonly slept_us: number
  readonly objects: { readonly made: number; readonly live: number }
}

export interface Line {
  readonly n: number
  readonly process: number
  readonly kind: string
  readonly [member: string]: unknown
}

/** The present state of a node. Members that start with AX are attributes, in the form of the scene. */
export interface Looked {
  readonly serial?: number
  readonly shows?: boolean
  readonly open?: boolean
  readonly focused?: boolean
  readonly frame?: readonly [number, number, number, number]
  readonly window?: number
  readonly on_screen?: boolean
  readonly children?: readonly string[]
  readonly [attribute: string]: unknown
}

export interface World {
  readonly front: number
  readonly cursor: readonly [number, number]
  readonly apps: readonly {
    readonly pid: number
    readonly name: string
    readonly running: boolean
    readonly focused?: string
  }[]
  /** Window numbers, front to back. */
  readonly windows: readonly number[]
  readonly pasteboard: Readonly<Record<string, string>>
}

export type Effect = { readonly do: string; readonly [member: string]: unknown }

export interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Report of that process alone; undefined if it was killed or never loaded a framework. */
  readonly report: Report | undefined
}

export interface FakeMac {
  /** Holds the scene, the shared state and the record. */
  readonly directory: string
  /** Variables for a child that shares the scene. LD_PRELOAD is for compiled programs. */
  readonly env: Readonly<Record<string, string>>
  /** The report of this process since the start or the last mark. */
  report(): Report
  /** Starts a new report: objects that exist now do not count as leaks later. */
  mark(): void
  /** Changes that all processes of this scene asked for, in order. */
  record(kind?: string): readonly Line[]
  look(node: string): Looked
  world(): World
  /** Applies an effect, as if the app or the user had caused it. */
  apply(...effects: readonly Effect[]): void
  /** Lets time pass in the scene; with a virtual clock it takes no real time. */
  sleep(ms: number): void
  /** The scene's clock, in milliseconds. */
  now(): number
  /** Plans faults: "7:-25204", "AXChildren/3:dead", "AXUIElementPerformAction/1:hang"; undefined for none. */
  fail(spec?: string): void
  /** Runs a program in the same scene until it ends. */
  run(
    command: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string | undefined>>; readonly timeoutMs?: number },
  ): Promise<Run>
  close(): void
}

export interface StartOptions {
  /** Waiting takes no real time and only moves the clock of the library. */
  readonly virtualClock?: boolean
}

/** Starts a scene: the name of a file in fake/scenes, a path, or the scene itself. */
export function startScene(scene: string | object, options: StartOptions = {}): FakeMac {
  const { symbols } = control()
  const place = temporary()
  const directory = place.path
  const path = scenePath(scene, directory)
  const files = {
    FAKEMAC_SCENE: path,
    FAKEMAC_STATE: join(directory, "state"),
    FAKEMAC_RECORD: join(directory, "record"),
    ...(options.virtualClock ? { FAKEMAC_CLOCK: "virtual" } : {}),
  }
  const before = new Map(NAMES.map((name) => [name, process.env[name]]))
  for (const name of NAMES) setEnvironment(name, name in files ? Reflect.get(files, name) : undefined)
  const close = () => {
    for (const [name, value] of before) setEnvironment(name, value)
    place[Symbol.dispose]()
  }
  if (!symbols.fakemac_start(null)) {
    close()
    throw new Error(`the scene ${path} cannot be shown`)
  }
  const build = buildFake()
  let runs = 0

  const mac: FakeMac = {
    directory,
    env: { ...files, LD_PRELOAD: build.redirect, PATH: `${build.bin}:${process.env.PATH ?? ""}` },
    report: () => JSON.parse(`${symbols.fakemac_report()}`),
    mark: () => symbols.fakemac_reset(),
    record: (kind) => {
      if (!existsSync(files.FAKEMAC_RECORD)) return []
      const lines: Line[] = readFileSync(files.FAKEMAC_RECORD, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      return kind ? lines.filter((line) => line.kind === kind) : lines
    },
    look: (node) => JSON.parse(`${symbols.fakemac_look(chars(node))}`),
    world: () => JSON.parse(`${symbols.fakemac_world()}`),
    apply: (...effects) => {
      if (!symbols.fakemac_apply(chars(JSON.stringify(effects))))
        throw new Error("these effects are not JSON")
    },
    sleep: (ms) => symbols.fakemac_sleep(ms),
    now: () => symbols.fakemac_now(),
    fail: (spec) => symbols.fakemac_fail(spec === undefined ? null : chars(spec)),
    run: async (command, { env = {}, timeoutMs = 30_000 } = {}) => {
      const reportPath = join(directory, `report-${++runs}`)
      const child = Bun.spawn([...command], {
        env: { ...process.env, ...mac.env, FAKEMAC_REPORT: reportPath, ...env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        timeout: timeoutMs,
        killSignal: "SIGKILL",
      })
      const [stdout, stderr, exitCode] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, "utf8")) : undefined
      return { exitCode, stdout, stderr, report }
    },
    close,
  }
  return mac
}

/** The colour a window (or the wallpaper, 0) has in screenshots, as [red, green, blue]. */
export function windowColour(number: number): readonly [number, number, number] {
  const colour = control().symbols.fakemac_colour(number)
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

export const SCENES = join(import.meta.dir, "fake/scenes")

const NAMES = ["FAKEMAC_SCENE", "FAKEMAC_STATE", "FAKEMAC_RECORD", "FAKEMAC_CLOCK"]

type Control = ReturnType<typeof openControl>
let opened: Control | undefined

function control(): Control {
  opened ??= openControl()
  return opened
}

function openControl() {
  return dlopen(buildFake().library, {
    fakemac_start: { args: ["ptr"], returns: "i32" },
    fakemac_report: { args: [], returns: "cstring" },
    fakemac_reset: { args: [], returns: "void" },
    fakemac_look: { args: ["ptr"], returns: "cstring" },
    fakemac_world: { args: [], returns: "cstring" },
    fakemac_apply: { args: ["ptr"], returns: "i32" },
    fakemac_fail: { args: ["ptr"], returns: "void" },
    fakemac_sleep: { args: ["f64"], returns: "void" },
    fakemac_now: { args: [], returns: "f64" },
    fakemac_setenv: { args: ["ptr", "ptr"], returns: "void" },
    fakemac_colour: { args: ["u32"], returns: "u32" },
  })
}

function scenePath(scene: string | object, directory: string): string {
  if (typeof scene === "string") return isAbsolute(scene) ? scene : join(SCENES, `${scene}.json`)
  const path = join(directory, "scene.json")
  writeFileSync(path, JSON.stringify(scene))
  return path
}

/** Sets a variable for the C side of this process and for its children. */
function setEnvironment(name: string, value: string | undefined): void {
  control().symbols.fakemac_setenv(chars(name), value === undefined ? null : chars(value))
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

function chars(string: string): ReturnType<typeof ptr> {
  return ptr(Buffer.from(`${string}\0`))
}
