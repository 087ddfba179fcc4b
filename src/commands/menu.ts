import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { app, changes, text, windowId } from "../schema/inputs.ts"
import { actedOnRef, described } from "../schema/outputs.ts"

export const menu = defineCommand({
  name: "menu",
  summary: "Choose a menu item by its path; no menu stays open",
  group: "act",
  effect: "changes",
  tool: "core",
  trace: "pictures",
  timeoutMs: 10_000,
  input: {
    path: text('Names from the menu bar or a menu button down: "File > Export > PDF…"', {
      position: 0,
      value: "PATH",
      traced: true,
    }),
    app,
    window_id: windowId,
    changes,
  },
  output: () =>
    actedOnRef("menu", { path: described(v.array(v.string()), "The names as the app shows them") }),
  print: async (data: object) => (await import("../look/outline.ts")).actedText(data),
  sample: { path: "$menu", app: "$app" },
  examples: ['agent-desktop menu "File > Save As…"', 'agent-desktop menu "View > Show Toolbar" --app gedit'],
  check: ({ path }) => {
    namesIn(path)
  },
  async run(args, ctx) {
    const [{ changing }, { chooseFromMenu, menuWindow }] = await Promise.all([
      import("../act/act.ts"),
      import("../act/menu.ts"),
    ])
    const place = args.changes ? { ...args, window_id: (await menuWindow(ctx, args)).id } : args
    return changing(ctx, place, () => chooseFromMenu(ctx, args, namesIn(args.path)))
  },
})

/** `File > Export`: names with `>` between them. A `>` inside a name is written `\>`. */
function namesIn(path: string): readonly string[] {
  const names = path.split(/(?<!\\)>/).map((name) => name.replaceAll("\\>", ">").trim())
  if (names.every((name) => name !== "")) return names
  throw new AppError("INVALID_ARGS", `PATH '${path.slice(0, 80)}' has an empty name`, {
    suggestion: 'agent-desktop menu "File > Save As…"',
    details: { argument: "path" },
  })
}
