import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { lines, windowLine } from "../look/outline.ts"
import { chooseWindow, publicApp, publicWindow, windowsOfApp } from "../look/windows.ts"
import { app } from "../schema/inputs.ts"
import { count, optionalString, rect, surface, windowInfo } from "../schema/outputs.ts"
import { quoted } from "../shown-text.ts"

/** Lists of what is on the desktop. */

export const listApps = defineCommand({
  name: "list-apps",
  summary: "List the running apps",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: {},
  output: () =>
    v.object({ apps: v.array(v.object({ name: v.string(), pid: count(), bundle_id: optionalString() })) }),
  print: ({ apps }) =>
    lines(
      apps,
      ({ name, pid, bundle_id }) => `${quoted(name)} pid ${pid}${bundle_id ? ` ${quoted(bundle_id)}` : ""}`,
    ),
  sample: {},
  examples: ["agent-desktop list-apps"],
  run: async (_, ctx) => ({ apps: (await ctx.adapter.apps()).map(publicApp) }),
})

export const listWindows = defineCommand({
  name: "list-windows",
  summary: "List the open windows, the frontmost first",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: { app },
  output: () => v.object({ windows: v.array(windowInfo()) }),
  print: ({ windows }) => lines(windows, windowLine),
  sample: [{}, { app: "$app" }],
  examples: ["agent-desktop list-windows --app Finder"],
  async run(args, ctx) {
    const windows = await ctx.adapter.windows(args.app === undefined ? undefined : { app: args.app })
    return { windows: (args.app === undefined ? windows : windowsOfApp(windows, args.app)).map(publicWindow) }
  },
})

export const listSurfaces = defineCommand({
  name: "list-surfaces",
  summary: "List the open surfaces of an app for --surface: windows, menus, dialogs",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: { app },
  output: () => v.object({ pid: count(), surfaces: v.array(surface()) }),
  print: ({ surfaces }) =>
    lines(surfaces, ({ type, id, title, item_count }) =>
      [type, id, title && quoted(title), item_count !== undefined && `${item_count} items`]
        .filter(Boolean)
        .join(" "),
    ),
  sample: { app: "$app" },
  examples: ["agent-desktop list-surfaces --app TextEdit"],
  async run(args, ctx) {
    const { pid } = await chooseWindow(ctx.adapter, args, { orApp: true })
    return { pid, surfaces: await ctx.adapter.surfaces(pid) }
  },
})

export const listDisplays = defineCommand({
  name: "list-displays",
  summary: "List the displays and their positions",
  group: "observe",
  effect: "reads",
  tool: "all",
  trace: "pictures",
  input: {},
  output: () =>
    v.object({
      displays: v.array(
        v.object({ id: v.string(), bounds: rect(), is_primary: v.boolean(), scale: v.number() }),
      ),
    }),
  print: ({ displays }) =>
    lines(
      displays,
      ({ id, bounds: { x, y, width, height }, is_primary, scale }) =>
        `${quoted(id)} at ${x},${y} ${width}x${height} scale ${scale}${is_primary ? " primary" : ""}`,
    ),
  sample: {},
  run: async (_, ctx) => ({ displays: await ctx.adapter.displays() }),
})
