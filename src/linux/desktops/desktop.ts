import { mkdirSync } from "node:fs"
import type { PlatformOptions } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import type { DesktopInfo, DesktopKind, DesktopOp } from "../../desktop.ts"
import { AppError, plainPath, plainWord } from "../../errors.ts"
import { bridgeEnv } from "../host/bridges.ts"
import { identify, isAlive } from "../host/processes.ts"
import { compositorEnv, compositorUser, holdInput, isRoot, startCompositor } from "./compositor.ts"
import { type DesktopProgram, hasAccessibilityBus, missingPrograms } from "./packages.ts"
import {
  chooseWindowManager,
  offerNotifications,
  startAccessibility,
  startAnnouncedPart,
  startPart,
  type WindowManager,
  windowManagerCommand,
  windowManagerReady,
} from "./parts.ts"
import { removeDesktop } from "./reap.ts"
import {
  allRecords,
  cannotStart,
  claimDesktop,
  type DesktopPart,
  type DesktopRecord,
  desktopDirectory,
  desktopNames,
  findRecord,
  MARKER,
  noteAddress,
  ownRecords,
  recordsOutside,
  saveRecord,
} from "./record.ts"
import { startServer } from "./server.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface DesktopOptions {
  /** The state root: `~/.agent-desktop`, or AGENT_DESKTOP_HOME. */
  readonly root: string
  readonly name?: string
  readonly width: number
  readonly height: number
  /** "x11" if left out. */
  readonly kind?: DesktopKind
  /** The caller's environment. Programs on the desktop get it, overridden by the desktop's own variables. */
  readonly env: Environment
  readonly windowManager?: WindowManager
  /** Another HOME for programs on the desktop. */
  readonly home?: string
  /** The first display number to try; otherwise a random one. */
  readonly firstNumber?: number
}

/** Starts an isolated desktop that outlives this process. A start that fails half-way leaves nothing behind. */
export async function startDesktop(options: DesktopOptions, deadline: Deadline): Promise<DesktopInfo> {
  checkSize(options)
  const manager = findPrograms(options)
  const id = crypto.randomUUID()
  let record = claimDesktop(options.root, options.name, (name) => describeNew(options, id, name))
  const note = (facts: Partial<DesktopRecord>) => {
    record = { ...record, ...facts }
    saveRecord(options.root, record)
  }
  try {
    await bringUp(options, manager, () => record, note, deadline)
    note({ ready: true })
    return describe(record)
  } catch (error) {
    await removeDesktop(options.root, record, Deadline.in(CLEAN_UP_MS))
    throw namelessUser(error, options.env) ?? cannotStart(record.name, error)
  }
}

/** Ends everything that runs on the desktop and removes it from disk. */
export async function stopDesktop(root: string, name: string, deadline: Deadline): Promise<DesktopInfo> {
  const found = findRecord(root, name)
  if (!found) throw unknownDesktop(root, name)
  const stopped = describe(found.record)
  await removeDesktop(found.root, found.record, deadline)
  return stopped
}

export function listDesktops(root: string): readonly DesktopInfo[] {
  return allRecords(root).map(({ record }) => describe(record))
}

/** The complete environment of a program on the desktop; `env` is the caller's own. */
export function desktopEnv(root: string, name: string, env: Environment): Readonly<Record<string, string>> {
  const record = findRecord(root, name)?.record
  if (!record) throw unknownDesktop(root, name)
  const broken = brokenParts(record)
  if (broken)
    throw new AppError("PLATFORM_NOT_SUPPORTED", `Desktop '${name}' is broken: ${broken}`, {
      suggestion: `Run 'desktop-stop ${name}', then 'desktop-start --name ${name}'`,
    })
  return environment(env, record.env)
}

const CLEAN_UP_MS = 5000

/**
 * Keeps the user's settings unchanged: the accessibility bus would permanently store that accessibility is on.
 * Only for our own parts and for services that the bus starts; applications get the real settings.
 */
const PRIVATE = { GSETTINGS_BACKEND: "memory" }

async function bringUp(
  options: DesktopOptions,
  manager: WindowManager | undefined,
  record: () => DesktopRecord,
  note: (facts: Partial<DesktopRecord>) => void,
  deadline: Deadline,
): Promise<void> {
  const { runtime } = record()
  const directory = desktopDirectory(options.root, record().name)
  const add = (part: DesktopPart) => note({ parts: [...record().parts, part] })
  const spec = (program: string, ...args: string[]) => ({
    program,
    command: [program, ...args],
    env: { ...environment(options.env, record().env), ...PRIVATE, XDG_CACHE_HOME: runtime },
    log: `${directory}/${program}.log`,
  })
  mkdirSync(runtime, { mode: 0o700 })
  noteAddress(options.root, record())

  const screen = `${options.width}x${options.height}x24`
  if (manager)
    await startServer(
      spec("Xvfb", "-screen", "0", screen, "-dpi", "96", "-noreset", "-nolisten", "tcp"),
      options.firstNumber,
      record,
      note,
      deadline,
    )
  else await startCompositor(spec, record, add, deadline)

  offerNotifications(runtime)
  // After the display, because services that the bus starts inherit its environment.
  const address = record().env.DBUS_SESSION_BUS_ADDRESS
  await startAnnouncedPart(
    spec(
      "dbus-daemon",
      "--session",
      "--nofork",
      "--nopidfile",
      "--nosyslog",
      `--address=${address}`,
      "--print-address=3",
    ),
    add,
    deadline,
  )
  if (!manager) {
    await Promise.all([
      startAccessibility(record().env.DBUS_SESSION_BUS_ADDRESS!, deadline),
      holdInput(spec, add, deadline),
    ])
    return
  }
  const [program, ...args] = windowManagerCommand(manager, directory)
  const managing = startPart(spec(program!, ...args))
  add(managing)
  await Promise.all([
    startAccessibility(record().env.DBUS_SESSION_BUS_ADDRESS!, deadline),
    windowManagerReady(managing, record().env, deadline),
  ])
}

function describeNew(options: DesktopOptions, id: string, name: string): DesktopRecord {
  // Short, because socket names are limited to 107 bytes; not in /run/user, which ends with the login.
  const runtime = `/tmp/agent-desktop-${id.slice(-12)}`
  return {
    id,
    name,
    width: options.width,
    height: options.height,
    runtime,
    starter: identify(process.pid)!,
    ready: false,
    parts: [],
    ...(options.kind === undefined ? {} : { kind: options.kind }),
    env: {
      XDG_RUNTIME_DIR: runtime,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
      // Empty means unset, since callers add these to an environment and cannot remove variables. Not
      // AT_SPI_BUS_ADDRESS: GTK 4 takes even an empty one for an address and then stays invisible.
      ...(options.kind === "wayland" ? compositorEnv(runtime) : serverEnv(runtime)),
      NO_AT_BRIDGE: "",
      GTK_A11Y: "atspi",
      ACCESSIBILITY_ENABLED: "1",
      QT_ACCESSIBILITY: "1",
      QT_LINUX_ACCESSIBILITY_ALWAYS_ON: "1",
      ...bridgeEnv(options.env),
      GSK_RENDERER: "cairo",
      LIBGL_ALWAYS_SOFTWARE: "1",
      // gvfs would mount the user's files in a directory that is removed later.
      GVFS_DISABLE_FUSE: "1",
      ...(options.home === undefined ? {} : { HOME: options.home }),
      [MARKER]: id,
    },
  }
}

const serverEnv = (runtime: string): Readonly<Record<string, string>> => ({
  XAUTHORITY: `${runtime}/Xauthority`,
  XDG_SESSION_TYPE: "x11",
  GDK_BACKEND: "x11",
  QT_QPA_PLATFORM: "xcb",
  WAYLAND_DISPLAY: "",
})

/** Variables of the user's session that would lead a program back to it. */
const FOREIGN = [
  "WAYLAND_DISPLAY",
  "WAYLAND_SOCKET",
  "NO_AT_BRIDGE",
  "AT_SPI_BUS_ADDRESS",
  "DBUS_STARTER_ADDRESS",
  "DBUS_STARTER_BUS_TYPE",
  "SESSION_MANAGER",
  "DESKTOP_STARTUP_ID",
  "XDG_ACTIVATION_TOKEN",
  "XDG_SESSION_ID",
  "XDG_CURRENT_DESKTOP",
  "WINDOWID",
  "GNOME_KEYRING_CONTROL",
  "SWAYSOCK",
  "I3SOCK",
]

function environment(env: Environment, own: Readonly<Record<string, string>>): Record<string, string> {
  const merged = Object.entries({
    ...env,
    ...Object.fromEntries(FOREIGN.map((name) => [name, undefined])),
    ...own,
  })
  return Object.fromEntries(merged.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

function describe(record: DesktopRecord): DesktopInfo {
  const broken = brokenParts(record)
  return {
    name: record.name,
    ...(record.kind === "wayland" ? { kind: record.kind } : {}),
    display: record.display ?? record.env.WAYLAND_DISPLAY ?? "",
    size: `${record.width}x${record.height}`,
    pid: record.parts[0]?.pid ?? 0,
    env: record.env,
    ...(record.kind === "wayland" && compositorUser() ? { compositor_user: compositorUser() } : {}),
    ...(broken ? { broken } : {}),
  }
}

function brokenParts({ parts, ready, starter }: DesktopRecord): string | undefined {
  // Xvfb ends if its starter is killed before it could announce its display.
  if (!ready && !isAlive(starter)) return "its start was interrupted"
  const gone = parts.filter((part) => !isAlive(part)).map(({ program }) => program)
  return gone.length > 0 ? `${gone.join(", ")} ended` : undefined
}

/** The reason for a failed start under a container's random uid. Message buses refuse such a user. */
function namelessUser(error: unknown, env: Environment): AppError | undefined {
  if (!(error instanceof AppError) || error.code !== "ACTION_FAILED") return undefined
  const uid = process.geteuid?.()
  const id = Bun.which("id", { PATH: env.PATH })
  if (!id || Bun.spawnSync([id, "-un"], { stdio: ["ignore", "ignore", "ignore"] }).success) return undefined
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `User ${uid} is not in /etc/passwd, and dbus-daemon serves no such user`,
    {
      suggestion: `Add the user, as root or in the image: echo 'agent:x:${uid}:${process.getegid?.()}::/tmp:/bin/sh' >> /etc/passwd`,
      platformDetail: error.platformDetail ?? error.message,
    },
  )
}

/** The window manager; undefined for a Wayland desktop, which has none. */
function findPrograms({ env, kind, windowManager }: DesktopOptions): WindowManager | undefined {
  const isWayland = kind === "wayland"
  const manager = isWayland ? undefined : chooseWindowManager(env.PATH, windowManager)
  const programs = [isWayland ? "sway" : "Xvfb", "dbus-daemon"] as const
  const missing: DesktopProgram[] = [
    ...programs.filter((program) => !Bun.which(program, { PATH: env.PATH })),
    ...(manager || isWayland ? [] : (["openbox"] as const)),
    ...(hasAccessibilityBus(env) ? [] : (["org.a11y.Bus"] as const)),
  ]
  if (missing.length > 0) throw missingPrograms(missing)
  if (isWayland && isRoot() && !Bun.which("setpriv", { PATH: env.PATH }))
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      "sway refuses to run as root, and 'setpriv' is not installed",
      {
        suggestion: "Run as another user, or install util-linux; --kind x11 works as root",
      },
    )
  return manager
}

function checkSize({ width, height }: DesktopOptions): void {
  const fits = (value: number, least: number) => Number.isInteger(value) && value >= least && value <= 8192
  if (fits(width, 320) && fits(height, 200)) return
  throw new AppError("INVALID_ARGS", `A desktop cannot be ${width}x${height}`, {
    suggestion: "Use a size from 320x200 to 8192x8192: agent-desktop desktop-start --size 1280x800",
  })
}

function unknownDesktop(root: string, name: string): AppError {
  const names = desktopNames(root)
  const outside = recordsOutside(root).find(({ record }) => record.name === name)
  return new AppError("INVALID_ARGS", `Desktop '${name}' does not exist`, {
    suggestion: outside
      ? `It runs with another state directory: AGENT_DESKTOP_HOME=${plainPath(outside.root)} agent-desktop --desktop ${plainWord(name, "NAME")} status`
      : names.length > 0
        ? "Use 'list-desktops' to see them"
        : `Run 'desktop-start --name ${plainWord(name, "NAME")}' to start it`,
  })
}

/** Starts, stops and lists isolated desktops. It needs no running session. */
export async function operateDesktops(
  options: PlatformOptions,
  op: DesktopOp,
  deadline: Deadline,
): Promise<readonly DesktopInfo[]> {
  const { root, env } = options
  switch (op.kind) {
    case "list":
      return listDesktops(root)
    case "start":
      return [
        await startDesktop(
          { root, env, name: op.name, kind: op.desktop, width: op.width, height: op.height },
          deadline,
        ),
      ]
    case "stop": {
      if (op.name !== undefined) return [await stopDesktop(root, op.name, deadline)]
      const own = ownRecords(root)
      return Promise.all(own.map(({ record }) => stopDesktop(root, record.name, deadline)))
    }
    default:
      return op satisfies never
  }
}
