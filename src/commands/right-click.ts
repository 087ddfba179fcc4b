import { actOnRef, changing } from "../act/act.ts"
import { type Context, defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { actInput } from "../inputs.ts"
import { openedMenu } from "../look/surface.ts"

export default defineCommand({
  name: "right-click",
  summary: "Open the element's context menu and return it with refs",
  group: "act",
  input: actInput,
  examples: ["agent-desktop right-click @e3"],
  run: (args, ctx) => changing(ctx, args, () => openMenu(ctx, { ...args, changes: false })),
})

async function openMenu(ctx: Context, choice: Parameters<typeof actOnRef>[1]): Promise<object> {
  const result = await actOnRef(ctx, choice, { kind: "right-click" })
  try {
    const menu = await openedMenu(ctx, choice)
    return menu
      ? { ...result, disposition: { delivery: "delivered_verified", retry: "unsafe" }, menu }
      : result
  } catch (error) {
    // The click was delivered, whatever became of reading the menu.
    throw error instanceof AppError ? error.with({ disposition: result.disposition }) : error
  }
}
