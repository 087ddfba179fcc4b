import { AppError } from "../errors.ts"
import { executablePath, readProcess, withAncestors } from "./processes.ts"

/**
 * Asks a process to end (`force`: ends it), if it is still the one that was seen. What the session
 * itself stands on is refused, and so are we and those who called us.
 */
export function quitProcess(pid: number, start: string, force: boolean): { readonly method: string } {
  const target = readProcess(pid)
  if (target?.start !== start)
    throw new AppError("APP_NOT_FOUND", `Process ${pid} has ended`, {
      suggestion: "Run 'list-apps' to see what runs",
    })
  const path = executablePath(pid)
  const name = path ? path.slice(path.lastIndexOf("/") + 1) : target.name
  if (pid === 1 || ESSENTIAL.test(name) || ESSENTIAL.test(target.name))
    throw refused(pid, name, "the session depends on it")
  if (withAncestors(process.pid).has(pid)) throw refused(pid, name, "it runs this command")
  const method = force ? "SIGKILL" : "SIGTERM"
  try {
    process.kill(pid, method)
  } catch (error) {
    throw new AppError("PERM_DENIED", `Process ${pid} (${name}) cannot be ended by this user`, {
      platformDetail: String(error),
    })
  }
  return { method }
}

/** Display servers, message buses, window managers, shells and session services, the accessibility bus. */
const ESSENTIAL = new RegExp(
  `^(${[
    "systemd.*|init|login|sshd|elogind.*|agetty",
    "X|Xorg(\\.bin)?|Xvfb|Xephyr|Xwayland|Xvnc|Xtigervnc",
    "gdm.*|sddm.*|lightdm.*|ly|greetd",
    "dbus-daemon|dbus-broker.*|dbus-launch",
    "at-spi.*",
    "openbox|xfwm4|metacity|marco|mutter|muffin|kwin.*|i3|sway|weston|cage|labwc|awesome|bspwm|fluxbox|icewm|herbstluftwm|Hyprland|twm",
    "gnome-shell|gnome-session.*|plasmashell|ksmserver|startplasma.*|cinnamon.*|xfce4-session|xfce4-panel|mate-session|lxqt-session|lxsession",
    "pipewire.*|wireplumber|pulseaudio|polkitd|gnome-keyring-d.*|xdg-desktop-por.*",
  ].join("|")})$`,
)

const refused = (pid: number, name: string, reason: string): AppError =>
  new AppError("POLICY_DENIED", `Process ${pid} (${name}) is not ended: ${reason}`, {
    details: { pid, program: name },
  })
