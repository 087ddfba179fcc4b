import { type Declaration, guardedly, variable } from "./library.ts"

const APPLICATION_SERVICES = "/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices"

/** AXError _AXUIElementGetWindow(AXUIElementRef, CGWindowID *): which window of the window server an element is in. */
export const WINDOW_BRIDGE = {
  library: APPLICATION_SERVICES,
  functions: { _AXUIElementGetWindow: { args: ["u64", "ptr"], returns: "i32" } } as const,
  addresses: [],
  guarded: true,
} satisfies Declaration

/** What AXUIElementCopyHierarchy is told by, and what it answers with; as the system has them, never spelled out here. */
const HIERARCHY_KEYS = {
  arrays: "kAXUIElementCopyHierarchyArrayAttributesKey",
  mostItems: "kAXUIElementCopyHierarchyMaxArrayCountKey",
  mostLevels: "kAXUIElementCopyHierarchyMaxDepthKey",
  errors: "kAXUIElementCopyHierarchyReturnAttributeErrorsKey",
  value: "kAXUIElementCopyHierarchyResultValueKey",
  count: "kAXUIElementCopyHierarchyResultCountKey",
  error: "kAXUIElementCopyHierarchyResultErrorKey",
  incomplete: "kAXUIElementCopyHierarchyIncompleteResultKey",
} as const

/** AXError AXUIElementCopyHierarchy(AXUIElementRef, CFArrayRef names, CFDictionaryRef options, CFDictionaryRef *). */
export const HIERARCHY = {
  library: APPLICATION_SERVICES,
  functions: { AXUIElementCopyHierarchy: { args: ["u64", "u64", "u64", "ptr"], returns: "i32" } } as const,
  addresses: Object.values(HIERARCHY_KEYS),
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
export const responsibility = guardedly(RESPONSIBILITY)

const hierarchyCalls = guardedly(HIERARCHY)

type HierarchyKeys = Readonly<Record<keyof typeof HIERARCHY_KEYS, bigint>>

let hierarchyKeys: HierarchyKeys | undefined

/** The bulk read and its keys; undefined where any of it is missing. */
export function hierarchy() {
  const copy = hierarchyCalls()?.AXUIElementCopyHierarchy
  if (!copy) return undefined
  hierarchyKeys ??= Object.fromEntries(
    Object.entries(HIERARCHY_KEYS).map(([key, symbol]) => [key, variable(APPLICATION_SERVICES, symbol)]),
  ) as HierarchyKeys
  return Object.values(hierarchyKeys).includes(0n) ? undefined : { copy, keys: hierarchyKeys }
}
