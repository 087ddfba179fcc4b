import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Check } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import { Wayland } from "./connection.ts"
import { readSeat } from "./seat.ts"
import type { BusAccess } from "./session-bus.ts"
import { compositorOnBus } from "./session-bus.ts"
import { Sway } from "./sway.ts"
import { hasVirtualDevices } from "./virtual-devices.ts"

/** The compositor, and what it lets programs do. */
export async function diagnoseWayland(
  env: Env,
  access: BusAccess,
  deadline: Deadline,
): Promise<readonly Check[]> {
  let wayland: Wayland | undefined
  try {
    wayland = await Wayland.connect(env, deadline)
    const found = await recognize(env, access, wayland, deadline)
    return [
      { name: "compositor", ok: true, detail: `${found.name} at ${env.WAYLAND_DISPLAY}` },
      { name: "windows", ok: true, detail: found.windows ?? "by accessibility" },
      capability("places", found.places, "this compositor does not report window positions", found.forPlaces),
      await input(wayland, found, deadline),
      capability(
        "picture",
        found.picture,
        found.noPicture ?? "this compositor lets no program take pictures",
      ),
      capability("clipboard", clipboard(wayland, env), "this compositor lets no program use the clipboard"),
    ]
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const detail = (error instanceof AppError && error.platformDetail) || message
    return [{ name: "compositor", ok: false, detail, suggestion: "Run inside the desktop session" }]
  } finally {
    wayland?.close()
  }
}

/** How a compositor offers each capability; undefined for those that it lacks. */
interface Recognized {
  readonly name: string
  readonly windows?: string
  readonly places?: string
  /** The step that would add window positions. */
  readonly forPlaces?: string
  readonly input?: string
  readonly picture?: string
  readonly noPicture?: string
}

async function recognize(
  env: Env,
  access: BusAccess,
  wayland: Wayland,
  deadline: Deadline,
): Promise<Recognized> {
  const picture = wayland.globals.has("zwlr_screencopy_manager_v1") ? "by wlr-screencopy" : undefined
  const sway = await Sway.find(env)
    ?.version(deadline)
    .catch(() => undefined)
  if (sway) {
    const devices = hasVirtualDevices(wayland) ? "by virtual devices, any Unicode" : undefined
    return { name: `sway ${sway}`, windows: "by sway", places: "by sway", input: devices, picture }
  }
  const kwin = await compositorOnBus(env, access, "org.kde.KWin", deadline)
  if (kwin) return recognizeKWin(env, access, kwin, deadline)
  const shell = await compositorOnBus(env, access, "org.gnome.Shell", deadline)
  if (shell) return recognizeGnome(access, shell, deadline)
  const hasStates = wayland.globals.has("zwlr_foreign_toplevel_manager_v1")
  return {
    name: nameOf(wayland),
    windows: hasStates ? "by accessibility, their states by wlr-foreign-toplevel-management" : undefined,
    input: hasVirtualDevices(wayland)
      ? "by virtual devices, any Unicode; elements only by accessibility"
      : undefined,
    picture,
  }
}

async function recognizeKWin(
  env: Env,
  access: BusAccess,
  owner: string,
  deadline: Deadline,
): Promise<Recognized> {
  const [{ KWin }, { portalVersion }] = await Promise.all([import("./kwin.ts"), import("./portal.ts")])
  const kwin = new KWin(env, access, owner)
  const version = await kwin.version(deadline).catch(() => undefined)
  const bus = await access.bus(deadline)
  const [portal, pictures] = await Promise.all(
    ["RemoteDesktop", "Screenshot"].map((name) =>
      portalVersion(bus, `org.freedesktop.portal.${name}`, deadline).catch(late),
    ),
  )
  return {
    name: `KWin ${version ?? "of an unknown version"}`,
    windows: "by KWin scripts",
    places: "by KWin scripts",
    input: portal ? "by the desktop portal, characters of the keyboard layout" : undefined,
    picture: pictures ? "by the desktop portal, after consent" : undefined,
    noPicture: NO_PICTURE,
  }
}

const NO_PICTURE = "the desktop portal takes no pictures, or has not started yet"

/** A portal that did not start in time. */
const late = (): number => 0

async function recognizeGnome(access: BusAccess, owner: string, deadline: Deadline): Promise<Recognized> {
  const [{ GnomeExtension, shellVersion }, { portalVersion }] = await Promise.all([
    import("./gnome.ts"),
    import("./portal.ts"),
  ])
  const extension = await GnomeExtension.find(access, owner, deadline)
  const bus = await access.bus(deadline)
  const version = await shellVersion(bus, owner, deadline)
  const pictures = await portalVersion(bus, "org.freedesktop.portal.Screenshot", deadline).catch(late)
  const windows = extension ? "by our extension in GNOME Shell" : undefined
  return {
    name: `GNOME Shell ${version ?? "of an unknown version"}`,
    windows,
    places: windows,
    forPlaces: "agent-desktop doctor --gnome-extension install, then log out and in again",
    input: `by Mutter, characters of the keyboard layout${extension ? "" : "; elements only by accessibility"}`,
    picture: pictures > 0 ? "by the desktop portal, after consent" : undefined,
    noPicture: NO_PICTURE,
  }
}

async function input(wayland: Wayland, { input: way }: Recognized, deadline: Deadline): Promise<Check> {
  if (!way)
    return capability(
      "input",
      undefined,
      "this compositor accepts no pointer or keyboard input from programs",
    )
  const seat = await readSeat(wayland, deadline)
  const missing = [seat?.hasPointer ? [] : "pointer", seat?.hasKeyboard ? [] : "keyboard"].flat()
  return capability(
    "input",
    missing.length === 0 ? way : undefined,
    `the seat has no ${missing.join(" and no ")}`,
  )
}

/** Compositors share Xwayland's clipboard with their own clients. */
function clipboard({ globals }: Wayland, { DISPLAY }: Env): string | undefined {
  if (globals.has("zwlr_data_control_manager_v1")) return "by wlr-data-control"
  return DISPLAY ? "by Xwayland" : undefined
}

function capability(name: string, way: string | undefined, why: string, more?: string): Check {
  if (way !== undefined) return { name, ok: true, detail: way }
  return {
    name,
    ok: false,
    detail: why,
    suggestion:
      more ?? "Use commands that work by accessibility, or an isolated desktop: agent-desktop desktop-start",
  }
}

/** Compositors do not report their names, but some protocols belong to one compositor only. */
function nameOf({ globals }: Wayland): string {
  const has = (start: string): boolean => [...globals.keys()].some((name) => name.startsWith(start))
  if (has("org_kde_plasma")) return "KDE (KWin)"
  if (has("weston_")) return "weston"
  if (has("zwlr_")) return "a wlroots compositor"
  return has("gtk_shell") ? "GNOME (mutter)" : "a compositor without a known name"
}
