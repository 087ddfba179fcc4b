import { readdirSync, statSync } from "node:fs"

/**
 * Installs the missing Debian packages for a purpose:
 *
 *   bun scripts/setup.ts [--for demo|test|bench|apps|compositors]
 *
 * Does nothing if all of them are installed.
 */

/** The parts that `desktop-start` needs, and an editor to show. */
const DEMO = [
  "xvfb",
  "openbox",
  "dbus",
  "at-spi2-core",
  "mousepad",
  "fonts-dejavu-core",
  "adwaita-icon-theme",
]

const TEST = [
  ...DEMO,
  // Applications of every toolkit.
  "gedit",
  "gnome-calculator",
  "gnome-text-editor",
  "gtk-3-examples",
  "gtk-4-examples",
  "kcalc",
  "featherpad",
  "thunar",
  // Shows "Computer" and "Trash" in Thunar.
  "gvfs",
  "zenity",
  "xterm",
  "chromium",
  "firefox-esr",
  "libreoffice-writer",
  "libreoffice-calc",
  "libreoffice-impress",
  "libreoffice-gtk3",
  // The applications in test/fixtures.
  "python3-gi",
  "gir1.2-gtk-3.0",
  "gir1.2-gtk-4.0",
  "python3-pyqt5",
  "python3-pyqt6",
  "python3-uno",
  "python3-tk",
  // GTK 2, with its bridge to accessibility.
  "libgail-common",
  "libatk-adaptor",
  // Signs and checks the sums of a release.
  "openssh-client",
  // Tools for a second, independent look.
  "python3-pyatspi",
  "x11-utils",
  "x11-xserver-utils",
  "x11-xkb-utils",
  "xauth",
  "xdotool",
  "xclip",
  "imagemagick",
  "procps",
  "util-linux",
  // Wayland compositors, and Qt's plugins for Wayland.
  "sway",
  "weston",
  "qtwayland5",
  "qt6-wayland",
  // Another window manager; notification daemons and a sender.
  "xfwm4",
  "dunst",
  "xfce4-notifyd",
  "libnotify-bin",
  "libglib2.0-bin",
  "dbus-bin",
  // Readers of the completions and the manual page.
  "fish",
  "zsh",
  "man-db",
  "mandoc",
  // The stand-in for Apple's frameworks.
  "gcc",
  "libc6-dev",
  // Emulators for the binaries of other machines, and Ruby to check the formula; Debian 12's names.
  "qemu-user",
  "libc6-arm64-cross",
  "musl-tools",
  "libstdc++-12-pic",
  "libstdc++-12-dev",
  "ruby",
]

/** Headers for the C program that bench/tree.ts compares with. */
const BENCH = [...TEST, "libatspi2.0-dev"]

/** More applications for `bun run apps`. They take a gigabyte, so the check does not need them. */
const APPS = [
  ...TEST,
  "audacity",
  "evince",
  "gimp",
  "kate",
  "nautilus",
  "pcmanfm-qt",
  "thunderbird",
  "vlc",
  "xfce4-settings",
]

/** Compositors and their portals for `bun run compositors`. The check does not need them. */
const COMPOSITORS = [
  ...TEST,
  "kwin-wayland",
  "xdg-desktop-portal",
  "xdg-desktop-portal-kde",
  "gnome-shell",
  "xdg-desktop-portal-gnome",
  "pipewire",
  "wireplumber",
  "phoc",
  "xwayland",
  // A second, independent look.
  "systemd",
  "wl-clipboard",
]

export const PURPOSES = {
  demo: DEMO,
  test: TEST,
  bench: BENCH,
  apps: APPS,
  compositors: COMPOSITORS,
} as const
type Purpose = keyof typeof PURPOSES

/** Returns the exit code. */
function setUp(args: readonly string[]): number {
  const purpose = args[0] === undefined ? "test" : args[0] === "--for" && args.length === 2 ? args[1]! : ""
  if (!isPurpose(purpose))
    return fail(`usage: bun scripts/setup.ts [--for ${Object.keys(PURPOSES).join("|")}]`, 2)
  const packages = PURPOSES[purpose]
  if (!Bun.which("dpkg-query") || !Bun.which("apt-get"))
    return fail(
      `This is not Debian. Install the equivalents of these Debian packages:\n  ${packages.join(" ")}`,
    )
  const missing = missingOf(packages)
  if (missing.length === 0) return 0

  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...missing]
  const prefix = process.getuid?.() === 0 ? [] : ["sudo", "-n"]
  const byHand = `Run:\n  sudo apt-get update && sudo ${install.join(" ")}`
  if (prefix.length > 0 && !succeeds([...prefix, "true"], "ignore"))
    return fail(`${missing.length} packages are missing and this user may not install them. ${byHand}`)
  console.error(`Installing ${missing.join(" ")}`)
  if (!areListsFresh() && !succeeds([...prefix, "apt-get", "update"]))
    console.error("The package lists could not be renewed; trying with the old ones")
  if (succeeds([...prefix, "env", "DEBIAN_FRONTEND=noninteractive", ...install, ...WAIT])) return 0
  return fail(`The installation failed. ${byHand}`)
}

/** Another process may be installing at this moment. */
const WAIT = ["-o", "DPkg::Lock::Timeout=120"]

const isPurpose = (word: string): word is Purpose => Object.hasOwn(PURPOSES, word)

function missingOf(packages: readonly string[]): readonly string[] {
  // dpkg-query exits with 1 if it does not know a package; it still prints the others.
  const { stdout } = Bun.spawnSync(["dpkg-query", "-W", "-f", STATUS, ...packages], { stderr: "ignore" })
  const lines = new Set(stdout.toString().split("\n"))
  return packages.filter((name) => !lines.has(`${name}\tinstalled`))
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is dpkg's own format
const STATUS = "${Package}\t${db:Status-Status}\n"

const DAY_MS = 24 * 60 * 60 * 1000

/** Container images come without package lists, and old lists name files that the mirrors no longer have. */
function areListsFresh(): boolean {
  const directory = process.env.AGENT_DESKTOP_APT_LISTS ?? "/var/lib/apt/lists"
  try {
    // The files have the mirror's time. The directories have the time of the last update.
    const updated = Math.max(statSync(directory).mtimeMs, statSync(`${directory}/partial`).mtimeMs)
    return updated > Date.now() - DAY_MS && readdirSync(directory).some((file) => /_Packages/.test(file))
  } catch {
    return false
  }
}

const succeeds = (command: readonly string[], output: "inherit" | "ignore" = "inherit"): boolean =>
  // apt-get's output goes to stderr; stdout belongs to the caller.
  Bun.which(command[0]!) !== null &&
  Bun.spawnSync([...command], {
    stdin: "ignore",
    stdout: output === "inherit" ? 2 : "ignore",
    stderr: output,
  }).success

function fail(text: string, code = 1): number {
  console.error(text)
  return code
}

if (import.meta.main) process.exitCode = setUp(Bun.argv.slice(2))
