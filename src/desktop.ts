import type { NotificationInfo, Point } from "./node.ts"

export interface Permissions {
  readonly granted: boolean
  readonly accessibility: Permission
  readonly screen_recording: Permission
  /** The program that needs the grants, and how to find it. */
  readonly grant_to?: string
  readonly [more: string]: boolean | string | Permission | undefined
}

export interface Permission {
  readonly state: Grant
  readonly suggestion?: string
}

export type Grant = "granted" | "denied" | "not_required" | "unknown"

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string
  readonly suggestion?: string
}

/** `names`: names of the app, in case a process other than `pid` opens its windows. */
export interface Launched {
  readonly pid: number
  readonly names: readonly string[]
  /** Resolves with the exit code if the started process ends by itself. */
  readonly exited: Promise<number>
  /** True if the process came from the started one, which may hand over to it and end. */
  isOwn?(pid: number): boolean
  /** True if the started process, or one that came from it, still runs. */
  isRunning?(): boolean
  /** The signal that ended the started process, and the end of what it wrote to its standard error. */
  lastWords?(): { readonly signal?: string; readonly stderr?: string }
  /** Ends the observation of the process. Called once, when the launch is over. */
  leave?(): void
}

export interface Life {
  /** undefined: the process runs. */
  end(): Promise<Ending | undefined>
  close(): void
}

/** How a process ended: with an exit code, or by a signal. Both absent: unknown. */
export interface Ending {
  readonly code?: number
  readonly signal?: string
}

export type ClipboardOp = { readonly kind: "get" | "clear" } | { readonly kind: "set"; readonly text: string }

export interface Picture {
  readonly png: Uint8Array
  readonly width: number
  readonly height: number
  /** The top left corner in screen pixels. Element bounds minus this point are picture coordinates. */
  readonly origin: Point
}

/** `id`: the daemon's own id of the notification. Unlike the index, it does not shift. */
export interface SeenNotification extends NotificationInfo {
  readonly id: string
}

export type NotificationOp =
  | { readonly kind: "dismiss" }
  | { readonly kind: "action"; readonly action: string }

/** The window systems that an isolated desktop can have. */
export const DESKTOP_KINDS = ["x11", "wayland"] as const
export type DesktopKind = (typeof DESKTOP_KINDS)[number]

export type DesktopOp =
  | { readonly kind: "list" }
  | {
      readonly kind: "start"
      readonly name?: string
      readonly desktop?: DesktopKind
      readonly width: number
      readonly height: number
    }
  | { readonly kind: "stop"; readonly name?: string }

export interface DesktopInfo {
  readonly name: string
  /** Absent: "x11". */
  readonly kind?: DesktopKind
  readonly display: string
  readonly size: string
  readonly pid: number
  readonly env: Readonly<Record<string, string>>
  /** The user that its compositor runs as, if not the caller. */
  readonly compositor_user?: string
  /** The parts that no longer run; such a desktop can only be stopped. */
  readonly broken?: string
}
