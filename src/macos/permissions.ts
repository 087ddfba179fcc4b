import { accessibility } from "../../ffi/accessibility.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { responsibility } from "../../ffi/private.ts"
import type { Permission, Permissions } from "../adapter.ts"
import { cfBoolean, newDictionary, newString } from "./cf.ts"
import { bundleOf, parentOf } from "./processes.ts"

/** How far up the chain of parents the app may be that started us. */
const PARENTS = 16

/** What macOS lets us do. Only a request shows the system's own dialogs. */
export function readPermissions(request: boolean): Permissions {
  const cg = coreGraphics()
  const trusted = request ? requestTrust() : accessibility().AXIsProcessTrusted() !== 0
  const recording = request ? cg.CGRequestScreenCaptureAccess() : cg.CGPreflightScreenCaptureAccess()
  const input = request ? cg.CGRequestPostEventAccess() : cg.CGPreflightPostEventAccess()
  const who = responsibleApp() ?? "your terminal"
  const permission = (granted: boolean, pane: string): Permission =>
    granted
      ? { state: "granted" }
      : { state: "denied", suggestion: `Open System Settings > Privacy & Security > ${pane} and add ${who}` }
  return {
    granted: trusted && input,
    accessibility: permission(trusted, "Accessibility"),
    screen_recording: permission(recording, "Screen Recording"),
    input_events: permission(input, "Accessibility"),
  }
}

function requestTrust(): boolean {
  using key = newString("AXTrustedCheckOptionPrompt")
  using options = newDictionary([[key.ref, cfBoolean(true)]])
  return accessibility().AXIsProcessTrustedWithOptions(options.ref) !== 0
}

/** Grants belong to the app that macOS holds responsible for us: mostly the terminal, not this program. */
export function responsibleApp(): string | undefined {
  const responsible = responsibility()?.responsibility_get_pid_responsible_for_pid(process.pid) ?? 0
  if (responsible > 0 && responsible !== process.pid) return bundleOf(responsible)?.name
  let pid: number | undefined = process.ppid
  for (let i = 0; i < PARENTS && pid && pid > 1; i++) {
    const bundle = bundleOf(pid)
    if (bundle) return bundle.name
    pid = parentOf(pid)
  }
  return undefined
}
