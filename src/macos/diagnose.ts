import { accessibility, responsibility } from "../../ffi/accessibility.ts"
import { Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { DECLARATIONS } from "../../ffi/declarations.ts"
import { missingSymbols } from "../../ffi/library.ts"
import type { Check, Permission, Permissions } from "../adapter.ts"
import { AppError } from "../errors.ts"
import { bundleOf, parentOf } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, newDictionary, newString } from "./cf.ts"
import { asElement, asText } from "./value.ts"

/** Tries every link between this program and an app. */
export function diagnose(ax: Ax, ffi: boolean): Check[] {
  return [...(ffi ? checkBindings() : []), checkSession(), ...checkPermissions(), checkApp(ax)]
}

/** Checks that macOS has every symbol that we bind, one check per library. */
function checkBindings(): Check[] {
  return DECLARATIONS.map((declaration) => {
    const { library, functions, addresses, guarded } = declaration
    const missing = missingSymbols(declaration)
    const name = `symbols of ${library.replace(/^.*\//, "")}${guarded ? " (optional)" : ""}`
    const count = Object.keys(functions).length + addresses.length
    return missing.length === 0
      ? { name, ok: true, detail: `${count} found` }
      : { name, ok: guarded === true, detail: `missing: ${missing.join(", ")}` }
  })
}

function checkSession(): Check {
  using session = new Owned(coreGraphics().CGSessionCopyCurrentDictionary())
  return session.ref
    ? { name: "graphical session", ok: true }
    : {
        name: "graphical session",
        ok: false,
        detail: "this process has no window server session",
        suggestion: "Run agent-desktop as the user who is logged in at the screen",
      }
}

function checkPermissions(): Check[] {
  const { accessibility, screen_recording, input_events } = readPermissions(false)
  const responsible = responsibleApp()
  const check = (name: string, permission: Permission | boolean | undefined): Check[] =>
    typeof permission === "object"
      ? [
          {
            name,
            ok: permission.state === "granted",
            detail: responsible ? `${permission.state}, for ${responsible}` : permission.state,
            ...(permission.suggestion ? { suggestion: permission.suggestion } : {}),
          },
        ]
      : []
  return [
    ...check("accessibility permission", accessibility),
    ...check("screen recording permission", screen_recording),
    ...check("permission to send input", input_events),
  ]
}

function checkApp(ax: Ax): Check {
  const name = "the focused app answers"
  try {
    const app = asElement(ax.get(ax.connection.system, "AXFocusedApplication"))
    if (!app)
      return {
        name,
        ok: false,
        detail: "macOS reports no focused app",
        suggestion: "Bring an app to the front",
      }
    return { name, ok: true, detail: asText(ax.get(app, "AXTitle")) ?? `pid ${ax.pid(app)}` }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return {
      name,
      ok: false,
      detail: error.message,
      ...(error.suggestion ? { suggestion: error.suggestion } : {}),
    }
  }
}

/** Levels of parent processes in which to look for the app that started us. */
const PARENTS = 16

/** Reads the permissions. Only with `request` does macOS show its dialogs. */
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

/** The app that macOS grants permissions to on our behalf: usually the terminal, not this program. */
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
