import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { DESKTOP_KINDS } from "../desktop.ts"
import { AppError } from "../errors.ts"
import { choice, flag, oneOf, optionalText, parseSize, text, whole } from "../schema/inputs.ts"
import { count, described, optionalString } from "../schema/outputs.ts"

/** Isolated desktops on Linux. */

const desktop = () =>
  v.object({
    name: v.string(),
    kind: optionalString(),
    display: v.string(),
    size: v.string(),
    pid: count(),
    env: v.record(v.string(), v.string()),
    compositor_user: optionalString(),
    broken: optionalString(),
  })

export const desktopStart = defineCommand({
  name: "desktop-start",
  summary: "Linux: start an isolated desktop (display, buses, window manager) to run apps in",
  group: "desktop",
  effect: "harmless",
  aside: true,
  tool: "all",
  trace: "line",
  flow: "never",
  timeoutMs: 15_000,
  input: {
    name: optionalText("Name of the desktop; made up if left out", { value: "NAME", traced: true }),
    size: v.optional(text("Width and height of its screen", { value: "WxH", traced: true }), "1920x1080"),
    kind: v.optional(
      choice(DESKTOP_KINDS, "Window system: Xvfb with a window manager, or headless sway"),
      "x11",
    ),
  },
  output: desktop,
  print: "facts",
  sample: { name: "other" },
  examples: ["agent-desktop desktop-start --name test", "agent-desktop --desktop test launch mousepad"],
  check: (args) => void parseSize(args.size),
  async run(args, ctx) {
    const [started] = await ctx.adapter.desktops({
      kind: "start",
      name: args.name,
      ...(args.kind === "x11" ? {} : { desktop: args.kind }),
      ...parseSize(args.size),
    })
    return { ...started }
  },
})

export const desktopStop = defineCommand({
  name: "desktop-stop",
  summary: "Linux: end an isolated desktop and everything that runs in it",
  group: "desktop",
  effect: "changes",
  aside: true,
  tool: "all",
  trace: "line",
  flow: "never",
  timeoutMs: 15_000,
  input: {
    name: optionalText("Name of the desktop", { position: 0, value: "NAME", traced: true }),
    all: flag("Every desktop that was started here"),
  },
  output: () => v.object({ stopped: v.array(v.string()) }),
  print: "facts",
  sample: { name: "$desktop" },
  examples: ["agent-desktop desktop-stop test"],
  check: (args) => oneOf(args, ["name", "all"]),
  async run(args, ctx) {
    const stopped = await ctx.adapter.desktops({ kind: "stop", name: args.name })
    if (args.name !== undefined && stopped.length === 0) {
      throw new AppError("ELEMENT_NOT_FOUND", `No desktop is named '${args.name}'`, {
        suggestion: "Use 'list-desktops' to see them",
      })
    }
    return { stopped: stopped.map((desktop) => desktop.name) }
  },
})

export const desktopView = defineCommand({
  name: "desktop-view",
  summary: "Serve a web page on which a person can watch a desktop and its agents, and pause them",
  group: "desktop",
  effect: "reads",
  tool: "never",
  trace: "nothing",
  flow: "never",
  timeoutMs: 15_000,
  input: {
    name: optionalText("Isolated desktop to watch; your own desktop if left out", {
      position: 0,
      value: "NAME",
      traced: true,
    }),
    port: v.optional(whole("Port on this machine; 0 is a free one", 0, 65_535, { value: "N" }), 0),
    open: flag("Open the page in your browser"),
  },
  output: () =>
    v.object({
      url: described(v.string(), "Address of the page. Its token is the only protection: keep it private"),
      desktop: optionalString(),
    }),
  print: ({ url }) => `${url}\n`,
  sample: {},
  examples: ["agent-desktop desktop-view test --open", "agent-desktop desktop-view --format text"],
  async run(args, ctx) {
    if (!ctx.view) {
      throw new AppError("INVALID_ARGS", "desktop-view serves a page and cannot run inside another command", {
        suggestion: "agent-desktop desktop-view",
      })
    }
    return ctx.view({ name: args.name, port: args.port, open: args.open })
  },
})

export const listDesktops = defineCommand({
  name: "list-desktops",
  summary: "Linux: list the isolated desktops that are running",
  group: "desktop",
  effect: "reads",
  tool: "all",
  trace: "line",
  input: {},
  output: () => v.object({ desktops: v.array(desktop()) }),
  async print({ desktops }) {
    const { lines } = await import("../look/outline.ts")
    return lines(desktops, (one) => `${one.name} ${one.display} ${one.size}`)
  },
  sample: {},
  run: async (_, ctx) => ({ desktops: await ctx.adapter.desktops({ kind: "list" }) }),
})
