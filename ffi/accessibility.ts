import { JSCallback } from "bun:ffi"
import { type Declaration, guardedly, lazily } from "./library.ts"

const APPLICATION_SERVICES = "/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices"

const functions = {
  AXIsProcessTrusted: { args: [], returns: "u8" },
  AXIsProcessTrustedWithOptions: { args: ["u64"], returns: "u8" },
  AXUIElementGetTypeID: { args: [], returns: "u64" },
  AXUIElementCreateSystemWide: { args: [], returns: "u64" },
  AXUIElementCreateApplication: { args: ["i32"], returns: "u64" },
  AXUIElementSetMessagingTimeout: { args: ["u64", "f32"], returns: "i32" },
  AXUIElementGetPid: { args: ["u64", "ptr"], returns: "i32" },
  AXUIElementCopyAttributeValue: { args: ["u64", "u64", "ptr"], returns: "i32" },
  AXUIElementGetAttributeValueCount: { args: ["u64", "u64", "ptr"], returns: "i32" },
  AXUIElementCopyAttributeValues: { args: ["u64", "u64", "i64", "i64", "ptr"], returns: "i32" },
  AXUIElementCopyMultipleAttributeValues: { args: ["u64", "u64", "u32", "ptr"], returns: "i32" },
  AXUIElementCopyParameterizedAttributeValue: { args: ["u64", "u64", "u64", "ptr"], returns: "i32" },
  AXUIElementIsAttributeSettable: { args: ["u64", "u64", "ptr"], returns: "i32" },
  AXUIElementSetAttributeValue: { args: ["u64", "u64", "u64"], returns: "i32" },
  AXUIElementCopyActionNames: { args: ["u64", "ptr"], returns: "i32" },
  AXUIElementPerformAction: { args: ["u64", "u64"], returns: "i32" },
  AXUIElementCopyElementAtPosition: { args: ["u64", "f32", "f32", "ptr"], returns: "i32" },
  AXValueGetTypeID: { args: [], returns: "u64" },
  AXValueGetType: { args: ["u64"], returns: "u32" },
  AXValueGetValue: { args: ["u64", "u32", "ptr"], returns: "u8" },
  AXValueCreate: { args: ["u32", "ptr"], returns: "u64" },
  AXObserverCreate: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  AXObserverGetRunLoopSource: { args: ["u64"], returns: "u64" },
  AXObserverAddNotification: { args: ["u64", "u64", "u64", "u64"], returns: "i32" },
} as const

export const ACCESSIBILITY = {
  library: APPLICATION_SERVICES,
  functions,
  addresses: [],
} satisfies Declaration

export const accessibility = lazily(ACCESSIBILITY)

/** AXValueType */
export const VALUE_POINT = 1
export const VALUE_SIZE = 2
export const VALUE_RECT = 3
export const VALUE_RANGE = 4
export const VALUE_ERROR = 5

/** An AXObserverCallback. It runs on the thread of the run loop, which is ours. The caller closes it. */
export function observerCallback(notified: () => void): JSCallback {
  return new JSCallback(notified, { args: ["u64", "u64", "u64", "u64"], returns: "void" })
}

/** AXError _AXUIElementGetWindow(AXUIElementRef, CGWindowID *): the window server's window that contains an element. */
export const WINDOW_BRIDGE = {
  library: APPLICATION_SERVICES,
  functions: { _AXUIElementGetWindow: { args: ["u64", "ptr"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

/** pid_t responsibility_get_pid_responsible_for_pid(pid_t): the process that privacy grants are looked up for. */
export const RESPONSIBILITY = {
  library: "/usr/lib/libSystem.B.dylib",
  functions: { responsibility_get_pid_responsible_for_pid: { args: ["i32"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

export const windowBridge = guardedly(WINDOW_BRIDGE)
export const responsibility = guardedly(RESPONSIBILITY)
