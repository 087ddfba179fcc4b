import type { Env, Platform, PlatformOptions } from "./adapter.ts"
import { AppError } from "./errors.ts"

/** Opens the platform. A compiled binary contains only its own branch. */
export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  return process.platform === "darwin"
    ? (await import("./macos/adapter.ts")).connectMacos(options)
    : process.platform === "linux"
      ? (await import("./linux/adapter.ts")).connectLinux(options)
      : unsupported()
}

function unsupported(): never {
  throw new AppError("PLATFORM_NOT_SUPPORTED", `agent-desktop has no adapter for ${process.platform}`, {
    suggestion: "Run it on macOS 13 or later, or on Linux with AT-SPI and X11 or Wayland",
  })
}

/** In a macOS app bundle: makes sure that the bundle's privacy grants apply, and returns the words to run. */
export async function startInBundle(argv: readonly string[]): Promise<readonly string[]> {
  if (process.platform !== "darwin") return argv
  const { takeResponsibility, wordsOfBundle } = await import("./macos/responsible.ts")
  takeResponsibility()
  return wordsOfBundle(argv)
}

/** Runs until its work is done; returns the exit code. */
export type Part = (env: Env) => Promise<number>

/**
 * Parts of this program that run in a separate process, by the first word of the command line. The program starts them
 * itself; users never type these words. A compiled binary contains only those of its platform.
 */
const PARTS: Readonly<Record<string, () => Promise<Part>>> =
  process.platform === "linux"
    ? {
        "__own-clipboard": async () => (await import("./linux/x11/clipboard-owner.ts")).serveClipboard,
        "__own-wayland-clipboard": async () =>
          (await import("./linux/wayland/clipboard-owner.ts")).serveWaylandClipboard,
        "__keep-open": async () => (await import("./linux/atspi/side-door.ts")).keepSideDoor,
        "__hold-input": async () => (await import("./linux/wayland/input-holder.ts")).holdInput,
        "__notification-daemon": async () =>
          (await import("./linux/notifications/daemon.ts")).serveNotifications,
      }
    : {}

export async function internalPart(word: string): Promise<Part | undefined> {
  return Object.hasOwn(PARTS, word) ? PARTS[word]?.() : undefined
}
