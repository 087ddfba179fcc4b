import type { ActChoice, ActionChanges } from "./changes.ts"
import type { Context } from "./command.ts"

/** Acts, and with `--changes` adds what became different; who does not ask for it does not pay for it. */
export async function changing<T extends object>(
  ctx: Context,
  choice: ActChoice & { readonly changes?: boolean },
  act: () => Promise<T>,
): Promise<T & { readonly changes?: ActionChanges }> {
  if (!choice.changes) return act()
  const { withChanges } = await import("./changes.ts")
  return withChanges(ctx, choice, act)
}
