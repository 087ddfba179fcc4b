import { expect, test } from "bun:test"
import { join } from "node:path"
import { Mac, type Outside, type Ran } from "../../scripts/macos-check/mac.ts"
import { CALCULATOR, FINDER, SETTINGS, TEXTEDIT } from "../../scripts/macos-check/scripts.ts"
import { chosen, runChecks } from "../../scripts/macos-check.ts"
import { compileProgram } from "./compiled.ts"
import { buildFake } from "./fake/build.ts"
import { type FakeMac, startScene } from "./fake.ts"

/** Runs the checks of scripts/macos-check.ts with the real program on the stand-in, which also plays AppleScript. */

// Compiled at import: it may take longer than the timeout of the first test.
buildFake()
const program = compileProgram()

const button = (n: number) => ({ AXRole: "AXButton", AXTitle: `${n}`, frame: [510 + n * 10, 340, 9, 9] })

const row = (name: string, y: number) => ({
  id: name,
  AXRole: "AXRow",
  frame: [20, y, 180, 30],
  on: { AXSelected: [{ do: "set", node: "settings", attribute: "AXTitle", value: name }] },
  children: [{ AXRole: "AXCell", frame: [20, y, 180, 30], children: [text(name, y)] }],
})

const text = (value: string, y: number) => ({
  AXRole: "AXStaticText",
  AXValue: value,
  frame: [30, y + 5, 100, 20],
})

const SCENE = {
  responsible: 100,
  pasteboard: { "public.utf8-plain-text": "mine" },
  apps: [
    app(100, "Finder", FINDER, [{ window: 1, AXTitle: "Dokumente", frame: [0, 25, 400, 300] }]),
    app(
      101,
      "TextEdit",
      TEXTEDIT,
      [
        {
          id: "document",
          window: 2,
          AXTitle: "Ohne Titel",
          frame: [100, 100, 500, 400],
          on: {
            "key:cmd+s": [{ do: "reveal", node: "sheet" }],
            "key:escape": [{ do: "hide", node: "sheet" }],
          },
          children: [{ id: "page", AXRole: "AXTextArea", frame: [100, 130, 500, 370] }],
          late: [
            {
              id: "sheet",
              AXRole: "AXSheet",
              frame: [150, 130, 300, 150],
              children: [
                { id: "name", AXRole: "AXTextField", AXValue: "Ohne Titel", frame: [200, 150, 200, 22] },
              ],
            },
          ],
        },
      ],
      { frontmost: true, focused: "page" },
    ),
  ],
  installed: [
    app(
      107,
      "Calculator",
      CALCULATOR,
      [
        {
          window: 7,
          AXTitle: "Rechner",
          frame: [500, 300, 230, 330],
          children: Array.from({ length: 12 }, (_, n) => button(n)),
        },
      ],
      { window_after_ms: 50 },
    ),
    app(106, "System Settings", SETTINGS, [
      {
        id: "settings",
        window: 6,
        AXTitle: "Allgemein",
        frame: [0, 25, 700, 500],
        children: [
          {
            AXRole: "AXOutline",
            frame: [0, 50, 200, 400],
            children: [row("Allgemein", 60), row("Ton", 100)],
          },
        ],
      },
    ]),
  ],
}

function app(pid: number, name: string, bundle_id: string, windows: readonly object[], more: object = {}) {
  return {
    pid,
    name,
    bundle_id,
    path: `/Applications/${name}.app`,
    start: [1700000000, pid],
    windows,
    ...more,
  }
}

/** AppleScript and other programs, answered from the scene and not by agent-desktop. */
function outsideOf(mac: FakeMac): Outside {
  const pidOf = (id: string) => [...SCENE.apps, ...SCENE.installed].find((one) => one.bundle_id === id)?.pid
  const runs = (id: string) => mac.world().apps.some(({ pid, running }) => running && pid === pidOf(id))
  const quit = (id: string) => mac.apply({ do: "quit", app: pidOf(id) })
  const scripts: Readonly<Record<string, (...args: string[]) => unknown>> = {
    isRunning: runs,
    quit,
    regularApps: () =>
      mac
        .world()
        .apps.filter(({ running }) => running)
        .map(({ pid }) => pid)
        .join("\n"),
    clipboardKinds: () => "«class utf8»",
    listOpen: () => "Ohne Titel",
    newDocument: () => "Ohne Titel",
    look: () => mac.look("name").AXValue,
    windowTitle: () => mac.look("settings").AXTitle,
  }
  return {
    ask: async (args) => {
      const env = { AGENT_DESKTOP_HOME: join(mac.directory, "home"), HOME: mac.directory }
      const { exitCode, stdout, stderr } = await mac.run([program, ...args], { env })
      return { code: exitCode, out: stdout, err: stderr }
    },
    script: async (name, args) => {
      const script = scripts[name]
      if (!script) throw new Error(`no script ${name}`)
      return ran(`${script(...(args as readonly string[])) ?? ""}\n`)
    },
    run: async ([name], input) => {
      if (name === "pbcopy") mac.apply({ do: "pasteboard", contents: { "public.utf8-plain-text": input } })
      else if (name !== "pbpaste") throw new Error(`no program ${name}`)
      return ran(Object.values(mac.world().pasteboard)[0])
    },
    pause: (ms) => Bun.sleep(Math.min(ms, 20)),
  }
}

const ran = (out = ""): Ran => ({ code: 0, out, err: "" })

test.each(["one app", "young", "clipboard", "sheets", "System Settings"])(
  "the checks of '%s' pass with the real program on the stand-in, and put everything back",
  async (words) => {
    const mac = startScene(SCENE)
    try {
      const before = mac.world()
      const interruption = { aborted: false, puttingBack: false }
      const checks = chosen(words)
      const results = await runChecks(
        checks,
        new Mac(outsideOf(mac), mac.directory, "C4F9K2", 5000),
        interruption,
      )
      expect(results.map(({ check, outcome, detail }) => ({ title: check.title, outcome, detail }))).toEqual(
        results.map(({ check, detail }) => ({ title: check.title, outcome: "ok", detail })),
      )
      expect(results.length).toBe(4)
      expect(results.flatMap(({ left }) => left)).toEqual([])
      const running = (world: typeof before) => world.apps.filter((one) => one.running).map(({ pid }) => pid)
      expect(running(mac.world())).toEqual(running(before))
      expect(mac.world().pasteboard).toEqual(before.pasteboard)
      expect(mac.look("document").children).toEqual(["page"])
    } finally {
      mac.close()
    }
  },
)
