import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import type { Handle } from "../../src/adapter.ts"
import { commands } from "../../src/commands/index.ts"
import type { CellGrid } from "../../src/content/grid.ts"
import type { Door } from "../../src/door.ts"
import { readFlow } from "../../src/flow/read.ts"
import { openRecording } from "../../src/flow/record.ts"
import { planFlow } from "../../src/flow/replay.ts"
import { readyDesk, samplesOf } from "../support/every-command.ts"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { FakeApp, Spec } from "../support/fake-world.ts"
import { temporaryForFile } from "../support/temporary.ts"

const root = temporaryForFile()
afterAll(clearDesks)

let made = 0
const fresh = (): string => `${root}/${made++}.flow`

const bounds = { x: 10, y: 10, width: 100, height: 20 }
const button = (name: string, more: Partial<Spec> = {}): Spec => ({
  role: "button",
  name,
  states: ["enabled"],
  bounds,
  ...more,
})
const field = (name: string | undefined, more: Partial<Spec> = {}): Spec => ({
  role: "textfield",
  ...(name === undefined ? {} : { name }),
  value: "",
  states: ["enabled"],
  bounds,
  ...more,
})
const row = (name: string): Spec => ({
  role: "row",
  children: [{ role: "statictext", name }, button("Delete")],
})

interface Recorded extends Desk {
  readonly app: FakeApp
  readonly file: string
  readonly told: readonly string[]
  text(): string
  /** Takes a snapshot, and acts on the element at this index of those with the name. */
  act(command: string, name: string, args?: object, index?: number): Promise<void>
}

/** A desk with one window, whose commands are recorded. */
function recorded(
  children: readonly Spec[],
  { file = fresh(), ...door }: Partial<Door> & { file?: string } = {},
): Recorded {
  const told: string[] = []
  const it = desk({ record: openRecording({ file, warn: (message) => told.push(message) }), ...door })
  const app = it.world.app("Editor")
  app.window("a.txt - Editor", children)
  return {
    ...it,
    app,
    file,
    told,
    text: () => (existsSync(file) ? readFileSync(file, "utf8") : ""),
    async act(command, name, args = {}, index = 0) {
      await it.ok("snapshot", { app: "Editor" })
      const refs = [...(await it.refs.load()).inner].filter(([, entry]) => (entry.name ?? "") === name)
      await it.ok(command, { ref_id: refs[index]![0], ...args })
    },
  }
}

test("a ref becomes a description, with the app that it is searched in", async () => {
  const it = recorded([button("Save"), button("Open")])
  await it.act("click", "Save", { changes: true, timeout_ms: 1000 })
  expect(it.text()).toBe(`click 'button "Save"' --app Editor\n`)
  expect(it.told).toEqual([])
  expect(statSync(it.file).mode & 0o777).toBe(0o600)
})

test("commands that only look, and commands that fail, are not recorded", async () => {
  const it = recorded([button("Save")])
  await it.ok("snapshot")
  await it.ok("list-windows")
  await it.error("click", { ref_id: 'button "Nothing"', timeout_ms: 0 })
  expect(it.text()).toBe("")
})

test("the description of one of several buttons names its row", async () => {
  const it = recorded([{ role: "table", children: ["Ada", "Gina"].map(row) }])
  await it.act("click", "Delete", {}, 1)
  expect(it.text()).toBe(`click 'button "Delete" in "Gina"' --app Editor\n`)
})

test("the description of one of several cells names its row, even if the table lists its cells without rows", async () => {
  const grid = (): CellGrid<Handle> => ({
    kind: "cells",
    rowCount: 2,
    columnCount: 2,
    isSheet: false,
    indexOf: (row, column) => row * 2 + column,
    placeOf: (index) => ({ row: Math.floor(index / 2), column: index % 2 }),
    titles: async () => undefined,
    inView: async () => undefined,
    texts: async () => [],
    cell: async () => undefined,
    unwritable: async () => [],
    doubt: async () => undefined,
  })
  const cells = ["Ada", "Paris", "Gina", "Paris"].map((name) => ({
    role: "cell",
    name,
    states: ["enabled"],
    actions: ["Click"],
  })) satisfies readonly Spec[]
  const it = recorded([{ role: "table", grid, children: cells }])
  await it.act("click", "Paris", {}, 1)
  expect(it.text()).toBe(`click 'cell "Paris" in "Gina"' --app Editor\n`)
})

describe("a comment with the reason replaces", () => {
  test("an element that nothing distinguishes from another one", async () => {
    const it = recorded([button("Delete"), button("Delete")])
    await it.act("click", "Delete")
    expect(it.text()).toBe(
      '# Not recorded: click button "Delete", because other elements have its role and name, and no name around it distinguishes them\n',
    )
    expect(it.told[0]).toContain("is only a comment")
  })

  test.each(["Inbox (3)", "42 %", "12:30", "3 of 7", "Close a.txt"])("a button named %j", async (name) => {
    const it = recorded([button(name)])
    await it.act("click", name)
    expect(it.text()).toContain("because its name may be another one next time")
  })

  test("an element whose twin is in another window of the app", async () => {
    const it = recorded([button("Save")])
    it.app.window("b.txt - Editor", [button("Save")])
    await it.act("click", "Save")
    expect(it.text()).toStartWith('# Not recorded: click button "Save", because other elements')
  })

  test("a point of the screen", async () => {
    const it = recorded([])
    await it.ok("mouse-click", { xy: "20,20" })
    expect(it.text()).toContain("# Not recorded: mouse-click, because a point of the screen")
  })
})

test("an element of a dialog names its dialog, but not one whose title has the name of a document", async () => {
  const it = recorded([button("Save")])
  const dialog = it.app.window("Save As", [button("Save"), field("Name")])
  dialog.root.role = "dialog"
  it.world.focused = dialog
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
  await it.act("set-value", "Name", { value: "it's ${HOME}" })
  dialog.title = "Close a.txt"
  dialog.root.name = "Close a.txt"
  await it.act("click", "Save")
  expect(it.text().split("\n")).toEqual([
    `set-value 'textfield "Name" in dialog "Save As"' 'it'\\''s \${HOME}' --app Editor`,
    `expect --element 'textfield "Name" in dialog "Save As"' --predicate value --value 'it'\\''s \${HOME}' --app Editor`,
    `click 'button "Save" in dialog' --app Editor`,
    "",
  ])
})

test("a flow waits for windows that open and close, unless their titles contain names of documents", async () => {
  let it: Recorded
  const open = button("Find", {
    does: () => {
      it.app.window("Find and Replace", [])
      it.app.window("b.txt - Editor", [])
    },
  })
  const close = button("Close", {
    does: () => it.app.windows.find(({ title }) => title === "Find and Replace")?.close(),
  })
  it = recorded([open, close])
  await it.act("click", "Find")
  await it.act("click", "Close")
  expect(it.text().split("\n")).toEqual([
    `click 'button "Find"' --app Editor`,
    "expect --window 'Find and Replace' --app Editor",
    `click 'button "Close"' --app Editor`,
    "expect --window 'Find and Replace' --gone --app Editor",
    "",
  ])
})

test("states that were verified become expectations", async () => {
  const box: Spec = { role: "checkbox", name: "Wrap", states: ["enabled", "unchecked"], bounds }
  const it = recorded([box])
  await it.act("check", "Wrap")
  await it.act("uncheck", "Wrap")
  await it.ok("is", { ref_id: 'checkbox "Wrap"', property: "checked" })
  await it.ok("wait", { window: "Editor" })
  expect(it.text().split("\n")).toEqual([
    `check 'checkbox "Wrap"' --app Editor`,
    `expect 'checkbox "Wrap"' checked --app Editor`,
    `uncheck 'checkbox "Wrap"' --app Editor`,
    `expect 'checkbox "Wrap"' unchecked --app Editor`,
    `expect 'checkbox "Wrap"' unchecked --app Editor`,
    "expect --window Editor",
    "",
  ])
})

describe("a secret", () => {
  const password = field("Password", { states: ["enabled", "secure"] })

  test("is written as its source", async () => {
    const it = recorded([password], { env: () => "hunter2" })
    await it.act("type", "Password", { secret: "env:PW" })
    expect(it.text()).toBe(`type 'textfield "Password"' --app Editor --secret env:PW\n`)
  })

  test("that was given as text is not written", async () => {
    const it = recorded([password])
    await it.act("type", "Password", { text: "hunter2" })
    expect(it.text()).toStartWith(`# Not recorded: type textfield "Password", because its text went into`)
    expect(it.text()).not.toContain("hunter2")
  })

  test("that is typed key by key is not written", async () => {
    const it = recorded([{ ...password, states: ["enabled", "secure", "focused"] }])
    await it.ok("press", { combo: "h" })
    expect(it.text()).toContain("# Not recorded: press")
    expect(it.text()).not.toContain("press h")
  })

  test("that an app repeats in a title is not written", async () => {
    let it: Recorded
    const leaky = { ...password, does: () => void it.app.window("hunter", []) }
    it = recorded([leaky], { env: () => "hunter" })
    await it.act("type", "Password", { secret: "env:PW" })
    expect(it.text()).not.toContain("hunter")
  })
})

test("a line with keys is preceded by a line that waits for the focus", async () => {
  const it = recorded([field("City", { states: ["enabled", "focused"] }), field("Street")])
  await it.ok("press", { combo: "return" })
  await it.ok("press", { combo: "ctrl+s" })
  expect(it.text().split("\n")).toEqual([
    `expect 'textfield "City"' focused --app Editor`,
    "press return --app Editor",
    "press ctrl+s --app Editor",
    "",
  ])
})

test("the items of a batch become lines, except a failed one", async () => {
  const it = recorded([button("Save"), button("Open")])
  const commands = ["Save", "Nothing", "Open"].map((name) => ({
    command: "click",
    args: { ref_id: `button "${name}"`, timeout_ms: 0 },
  }))
  await it.ok("batch", { commands })
  expect(it.text()).toBe(`click 'button "Save"' --app Editor\nclick 'button "Open"' --app Editor\n`)
})

test.each(["a link", "a directory", "a missing directory"])(
  "%s is refused, and the command succeeds",
  async (kind) => {
    const file = fresh()
    if (kind === "a link") {
      writeFileSync(`${file}.other`, "")
      symlinkSync(`${file}.other`, file)
    }
    if (kind === "a directory") mkdirSync(file)
    const it = recorded([button("Save")], { file: kind === "a missing directory" ? `${file}/x` : file })
    await it.act("click", "Save")
    await it.act("click", "Save")
    expect(it.world.deliveries).toHaveLength(2)
    expect(it.told).toHaveLength(1)
    expect(it.told[0]).toContain("is not complete")
    if (kind === "a link") expect(readFileSync(`${file}.other`, "utf8")).toBe("")
  },
)

test("a name with quotes, line breaks and hidden characters is read back as the same name", async () => {
  const name = `a "b" 'c'\n$(id) \u202egpj \\ \${HOME}`
  const it = recorded([button(name), button("Other")])
  await it.act("click", name)
  expect(it.text()).not.toContain("\u202e")
  const [line] = await planFlow(
    readFlow(it.text(), () => "wrong"),
    commands,
  )
  await it.ok(line!.command, line!.args)
  expect(it.world.deliveries.map((one) => one.name)).toEqual([name, name])
})

test("every recorded line can be replayed", async () => {
  const file = fresh()
  const told: string[] = []
  const record = openRecording({ file, warn: (message) => told.push(message) })
  for (const call of await samplesOf(commands)) {
    const it = await readyDesk({ record, name: "cli" })
    for (const app of it.world.apps) app.hide("menu")
    await it.ask(call)
  }
  const steps = await planFlow(
    readFlow(readFileSync(file, "utf8"), () => ""),
    commands,
  )
  expect(steps.length).toBeGreaterThan(30)
  expect(told.filter((one) => one.includes("not complete"))).toEqual([])
})
