import { ACCESSIBILITY, RESPONSIBILITY, WINDOW_BRIDGE } from "./accessibility.ts"
import { CARBON, CORE_SERVICES } from "./carbon.ts"
import { CORE_FOUNDATION } from "./core-foundation.ts"
import { CORE_GRAPHICS, LIBFFI } from "./core-graphics.ts"
import type { Declaration } from "./library.ts"
import { LIBSYSTEM } from "./libsystem.ts"
import { APPKIT, OBJC } from "./objc.ts"
import { RESPAWN } from "./respawn.ts"

/** Every symbol of macOS that this program binds. */
export const DECLARATIONS: readonly Declaration[] = [
  CORE_FOUNDATION,
  ACCESSIBILITY,
  CORE_GRAPHICS,
  CARBON,
  CORE_SERVICES,
  OBJC,
  APPKIT,
  LIBSYSTEM,
  LIBFFI,
  WINDOW_BRIDGE,
  RESPONSIBILITY,
  RESPAWN,
]
