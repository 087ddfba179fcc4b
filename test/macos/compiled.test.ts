import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { commands } from "../../src/commands/index.ts"
import { nativeSamples } from "../support/every-command.ts"
import { type Answer, compileProgram, MACHINE, onStage, type Stage } from "./compiled.ts"
import { SCENES } from "./fake.ts"

/** The macOS side as a compiled executable, over scenes: what it does is judged by what the scene saw. */

setDefaultTimeout(MACHINE === "x64" ? 60_000 : 1_800_000)

const program = compileProgram()
afterAll(() => rmSync(dirname(program), { recursive: true }))

type Check = (answer: Answer, stage: Stage) => void

interface Row {
  /** As on the command line; `$role name` stands for the ref of that element. */
  readonly args: readonly string[]
  /** All that the scene saw being done, so that nothing is done twice. */
  readonly deeds: readonly string[]
  readonly check?: Check
}

const row = (args: readonly string[], deeds: readonly string[] = [], check?: Check): Row => ({
  args,
  deeds,
  ...(check ? { check } : {}),
})
const data =
  (expected: object): Check =>
  ({ envelope }) =>
    expect(envelope).toMatchObject({ ok: true, data: expected })
const looks =
  (node: string, expected: object): Check =>
  (_, { mac }) =>
    expect(mac.look(node)).toMatchObject(expected)
const refused =
  (code: string): Check =>
  ({ envelope }) =>
    expect(envelope.error?.code).toBe(code)
const both =
  (...checks: readonly Check[]): Check =>
  (answer, stage) => {
    for (const check of checks) check(answer, stage)
  }
const state = (...states: readonly string[]) => ({ post_state: { states } })
const clicks = (at: string, count: number) => [
  `post mouse_moved ${at}`,
  ...Array.from({ length: count }, (_, i) => [
    `post left_down ${at} x${i + 1}`,
    `post left_up ${at} x${i + 1}`,
  ]).flat(),
]

/** In an order in which each finds what it needs. */
const ROWS: readonly Row[] = [
  row(["snapshot", "--app", "Workshop"], [], data({ app: "Workshop", ref_count: 19, complete: true })),
  row(
    ["find", "--role", "button", "--name", "Save"],
    [],
    data({ total_matches: 1, matches: [{ ref_id: "@e1" }] }),
  ),
  row(["get", "$textfield Title", "value"], [], data({ property: "value", value: "draft" })),
  row(["is", "$checkbox Wrap", "checked"], [], data({ result: false, applicable: true })),
  row(["wait", "0"], [], data({ found: true })),
  row(["wait", "--element", "$button Save"], [], data({ found: true, element: "@e1" })),
  row(["wait", "--window", "Bench"], [], data({ found: true, window: { id: "w-6101" } })),
  row(["wait", "--text", "12 tools", "--app", "Workshop"], [], data({ found: true })),
  row(["screenshot"], ["run screencapture"], data({ format: "png", width: 2880, height: 1800 })),
  row(["screenshot", "--window-id", "w-6101"], ["run screencapture"], data({ width: 1400, height: 1200 })),
  row(["list-surfaces", "--app", "Workshop"], [], data({ pid: 6100 })),
  row(["list-windows"], [], data({ windows: [{ id: "w-6101", is_focused: true }, { id: "w-6102" }] })),
  row(
    ["list-apps"],
    [],
    data({ apps: [{ name: "Workshop", pid: 6100, bundle_id: "org.example.workshop" }] }),
  ),
  row(["list-displays"], [], data({ displays: [{ is_primary: true, scale: 2 }, { scale: 1 }] })),

  row(["click", "$button Save"], ["note saved", "perform save AXPress applied"], data({ method: "AXPress" })),
  row(
    ["double-click", "$button Canvas"],
    [...clicks("660,240", 1), "note canvas clicked", ...clicks("660,240", 2).slice(3), "note canvas double"],
    data({ method: "pointer" }),
  ),
  row(["triple-click", "$textfield Title"], clicks("210,192", 3), looks("title", { focused: true })),
  row(
    ["right-click", "$button Save"],
    ["perform save AXShowMenu applied"],
    data({ menu: { children: [{ name: "Copy" }] } }),
  ),
  row(["wait", "--menu", "--app", "Workshop"], [], data({ found: true })),
  row(["click", "$menuitem Copy"], ["perform context-copy AXPress applied"], (_, { mac }) =>
    expect(mac.look("context-menu")).toEqual({}),
  ),
  row(["wait", "--menu-closed", "--app", "Workshop"], [], data({ found: true })),
  row(
    ["type", "$textfield Notes", "Grüße 👋\nzwei"],
    ['write notes AXSelectedText "Grüße 👋\\nzwei" applied'],
    looks("notes", { AXValue: "Grüße 👋\nzwei" }),
  ),
  row(
    ["set-value", "$textfield Title", "final"],
    ['write title AXValue "final" applied'],
    looks("title", { AXValue: "final" }),
  ),
  row(["clear", "$textfield Title"], ['write title AXValue "" applied'], looks("title", { AXValue: "" })),
  row(
    ["focus", "$textfield Notes"],
    ["write notes AXFocused true applied"],
    looks("notes", { focused: true }),
  ),
  row(["focus", "$textfield Notes"], [], data({ method: "none" })),
  row(
    ["toggle", "$checkbox Wrap"],
    ["perform wrap AXPress applied"],
    both(data(state("enabled", "checked")), looks("wrap", { AXValue: 1 })),
  ),
  row(["check", "$checkbox Wrap"], [], looks("wrap", { AXValue: 1 })),
  row(["check", "$switch Sound"], ["perform sound AXPress applied"], looks("sound", { AXValue: 1 })),
  row(["uncheck", "$checkbox Lines"], ["perform lines AXPress applied"], looks("lines", { AXValue: 0 })),
  row(
    ["expand", "$treeitem Shut drawer"],
    ["write drawer-shut AXDisclosing true applied"],
    looks("drawer-shut", { AXDisclosing: true }),
  ),
  row(
    ["collapse", "$treeitem Open drawer"],
    ["write drawer-open AXDisclosing false applied"],
    looks("drawer-open", { AXDisclosing: false }),
  ),
  row(
    ["set-value", "$slider Volume", "70"],
    ["write volume AXValue 70 applied"],
    looks("volume", { AXValue: 70 }),
  ),
  row(
    ["select", "$combobox Size", "Large"],
    ["perform size AXPress applied", "perform size-large AXPress applied"],
    looks("size", { AXValue: "Large" }),
  ),
  row(
    ["scroll", "$button Near", "down", "1"],
    ["write bar AXValue 0.1 applied"],
    looks("bar", { AXValue: 0.1 }),
  ),
  row(["scroll-to", "$button Far"], ["perform far AXScrollToVisible applied"], looks("far", { shows: true })),
  // What was typed into a secure field is in no answer.
  row(
    ["type", "$textfield Password", "s3cret"],
    ['write secret AXSelectedText "s3cret" applied'],
    both(data({ disposition: { delivery: "delivered_unverified" } }), ({ envelope }) =>
      expect(JSON.stringify(envelope)).not.toContain("s3cret"),
    ),
  ),

  row(
    ["press", "cmd+s", "--app", "Workshop"],
    [
      "post flags_changed 55",
      "post key_down 1",
      "note saved by menu",
      "post key_up 1",
      "post flags_changed 55",
    ],
  ),
  row(["press", "tab"], ["post key_down 48", "post key_up 48"]),
  row(["key-down", "shift"], ["post flags_changed 56"]),
  row(["key-up", "shift"], ["post flags_changed 56"]),
  row(["hover", "$button Canvas"], ["post mouse_moved 660,240"], (_, { mac }) =>
    expect(mac.world().cursor).toEqual([660, 240]),
  ),
  row(
    ["drag", "--from-xy", "600,200", "--to-xy", "640,240", "--duration", "0"],
    [
      "post mouse_moved 600,200",
      "post left_down 600,200 x1",
      ...["610,210", "620,220", "630,230", "640,240"].map((at) => `post left_dragged ${at} x1`),
      "post left_up 640,240 x1",
      "note canvas clicked",
    ],
  ),
  row(["mouse-move", "--xy", "20,20"], ["post mouse_moved 20,20"]),
  row(["mouse-click", "--xy", "600,200"], [...clicks("600,200", 1), "note canvas clicked"]),
  row(["mouse-down", "--xy", "600,200"], ["post left_down 600,200 x1"]),
  row(["mouse-up", "--xy", "600,200"], ["post left_up 600,200 x1", "note canvas clicked"]),
  row(
    ["mouse-wheel", "--xy", "600,400", "--dy", "1"],
    ["post mouse_moved 600,400", "post scroll 600,400 by -1"],
  ),

  row(
    ["focus-window", "w-6102"],
    ["write #1 AXFrontmost true applied", "write shelf AXMain true applied", "perform shelf AXRaise applied"],
    (_, { mac }) => expect(mac.world().windows[0]).toBe(6102),
  ),
  row(
    ["resize-window", "w-6102", "500", "320"],
    ['write shelf AXSize {"$size":[500,320]} applied'],
    looks("shelf", { frame: [820, 100, 500, 320] }),
  ),
  row(
    ["move-window", "w-6102", "850", "120"],
    ['write shelf AXPosition {"$point":[850,120]} applied'],
    looks("shelf", { frame: [850, 120, 500, 320] }),
  ),
  row(
    ["minimize", "w-6102"],
    ["write shelf AXMinimized true applied"],
    looks("shelf", { AXMinimized: true }),
  ),
  row(
    ["restore", "w-6102"],
    ["write shelf AXMinimized false applied"],
    looks("shelf", { AXMinimized: false }),
  ),
  row(
    ["maximize", "w-6102"],
    [
      'write shelf AXPosition {"$point":[0,25]} applied',
      'write shelf AXSize {"$size":[1440,875]} applied',
      'write shelf AXPosition {"$point":[0,25]} applied',
    ],
    looks("shelf", { frame: [0, 25, 1440, 875] }),
  ),
  row(
    ["restore", "w-6102"],
    [
      'write shelf AXPosition {"$point":[850,120]} applied',
      'write shelf AXSize {"$size":[500,320]} applied',
      'write shelf AXPosition {"$point":[850,120]} applied',
    ],
    looks("shelf", { frame: [850, 120, 500, 320] }),
  ),

  row(["clipboard-get"], ["run pbpaste"], data({ text: "Hello world" })),
  row(["clipboard-set", "copied ü"], ["pasteboard", "pasteboard"], (_, { mac }) =>
    expect(mac.world().pasteboard).toEqual({ "public.utf8-plain-text": "copied ü" }),
  ),
  row(["clipboard-clear"], ["pasteboard"], (_, { mac }) => expect(mac.world().pasteboard).toEqual({})),
  row(
    ["batch", '[{"command":"version"},{"command":"click","args":{"ref_id":"@e99"}}]'],
    [],
    data({
      results: [{ ok: true }, { ok: false, error: { code: "STALE_REF" } }],
    }),
  ),
  row(["launch", "Calculator"], ["run open"], data({ id: "w-6201", title: "Calculator", pid: 6200 })),
  row(["close-app", "Calculator"], ["quit 6200", "gone 6200"], data({ app: "Calculator", closed: true })),
  row(["status"], [], data({ platform: "macos", permissions: { granted: true } })),
  row(["permissions"], [], data({ granted: true, accessibility: { state: "granted" } })),
  row(["version"], [], data({ os: "macos" })),
  row(["doctor", "--ffi"], [], data({ healthy: true })),
  row(["desktop-start", "--name", "x"], [], refused("PLATFORM_NOT_SUPPORTED")),
  row(["list-desktops"], [], refused("PLATFORM_NOT_SUPPORTED")),
  row(["desktop-stop", "x"], [], refused("PLATFORM_NOT_SUPPORTED")),
]

const NOTIFICATIONS: readonly Row[] = [
  row(
    ["list-notifications"],
    [],
    data({ count: 2, notifications: [{ title: "Anna" }, { title: "Stand-up" }] }),
  ),
  // Only one that comes later counts.
  row(["wait", "--notification", "--timeout", "200"], [], refused("TIMEOUT")),
  row(["notification-action", "0", "Reply"], ["note reply Anna", "perform banner-0 Reply applied"]),
  row(["dismiss-notification", "0"], ["perform banner-0 Close applied"], (_, { mac }) =>
    expect(mac.look("banner-0")).toEqual({}),
  ),
  row(["dismiss-all-notifications"], ["perform banner-1 Close applied"], (_, { mac }) =>
    expect(mac.look("banner-1")).toEqual({}),
  ),
]

/** Plays the rows one after another in one scene, as an agent would. */
async function play(stage: Stage, rows: readonly Row[]): Promise<void> {
  for (const { args, deeds, check } of rows) {
    const said = args.map((arg) => (arg.startsWith("$") ? stage.ref(arg.slice(1)) : arg))
    const answer = await stage.ask(...said)
    // A drop target is only ready after a while, in which the pointer keeps moving on the spot.
    const distinct = answer.deeds.filter((deed, i, all) => !deed.includes("dragged") || deed !== all[i - 1])
    expect({ args, deeds: distinct }).toEqual({ args, deeds: [...deeds] })
    check?.(answer, stage)
  }
}

test("every command does once what it says, and the scene saw nothing else", () =>
  onStage(program, "workshop", (stage) => play(stage, ROWS)))

/** Other ways to say the same, and what is refused. */
const MORE: readonly Row[] = [
  row(["snapshot", "--app", "org.example.workshop", "--skeleton"], [], data({ app: "Workshop" })),
  row(["snapshot", "--app", "Workshop"], [], data({ ref_count: 19 })),
  row(
    ["click", "$button Canvas", "--input", "physical"],
    [...clicks("660,240", 1), "note canvas clicked"],
    data({ method: "pointer" }),
  ),
  row(["click", "$button Canvas", "--input", "semantic"], ["perform canvas AXPress applied"]),
  row(
    ["type", "$textfield Notes", "Zeile ✓", "--input", "physical"],
    ["post key_down 0", "post key_up 0"],
    looks("notes", { AXValue: "Zeile ✓" }),
  ),
  row(
    ["drag", "$button Near", "--to", "$button Canvas", "--duration", "0"],
    [
      "post mouse_moved 620,382",
      "post left_down 620,382 x1",
      ...["630,346.5", "640,311", "650,275.5", "660,240"].map((at) => `post left_dragged ${at} x1`),
      "post left_up 660,240 x1",
    ],
    data({ action: "drag", to: { x: 660, y: 240 } }),
  ),
  row(
    ["mouse-click", "--xy", "600,200", "--button", "right", "--count", "1"],
    [
      "post mouse_moved 600,200",
      "post right_down 600,200 x1",
      "note canvas right",
      "post right_up 600,200 x1",
    ],
  ),
  row(
    ["screenshot", "--window-id", "w-6101", "--annotate"],
    ["run screencapture"],
    data({ format: "png", width: 1400, height: 1200 }),
  ),
  row(["screenshot", "--screen", "1"], ["run screencapture"], data({ format: "png" })),
  row(["screenshot", "--screen", "7"], [], refused("INVALID_ARGS")),
  row(["wait", "--text", "no such text", "--gone", "--app", "Workshop"], [], data({ found: true })),
  row(["wait", "--window", "Nowhere", "--timeout", "100"], [], refused("TIMEOUT")),
  row(["permissions", "--request"], [], data({ granted: true })),
  row(["launch", "No Such App"], ["run open"], refused("APP_NOT_FOUND")),
  row(["launch", "Calculator"], ["run open"], data({ title: "Calculator" })),
  row(["close-app", "Calculator", "--force"], ["quit 6200", "gone 6200"], data({ method: "forceTerminate" })),
  row(["move-window", "w-999", "1", "1"], [], refused("WINDOW_NOT_FOUND")),
]

test("the same by other words, by synthesised input, and what is refused", () =>
  onStage(program, "workshop", (stage) => play(stage, MORE)))

for (const [event_ms, arrives] of [
  [8, true],
  [5000, false],
] as const) {
  const title = arrives ? "input is handled before the program ends" : "what is handled much later is lost"
  test(`${title}: ${event_ms} ms`, async () => {
    const workshop = JSON.parse(readFileSync(join(SCENES, "workshop.json"), "utf8"))
    await onStage(program, { ...workshop, event_ms }, async ({ ask, mac, ref }) => {
      const notes = () => mac.record("note").map(({ text }) => text)
      await ask("snapshot", "--app", "Workshop")
      await ask("mouse-click", "--xy", "600,200")
      await ask("press", "cmd+s", "--app", "Workshop")
      expect(notes()).toEqual(arrives ? ["canvas clicked", "saved by menu"] : [])
      await ask("type", ref("textfield Notes"), "Zeile ✓", "--input", "physical")
      expect(mac.look("notes").AXValue).toBe(arrives ? "Zeile ✓" : "")
    })
  })
}

test("without the right to record the screen there is no picture, and everything else works", () =>
  onStage(
    program,
    { apps: [{ pid: 700, name: "Demo", frontmost: true, windows: [WINDOW] }], trust: { screen: false } },
    async ({ ask }) => {
      const { envelope, deeds } = await ask("screenshot")
      expect(envelope.error).toMatchObject({
        code: "PERM_DENIED",
        message: "Screen Recording permission not granted",
        suggestion: expect.stringContaining("Privacy & Security > Screen Recording"),
      })
      expect(deeds).toEqual([])
      const { data: windows } = (await ask("list-windows")).envelope
      expect(windows).toMatchObject({ windows: [{ id: "w-701", title: "Things" }] })
    },
  ))

const WINDOW = { window: 701, AXTitle: "Things", frame: [0, 25, 600, 400], children: [] }

test("notifications are listed, answered and dismissed", () =>
  onStage(program, "notifications", (stage) => play(stage, NOTIFICATIONS)))

test("there is a row for every command that needs a desktop", async () => {
  const asked = new Set([...ROWS, ...NOTIFICATIONS].map(({ args }) => args[0]))
  const native = (await nativeSamples(commands)).map(({ command }) => command.name)
  expect(native.filter((name) => !asked.has(name))).toEqual([])
})

test("without the permission nothing is read or done, and the way to grant it is named", () =>
  onStage(program, { apps: [], trust: { accessibility: false } }, async ({ ask }) => {
    const { envelope, trips } = await ask("snapshot")
    expect(envelope.error).toMatchObject({
      code: "PERM_DENIED",
      message: "Accessibility permission not granted",
      suggestion: expect.stringContaining("Privacy & Security > Accessibility"),
    })
    expect(trips).toBe(0)
  }))

test("the executable holds the adapter of macOS and none of Linux", async () => {
  const text = Buffer.from(await Bun.file(program).arrayBuffer())
  expect(text.includes("AXUIElementCopyMultipleAttributeValues")).toBe(true)
  expect(text.includes("org.a11y.atspi")).toBe(false)
})
