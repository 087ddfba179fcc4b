import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac } from "./program.ts"

/** On a Mac, an app without windows is still useful: it has a menu bar or status items, or is the Dock. */

const note = (text: string) => [{ do: "note", text }]

const bar = (id: string, items: readonly object[]) => ({
  id,
  AXRole: "AXMenuBar",
  frame: [0, 0, 1440, 24],
  children: items,
})

const item = (AXTitle: string, x: number, entries: readonly string[]) => ({
  AXRole: "AXMenuBarItem",
  AXTitle,
  frame: [x, 0, 40, 24],
  menu: {
    AXRole: "AXMenu",
    frame: [x, 24, 200, 100],
    children: entries.map((entry, i) => ({
      AXRole: "AXMenuItem",
      AXTitle: entry,
      frame: [x, 24 + i * 20, 200, 20],
      on: { AXPress: note(`${entry} chosen`) },
    })),
  },
})

const editor = {
  pid: 502,
  name: "Editor",
  bundle_id: "com.example.Editor",
  windows: [],
  menubar: bar("menus", [item("File", 50, ["New", "Open…"])]),
  on: { "key:cmd+n": note("new document") },
}

/** An app with a menu bar and a separate bar of status items on the right. */
const sync = {
  ...editor,
  pid: 503,
  name: "Sync",
  bundle_id: "com.example.Sync",
  AXExtrasMenuBar: { $element: "extras" },
  menubar: bar("sync menus", [item("Sync", 50, ["About"])]),
  children: [bar("extras", [item("Cloud", 1200, ["Pause"])])],
}

const tile = (AXTitle: string, x: number) => ({
  AXRole: "AXDockItem",
  AXSubrole: "AXApplicationDockItem",
  AXTitle,
  frame: [x, 840, 50, 50],
  on: { AXPress: note(`${AXTitle} pressed`) },
})

const dock = {
  pid: 504,
  name: "Dock",
  bundle_id: "com.apple.dock",
  policy: "accessory",
  windows: [],
  children: [
    { AXRole: "AXList", frame: [400, 840, 200, 50], children: [tile("Finder", 400), tile("Mail", 450)] },
  ],
}

const desk = appWith([{ AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }])
const scene = { ...desk, apps: [...Reflect.get(desk, "apps"), editor, sync, dock] }

test("keys reach an app without windows, and the focus goes back", () =>
  onMac(scene, async ({ mac, ok }) => {
    expect(await ok("press", { combo: "cmd+n", app: "Editor" })).toMatchObject({
      window: { id: "app-502", app_name: "Editor" },
      focus_returned: true,
    })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["new document"])
    expect(mac.world().front).toBe(501)
    mac.apply({ do: "front", app: 502 })
    await ok("press", { combo: "cmd+n", app: "com.example.Editor" })
    expect(mac.record("note")).toHaveLength(2)
    expect(mac.world().front).toBe(502)
  }))

test("the menu bar of an app without windows is read and used", () =>
  onMac(scene, async ({ mac, ok, ref }) => {
    expect((await ok("list-surfaces", { app: "Editor" })).surfaces).toEqual([
      { type: "menubar", id: "menubar-1", title: "Editor", item_count: 1 },
    ])
    await ok("snapshot", { app: "Editor", surface: "menubar" })
    await ok("click", { ref_id: await ref("File") })
    await ok("snapshot", { app: "Editor", surface: "menu" })
    await ok("click", { ref_id: await ref("New") })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["New chosen"])
  }))

test("status items are read with the menu bar, and each ref leads to its own item", () =>
  onMac(scene, async ({ mac, ok, ref }) => {
    for (const place of [{ surface: "menubar" }, {}]) {
      await ok("snapshot", { app: "Sync", ...place })
      await ok("click", { ref_id: await ref("Cloud") })
      await ok("snapshot", { app: "Sync", surface: "menu" })
      await ok("click", { ref_id: await ref("Pause") })
    }
    expect(mac.record("note").map(({ text }) => text)).toEqual(["Pause chosen", "Pause chosen"])
  }))

test("status items that are in no list of children are shown, too", () =>
  onMac(
    { ...scene, apps: [...Reflect.get(desk, "apps"), { ...sync, AXChildren: [] }] },
    async ({ ok, ref }) => {
      await ok("snapshot", { app: "Sync" })
      await ok("click", { ref_id: await ref("Cloud") })
    },
  ))

test("the items of the Dock have refs, and are pressed once", () =>
  onMac(scene, async ({ mac, ok, ref }) => {
    const { tree, window } = await ok("snapshot", { app: "Dock" })
    expect(window.id).toBe("app-504")
    expect(
      tree.children[0].children.map(({ role, name }: { role: string; name: string }) => [role, name]),
    ).toEqual([
      ["dockitem", "Finder"],
      ["dockitem", "Mail"],
    ])
    await ok("click", { ref_id: await ref("Mail") })
    expect(await ok("get", { ref_id: await ref("Finder"), property: "text" })).toMatchObject({
      value: "Finder",
    })
    await ok("snapshot", { window_id: "app-504" })
    await ok("find", { app: "Dock", role: "dockitem" })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["Mail pressed"])
  }))

test("an app is not a window: lists do not show it, and window commands do not find it", () =>
  onMac(scene, async ({ ok, error }) => {
    expect((await ok("list-windows")).windows).toHaveLength(1)
    expect((await ok("list-windows", { app: "Editor" })).windows).toEqual([])
    expect(await error("focus-window", { app: "Editor" })).toMatchObject({ code: "APP_NOT_FOUND" })
    expect(await error("screenshot", { app: "Editor" })).toMatchObject({ code: "APP_NOT_FOUND" })
    expect(await error("snapshot", { app: "Nothing" })).toMatchObject({ code: "APP_NOT_FOUND" })
    expect(await error("maximize", { window_id: "app-502" })).toMatchObject({ code: "WINDOW_NOT_FOUND" })
  }))
