import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chromium, type Fixture, firefox, startChoosing, startPage } from "../fixtures/fixture.ts"
import { answersOf, nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { popupsOn } from "../support/popups.ts"
import { until } from "../support/until.ts"

/** `select` in real apps. The app's own log says which options it has, xwininfo which popups are left. */

let desktop: TestDesktop
let id: string

const run = async (...args: string[]): Promise<Json> =>
  (await desktop.run(...args, "--timeout-ms", "60000")).json
const ok = answersOf(() => desktop, 60_000)
const find = async (title: string): Promise<string> =>
  until(async () => {
    const { windows } = await ok("list-windows")
    return windows.find((one: { title: string }) => one.title === title)?.id
  }, 30_000)
const refOf = (name: string, ...args: string[]): Promise<string> =>
  until(async () => {
    const { tree } = await ok("snapshot", "--window-id", id, "-i", ...args)
    return nodesOf(tree).find((one) => one.name === name && one.ref_id)?.ref_id
  }, 10_000)

type Log = Pick<Fixture, "events">

/** The last value that the app has, once it is this one. */
const has = async (app: Log, event: string, name: string | undefined, value: unknown): Promise<void> => {
  const last = async () =>
    (await app.events()).findLast((one) => one.event === event && (name === undefined || one.name === name))
      ?.value
  await until(async () => Bun.deepEquals(await last(), value), 3000).catch(async () =>
    expect(await last()).toEqual(value),
  )
}

const severally = (topics: () => Log, event: string, name?: string) => {
  test("select adds to the options of a list that takes several, and --only replaces them", async () => {
    const select = async (...args: string[]): Promise<Json> =>
      (await ok("select", await refOf("Topics"), ...args)).disposition
    const done = { delivery: "delivered_verified", retry: "safe" }
    // GTK selects the first row when the list gets the focus.
    await select("News")
    await has(topics(), event, name, ["News"])
    expect(await select("Music")).toEqual(done)
    await has(topics(), event, name, ["News", "Music"])
    expect(await select("Music")).toEqual({ delivery: "not_delivered", retry: "safe" })
    expect(await select("Art")).toEqual(done)
    await has(topics(), event, name, ["News", "Music", "Art"])
    expect(await select("Sport", "--only")).toEqual(done)
    await has(topics(), event, name, ["Sport"])
    expect(await select("Art", "--input", "physical")).toEqual(done)
    await has(topics(), event, name, ["Sport", "Art"])
    expect(await select("Art", "--only")).toEqual(done)
    await has(topics(), event, name, ["Art"])
    expect(await select("Mus", "News")).toEqual(done)
    await has(topics(), event, name, ["News", "Music", "Art"])
    expect(await select("Sport", "Ar", "--only")).toEqual(done)
    await has(topics(), event, name, ["Sport", "Art"])
    // Nothing is selected if one of them is not there.
    expect((await run("select", await refOf("Topics"), "News", "Weather", "--only")).error).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      disposition: { delivery: "not_delivered" },
    })
    await has(topics(), event, name, ["Sport", "Art"])
  })

  test("a click with ctrl adds an option to the others", async () => {
    const click = (option: string): Promise<Json> =>
      ok("click", `"${option}" in "Topics"`, "--window-id", id, "--modifiers", "ctrl")
    await ok("select", await refOf("Topics"), "Art", "--only")
    expect((await click("News")).method).toBe("pointer")
    await has(topics(), event, name, ["News", "Art"])
  })
}

describe.each(["gtk3", "gtk4", "qt6", "qt5"] as const)("a %s list", (toolkit) => {
  let topics: Log
  beforeAll(async () => {
    desktop = await openDesktop()
    const app = await startChoosing(desktop, toolkit)
    topics = app
    id = await find(app.title)
  }, 60_000)
  afterAll(() => desktop?.close())

  severally(() => topics, "topics")
})

describe.each([
  ["Chromium", chromium],
  ["Firefox", firefox],
] as const)("a page in %s", (_, browser) => {
  let page: Fixture
  beforeAll(async () => {
    desktop = await openDesktop()
    page = await startPage(desktop, browser, "choosing.html")
    id = await find(page.title)
  }, 60_000)
  afterAll(() => desktop?.close())

  severally(() => page, "select", "Topics")

  test("the start of a name is enough if it is unique, and a whole name has priority", async () => {
    const format = await refOf("Format")
    expect((await ok("select", format, ".tar")).disposition.delivery).toBe("delivered_verified")
    await has(page, "select", "Format", ".tar.xz Smaller")
    expect((await ok("select", format, ".tar")).disposition.retry).toBe("safe")
    const colour = await refOf("Colour")
    await ok("select", colour, "Green")
    await has(page, "select", "Colour", "Green")
    expect((await run("select", colour, "Gr")).error).toMatchObject({ code: "AMBIGUOUS_TARGET" })
    expect((await run("select", colour, "Red", "Green")).error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("takes one option"),
    })
    expect((await run("select", format, ".tar", ".zip")).error.code).toBe("ACTION_NOT_SUPPORTED")
  })

  test("an option of a list beside its combobox is chosen", async () => {
    await ok("select", await refOf("Planet"), "Earth")
    await has(page, "select", "Planet", "Earth")
    await has(page, "list", "Planet", false)
  })

  test.each(["Planet", "Moon"])(
    "a list without the option is closed again, and the answer says so: %s",
    async (name) => {
      const { error } = await run("select", await refOf(name), "Pluto")
      expect(error).toMatchObject({
        code: "ELEMENT_NOT_FOUND",
        details: { list: "closed again" },
        disposition: { delivery: "not_delivered", retry: "safe" },
      })
      expect((await page.events()).findLast((one) => one.event === "list")).toMatchObject({
        name,
        value: false,
      })
    },
  )

  test("a native list without the option is closed again", async () => {
    const { error } = await run("select", await refOf("Format"), ".rar", "--input", "physical")
    expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", disposition: { delivery: "not_delivered" } })
    expect(await popupsOn(desktop)).toEqual([])
    expect(page.isAlive()).toBe(true)
  })
})

test("a list of Chromium itself is seen, chosen from, and closed if it has no such option", async () => {
  desktop = await openDesktop()
  try {
    const profile = `${desktop.directory}/chromium`
    const { command } = chromium(profile, "")
    desktop.spawnApp([
      ...command.filter((word) => !word.startsWith("--app=")),
      "data:text/html,<title>Shelf</title>",
    ])
    id = await find("Shelf - Chromium")
    await ok("press", "ctrl+d", "--app", "Chromium")
    const folder = await refOf("Folder", "--surface", "sheet")
    const { error } = await run("select", folder, "Attic")
    expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { list: "closed again" } })
    expect(error.details.candidates).toContain("Bookmarks bar")
    expect(await popupsOn(desktop)).toEqual([])
    // The bubble is still open.
    await ok("select", folder, "Bookmarks bar")
    await ok("click", await refOf("Done", "--surface", "sheet"))
    const file = Bun.file(`${profile}/Default/Bookmarks`)
    await until(async () => {
      const { roots } = await file.json().catch(() => ({ roots: {} }))
      return roots.bookmark_bar?.children.some(({ name }: { name: string }) => name === "Shelf")
    }, 20_000)
  } finally {
    await desktop.close()
  }
}, 90_000)
