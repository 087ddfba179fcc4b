import type { Handle } from "../../src/adapter.ts"
import { type Command, loadAll, type Registry } from "../../src/command.ts"
import { type CellGrid, within } from "../../src/content/grid.ts"
import type { Door } from "../../src/door.ts"
import { type Desk, desk } from "./fake-desk.ts"
import type { FakeElement, Spec } from "./fake-world.ts"
import type { Json } from "./json.ts"

/** A desk on which every command has something to act on, and the samples of all commands. */

const at = (x: number, y: number) => ({ bounds: { x, y, width: 80, height: 20 } })

const TRACE = new URL("../fixtures/trace", import.meta.url).pathname
export const FLOW = new URL("../fixtures/flow/hello.flow", import.meta.url).pathname

/** A sheet of two by two cells, which are its children. */
function sheetOf(table: FakeElement): CellGrid<Handle> {
  const at = (row: number, column: number) => table.children[row * 2 + column]
  return {
    kind: "cells",
    rowCount: 2,
    columnCount: 2,
    isSheet: true,
    indexOf: (row, column) => row * 2 + column,
    placeOf: (index) => ({ row: Math.floor(index / 2), column: index % 2 }),
    titles: async () => undefined,
    inView: async () => undefined,
    texts: async (rows, columns) =>
      within(rows, 2).map((row) => columns.map((column) => at(row, column)?.value ?? "")),
    // A handle of the fake adapter is the element itself.
    cell: async ({ row, column }) => at(row, column) as unknown as Handle | undefined,
    unwritable: async () => [],
    doubt: async () => undefined,
  }
}

const CONTENTS: readonly Spec[] = [
  { role: "button", name: "Save", states: ["enabled"], ...at(10, 10), actions: ["Click", "RightClick"] },
  { role: "textfield", name: "Title", value: "draft", states: ["enabled"], ...at(10, 40) },
  { role: "checkbox", name: "Wrap", states: ["enabled", "unchecked"], ...at(10, 70) },
  { role: "checkbox", name: "Lines", states: ["enabled", "checked"], ...at(10, 100) },
  { role: "treeitem", name: "Open me", states: ["enabled", "collapsed"], ...at(10, 130) },
  { role: "treeitem", name: "Close me", states: ["enabled", "expanded"], ...at(10, 160) },
  { role: "slider", name: "Volume", value: "10", states: ["enabled"], ...at(10, 190) },
  {
    role: "combobox",
    name: "Size",
    value: "A4",
    states: ["enabled"],
    ...at(10, 220),
    actions: ["Select", "SetValue"],
  },
  { role: "textfield", name: "Letter", value: "a long letter ".repeat(80), ...at(10, 280) },
  {
    role: "table",
    name: "Sheet",
    ...at(10, 310),
    grid: sheetOf,
    children: ["A1", "B1", "A2", "B2"].map((name, i) => ({
      role: "cell",
      name,
      value: name.toLowerCase(),
      states: ["enabled"],
      actions: ["SetValue", "TypeText"],
      isTypedOver: true,
      ...at(10 + 80 * (i % 2), 330 + 20 * Math.floor(i / 2)),
    })),
  },
  { role: "group", name: "Body", ...at(10, 250), children: [{ role: "statictext", name: "12 words" }] },
]

/** Placeholders in samples, such as `$button`. Each test replaces them by things on its own desktop. */
export interface SampleWords {
  /** Name of an app with one window; the window's id and title. */
  readonly app: string
  readonly window: string
  readonly title: string
  /** Refs of elements in that window. */
  readonly button: string
  readonly field: string
  readonly slider: string
  readonly checkbox: string
  /** A checkbox that is on. */
  readonly checked: string
  readonly collapsed: string
  readonly expanded: string
  /** A cell of the only table. */
  readonly cell: string
  /** A combobox with an option named "two". */
  readonly combobox: string
  /** Path of a menu item of that app. */
  readonly menu: string
  /** Name of an app that is not running. */
  readonly other: string
  /** Name of an isolated desktop that may end. */
  readonly desktop: string
  /** Directory with a trace. */
  readonly trace: string
  /** Path of a flow. */
  readonly flow: string
  /** Path of a file that may be written. */
  readonly file: string
}

/** One call of a command, from its `sample`. */
export interface Call {
  readonly command: Command
  readonly args: Readonly<Record<string, unknown>>
}

/** Every sample of every command. */
export async function samplesOf(registry: Registry): Promise<readonly Call[]> {
  return (await loadAll(registry)).flatMap((command) => command.sample.map((args) => ({ command, args })))
}

/** The members that a command lacks, each with what to add and where. The type checker finds most of them already. */
export function gapsOf(command: Partial<Command> & Pick<Command, "name">): readonly string[] {
  const { name, effect, tool, trace, input, output, print, sample } = command
  const has: readonly (readonly [boolean, string])[] = [
    [oneOf(effect, ["reads", "harmless", "changes"]), 'effect: "reads", "harmless" or "changes"'],
    [oneOf(tool, ["core", "all", "never"]), 'tool: "core", "all" or "never", the MCP set that offers it'],
    [oneOf(trace, ["pictures", "line", "nothing"]), 'trace: "pictures", "line" or "nothing"'],
    [input !== undefined, "input: {}, or the members of its arguments"],
    [typeof output === "function", "output: () => v.object({…}), the schema of its result"],
    [
      print === "json" || print === "facts" || typeof print === "function",
      'print: (data) => string, or print: "facts"',
    ],
    [(sample?.length ?? 0) > 0, "sample: {}, or arguments for the tests over all commands"],
  ]
  return has
    .filter(([isThere]) => !isThere)
    .map(([, member]) => `${name} lacks ${member}; add it to its object in src/commands`)
}

const oneOf = (word: string | undefined, words: readonly string[]): boolean =>
  word !== undefined && words.includes(word)

/** The samples that use the platform, each with the native calls it makes on the busy desk. */
export async function nativeSamples(
  registry: Registry,
): Promise<readonly (Call & { readonly calls: readonly string[] })[]> {
  const samples = (await samplesOf(registry)).map(async (call) => {
    const { world, ask } = await readyDesk({ commands: registry })
    const before = world.calls.length
    await ask(call)
    return { ...call, calls: [...new Set(world.calls.slice(before))].filter((one) => one !== "close") }
  })
  return (await Promise.all(samples)).filter(({ calls }) => calls.length > 0)
}

/** True if a desktop has everything that the placeholders of these arguments need. */
export const canFill = (args: Call["args"], words: Partial<SampleWords>): boolean =>
  [...JSON.stringify(args).matchAll(/\$([a-z]+)/g)].every(([, word]) => Object.hasOwn(words, word ?? ""))

/** Arguments with their placeholders replaced by things of a desktop. */
export function filled(args: Call["args"], words: Partial<SampleWords>): Record<string, unknown> {
  const known = new Map(Object.entries(words))
  const fill = (text: string): string =>
    text.replaceAll(/\$([a-z]+)/g, (_, word: string) => {
      const found = known.get(word)
      if (found === undefined) throw new Error(`The desktop of this test has nothing for $${word}`)
      return found
    })
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? fill(value) : value]),
  )
}

/** The same arguments on a command line, each by its flag. */
export const flagsOf = (args: Call["args"]): readonly string[] =>
  Object.entries(args).map(([name, value]) => {
    const flag = `--${name.replaceAll("_", "-")}`
    return value === true ? flag : `${flag}=${value}`
  })

export interface ReadyDesk extends Desk {
  /** Runs a sample that must succeed. */
  ask(call: Call): Promise<Json>
  /** Arguments of a sample with things of this desk. */
  fill(args: Call["args"]): Record<string, unknown>
}

/** A busy desk with a snapshot of its window, on which every sample succeeds. */
export async function readyDesk(door: Partial<Door> = {}): Promise<ReadyDesk> {
  const it = busyDesk({
    serve: async () => {},
    view: async () => ({ url: "http://127.0.0.1:1/token/" }),
    ...door,
  })
  await desk({ ...it.door, trace: undefined, readOnly: false }).ok("snapshot")
  const [window] = it.world.windows
  const words: SampleWords = {
    app: "Editor",
    window: window!.id,
    title: window!.title,
    button: await it.ref("Save"),
    field: await it.ref("Title"),
    slider: await it.ref("Volume"),
    checkbox: await it.ref("Wrap"),
    checked: await it.ref("Lines"),
    collapsed: await it.ref("Open me"),
    expanded: await it.ref("Close me"),
    combobox: await it.ref("Size"),
    cell: await it.ref("A1"),
    menu: "File > New",
    other: "Other",
    desktop: "test",
    trace: TRACE,
    flow: FLOW,
    file: "file",
  }
  const fill = (args: Call["args"]) => filled(args, words)
  return { ...it, fill, ask: ({ command, args }) => it.ok(command.name, fill(args)) }
}

export function busyDesk(door: Partial<Door> = {}): Desk {
  const it = desk({ session: "tests", desktop: "here", ...door })
  const editor = it.world.app("Editor", { pid: 4242, bundleId: "org.example.Editor" })
  editor.window("notes.txt", CONTENTS)
  const menu: Spec = { role: "menu", name: "File", children: [{ role: "menuitem", name: "New" }] }
  editor.show("menu", menu, at(500, 500))
  const file: Spec = {
    role: "menuitem",
    name: "File",
    children: [{ role: "menuitem", name: "New", hidden: true }],
  }
  editor.show("menubar", { role: "menubar", children: [file] }, at(600, 600))
  const other = it.world.app("Other", { pid: 4343 })
  it.world.launch = () => {
    other.window("Fresh", [])
    return { pid: 4343, names: ["Other"], exited: new Promise(() => {}) }
  }
  it.world.quit = ({ pid }) => {
    it.world.apps.find((app) => app.pid === pid)?.end()
    return "asked"
  }
  it.world.desktops = [{ name: "test", display: ":90", size: "800x600", pid: 1, env: { DISPLAY: ":90" } }]
  it.world.notifications = ["First", "Second", "Third"].map((title, index) => ({
    id: `n-${index}`,
    index,
    app_name: "Chat",
    title,
    ...(index === 0 ? { body: "hello", actions: ["Reply"] } : {}),
  }))
  return it
}
