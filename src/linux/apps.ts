import { existsSync, realpathSync } from "node:fs"
import type { Env } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Launched } from "../desktop.ts"
import { AppError, plainWord } from "../errors.ts"
import { nearest } from "../nearest.ts"
import { MARKER, noteApp } from "./desktops/record.ts"
import { bridgeEnv } from "./host/bridges.ts"
import {
  allEntries,
  type DesktopEntry,
  entryById,
  expandCommand,
  fittingEntry,
  programOf,
  readEntry,
} from "./host/desktop-files.ts"
import { allProcesses, executablePath, readProcess, withAncestors } from "./host/processes.ts"
import { openStderr } from "./host/stderr.ts"

/** Starts an app in a separate session, so that it outlives us. `name`: its desktop-file id, name or program. */
export async function launchApp(
  name: string,
  args: readonly string[],
  env: Env,
  deadline: Deadline,
  debug: (text: string) => void = () => {},
): Promise<Launched> {
  if (deadline.expired)
    throw new AppError("TIMEOUT", `No time left to start '${name}'`, { details: { kind: "launch" } })
  const { command, entry } = findApp(name, args, env)
  const [program, ...rest] = withBrowserFlags(command, env, debug)
  const path = Bun.which(program!, { PATH: env.PATH ?? "", cwd: process.cwd() })
  if (!path) throw appNotFound(name, env, `its program '${program}' is not installed`)
  debug(`starting ${[path, ...rest].join(" ")}`)
  const stderr = openStderr(env)
  const start = () =>
    Bun.spawn([path, ...rest], {
      // Some programs depend on the name they are started by: busybox, or a link to a wrapper.
      argv0: program,
      env: { ...env, ...bridgeEnv(env) },
      ...(entry?.workingDirectory ? { cwd: entry.workingDirectory } : {}),
      stdio: ["ignore", "ignore", stderr?.fd ?? "ignore"],
      detached: true,
    })
  const child = await Promise.try(start).catch((error: unknown) => {
    stderr?.leave()
    throw error
  })
  child.unref()
  const { pid, exited } = child
  noteApp(env, pid)
  return {
    pid,
    names: namesOf(name, program!, entry),
    exited,
    // It has its own session, in which its children stay after it has ended.
    isOwn: (other) => readProcess(other)?.session === pid || withAncestors(other).has(pid),
    isRunning: () => allProcesses().some(({ session }) => session === pid),
    lastWords: () => ({
      ...(child.signalCode ? { signal: String(child.signalCode) } : {}),
      stderr: withoutSecrets(stderr?.text() ?? "", env) || undefined,
    }),
    leave: () => stderr?.leave(),
  }
}

/** The program has our environment, and may print it. */
function withoutSecrets(text: string, env: Env): string {
  const values = (env.AGENT_DESKTOP_SECRETS ?? "").split(",").map((name) => env[name.trim()] ?? "")
  return values
    .flatMap((value) => (value === "" ? [] : [value, ...value.split("\n").filter((line) => line.length > 3)]))
    .reduce((rest, value) => rest.replaceAll(value, "[secret]"), text)
}

interface FoundApp {
  readonly command: readonly string[]
  readonly entry?: DesktopEntry
}

function findApp(name: string, args: readonly string[], env: Env): FoundApp {
  if (name.includes("/")) return findByPath(name, args, env)
  const entry = entryById(name, env) ?? findByName(name, env)
  if (entry) return { command: withTerminal(entry, expandCommand(entry, args), env), entry }
  if (!name || !Bun.which(name, { PATH: env.PATH ?? "" })) throw appNotFound(name, env)
  return { command: [name, ...args], entry: findByProgram(name, args, env) }
}

function findByPath(path: string, args: readonly string[], env: Env): FoundApp {
  if (path.endsWith(".desktop") && existsSync(path)) {
    const entry = readEntry(path, path.slice(path.lastIndexOf("/") + 1, -".desktop".length), env)
    if (entry) return { command: withTerminal(entry, expandCommand(entry, args), env), entry }
  }
  if (!Bun.which(path, { cwd: process.cwd() }))
    throw appNotFound(path, env, "it is not an executable program")
  return { command: [path, ...args] }
}

/** By id in any case, or by name. Entries that the menus show come first. */
function findByName(name: string, env: Env): DesktopEntry | undefined {
  const wanted = name.toLowerCase()
  const fitting = [...allEntries(env).values()]
    .filter((entry) => [entry.id, ...entry.names].some((one) => one.toLowerCase() === wanted))
    // A directory listing has no defined order.
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const shown = fitting.filter((entry) => entry.shown)
  const candidates = shown.length > 0 ? shown : fitting
  const commands = new Set(candidates.map((entry) => entry.command.join("\0")))
  if (commands.size < 2) return candidates[0]
  throw new AppError("AMBIGUOUS_TARGET", `${candidates.length} installed apps are named '${name}'`, {
    suggestion: `Name one by its id, such as: agent-desktop launch ${plainWord(candidates[0]?.id, "ID")}`,
    details: {
      candidates: candidates.map(({ id, names, command }) => ({
        id,
        name: names[0],
        command: command.join(" "),
      })),
    },
  })
}

function findByProgram(name: string, args: readonly string[], env: Env): DesktopEntry | undefined {
  return fittingEntry(
    [...allEntries(env).values()].filter((entry) => fileName(programOf(entry)) === name),
    args,
  )
}

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const TERMINALS = [
  ["x-terminal-emulator", "-e"],
  ["xterm", "-e"],
  ["konsole", "-e"],
  ["gnome-terminal", "--"],
] as const

function withTerminal(entry: DesktopEntry, command: readonly string[], env: Env): readonly string[] {
  if (!entry.terminal) return command
  const terminal = TERMINALS.find(([program]) => Bun.which(program, { PATH: env.PATH ?? "" }))
  if (terminal) return [...terminal, ...command]
  throw new AppError("PLATFORM_NOT_SUPPORTED", `'${entry.id}' runs in a terminal and none is installed`, {
    suggestion: "Install one: sudo apt-get install xterm",
  })
}

/**
 * Chromium and Electron expose their content on the accessibility bus only with a flag. On an isolated desktop they
 * also need their own profile: with the user's profile they would open the window in the browser that the user already
 * runs.
 */
function withBrowserFlags(
  command: readonly string[],
  env: Env,
  debug: (text: string) => void,
): readonly string[] {
  const [program, ...args] = command
  if (!isChromium(program!, env)) return command
  const has = (flag: string) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))
  const wanted = ["--force-renderer-accessibility"]
  // Older versions look for an X display first.
  if (env.WAYLAND_DISPLAY && !env.DISPLAY) wanted.push("--ozone-platform=wayland")
  if (process.getuid?.() === 0) {
    debug(`${program} gets --no-sandbox: its sandbox refuses to run as root`)
    wanted.push("--no-sandbox")
  }
  if (env[MARKER] && !has("--user-data-dir"))
    wanted.push(
      `--user-data-dir=${env.XDG_RUNTIME_DIR}/${fileName(program!)}-profile`,
      "--no-first-run",
      "--no-default-browser-check",
      "--password-store=basic",
    )
  return [program!, ...wanted.filter((flag) => !has(flag.split("=")[0]!)), ...args]
}

function isChromium(program: string, env: Env): boolean {
  if (
    /^(chromium|google-chrome|brave-browser|microsoft-edge|vivaldi)([.-]|$)|^(chrome|electron\d*)$/.test(
      fileName(program),
    )
  )
    return true
  const path = Bun.which(program, { PATH: env.PATH ?? "" })
  if (!path) return false
  // Every build has this file next to its program. A wrapper is one level below, in `bin`.
  const real = realpathSync(path)
  const directory = real.slice(0, real.lastIndexOf("/"))
  return [directory, directory.slice(0, directory.lastIndexOf("/"))].some((one) =>
    existsSync(`${one}/chrome_100_percent.pak`),
  )
}

function namesOf(name: string, program: string, entry: DesktopEntry | undefined): readonly string[] {
  const own = entry ? [entry.id, ...entry.names, entry.wmClass ?? "", fileName(programOf(entry))] : []
  return [...new Set([fileName(name), fileName(program), ...own])].filter(Boolean)
}

function appNotFound(name: string, env: Env, reason?: string): AppError {
  const entries = [...allEntries(env).values()]
  const near = nearest(
    name,
    entries.flatMap((entry) => [
      ...entry.names,
      entry.id,
      entry.id.slice(entry.id.lastIndexOf(".") + 1),
      fileName(programOf(entry)),
    ]),
  )
  const shown = entries.filter((entry) => entry.shown).map((entry) => entry.names[0]!)
  return new AppError("APP_NOT_FOUND", `There is no app '${name}' to start${reason ? `: ${reason}` : ""}`, {
    suggestion: near
      ? `Did you mean: agent-desktop launch ${plainWord(near, plainWord(idOf(near, entries), "ID"))}`
      : "Use the app's name in the menus, its desktop-file id, or its program: agent-desktop launch /usr/bin/PROGRAM",
    details: { installed: shown.slice(0, 50) },
  })
}

/** The id of the entry that has this name. */
const idOf = (name: string, entries: readonly DesktopEntry[]): string | undefined =>
  entries.find((entry) => entry.names.includes(name))?.id

/**
 * Asks a process to end (`force`: ends it), if it is still the one that was seen. Refuses processes that the session
 * depends on, this process, its ancestors, and a process that only a window claims to belong to.
 */
export function quitProcess(
  pid: number,
  start: string,
  force: boolean,
  isProved = true,
): { readonly method: string } {
  const target = readProcess(pid)
  if (target?.start !== start)
    throw new AppError("APP_NOT_FOUND", `Process ${pid} has ended`, {
      suggestion: "Run 'list-apps' to see the running apps",
    })
  const path = executablePath(pid)
  const name = path ? path.slice(path.lastIndexOf("/") + 1) : target.name
  if (pid === 1 || ESSENTIAL.test(name) || ESSENTIAL.test(target.name))
    throw refused(pid, name, "the session depends on it")
  if (withAncestors(process.pid).has(pid)) throw refused(pid, name, "it runs this command")
  if (!isProved)
    throw refused(pid, name, "only the window itself claims to belong to it").with({
      suggestion: "Run 'close-app' without --force, which asks the window to close",
    })
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
