import type { Adapter, Env, Platform, PlatformOptions } from "./adapter.ts"
import { AppError } from "./errors.ts"

/** The one place that chooses; a compiled binary keeps only the arm of its own platform. */
export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  return process.platform === "darwin"
    ? (await import("./macos/adapter.ts")).connectMacos(options)
    : process.platform === "linux"
      ? (await import("./linux/adapter.ts")).connectLinux(options)
      : nowhere()
}

function nowhere(): Platform {
  const refuse = async (): Promise<never> => {
    throw new AppError("PLATFORM_NOT_SUPPORTED", `agent-desktop has no adapter for ${process.platform}`, {
      suggestion: "Run it on macOS 13 or later, or on Linux with X11 and AT-SPI",
    })
  }
  const adapter: Adapter = {
    permissions: refuse,
    diagnose: refuse,
    apps: refuse,
    windows: refuse,
    displays: refuse,
    surfaces: refuse,
    tree: refuse,
    processStart: refuse,
    open: refuse,
    read: refuse,
    hit: refuse,
    perform: refuse,
    takeTurn: refuse,
    input: refuse,
    window: refuse,
    launch: refuse,
    quit: refuse,
    clipboard: refuse,
    screenshot: refuse,
    notifications: refuse,
    notification: refuse,
    desktops: refuse,
    watch: refuse,
    close: async () => {},
  }
  return { name: process.platform, adapter: () => adapter, close: async () => {} }
}

/** Runs until its work is done; returns the exit code. */
export type Part = (env: Env) => Promise<number>

/**
 * What this program does for itself in a process of its own, by the first word of its command line.
 * No user ever types these. A compiled binary keeps only those of its own platform.
 */
const PARTS: Readonly<Record<string, () => Promise<Part>>> =
  process.platform === "linux"
    ? {
        "__own-clipboard": async () => (await import("./linux/x11/clipboard-owner.ts")).serveClipboard,
        "__notification-daemon": async () =>
          (await import("./linux/notifications/daemon.ts")).serveNotifications,
      }
    : {}

export async function internalPart(word: string): Promise<Part | undefined> {
  return Object.hasOwn(PARTS, word) ? PARTS[word]?.() : undefined
}
