import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Check } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import { Wayland } from "./connection.ts"
import { readSeat } from "./seat.ts"
import { Sway } from "./sway.ts"

/** The compositor, and what it lets programs do. */
export async function diagnoseWayland(env: Env, deadline: Deadline): Promise<readonly Check[]> {
  let wayland: Wayland | undefined
  try {
    wayland = await Wayland.connect(env, deadline)
    const sway = await Sway.find(env)
      ?.version(deadline)
      .catch(() => undefined)
    const name = sway ? `sway ${sway}` : nameOf(wayland)
    return [
      { name: "compositor", ok: true, detail: `${name} at ${env.WAYLAND_DISPLAY}` },
      { name: "windows", ok: true, detail: sway ? "by sway" : "by accessibility" },
      capability("places", Boolean(sway), "this compositor does not tell where windows are"),
      await input(wayland, Boolean(sway), deadline),
      capability(
        "picture",
        wayland.globals.has("zwlr_screencopy_manager_v1"),
        "this compositor lets no program take pictures",
      ),
      capability(
        "clipboard",
        wayland.globals.has("zwlr_data_control_manager_v1"),
        "this compositor lets no program use the clipboard",
      ),
    ]
  } catch (error) {
    const detail = error instanceof AppError ? (error.platformDetail ?? error.message) : String(error)
    return [{ name: "compositor", ok: false, detail, suggestion: "Run inside the desktop session" }]
  } finally {
    wayland?.close()
  }
}

async function input(wayland: Wayland, hasPlaces: boolean, deadline: Deadline): Promise<Check> {
  const hasDevices = ["zwlr_virtual_pointer_manager_v1", "zwp_virtual_keyboard_manager_v1"].every((name) =>
    wayland.globals.has(name),
  )
  if (!hasDevices || !hasPlaces)
    return capability(
      "input",
      false,
      "pointer and keyboard need a compositor that tells places and takes devices",
    )
  const seat = await readSeat(wayland, deadline)
  const missing = [seat?.hasPointer ? [] : "pointer", seat?.hasKeyboard ? [] : "keyboard"].flat()
  return capability("input", missing.length === 0, `the seat has no ${missing.join(" and no ")}`)
}

function capability(name: string, ok: boolean, why: string): Check {
  if (ok) return { name, ok }
  return {
    name,
    ok,
    detail: why,
    suggestion:
      "Use commands that work by accessibility, or an isolated desktop: agent-desktop desktop-start",
  }
}

/** Compositors do not tell their names, but some of their protocols are theirs alone. */
function nameOf({ globals }: Wayland): string {
  const has = (start: string): boolean => [...globals.keys()].some((name) => name.startsWith(start))
  if (has("gtk_shell")) return "GNOME (mutter)"
  if (has("org_kde_kwin") || has("org_kde_plasma")) return "KDE (KWin)"
  if (has("weston_")) return "weston"
  return has("zwlr_") ? "a wlroots compositor" : "a compositor without a known name"
}
