import { actOnRef } from "../act.ts"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { actInput } from "../inputs.ts"
import { openedMenu } from "../menus.ts"

export default defineCommand({
  name: "right-click",
  summary: "Open the element's context menu and return it with refs",
  group: "act",
  input: actInput,
  examples: ["agent-desktop right-click @e3"],
  async run(args, ctx) {
    const result = await actOnRef(ctx, args, { kind: "right-click" })
    try {
      const menu = await openedMenu(ctx, args)
      return menu
        ? { ...result, disposition: { delivery: "delivered_verified", retry: "unsafe" }, menu }
        : result
    } catch (error) {
      // The click was delivered, whatever became of reading the menu.
      throw error instanceof AppError ? error.with({ disposition: result.disposition }) : error
    }
  },
})
