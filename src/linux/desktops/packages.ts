import { accessSync, readFileSync } from "node:fs"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"

/** The parts of a desktop and the bridges of old toolkits, with their packages for each distribution. */
const PACKAGES = {
  Xvfb: {
    debian: "xvfb",
    fedora: "xorg-x11-server-Xvfb",
    arch: "xorg-server-xvfb",
    suse: "xorg-x11-server-Xvfb",
  },
  sway: { debian: "sway", fedora: "sway", arch: "sway", suse: "sway" },
  openbox: { debian: "openbox", fedora: "openbox", arch: "openbox", suse: "openbox" },
  "dbus-daemon": { debian: "dbus", fedora: "dbus-daemon", arch: "dbus", suse: "dbus-1-daemon" },
  "org.a11y.Bus": {
    debian: "at-spi2-core",
    fedora: "at-spi2-core",
    arch: "at-spi2-core",
    suse: "at-spi2-core",
  },
  "GTK 2 bridge": {
    debian: "libgail-common libatk-adaptor",
    fedora: "gtk2 at-spi2-atk",
    arch: "gtk2 at-spi2-core",
    suse: "at-spi2-atk-gtk2",
  },
  "Java bridge": {
    debian: "libatk-wrapper-java-jni",
    fedora: "java-atk-wrapper",
    arch: "java-atk-wrapper-openjdk17",
    suse: "java-atk-wrapper",
  },
} as const

export type DesktopProgram = keyof typeof PACKAGES

const INSTALL = {
  debian: "sudo apt-get install -y",
  fedora: "sudo dnf install -y",
  arch: "sudo pacman -S --needed",
  suse: "sudo zypper install -y",
} as const

export function missingPrograms(missing: readonly DesktopProgram[]): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `An isolated desktop needs ${missing.join(", ")}: not installed`,
    {
      suggestion: installHint(missing),
      details: { missing },
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** True if the session bus can start the accessibility bus, which is not a program on PATH. */
export function hasAccessibilityBus(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":").some((directory) => {
    try {
      accessSync(`${directory}/dbus-1/services/org.a11y.Bus.service`)
      return true
    } catch {
      return false
    }
  })
}

/** The command that installs these on this machine. */
export function installHint(missing: readonly DesktopProgram[]): string {
  return installCommand(missing, readOsRelease())
}

/** The command that installs the missing parts on the distribution that this os-release file describes. */
export function installCommand(missing: readonly DesktopProgram[], osRelease: string): string {
  const ids = [...osRelease.matchAll(/^(?:ID|ID_LIKE)=["']?([^"'\n]*)/gm)].flatMap(([, value]) =>
    value!.split(" "),
  )
  const family = ids.flatMap((id) => FAMILIES[id] ?? [])[0]
  if (family) return `${INSTALL[family]} ${missing.map((program) => PACKAGES[program][family]).join(" ")}`
  return `Install the packages that bring ${missing.join(", ")} (on Debian: ${missing.map((program) => PACKAGES[program].debian).join(" ")})`
}

const FAMILIES: Readonly<Record<string, keyof typeof INSTALL>> = {
  debian: "debian",
  ubuntu: "debian",
  fedora: "fedora",
  rhel: "fedora",
  centos: "fedora",
  arch: "arch",
  suse: "suse",
  opensuse: "suse",
}

function readOsRelease(): string {
  for (const path of ["/etc/os-release", "/usr/lib/os-release"]) {
    try {
      return readFileSync(path, "utf8")
    } catch {
      // The second path is the specification's fallback.
    }
  }
  return ""
}
