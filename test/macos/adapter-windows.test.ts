import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import type { Surface, SurfaceInfo } from "../../src/node.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { appWith, onDesk } from "./adapter-desk.ts"
import { outline } from "./adapter-outline.ts"

const window = (id: string, number: number, more: object = {}) => ({
  id,
  window: number,
  AXTitle: id,
  frame: [100, 100, 400, 300],
  children: [{ AXRole: "AXButton", AXTitle: `in ${id}` }],
  ...more,
})

const TWO_APPS = {
  displays: [{ id: 1, bounds: [0, 0, 1440, 900], scale: 2 }],
  apps: [
    {
      pid: 501,
      name: "Demo",
      bundle_id: "com.example.Demo",
      path: "/Applications/Demo Pro.app",
      frontmost: true,
      windows: [window("Front", 11), window("Back", 12, { frame: [300, 200, 400, 300] })],
    },
    {
      pid: 502,
      name: "Other",
      bundle_id: "com.example.Other",
      windows: [
        window("Third", 21, { frame: [500, 300, 400, 300] }),
        window("Docked", 22, { AXMinimized: true }),
      ],
    },
  ],
  others: [{ window: 1, owner: "Dock", pid: 99, layer: 20, bounds: [0, 850, 1440, 50] }],
}

test("windows are listed front to back, with the titles that the apps report, and the focused one is marked", () =>
  onDesk(TWO_APPS, async ({ adapter }) => {
    const windows = await adapter.windows()
    expect(
      windows.map(({ id, title, app_name, pid, is_focused, minimized }) => [
        id,
        title,
        app_name,
        pid,
        is_focused,
        minimized,
      ]),
    ).toEqual([
      ["w-11", "Front", "Demo", 501, true, undefined],
      ["w-12", "Back", "Demo", 501, false, undefined],
      ["w-21", "Third", "Other", 502, false, undefined],
      ["w-22", "Docked", "Other", 502, false, true],
    ])
    expect(windows[0]?.bounds).toEqual({ x: 100, y: 100, width: 400, height: 300 })
    expect(windows[0]?.aliases).toEqual(["com.example.Demo", "Demo Pro"])
  }))

test("titles need no Screen Recording permission", () =>
  onDesk({ ...TWO_APPS, trust: { screen: false } }, async ({ adapter }) => {
    expect((await adapter.windows()).map(({ title }) => title)).toEqual(["Front", "Back", "Third", "Docked"])
  }))

test("without _AXUIElementGetWindow, windows are matched by frame and title", () =>
  onDesk(TWO_APPS, async ({ elsewhere }) => {
    const { windows, lines } = await elsewhere(["_AXUIElementGetWindow"])
    expect(windows.slice(0, 3).map(({ id, title, accessible }) => [id, title, accessible])).toEqual([
      ["w-11", "Front", undefined],
      ["w-12", "Back", undefined],
      ["w-21", "Third", undefined],
    ])
    expect(lines).toEqual(['window "Front"', '  button "in Front" enabled'])
  }))

test("without _AXUIElementGetWindow, the program does not guess between two windows that look the same", () =>
  onDesk(
    {
      ...TWO_APPS,
      apps: [{ pid: 501, name: "Demo", frontmost: true, windows: [window("Same", 11), window("Same", 12)] }],
      others: [],
    },
    async ({ elsewhere }) => {
      const { windows } = await elsewhere(["_AXUIElementGetWindow"])
      expect(windows.every(({ accessible }) => accessible === false)).toBe(true)
    },
  ))

test("a window on another Space is listed with the reason why it cannot be read", () =>
  onDesk(
    {
      ...TWO_APPS,
      apps: [
        {
          pid: 501,
          name: "Demo",
          start: [1_700_000_000, 0],
          frontmost: true,
          windows: [window("Here", 11), window("There", 12, { space: 2 })],
        },
      ],
    },
    async ({ adapter }) => {
      expect((await adapter.windows()).map(({ id, accessible, reason }) => [id, accessible, reason])).toEqual(
        [
          ["w-11", undefined, undefined],
          ["w-12", false, "it is on another Space"],
        ],
      )
    },
  ))

test("without permission nothing is listed, and the error names the permission", () =>
  onDesk({ ...TWO_APPS, trust: { accessibility: false } }, async ({ adapter }) => {
    await expect(adapter.windows()).rejects.toMatchObject({
      code: "PERM_DENIED",
      message: "Accessibility permission not granted",
      suggestion:
        "Open System Settings > Privacy & Security > Accessibility and add the program that 'agent-desktop permissions' names",
    })
    expect((await adapter.apps()).map(({ name }) => name)).toEqual(["Demo", "Other"])
  }))

test("outside a graphical session the error says so", () =>
  onDesk({ ...TWO_APPS, session: "none" }, async ({ adapter }) => {
    await expect(adapter.windows()).rejects.toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
  }))

test("a window can be moved, resized, maximised, minimised, restored and focused", () =>
  onDesk(TWO_APPS, async ({ mac, adapter }) => {
    expect((await adapter.window("w-21", { kind: "move", x: 40, y: 60 })).bounds).toMatchObject({
      x: 40,
      y: 60,
    })
    expect(mac.look("Third").frame).toEqual([40, 60, 400, 300])
    expect((await adapter.window("w-21", { kind: "resize", width: 500, height: 350 })).bounds).toMatchObject({
      width: 500,
      height: 350,
    })
    expect(mac.look("Third").frame).toEqual([40, 60, 500, 350])
    const large = await adapter.window("w-21", { kind: "maximize" })
    expect(large.bounds?.width).toBe(1440)
    expect(large.bounds?.y).toBeGreaterThan(0)
    expect(mac.look("Third").frame?.[2]).toBe(1440)
    expect(await adapter.window("w-21", { kind: "minimize" })).toMatchObject({ minimized: true })
    expect(mac.look("Third").AXMinimized).toBe(true)
    expect((await adapter.window("w-21", { kind: "restore" })).minimized).toBeUndefined()
    expect(mac.look("Third").AXMinimized).toBe(false)
    expect(await adapter.window("w-22", { kind: "focus" })).toMatchObject({ is_focused: true })
    expect(mac.world().front).toBe(502)
    await expect(adapter.window("w-999", { kind: "focus" })).rejects.toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "Window 'w-999' not found",
    })
  }))

test("restore returns a maximised window to its earlier frame, but only if it is still maximised", () =>
  onDesk(TWO_APPS, async ({ mac, adapter }) => {
    const frame = () => mac.look("Third").frame
    const before = frame()
    const { bounds: maximized } = await adapter.window("w-21", { kind: "maximize" })
    // A second maximize does not replace the stored frame.
    await adapter.window("w-21", { kind: "maximize" })
    expect(frame()).not.toEqual(before)
    const restored = await adapter.window("w-21", { kind: "restore" })
    expect(frame()).toEqual(before)
    expect(restored.bounds).not.toEqual(maximized)
    const writes = () => mac.record("write").length
    const done = writes()
    await adapter.window("w-21", { kind: "restore" })
    expect(writes()).toBe(done)
    // A size set after maximize is not undone, and the next maximize and restore lead back to it.
    await adapter.window("w-21", { kind: "maximize" })
    await adapter.window("w-21", { kind: "resize", width: 600, height: 400 })
    const chosen = frame()
    await adapter.window("w-21", { kind: "restore" })
    expect(frame()).toEqual(chosen)
    await adapter.window("w-21", { kind: "maximize" })
    await adapter.window("w-21", { kind: "restore" })
    expect(frame()).toEqual(chosen)
  }))

test("the first restore takes a maximised window out of the Dock, the second back to its size", () =>
  onDesk(TWO_APPS, async ({ mac, adapter }) => {
    const before = mac.look("Third").frame
    const { bounds } = await adapter.window("w-21", { kind: "maximize" })
    await adapter.window("w-21", { kind: "minimize" })
    expect((await adapter.window("w-21", { kind: "restore" })).bounds).toEqual(bounds)
    await adapter.window("w-21", { kind: "restore" })
    expect(mac.look("Third").frame).toEqual(before)
  }))

test("a stored frame of another process, or a damaged one, moves no window", () =>
  onDesk(TWO_APPS, async ({ mac, adapter }) => {
    await adapter.window("w-21", { kind: "maximize" })
    const maximized = mac.look("Third").frame
    const path = `${mac.directory}/frames/w-21.json`
    const kept = JSON.parse(readFileSync(path, "utf8"))
    for (const text of [JSON.stringify({ ...kept, start: "1.0" }), '{"pid":', "{}"]) {
      writeFileSync(path, text)
      await adapter.window("w-21", { kind: "restore" })
      expect(mac.look("Third").frame).toEqual(maximized)
    }
  }))

test("an app that stops while its window is placed is reported, and not written to again", () =>
  onDesk(
    {
      ...TWO_APPS,
      apps: [
        {
          pid: 501,
          name: "Demo",
          frontmost: true,
          windows: [window("Front", 11, { on: { AXPosition: [{ do: "hang", app: 501 }] } })],
        },
      ],
    },
    async ({ mac, within }) => {
      await expect(within(10_000).window("w-11", { kind: "maximize" })).rejects.toMatchObject({
        code: "APP_UNRESPONSIVE",
        disposition: { delivery: "delivery_uncertain", retry: "safe" },
      })
      expect(mac.record("write").map(({ attribute }) => attribute)).toEqual(["AXPosition", "AXSize"])
    },
    { virtualClock: true },
  ))

test("a window whose size cannot be stored is not maximised", () =>
  onDesk(TWO_APPS, async ({ mac, adapter }) => {
    writeFileSync(`${mac.directory}/frames`, "")
    const before = mac.look("Third").frame
    await expect(adapter.window("w-21", { kind: "maximize" })).rejects.toMatchObject({ code: "INTERNAL" })
    expect(mac.look("Third").frame).toEqual(before)
  }))

test("AXEnhancedUserInterface is off while a window is placed, and on again afterwards", () =>
  onDesk(
    {
      ...TWO_APPS,
      apps: [
        {
          pid: 501,
          name: "Demo",
          frontmost: true,
          AXEnhancedUserInterface: true,
          windows: [window("Front", 11)],
        },
      ],
    },
    async ({ mac, adapter, window: shown }) => {
      await shown()
      await adapter.window("w-11", { kind: "move", x: 40, y: 60 })
      expect(mac.report().calls.AXUIElementSetAttributeValue).toBe(3)
    },
  ))

const SURFACES = appWith(
  [
    { AXRole: "AXButton", AXTitle: "Ask", id: "ask" },
    {
      AXRole: "AXSheet",
      AXTitle: "Save?",
      window: 31,
      frame: [200, 120, 300, 150],
      children: [{ id: "yes", AXRole: "AXButton", AXTitle: "Yes" }],
    },
    {
      AXRole: "AXGroup",
      children: [
        {
          AXRole: "AXPopover",
          AXTitle: "Tips",
          window: 32,
          frame: [900, 500, 300, 150],
          children: [{ AXRole: "AXButton", AXTitle: "Got it", frame: [920, 520, 80, 24] }],
        },
      ],
    },
  ],
  {
    focused: "yes",
    menubar: {
      AXRole: "AXMenuBar",
      children: ["File", "Edit"].map((title) => ({
        id: title,
        AXRole: "AXMenuBarItem",
        AXTitle: title,
        menu: {
          AXRole: "AXMenu",
          frame: [0, 24, 200, 300],
          children: [{ AXRole: "AXMenuItem", AXTitle: `New ${title}`, AXMenuItemCmdChar: "N" }],
        },
      })),
    },
  },
)

test("every open surface is listed and read, and paths lead back into it", () =>
  onDesk(SURFACES, async ({ mac, adapter, tree }) => {
    mac.apply({ do: "open_menu", node: "File" })
    const listed = await adapter.surfaces(501)
    const facts = ({ type, id, title }: SurfaceInfo) => [type, id, title]
    expect(listed.map(facts)).toEqual([
      ["window", "w-9001", "Main"],
      ["focused", "w-9001", "Save?"],
      ["menubar", "menubar-1", "Demo"],
      ["menu", "menu-1", "File"],
      // A surface that belongs to a window has the id of that window.
      ["sheet", "w-9001", "Save?"],
      ["popover", "w-9001", "Tips"],
    ])
    const menu = await tree({}, "menu")
    expect(menu.window).toEqual({ id: "menu-1", title: "File" })
    expect(outline(menu.root)).toEqual(['menu "File"', '  menuitem "New File" enabled'])
    expect(menu.root.children[0]?.hint).toBe("cmd+n")
    expect(outline((await tree({}, "sheet")).root)).toEqual(['sheet "Save?" modal', '  button "Yes" enabled'])
    expect(outline((await tree({}, "popover")).root)).toEqual(['popover "Tips"', '  button "Got it" enabled'])
    const first = async (surface: Surface) => {
      const { window: shown, rootPath = [-1] } = await tree({}, surface)
      const window_id = shown.id
      const entry: RefEntry = { pid: 501, role: "button", states: [], available_actions: [], window_id }
      return adapter.open({ ...entry, path: [...rootPath, 0] }, "path")
    }
    expect(await first("focused")).toMatchObject({ role: "button", name: "Yes" })
    expect(await first("sheet")).toMatchObject({ role: "button", name: "Yes" })
    expect(await first("popover")).toMatchObject({ role: "button", name: "Got it" })
    expect(await first("menu")).toMatchObject({ role: "menuitem", name: "New File" })
    expect(await first("menubar")).toMatchObject({ role: "menuitem", name: "File" })
  }))

test("a surface that is not open is not found", () =>
  onDesk(appWith([]), async ({ adapter, tree }) => {
    for (const surface of ["menu", "sheet", "popover", "alert"] as const) {
      await expect(tree({}, surface)).rejects.toMatchObject({ code: "ELEMENT_NOT_FOUND" })
    }
    expect((await adapter.surfaces(501)).map(({ type }) => type)).toEqual(["window", "focused"])
  }))

test("a dialog of the app is an alert surface", () =>
  onDesk(
    appWith([], { windows: [window("Warning", 41, { AXSubrole: "AXDialog" }), window("Document", 42)] }),
    async ({ tree }) => {
      expect((await tree({}, "alert")).window).toEqual({ id: "w-41", title: "Warning" })
    },
  ))
