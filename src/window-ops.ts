import type { SeenWindow, WindowOp } from "./adapter.ts"
import { chooseWindow, publicWindow, windowsOfApp } from "./choose.ts"
import type { Context } from "./command.ts"
import { AppError } from "./errors.ts"
import { optionalText } from "./inputs.ts"
import type { WindowInfo } from "./node.ts"

export const targetWindow = optionalText("Window by id, from list-windows", {
  position: 0,
  value: "ID",
  aliases: ["id"],
})

interface Wanted {
  readonly window_id?: string
  readonly app?: string
  readonly title?: string
}

/** Operates on the window that the arguments name and tells how it was afterwards. */
export async function operate(ctx: Context, wanted: Wanted, op: WindowOp): Promise<WindowInfo> {
  const window = await windowTarget(ctx, wanted)
  const after = await ctx.adapter.window(window.id, op)
  if (op.kind === "focus" && !after.is_focused) {
    throw new AppError("ACTION_FAILED", `Window '${window.id}' did not get the focus`, {
      suggestion: "Use 'list-windows' to see which window has it; a dialog may hold it",
      details: { kind: "contradicted", observed: publicWindow(after) },
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
  }
  return publicWindow(after)
}

/** Without id, app and title there is none: the focused window is not a guess worth making. */
export function needsWindow(wanted: Wanted): void {
  if (wanted.window_id !== undefined || wanted.app !== undefined || wanted.title !== undefined) return
  throw new AppError("INVALID_ARGS", "Which window? An id, --app or --title is needed", {
    suggestion: "Use 'list-windows' to see available windows",
    details: { argument: "window_id" },
  })
}

async function windowTarget(ctx: Context, wanted: Wanted): Promise<SeenWindow> {
  if (wanted.title === undefined) return chooseWindow(ctx.adapter, wanted)
  const windows = await ctx.adapter.windows()
  const own = wanted.app === undefined ? windows : windowsOfApp(windows, wanted.app)
  const titled = own.filter(
    (window) =>
      window.title === wanted.title && (wanted.window_id === undefined || window.id === wanted.window_id),
  )
  const [only, ...others] = titled
  if (only && others.length === 0) return only
  throw only
    ? new AppError("AMBIGUOUS_TARGET", `${titled.length} windows have the title '${wanted.title}'`, {
        suggestion: `Pass one of the candidates' ids, such as --window-id ${titled[0]?.id}; 'list-windows' shows them`,
        details: { candidates: titled.map(publicWindow) },
      })
    : new AppError("WINDOW_NOT_FOUND", `No window has the title '${wanted.title}'`, {
        suggestion: "Use 'list-windows' to see available windows",
      })
}
