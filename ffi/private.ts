import { type Declaration, guardedly } from "./library.ts"

const APPLICATION_SERVICES = "/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices"

/** AXError _AXUIElementGetWindow(AXUIElementRef, CGWindowID *): which window of the window server an element is in. */
export const WINDOW_BRIDGE = {
  library: APPLICATION_SERVICES,
  functions: { _AXUIElementGetWindow: { args: ["u64", "ptr"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

/** AXError AXUIElementCopyHierarchy(AXUIElementRef, CFArrayRef names, CFDictionaryRef options, CFDictionaryRef *). */
export const HIERARCHY = {
  library: APPLICATION_SERVICES,
  functions: { AXUIElementCopyHierarchy: { args: ["u64", "u64", "u64", "ptr"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

/** pid_t responsibility_get_pid_responsible_for_pid(pid_t): whom the privacy settings hold responsible. */
export const RESPONSIBILITY = {
  library: "/usr/lib/libSystem.B.dylib",
  functions: { responsibility_get_pid_responsible_for_pid: { args: ["i32"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

export const windowBridge = guardedly(WINDOW_BRIDGE)
export const hierarchy = guardedly(HIERARCHY)
export const responsibility = guardedly(RESPONSIBILITY)
