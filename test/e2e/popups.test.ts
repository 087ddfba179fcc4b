import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import type { Node } from "../../src/node.ts"
import { chromium, firefox } from "../fixtures/fixture.ts"
import { answersOf, nodesOf, windowTitled } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { popupsOn } from "../support/popups.ts"
import { until } from "../support/until.ts"

/** Menus and lists that are windows of their own are surfaces like any other. The app's log or title proves a choice. */

const FIXTURES = new URL("../fixtures/", import.meta.url).pathname

const namesIn = (tree: Node, role: string): readonly (string | undefined)[] =>
  nodesOf(tree).flatMap((node) => (node.role === role ? [node.name] : []))

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop({ width: 1600 })
}, 60_000)
afterAll(() => desktop?.close())

const ok = answersOf(() => desktop)
const titled = (title: string): Promise<string> => windowTitled(ok, title, 60_000)
/** In a session of its own: the refs of the tests stay as they are. */
const look = async (id: string, ...args: string[]): Promise<Node> =>
  (await ok("snapshot", "--window-id", id, "--session", "look", ...args)).tree
const refOf = (id: string, role: string, name: string): Promise<string> =>
  until(async () => {
    const query = ["--role", role, "--name", name, "--exact", "--first"]
    return (await ok("find", "--window-id", id, ...query)).match?.ref_id
  }, 30_000)
const surfaces = async (app: string): Promise<readonly string[]> =>
  (await ok("list-surfaces", "--app", app)).surfaces.map(({ type }: { type: string }) => type)
const shown = () => until(async () => (await popupsOn(desktop)).length > 0)
const closed = () => until(async () => (await popupsOn(desktop)).length === 0)

describe("GTK 2", () => {
  let log: string
  let id: string
  const chosen = async (): Promise<readonly string[]> =>
    (await Bun.file(log).exists()) ? (await Bun.file(log).text()).trim().split("\n") : []

  beforeAll(async () => {
    log = `${desktop.directory}/two.log`
    desktop.spawnApp(["/usr/bin/python3", `${FIXTURES}gtk2.py`, log])
    id = await titled("Two")
  }, 60_000)

  test("a menu shows while it is open, and its item is chosen by ref", async () => {
    expect(namesIn(await look(id), "menuitem")).toEqual(["File", "Image"])
    const { popup } = await ok("click", await refOf(id, "menuitem", "Image"))
    expect(namesIn(popup, "menuitem")).toEqual(["Scale", "Flip"])
    expect(await surfaces("python3")).toContain("menu")
    expect(namesIn(await look(id, "--surface", "menu"), "menuitem")).toEqual(["Scale", "Flip"])
    expect(namesIn(await look(id), "menuitem")).toEqual(["File", "Image", "Scale", "Flip"])
    const flip = await ok("click", nodesOf(popup).find(({ name }) => name === "Flip")?.ref_id ?? "")
    expect(flip.popup).toBeUndefined()
    await closed()
    expect(await until(chosen)).toEqual(["Flip"])
    expect(await surfaces("python3")).not.toContain("menu")
    expect(namesIn(await look(id), "menuitem")).toEqual(["File", "Image"])
  })

  test("a right click returns the context menu, which the window shows until an item is chosen", async () => {
    const area = await refOf(id, "button", "Context area")
    const first = (await ok("right-click", area)).menu
    // GTK 2 may list a context menu only from the second time on that it opens.
    if (first.description !== undefined) {
      expect(first.description).toContain("in no accessibility tree")
      await ok("press", "escape")
      await closed()
    }
    const menu: Node = first.description === undefined ? first : (await ok("right-click", area)).menu
    expect(namesIn(menu, "menuitem")).toEqual(["Cut", "Paste"])
    expect(namesIn(await look(id), "menuitem")).toEqual(["File", "Image", "Cut", "Paste"])
    await ok("click", nodesOf(menu).find(({ name }) => name === "Paste")?.ref_id ?? "")
    await closed()
    expect((await chosen()).at(-1)).toBe("Paste")
  })

  test("a popup of another process does not count as a popup of the app", async () => {
    const other = desktop.spawnApp(["/usr/bin/python3", `${FIXTURES}popup.py`, "600", "500", `${log}.other`])
    try {
      await shown()
      expect(await surfaces("python3")).not.toContain("popover")
      const answer = await desktop.run("snapshot", "--window-id", id, "--surface", "popover")
      expect(answer.json.error.message).toBe("No popover is open in 'python3'")
    } finally {
      other.kill()
      await other.exited
    }
    await closed()
  })
})

describe.each(["gtk3", "qt5", "qt6"])("%s", (toolkit) => {
  let log: string
  let id: string
  let app: ReturnType<TestDesktop["spawnApp"]>
  const lastNoted = async (): Promise<string | undefined> =>
    (await Bun.file(log).text()).trim().split("\n").at(-1)
  const refIn = (tree: Node, name: string): string =>
    nodesOf(tree).find((one) => one.name === name)?.ref_id ?? ""

  beforeAll(async () => {
    log = `${desktop.directory}/completing-${toolkit}.log`
    await Bun.write(log, "")
    app = desktop.spawnApp(["/usr/bin/python3", `${FIXTURES}completing.py`, toolkit, log])
    id = await titled("Completing")
  }, 60_000)
  afterAll(async () => {
    app.kill()
    await app.exited
    await until(async () => !(await ok("list-windows")).windows.some((one: { id: string }) => one.id === id))
  })

  test("suggestions of a field are a popover, and one is chosen by ref", async () => {
    await ok("type", await refOf(id, "textfield", "Fruit"), "Ap", "--input", "physical")
    await shown()
    expect(await surfaces("completing")).toContain("popover")
    expect(refIn(await look(id), "Apricot")).not.toBe("")
    const popover = (await ok("snapshot", "--window-id", id, "--surface", "popover")).tree
    expect(nodesOf(popover).flatMap(({ name }) => name ?? [])).toEqual(["Apple", "Apricot"])
    await ok("click", refIn(popover, "Apricot"))
    await until(async () => (await lastNoted()) === "Apricot")
    await closed()
    expect(await surfaces("completing")).not.toContain("popover")
  })

  test("a context menu is a surface, even if a person opened it, and its item is chosen by ref", async () => {
    const area = await refOf(id, "button", "Area")
    const { menu } = await ok("right-click", area)
    expect(namesIn(menu, "menuitem")).toEqual(["Cut", "Paste"])
    expect(await surfaces("completing")).toContain("menu")
    await ok("click", refIn(menu, "Paste"))
    await until(async () => (await lastNoted()) === "Paste")
    await closed()
    const { x, y, width, height } = (await ok("get", area, "bounds")).value
    const middle = [x + width / 2, y + height / 2].map((at) => String(Math.round(at)))
    await Bun.spawn(["xdotool", "mousemove", ...middle, "click", "3"], { env: { ...desktop.env } }).exited
    await shown()
    const opened = await until(async () => {
      const { json } = await desktop.run("snapshot", "--window-id", id, "--surface", "menu")
      return json.ok ? (json.data.tree as Node) : undefined
    })
    expect(namesIn(opened, "menuitem")).toEqual(["Cut", "Paste"])
    await ok("click", refIn(opened, "Cut"))
    await until(async () => (await lastNoted()) === "Cut")
    await closed()
  })
})

describe("Chromium", () => {
  let id: string
  const PAGE = `<title>Page</title><input list=l aria-label=Fruit oninput="document.title='Has '+value">
    <datalist id=l><option>Apple<option>Apricot</datalist>`

  beforeAll(async () => {
    const page = `${desktop.directory}/page.html`
    await Bun.write(page, PAGE)
    const { command } = chromium(`${desktop.directory}/chromium`, "")
    desktop.spawnApp([...command.filter((arg) => !arg.startsWith("--app=")), `file://${page}`])
    id = await titled("Page - Chromium")
  }, 90_000)

  test("the browser's menu and its submenu are one tree, and an item of the submenu is chosen", async () => {
    const refIn = (tree: Node, start: string): string =>
      nodesOf(tree).find(({ name }) => name?.startsWith(start))?.ref_id ?? ""
    const first = await ok("click", await refOf(id, "menubutton", "Chromium"))
    const second = await ok("click", refIn(first.popup, "More tools"))
    expect(namesIn(second.popup, "menuitem")).toEqual(
      namesIn(await look(id, "--surface", "menu"), "menuitem"),
    )
    await ok("click", refIn(second.popup, "Task manager"))
    await titled("Task Manager")
    await closed()
    await ok("press", "ctrl+w", "--app", "chromium")
  })

  test("a bubble is a sheet of its window: the click returns it, and its button is clicked by ref", async () => {
    const { popup } = await ok("click", await refOf(id, "button", "Bookmark this tab"))
    expect(popup).toMatchObject({ role: "dialog", name: "Bookmark added" })
    expect(nodesOf(popup).find(({ name }) => name === "Done")?.ref_id).toMatch(/^@e/)
    await until(async () => (await surfaces("chromium")).includes("sheet"))
    const { tree } = await ok("snapshot", "--window-id", id, "--surface", "sheet")
    expect(tree.name).toBe("Bookmark added")
    const done = nodesOf(tree).find(({ name }) => name === "Done")?.ref_id ?? ""
    const isClosed = async () => !(await surfaces("chromium")).includes("sheet")
    // Chromium ignores clicks on a bubble that has just opened or moved, and clicks that follow each other quickly.
    for (let closed = false; !closed; ) {
      await ok("click", done)
      closed = await until(isClosed, 3000).catch(() => false)
    }
    const star = await refOf(id, "button", "Edit bookmark for this tab")
    const { changes } = await ok("click", star, "--changes")
    expect(JSON.stringify(changes)).toContain("Edit bookmark")
    await ok("press", "escape", "--app", "chromium")
    await until(isClosed)
  }, 60_000)

  test("the bubble of the site information comes back with refs", async () => {
    const { popup } = await ok("click", await refOf(id, "button", "File"))
    expect(JSON.stringify(popup)).toContain("local or shared file")
    expect(nodesOf(popup).some(({ ref_id }) => ref_id)).toBe(true)
    expect(await surfaces("chromium")).toContain("alert")
    await ok("press", "escape", "--app", "chromium")
    await until(async () => !(await surfaces("chromium")).includes("alert"))
  }, 60_000)

  test("suggestions of a field are listed, shown with the window, and chosen by ref", async () => {
    await ok("type", await refOf(id, "combobox", "Fruit"), "Ap", "--input", "physical")
    await shown()
    await until(async () => (await surfaces("chromium")).includes("popover"))
    expect(namesIn(await look(id, "--surface", "popover"), "option")).toContain("Apricot")
    await ok("click", await refOf(id, "option", "Apricot"))
    await titled("Has Apricot")
    await closed()
  })
})

test("suggestions of a field in Firefox are chosen, and a later menu is not confused with them", async () => {
  const page = `${desktop.directory}/suggestions.html`
  await Bun.write(
    page,
    `<title>Suggestions</title><input list=l aria-label=Fruit oninput="document.title='Has '+value"><button>Go</button>
    <datalist id=l><option>Apple<option>Apricot</datalist>`,
  )
  mkdirSync(`${desktop.directory}/suggesting`)
  const { command } = firefox(`${desktop.directory}/suggesting`, `file://${page}`)
  const browser = desktop.spawnApp(command)
  try {
    const id = await titled("Suggestions")
    await ok("type", await refOf(id, "combobox", "Fruit"), "Ap", "--input", "physical")
    await until(async () => (await surfaces("firefox")).includes("menu"))
    const { tree } = await ok("snapshot", "--window-id", id, "--surface", "menu")
    expect(namesIn(tree, "menuitem")).toEqual(["Apple", "Apricot"])
    await ok("click", nodesOf(tree).find(({ name }) => name === "Apricot")?.ref_id ?? "")
    await titled("Has Apricot")
    await closed()
    expect(await surfaces("firefox")).not.toContain("menu")
    const { menu } = await ok("right-click", await refOf(id, "button", "Go"))
    expect(namesIn(menu, "menuitem")).toContain("Select All")
    await ok("press", "escape")
    await closed()
  } finally {
    browser.kill()
    await browser.exited
  }
}, 120_000)
