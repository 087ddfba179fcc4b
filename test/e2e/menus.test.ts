import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Node } from "../../src/node.ts"
import { type Fixture, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import { answersOf, nodesOf, windowTitled } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { popupsOn } from "../support/popups.ts"
import { until } from "../support/until.ts"

/** A menu is seen while it is open, and closed after its item was chosen. The second look is xwininfo and the app's log. */

describe.each<Toolkit>(["gtk3", "gtk4", "qt6", "qt5"])("%s", (toolkit) => {
  let desktop: TestDesktop
  let fixture: Fixture
  let id: string

  const ok = answersOf(() => desktop)
  const look = async (...args: string[]): Promise<Node> =>
    (await ok("snapshot", "--window-id", id, ...args)).tree
  const refIn = (tree: Node, name: string): string => {
    const node = nodesOf(tree).find((one) => one.name === name && one.ref_id)
    if (!node?.ref_id) throw new Error(`Nothing to act on is named ${name}`)
    return node.ref_id
  }
  const openMenu = async (name: string): Promise<Node> => {
    await ok("click", refIn(await look(), name))
    await until(async () => (await popupsOn(desktop)).length > 0)
    return look("--surface", "menu")
  }
  const surfaces = async (): Promise<readonly string[]> => {
    const { windows } = await ok("list-windows")
    const { app_name } = windows.find((one: { id: string }) => one.id === id)
    const { surfaces } = await ok("list-surfaces", "--app", app_name)
    return surfaces.map(({ type }: { type: string }) => type)
  }
  const closed = () => until(async () => (await popupsOn(desktop)).length === 0, 3000)

  beforeAll(async () => {
    desktop = await openDesktop({ width: 1600 })
    fixture = await startFixture(desktop, toolkit)
    id = await windowTitled(ok, fixture.title, 30_000)
  }, 60_000)
  afterAll(() => desktop?.close())

  test("no popup is left after a click on an item of the menu bar, and the app logs the choice once", async () => {
    const menu = await openMenu("View")
    const { disposition } = await ok("click", refIn(menu, "Show Toolbar"))
    expect(disposition.delivery).not.toBe("not_delivered")
    expect(await fixture.seen("check", "Show Toolbar")).toMatchObject({ value: true })
    await closed()
    await fixture.command({ do: "sync" })
    expect((await fixture.events()).filter(({ name }) => name === "Show Toolbar")).toHaveLength(1)
    expect(await surfaces()).not.toContain("menu")
    await fixture.command({ do: "reset" })
  })

  test("--changes shows the menu that a click opens whole, and one that is closed in one line", async () => {
    const { changes } = await ok("click", refIn(await look(), "File"), "--changes")
    const shown: Node[] = [...(changes.added ?? []), ...(changes.opened ?? []).map(({ tree }: Json) => tree)]
    const items = shown.flatMap(nodesOf).filter(({ ref_id, role }) => ref_id && role === "menuitem")
    expect(items.map(({ name }) => name)).toEqual(["New", "Open Recent", "Save", "Quit"])
    const after = await ok("press", "escape", "--changes")
    await closed()
    const gone = [...(after.changes.removed ?? []), ...(after.changes.closed ?? [])]
    expect(gone.map(({ role, type, name, title }: Json) => [role ?? type, name ?? title])).toEqual([
      ["menu", "File"],
    ])
    await fixture.command({ do: "reset" })
  })

  test("no popup is left after an item of a submenu was clicked", async () => {
    const menu = await openMenu("File")
    await ok("click", refIn(menu, "Open Recent"))
    const below = await until(async () => {
      const tree = await look("--surface", "menu", "--include-hidden")
      return nodesOf(tree).some(({ name }) => name === "Two") ? tree : undefined
    })
    await ok("click", refIn(below, "Two"))
    await fixture.seen("menu", "Two")
    await closed()
    await fixture.command({ do: "reset" })
  })

  test("the menu of a right click is seen by the commands after it, until its item is clicked", async () => {
    const { menu, disposition } = await ok("right-click", refIn(await look(), "Context area"))
    expect(disposition.delivery).toBe("delivered_verified")
    const names = (tree: Node) =>
      nodesOf(tree).flatMap(({ role, name }) => (role === "menuitem" ? [name] : []))
    expect(names(menu)).toEqual(["Cut", "Copy", "Paste"])
    expect(await surfaces()).toContain("menu")
    const seen = await look("--surface", "menu")
    expect(names(seen)).toEqual(["Cut", "Copy", "Paste"])
    await ok("click", refIn(seen, "Copy"))
    await fixture.seen("menu", "Copy")
    await closed()
    const after = await desktop.run("snapshot", "--window-id", id, "--surface", "menu")
    expect(after.json).toMatchObject({ ok: false, error: { code: "ELEMENT_NOT_FOUND" } })
    await fixture.command({ do: "reset" })
  })
})

test("menu reaches the popover of a GTK 3 menu button, which looks like a plain button on the bus", async () => {
  await using desktop = await openDesktop()
  desktop.spawnApp(["gedit", "--standalone"])
  const choose = (path: string) => desktop.run("menu", path, "--app", "gedit", "--timeout-ms", "20000")
  await until(
    async () => (await desktop.run("find", "--app", "gedit", "--name", "Menu")).json?.data?.matches,
    30_000,
  )
  const { json, stdout } = await choose("menu > find and replace")
  expect(json, stdout).toMatchObject({ ok: true, data: { path: ["Menu", "Find and Replace…"] } })
  const shown = async () => {
    const search = Bun.spawn(["xdotool", "search", "--onlyvisible", "--name", "^Find and Replace$"], {
      env: desktop.env,
      stdout: "pipe",
      stderr: "ignore",
    })
    return (await new Response(search.stdout).text()).trim() || undefined
  }
  await until(shown)
}, 90_000)

describe("mousepad with two windows and a dialog of the second", () => {
  let desktop: TestDesktop
  const ok = answersOf(() => desktop, 30_000)
  const titles = async (): Promise<readonly string[]> =>
    (await ok("list-windows")).windows.map(({ title }: Json) => title)

  beforeAll(async () => {
    desktop = await openDesktop()
    const file = `${desktop.directory}/first.txt`
    await Bun.write(file, "first\n")
    await ok("launch", "mousepad", "--arg", file)
    await ok("menu", "File > New Window")
    await ok("wait", "--window", "Untitled 1")
    await ok("press", "ctrl+r", "--app", "mousepad")
    await ok("wait", "--window", "Find and Replace")
    await until(async () => (await ok("list-windows")).windows[0].title === "Find and Replace")
  }, 60_000)
  afterAll(() => desktop?.close())

  test("a name that is a menu is refused with its items, even if it had none before, and nothing stays open", async () => {
    const { json } = await desktop.run("menu", "Document > Tab Size", "--timeout-ms", "20000")
    expect(json.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { kind: "menu" } })
    expect(json.error.details.candidates).toContain("4")
    await until(async () => (await popupsOn(desktop)).length === 0, 3000)
  })

  test("menu uses the bar of the window that the dialog belongs to, and shows what changed there", async () => {
    const { window, changes } = await ok("menu", "File > Close Window", "--changes")
    expect(window.title).toStartWith("Untitled 1")
    expect(changes.closed.map(({ title }: Json) => title)).toContain(window.title)
    await until(async () => (await titles()).length === 1)
    expect(await titles()).toEqual([expect.stringContaining("first.txt")])
  })
})
