import { accessibility } from "../../ffi/accessibility.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { DECLARATIONS } from "../../ffi/declarations.ts"
import { missingSymbols } from "../../ffi/library.ts"
import type { Check, Permission, Permissions } from "../desktop.ts"
import { AppError } from "../errors.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, newDictionary, newString } from "./cf.ts"
import { sessionState } from "./input-events.ts"
import { nearestApp, type Responsible, responsibleProgram } from "./responsible.ts"
import { asElement, asText } from "./value.ts"

/** Tries every link between this program and an app. */
export function diagnose(ax: Ax, ffi: boolean): Check[] {
  const bindings = ffi ? checkBindings() : []
  // A library that lacks a symbol cannot be opened at all, so the other checks would fail without a reason.
  if (bindings.some(({ ok }) => !ok)) return bindings
  return [...bindings, checkSession(), ...checkPermissions(), checkApp(ax)]
}

/** Checks that macOS has every symbol that we bind, one check per library. */
function checkBindings(): Check[] {
  return DECLARATIONS.map((declaration) => {
    const { library, functions, addresses, guarded } = declaration
    const missing = missingSymbols(declaration)
    const optional = guarded ? ` (optional: ${Object.keys(functions)[0]})` : ""
    const name = `symbols of ${library.replace(/^.*\//, "")}${optional}`
    const count = Object.keys(functions).length + addresses.length
    return missing.length === 0
      ? { name, ok: true, detail: `${count} found` }
      : { name, ok: guarded === true, detail: `missing: ${missing.join(", ")}` }
  })
}

function checkSession(): Check {
  const name = "graphical session"
  const state = sessionState()
  if (state === "open") return { name, ok: true }
  if (state === "none")
    return {
      name,
      ok: false,
      detail: "this process has no window server session",
      suggestion: "Run agent-desktop as the user who is logged in at the screen",
    }
  return {
    name,
    ok: false,
    detail: "the screen is locked: keys and clicks would go to the lock screen",
    suggestion: "Unlock the screen",
  }
}

function checkPermissions(): Check[] {
  const { accessibility, screen_recording, input_events, grant_to } = readPermissions(false)
  const check = (name: string, permission: Permissions[string]): Check[] =>
    typeof permission === "object"
      ? [
          {
            name,
            ok: permission.state === "granted",
            detail: grant_to ? `${permission.state}, for ${grant_to}` : permission.state,
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

/** Reads the permissions. Only with `request` does macOS show its dialogs. */
export function readPermissions(request: boolean): Permissions {
  const cg = coreGraphics()
  const trusted = request ? requestTrust() : accessibility().AXIsProcessTrusted() !== 0
  const recording = request ? cg.CGRequestScreenCaptureAccess() : cg.CGPreflightScreenCaptureAccess()
  const input = request ? cg.CGRequestPostEventAccess() : cg.CGPreflightPostEventAccess()
  const responsible = responsibleProgram()
  const permission = (granted: boolean, pane: string): Permission =>
    granted
      ? { state: "granted" }
      : {
          state: "denied",
          suggestion: `Open System Settings > Privacy & Security > ${pane} and ${stepFor(responsible)}`,
        }
  return {
    granted: trusted && input,
    ...(responsible ? { grant_to: responsible.full } : {}),
    accessibility: permission(trusted, "Accessibility"),
    screen_recording: permission(recording, "Screen Recording"),
    input_events: permission(input, "Accessibility"),
  }
}

function stepFor(responsible: Responsible | undefined): string {
  if (!responsible) return `add ${nearestApp() ?? "your terminal"}`
  const { name, full, kind } = responsible
  if (kind === "app") return `add ${full}, then restart ${name}`
  // An ad-hoc signature of a bare program identifies one version only. macOS shows the old entry switched on.
  if (name === full)
    return `add ${full}; if it is there already, remove it first; if macOS does not add it, use Agent Desktop.app or start agent-desktop from a terminal`
  return `add ${full}`
}

function requestTrust(): boolean {
  using key = newString("AXTrustedCheckOptionPrompt")
  using options = newDictionary([[key.ref, cfBoolean(true)]])
  return accessibility().AXIsProcessTrustedWithOptions(options.ref) !== 0
}
