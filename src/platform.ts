import type { Adapter } from "./adapter.ts"
import type { Deadline } from "./deadline.ts"
import { AppError } from "./errors.ts"

/** One desktop. Its connections are opened when first needed and shared by all its adapters. */
export interface Platform {
  readonly name: string
  adapter(deadline: Deadline): Adapter
  close(): Promise<void>
}

/**
 * How a desktop was reached before, in the platform's own words: what a map of refs remembers of it. It spares
 * asking for the way again, and is never believed without proof.
 */
export interface Way {
  known?: string
}

export interface PlatformOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of our own state: desktops that we started, frames of windows that we maximised, keys that we hold. */
  readonly root: string
  /** Name of an isolated desktop; without it, the user's own session. */
  readonly desktop?: string
  readonly way?: Way
}

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
