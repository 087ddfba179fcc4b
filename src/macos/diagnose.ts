import { Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { DECLARATIONS } from "../../ffi/declarations.ts"
import { missingSymbols } from "../../ffi/library.ts"
import type { Check, Permission } from "../adapter.ts"
import { AppError } from "../errors.ts"
import type { Ax } from "./ax.ts"
import { readPermissions, responsibleApp } from "./permissions.ts"
import { asElement, asText } from "./value.ts"

/** Every link between us and an app, each tried. */
export function diagnose(ax: Ax, ffi: boolean): Check[] {
  return [...(ffi ? checkBindings() : []), checkSession(), ...checkPermissions(), checkApp(ax)]
}

/** Whether this system has every symbol that is bound, library by library. */
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
        detail: "there is no session of the window server here",
        suggestion: "Run it as the user who is logged in at the screen",
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
        detail: "macOS names no focused app",
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
