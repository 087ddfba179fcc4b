import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { ownCommand } from "../../own-process.ts"
import { pause } from "../../until.ts"
import { isAlive } from "../host/processes.ts"
import { type PartSpec, startAnnouncedPart, startPart } from "./parts.ts"
import type { DesktopPart, DesktopRecord } from "./record.ts"

/** The compositor of a Wayland desktop: headless sway, and a process that holds its pointer and keyboard. */

/** The user for sway if the caller is root, because sway refuses to run as root. Programs still run as root. */
const NOBODY = { name: "nobody", id: 65534 }

export const isRoot = (): boolean => process.geteuid?.() === 0

/** The user that the compositor runs as, if it is not the caller. */
export const compositorUser = (): string | undefined => (isRoot() ? NOBODY.name : undefined)

/**
 * The directory of its sockets. If it belongs to another user, it is beside the runtime directory, which is private.
 */
export const compositorDirectory = (runtime: string): string => (isRoot() ? `${runtime}-sway` : runtime)

/** The variables of a program on such a desktop. */
export function compositorEnv(runtime: string): Readonly<Record<string, string>> {
  const directory = compositorDirectory(runtime)
  return {
    DISPLAY: "",
    WAYLAND_DISPLAY: `${directory}/wayland-1`,
    SWAYSOCK: `${directory}/sway.sock`,
    XDG_SESSION_TYPE: "wayland",
    GDK_BACKEND: "wayland",
    QT_QPA_PLATFORM: "wayland",
  }
}

export async function startCompositor(
  spec: (program: string, ...args: string[]) => PartSpec,
  record: () => DesktopRecord,
  add: (part: DesktopPart) => void,
  deadline: Deadline,
): Promise<void> {
  const { runtime, width, height } = record()
  const directory = compositorDirectory(runtime)
  if (directory !== runtime) {
    mkdirSync(directory, { mode: 0o700 })
    chownSync(directory, NOBODY.id, NOBODY.id)
  }
  const config = `${directory}/sway.conf`
  writeFileSync(config, configFor(width, height), { mode: 0o644 })
  const drop = ["setpriv", `--reuid=${NOBODY.id}`, `--regid=${NOBODY.id}`, "--clear-groups", "--"]
  const { env, ...rest } = spec("sway", "-c", config)
  const { WAYLAND_DISPLAY: socket = "", ...others } = env
  const part = startPart({
    ...rest,
    command: [...(isRoot() ? drop : []), ...rest.command],
    env: {
      ...others,
      HOME: directory,
      XDG_RUNTIME_DIR: directory,
      WLR_BACKENDS: "headless",
      WLR_LIBINPUT_NO_DEVICES: "1",
      WLR_RENDERER: "pixman",
    },
  })
  add(part)
  while (!existsSync(socket) || !existsSync(`${directory}/sway.sock`)) {
    if (!isAlive(part)) throw ended(rest.log)
    if (deadline.expired)
      throw new AppError("TIMEOUT", "sway did not start in time", { details: { kind: "desktop" } })
    await pause(LOOK_AGAIN_MS, deadline)
  }
}

/** Resolves when apps will find a pointer and a keyboard. */
export async function holdInput(
  spec: (program: string, ...args: string[]) => PartSpec,
  add: (part: DesktopPart) => void,
  deadline: Deadline,
): Promise<void> {
  await startAnnouncedPart({ ...spec("input-holder"), command: ownCommand("__hold-input") }, add, deadline)
}

/** Windows float, as on other desktops, and nothing draws around them. */
const configFor = (
  width: number,
  height: number,
): string => `output * resolution ${width}x${height} position 0 0
xwayland disable
default_border none
default_floating_border none
floating_maximum_size -1 x -1
focus_follows_mouse no
mouse_warping none
for_window [app_id=".*"] floating enable
for_window [title=".*"] floating enable
`

function ended(log: string): AppError {
  return new AppError("ACTION_FAILED", "sway ended before it was ready", {
    suggestion: "Run 'doctor' to see what this machine lacks; --kind x11 needs no compositor",
    platformDetail: readFileSync(log, "utf8").trim().slice(-500) || undefined,
    details: { program: "sway" },
  })
}

const LOOK_AGAIN_MS = 5
