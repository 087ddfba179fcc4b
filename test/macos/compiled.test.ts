import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { rmSync } from "node:fs"
import { dirname } from "node:path"
import { commands } from "../../src/commands/index.ts"
import { type Answer, compileProgram, MACHINE, onStage, type Stage } from "./compiled.ts"

/** The macOS side as a compiled executable, over scenes: what it does is judged by what the scene saw. */

setDefaultTimeout(MACHINE === "x64" ? 60_000 : 600_000)

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

test("notifications are listed, answered and dismissed", () =>
  onStage(program, "notifications", (stage) => play(stage, NOTIFICATIONS)))

test("a ref from a sheet, a popover, an alert or the menu bar is acted on like any other", async () => {
  const surfaces = [
    ["sheet", "button Save", "perform sheet-save AXPress applied"],
    ["focused", "button Cancel", "perform sheet-cancel AXPress applied"],
    ["popover", "button Apply", "perform popover-button AXPress applied"],
    ["alert", "button OK", "perform alert-ok AXPress applied"],
  ] as const
  for (const [surface, target, deed] of surfaces) {
    await onStage(program, "dialogs", async ({ ask, ref }) => {
      await ask("snapshot", "--app", "Editor", "--surface", surface)
      const { envelope, deeds } = await ask("click", ref(target))
      expect(envelope).toMatchObject({ ok: true, data: { method: "AXPress" } })
      expect(deeds).toContain(deed)
      expect(deeds.filter((one) => one.startsWith("perform"))).toHaveLength(1)
    })
  }
  await onStage(program, "example-textedit", async ({ ask, ref }) => {
    await ask("snapshot", "--app", "TextEdit", "--surface", "menubar")
    const { envelope, deeds } = await ask("click", ref("menuitem File"))
    expect(envelope).toMatchObject({ ok: true, data: { method: "AXPress" } })
    expect(deeds.filter((one) => one.startsWith("perform"))).toHaveLength(1)
  })
})

/** Rows whose texts stand in them directly, or in a cell. */
const rows = (names: readonly string[], inCells: boolean) => ({
  apps: [
    {
      pid: 700,
      name: "Lists",
      start: [1_700_000_000, 0],
      frontmost: true,
      windows: [
        {
          window: 701,
          AXTitle: "Things",
          frame: [0, 25, 600, 400],
          children: [
            {
              AXRole: "AXTable",
              frame: [0, 50, 600, 300],
              children: names.map((name, i) => rowWith(name, i, inCells)),
            },
          ],
        },
      ],
    },
  ],
})
const rowWith = (name: string, i: number, inCell: boolean) => {
  const parts = [
    { id: `text-${i}`, AXRole: "AXStaticText", AXValue: name, frame: [0, 50 + i * 30, 100, 20] },
    { id: `delete-${i}`, AXRole: "AXButton", AXTitle: "Delete", frame: [200, 50 + i * 30, 80, 20] },
  ]
  const children = inCell ? [{ AXRole: "AXCell", frame: [0, 50 + i * 30, 600, 30], children: parts }] : parts
  return { AXRole: "AXRow", frame: [0, 50 + i * 30, 600, 30], children }
}

for (const inCells of [true, false]) {
  for (const flags of [[], ["-i"]]) {
    test(`a row that shows something else is not acted on: texts in ${inCells ? "cells" : "the row"}, snapshot ${flags}`, () =>
      onStage(program, rows(["Alpha", "Beta"], inCells), async ({ ask, mac }) => {
        const { envelope } = await ask("snapshot", "--app", "Lists", ...flags)
        const map = JSON.stringify(envelope.data.tree)
        const ref = /"(@e\d+)","role":"button"/.exec(map)?.[1] ?? ""
        // While nothing changes, the ref is good.
        expect((await ask("hover", ref)).envelope).toMatchObject({ ok: true })
        mac.apply({ do: "set", node: "text-0", attribute: "AXValue", value: "Gamma" })
        const gone = await ask("click", ref)
        expect(gone.envelope.error?.code).toBe("STALE_REF")
        expect(gone.deeds).toEqual([])
        // What the ref means is the row that shows the same, wherever that is now.
        mac.apply({ do: "set", node: "text-1", attribute: "AXValue", value: "Alpha" })
        const moved = await ask("click", ref)
        expect(moved.envelope).toMatchObject({ ok: true })
        expect(JSON.stringify(moved.deeds)).toContain("delete-1")
      }))
  }
}

test("there is a row for every command that needs a desktop", async () => {
  const asked = new Set([...ROWS, ...NOTIFICATIONS].map(({ args }) => args[0]))
  const loaded = await Promise.all([...commands.values()].map(async (load) => (await load()).default))
  const missing = loaded.filter(({ name, group }) => group !== "integrate" && !asked.has(name))
  expect(missing.map(({ name }) => name)).toEqual([])
})

test("a window that came and went, an app that never was and a ref of no snapshot are told apart", () =>
  onStage(program, "example-finder", async ({ ask, mac }) => {
    expect((await ask("snapshot", "--window-id", "w-99999")).envelope.error).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "Window 'w-99999' not found",
    })
    expect((await ask("snapshot", "--app", "InvalidApp")).envelope.error).toMatchObject({
      code: "APP_NOT_FOUND",
      message: "No windows found for app 'InvalidApp'",
    })
    expect((await ask("click", "@e7")).envelope.error).toMatchObject({
      code: "STALE_REF",
      message: "@e7 not found in current RefMap",
      suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
    })
    await ask("snapshot", "--app", "Finder")
    mac.apply({ do: "remove", node: "back" })
    const gone = await ask("click", "@e1")
    expect(gone.envelope.error?.code).toBe("STALE_REF")
    expect(gone.deeds).toEqual([])
  }))

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

/** The documented examples, as far as they show the tree: members and nodes of ours come on top. */
const button = (ref_id: string, name: string, ...more: readonly string[]) => ({
  ref_id,
  role: "button",
  name,
  states: ["enabled", ...more],
})
const bounds = (x: number, y: number, width: number, height: number) => ({ bounds: { x, y, width, height } })
const search = { ref_id: "@e2", role: "textfield", name: "Search", value: "", states: ["enabled"] }

const EXAMPLES = [
  {
    scene: "example-finder",
    args: ["--app", "Finder", "-i"],
    app: "Finder",
    window: { id: "w-4521", title: "Documents" },
    ref_count: 14,
    root: { role: "window", name: "Documents" },
    children: [button("@e1", "Back"), search, button("@e3", "List View", "checked")],
  },
  {
    scene: "example-finder-new-folder",
    args: ["--app", "Finder", "--include-bounds"],
    app: "Finder",
    window: { id: "w-4521", title: "Documents" },
    ref_count: 14,
    root: { role: "window", name: "Documents", ...bounds(0, 40, 800, 600) },
    children: [
      { ...button("@e1", "New Folder"), ...bounds(20, 80, 100, 32) },
      { ...search, ...bounds(500, 80, 200, 32) },
    ],
  },
  {
    scene: "example-settings",
    args: ["--app", "System Settings", "--include-bounds"],
    app: "System Settings",
    window: { id: "w-8892", title: "General" },
    ref_count: 42,
    root: { role: "window", name: "General", ...bounds(100, 200, 800, 600) },
    children: [
      {
        ref_id: "@e1",
        role: "checkbox",
        name: "Show scroll bars",
        states: ["enabled", "checked"],
        ...bounds(150, 300, 200, 20),
      },
    ],
  },
  {
    scene: "example-textedit-menu",
    args: ["--surface", "menu", "--app", "TextEdit"],
    app: "TextEdit",
    window: { id: "menu-1", title: "File" },
    ref_count: 8,
    root: { role: "menu", name: "File" },
    children: ["New", "Open…", "Save"].map((name, i) => ({
      ref_id: `@e${i + 1}`,
      role: "menuitem",
      name,
      // Keyboard shortcuts are hints.
      hint: `cmd+${name[0]?.toLowerCase()}`,
      states: ["enabled"],
    })),
  },
  {
    scene: "example-textedit",
    args: ["--app", "TextEdit", "-i"],
    app: "TextEdit",
    window: { id: "w-3001", title: "Untitled" },
    ref_count: 5,
    root: { role: "window", name: "Untitled" },
    children: [
      button("@e1", "Close"),
      button("@e2", "Minimize"),
      {
        role: "group",
        children: [button("@e3", "Bold", "unchecked"), button("@e4", "Italic", "unchecked")],
      },
      { ref_id: "@e5", role: "textfield", value: "", states: ["focused", "multiline"] },
    ],
  },
  {
    scene: "example-login",
    args: ["--app", "Safari"],
    app: "Safari",
    window: { id: "w-5001", title: "Log In" },
    ref_count: 3,
    root: { role: "window", name: "Log In" },
    children: [
      {
        role: "group",
        name: "Login Form",
        children: [
          { role: "statictext", value: "Username:" },
          { ref_id: "@e1", role: "textfield", name: "Username", value: "", states: ["enabled", "focused"] },
          { role: "statictext", value: "Password:" },
          // The value of a secure field is never shown, not even that it is empty.
          { ref_id: "@e2", role: "textfield", name: "Password", states: ["enabled", "secure"] },
          button("@e3", "Log In"),
        ],
      },
    ],
  },
]

for (const { scene, args, app, window, ref_count, root, children } of EXAMPLES) {
  test(`the snapshot of ${scene} is the documented one`, () =>
    onStage(program, scene, async ({ ask }) => {
      const { envelope } = await ask("snapshot", ...args)
      const { tree, snapshot_id, complete, ...rest } = envelope.data
      const { children: shown, ...top } = tree
      expect(rest).toEqual({ app, window, ref_count })
      expect([typeof snapshot_id, complete]).toEqual(["string", true])
      expect(top).toEqual(root)
      expect(shown.slice(0, children.length)).toEqual(children)
    }))
}

test("the documented loop: snapshot, type, press a menu key, and the document is saved", () =>
  onStage(program, "example-textedit", async ({ ask, mac }) => {
    await ask("snapshot", "--app", "TextEdit", "-i")
    await ask("type", "@e5", "Hello world")
    await ask("click", "@e3")
    await ask("press", "cmd+s")
    expect(mac.look("text").AXValue).toBe("Hello world")
    expect(mac.look("bold").AXValue).toBe(1)
    expect(mac.look("window-text").AXTitle).toBe("Saved")
    expect(mac.record("note").map(({ text }) => text)).toEqual(["saved"])
  }))

test("the executable holds the adapter of macOS and none of Linux", async () => {
  const text = Buffer.from(await Bun.file(program).arrayBuffer())
  expect(text.includes("AXUIElementCopyMultipleAttributeValues")).toBe(true)
  expect(text.includes("org.a11y.atspi")).toBe(false)
})
