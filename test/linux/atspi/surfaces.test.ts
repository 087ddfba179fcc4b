import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Adapter, Platform, SeenNode, SeenWindow } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { connectLinux } from "../../../src/linux/adapter.ts"
import type { Surface } from "../../../src/node.ts"
import { type Fixture, startFixture } from "../../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../../support/desktop.ts"
import { until } from "../../support/until.ts"

const OPTIONS = { maxDepth: 40, bounds: "interactive", includeHidden: false, interactiveOnly: false } as const
const TOOLKITS = ["gtk3", "gtk4", "qt6"] as const

let desktop: TestDesktop
let platform: Platform
const fixtures = new Map<string, Fixture>()

beforeAll(async () => {
  desktop = await openDesktop({ width: 1920, height: 1080 })
  platform = await connectLinux({ env: desktop.env, root: desktop.home })
  for (const toolkit of TOOLKITS) fixtures.set(toolkit, await startFixture(desktop, toolkit))
}, 90_000)

afterAll(async () => {
  await platform?.close()
  await desktop?.close()
}, 30_000)

const adapter = (): Adapter => {
  const one = platform.adapter(Deadline.in(20_000))
  // Closes after each input, as a separate command does.
  return {
    ...one,
    input: (event) => one.input(event).finally(() => one.close()),
    window: (id, op) => one.window(id, op).finally(() => one.close()),
  }
}

async function windowOf(toolkit: string): Promise<SeenWindow> {
  const { pid, title } = fixtures.get(toolkit)!
  return until(async () => (await adapter().windows()).find((one) => one.pid === pid && one.title === title))
}

async function typesOf(toolkit: string): Promise<string[]> {
  return (await adapter().surfaces(fixtures.get(toolkit)!.pid)).map(({ type }) => type)
}

async function readSurface(toolkit: string, surface: Surface) {
  return adapter().tree({ kind: "surface", window: await windowOf(toolkit), surface }, OPTIONS)
}

function all(node: SeenNode): SeenNode[] {
  return [node, ...node.children.flatMap(all)]
}

async function click(toolkit: string, role: string, name: string): Promise<void> {
  const { root } = await readSurface(toolkit, "window")
  const target = all(root).find((node) => node.role === role && node.name === name)
  if (!target) throw new Error(`no ${role} '${name}' in ${toolkit}`)
  const { delivery } = await adapter().perform(target.handle, { kind: "click" })
  if (delivery !== "not_delivered") return
  // Menus in GTK 4 do not have an accessible action.
  const { x, y, width, height } = target.bounds!
  await adapter().window((await windowOf(toolkit)).id, { kind: "focus" })
  const at = { x: x + width / 2, y: y + height / 2 }
  await adapter().input({ kind: "click", at, button: "left", count: 1 })
}

describe.each([...TOOLKITS])("in a %s app", (toolkit) => {
  test("the window and the menu bar are surfaces, and a closed menu is not", async () => {
    const window = await windowOf(toolkit)
    const surfaces = await adapter().surfaces(window.pid)
    expect(surfaces).toContainEqual({ type: "window", id: window.id, title: window.title })
    expect(surfaces).toContainEqual({ type: "menubar", id: window.id, item_count: 3 })
    expect(surfaces.some(({ type }) => type === "menu")).toBe(false)
    await expect(readSurface(toolkit, "menu")).rejects.toThrow("No menu is open")
    await expect(readSurface(toolkit, "sheet")).rejects.toThrow("No sheet is open")
  })

  test("the tree of the menu bar contains its menus", async () => {
    const { root, window } = await readSurface(toolkit, "menubar")
    expect(window.id).toBe((await windowOf(toolkit)).id)
    expect(root.role).toBe("menubar")
    expect(
      all(root)
        .filter(({ role }) => role === "menuitem")
        .map(({ name }) => name),
    ).toEqual(["File", "View", "Help"])
  })

  test("an open menu is a surface with its items, and has the focus until it closes", async () => {
    await click(toolkit, "menuitem", "File")
    await until(async () => (await typesOf(toolkit)).includes("menu"), 20_000)
    for (const surface of ["menu", "focused"] as const) {
      const { root, window } = await readSurface(toolkit, surface)
      expect(window.id, surface).toBe("menu-1")
      expect(root.role, surface).toBe("menu")
      const items = all(root).filter(({ role }) => role === "menuitem")
      expect(
        items.map(({ name }) => name),
        surface,
      ).toEqual(["New", "Open Recent", "Save", "Quit"])
      for (const { bounds } of items) expect(bounds?.width, surface).toBeGreaterThan(0)
    }
    await adapter().input({ kind: "key", combo: { modifiers: [], key: "escape" }, phase: "press" })
    await until(async () => !(await typesOf(toolkit)).includes("menu"), 20_000)
  })

  test("a dialog is a sheet of its window, and has the focus", async () => {
    // A window manager gives a dialog the focus only if its app has it.
    await adapter().window((await windowOf(toolkit)).id, { kind: "focus" })
    await click(toolkit, "button", "Open sheet")
    const { id } = await until(
      async () => (await adapter().surfaces(fixtures.get(toolkit)!.pid)).find(({ type }) => type === "sheet"),
      20_000,
    )
    const { root, window } = await readSurface(toolkit, "sheet")
    expect(window).toEqual({ id: id!, title: "Save As" })
    expect(id).not.toBe((await windowOf(toolkit)).id)
    expect(all(root).map(({ name }) => name)).toContain("Save file")
    await until(async () => (await readSurface(toolkit, "focused")).window.id === id, 20_000)
    await fixtures.get(toolkit)!.command({ do: "reset" })
    await until(async () => !(await typesOf(toolkit)).includes("sheet"), 20_000)
  })

  test("a popover is a surface while it is open", async () => {
    if (toolkit === "qt6") return
    await click(toolkit, toolkit === "gtk3" ? "button" : "menubutton", "Options")
    await until(async () => (await typesOf(toolkit)).includes("popover"), 20_000)
    const { root } = await readSurface(toolkit, "popover")
    expect(root.role).toBe("popover")
    const buttons = all(root).filter(({ role }) => role === "button")
    expect(buttons.map(({ name }) => name)).toEqual(["Option A", "Option B"])
    await fixtures.get(toolkit)!.command({ do: "reset" })
    await until(async () => !(await typesOf(toolkit)).includes("popover"), 20_000)
  })
})
