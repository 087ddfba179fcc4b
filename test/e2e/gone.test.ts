import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Gone, type GoneToolkit, startGone, startTabs } from "../fixtures/gone.ts"
import { answersOf, nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Elements that a user cannot get at, though their objects still answer. Every app logs what reaches it. */

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop?.close())

const ok = answersOf(() => desktop)
const fails = async (...args: readonly string[]): Promise<Json> => {
  const { json, stdout } = await desktop.run(...args, "--timeout-ms", "5000")
  if (json?.ok !== false) throw new Error(`${args.join(" ")} did not fail: ${stdout}`)
  return json.error
}
const windowTitled = (title: string): Promise<string> =>
  until(async () => {
    const { windows } = await ok("list-windows")
    return windows.find((one: { title: string }) => one.title === title)?.id
  }, 30_000)
/** Looks at a window, hidden parts included, and returns refs by name, which stay good after later looks. */
const look = async (id: string): Promise<(name: string) => string> => {
  const { tree, snapshot_id } = await ok("snapshot", "--window-id", id, "--include-hidden")
  return (name) => {
    const node = nodesOf(tree).find((one) => one.name === name && one.ref_id)
    if (!node?.ref_id) throw new Error(`Nothing to act on is named ${name}`)
    return `@${snapshot_id}:${node.ref_id.slice(1)}`
  }
}

const notShown = (ref: string, id: string, action = "Click") => ({
  code: "ACTION_FAILED",
  message: `${action} action failed on ${ref}: it is on a page or panel that is not shown`,
  suggestion: `Show its page first; what is shown now: agent-desktop snapshot -i --window-id ${id}`,
  details: { kind: "not_actionable", reason: "not shown" },
  disposition: { delivery: "not_delivered", retry: "safe" },
})
const behind = (ref: string, dialog: string) => ({
  code: "ACTION_FAILED",
  message: `Click action failed on ${ref}: it is behind the modal dialog in window ${dialog}`,
  suggestion: `Answer the dialog first: agent-desktop snapshot -i --window-id ${dialog}`,
  details: { kind: "not_actionable", reason: "behind a modal dialog", window_id: dialog },
  disposition: { delivery: "not_delivered", retry: "safe" },
})

describe.each<GoneToolkit>(["gtk3", "gtk4", "qt6", "qt5"])("%s", (toolkit) => {
  let app: Gone
  let id: string
  let ref: (name: string) => string

  const reached = async (): Promise<string[]> =>
    (await app.events())
      .filter(({ event }) => event !== "done" && event !== "ready")
      .map((one) => one.name ?? "")
  /** Runs the work and returns the names of the elements that something reached meanwhile. */
  const during = async (work: () => Promise<unknown>): Promise<string[]> => {
    const before = (await reached()).length
    await work()
    return (await reached()).slice(before)
  }

  beforeAll(async () => {
    app = await startGone(desktop, toolkit)
    id = await windowTitled(`Gone ${toolkit}`)
    ref = await look(id)
  })

  test("an element that its app took out of the window is stale for every action", async () => {
    await app.tell("remove")
    const heard = await during(async () => {
      for (const command of [
        ["click", ref("Removable")],
        ["get", ref("Removable"), "visible"],
        ["hover", ref("Removable")],
        ["type", ref("Leaving field"), "text"],
        ["set-value", ref("Leaving field"), "text"],
        ["focus", ref("Leaving field")],
      ]) {
        const { code, disposition } = await fails(...command)
        expect({ command, code, disposition }).toMatchObject({
          code: "STALE_REF",
          disposition: { delivery: "not_delivered" },
        })
      }
    })
    expect(heard).toEqual([])
    await app.tell("restore")
  })

  test("an element on a page that is not shown is refused, until its page is shown", async () => {
    await app.tell("page 2")
    await app.tell("stack 2")
    const hidden = ["Page button 1", "Stack button 1"].map(ref)
    const heard = await during(async () => {
      for (const one of hidden) expect(await fails("click", one)).toEqual(notShown(one, id))
      const field = ref("Page field 1")
      expect(await fails("type", field, "text")).toEqual(notShown(field, id, "Type"))
    })
    expect(heard).toEqual([])
    await app.tell("page 1")
    await app.tell("stack 1")
    for (const name of ["Page button 1", "Stack button 1"]) {
      await ok("click", ref(name))
      await until(async () => (await reached()).at(-1) === name)
    }
  })

  test("an element in a hidden panel is refused, until the panel is shown", async () => {
    await app.tell("hide")
    const one = ref("Panel button")
    expect(await during(async () => expect(await fails("click", one)).toEqual(notShown(one, id)))).toEqual([])
    await app.tell("show")
    await ok("click", one)
    await until(async () => (await reached()).at(-1) === "Panel button")
  })

  test("an element that is scrolled out of view is acted on", async () => {
    await ok("click", ref("Row button 30"))
    await until(async () => (await reached()).at(-1) === "Row button 30")
  })

  test("an element behind a modal dialog is refused, with the dialog's window, until it is closed", async () => {
    await app.tell("modal")
    const dialog = await windowTitled("Modal dialog")
    const one = ref("Page button 1")
    expect(await during(async () => expect(await fails("click", one)).toEqual(behind(one, dialog)))).toEqual(
      [],
    )
    const inside = (await look(dialog))("Modal dialog OK")
    await ok("click", inside)
    await until(async () => (await reached()).at(-1) === "Modal dialog OK")
    await app.tell("close")
    await until(async () => (await desktop.run("click", one)).json?.ok)
    await until(async () => (await reached()).at(-1) === "Page button 1")
  })

  test("a modeless dialog, or a modal dialog of another window, does not block an element", async () => {
    await app.tell("modeless")
    await windowTitled("Modeless dialog")
    await ok("click", ref("Page button 1"))
    await app.tell("close")
    await app.tell("grouped")
    const dialog = await windowTitled("Grouped dialog")
    const heard = await during(async () => {
      await ok("click", ref("Page button 1"))
      const other = (await look(await windowTitled(`Other ${toolkit}`)))("Other button")
      expect(await fails("click", other)).toEqual(behind(other, dialog))
    })
    expect(heard).toEqual(["Page button 1"])
    await app.tell("close")
  })
})

test("GTK 3: items of closed menus and lists are chosen without opening them", async () => {
  const app = await startGone(desktop, "gtk3")
  const { windows } = await ok("list-windows")
  const { id } = windows.find((one: { title: string }) => one.title === "Gone gtk3")
  const ref = await look(id)
  for (const name of ["Open", "Banana"]) {
    await ok("click", ref(name))
    await until(async () => (await app.events()).some((one) => one.name === name))
  }
})

test("Chromium: a page in another tab is refused, and so is one behind an alert", async () => {
  const open = startTabs(desktop)
  open(`<title>First</title><button onclick="document.title='Pressed'">Press</button>
    <button onclick="alert('Look')">Warn</button>`)
  const id = await windowTitled("First - Chromium")
  const ref = await until(async () => {
    const found = await look(id)
    return found("Warn") && found
  }, 30_000)
  open("<title>Second</title><button>Else</button>")
  await windowTitled("Second - Chromium")
  expect(await fails("click", ref("Press"))).toEqual(notShown(ref("Press"), id))
  await ok("press", "ctrl+w", "--app", "chromium")
  await windowTitled("First - Chromium")
  await ok("click", ref("Warn"))
  const one = ref("Press")
  expect(await until(async () => (await desktop.run("click", one)).json?.error, 10_000)).toEqual(
    behind(one, id),
  )
  await ok("press", "return", "--app", "chromium")
  await until(async () => (await desktop.run("click", one)).json?.ok, 10_000)
  await windowTitled("Pressed - Chromium")
})

test("a search field of GTK 4 beside disabled buttons shows, and is filled", async () => {
  const text = `${desktop.directory}/words.txt`
  await Bun.write(text, "what are we")
  desktop.spawnApp(["gnome-text-editor", "--standalone", text])
  const id = await until(async () => {
    const { windows } = await ok("list-windows")
    return windows.find((one: { title: string }) => one.title.startsWith("words.txt"))?.id
  }, 30_000)
  await until(async () => {
    await ok("press", "ctrl+h", "--window-id", id)
    const { matches } = await ok("find", "--window-id", id, "--role", "textfield", "--name", "Replace")
    return matches.length > 0
  }, 30_000)
  const { post_state } = await ok("set-value", 'textfield "Replace"', "were", "--window-id", id)
  expect(post_state.value).toBe("were")
})
