import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appNamed, type StartedApp, type StockApp, startApp } from "../../bench/apps.ts"
import { Deadline } from "../../src/deadline.ts"
import { listOf, onTheBus, unseen } from "../apps/lists.ts"
import { answersOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { popupsOn } from "../support/popups.ts"
import { until } from "../support/until.ts"
import { differences, missingTexts, type Printed, type Shift } from "./comparison.ts"
import { type Dump, isPopover } from "./expected.ts"

/**
 * Compares what pyatspi and the compiled program see of the same windows. No element that can be acted on, in view or
 * scrolled out of it, in the window or in an open menu, is missing, none is made up, and names, roles, states and bounds
 * are the same. Elements are paired by the bus name and path that the ref map holds for every ref.
 *
 * Beside it stands what a person saw: test/apps has a list for each app, written from a picture of its window.
 */

/** `bun run apps` names others instead. Each of them gets a desktop of its own. */
const chosen = process.env.DIFFERENTIAL_APPS?.split(" ")

const APPS = chosen ?? [
  "mousepad",
  "gedit",
  "gtk3-widget-factory",
  "gnome-calculator",
  "thunar",
  "kcalc",
  "qt6",
  "chromium",
  "writer",
]

/** One of each toolkit, in a check. */
const POPUPS = chosen ?? ["mousepad", "gnome-calculator", "kcalc", "chromium"]

/** pyatspi asks ten questions about each of two thousand objects. */
const LIMIT_MS = 240_000

let desktop: TestDesktop
let started: ReadonlyMap<string, StartedApp>

const open = async (keys: readonly string[]): Promise<void> => {
  desktop = await openDesktop({ width: 1920, height: 1080 })
  started = new Map(keys.map((key) => [key, startApp(desktop, appNamed(key))]))
}

if (!chosen) {
  beforeAll(() => open(APPS))
  afterAll(() => desktop?.close(), 30_000)
}

describe.each(APPS)("%s", (key) => {
  const app = appNamed(key)
  if (chosen) {
    beforeAll(() => open([key]))
    afterAll(() => desktop?.close(), 30_000)
  }
  beforeAll(async () => {
    const { id } = await windowOf(app)
    await activate(id)
    for (const line of app.prepare ?? []) await ok(...line, "--window-id", id)
  }, LIMIT_MS)

  test(
    "a snapshot and a dump by pyatspi agree",
    async () => {
      expect(await differencesOf(app)).toEqual([])
    },
    LIMIT_MS,
  )

  const list = listOf(key)
  test.skipIf(list === undefined)("everything that its picture shows is in a snapshot", async () => {
    const { id } = await windowOf(app)
    const { tree } = await ok("snapshot", "--window-id", id, "--compact")
    const dumped = await until(() => dump(app))
    expect([...unseen(list!.seen, nodesOf(tree)), ...onTheBus(list!.missing, dumped)]).toEqual([])
  })

  test.skipIf(app.popup === undefined || !POPUPS.includes(key))(
    "a snapshot and a dump by pyatspi agree on an open popup",
    async () => {
      const { id } = await windowOf(app)
      const before = (await look(app, "--offscreen")).elements.length
      const answer = await until(async () => {
        const { json, stdout } = await desktop.run(...app.popup!, "--window-id", id, "--timeout-ms", "20000")
        // A refusal: LibreOffice moves its page when the pointer first comes over it.
        if (json.error?.disposition?.delivery === "not_delivered") return undefined
        if (!json.ok) throw new Error(stdout)
        return json.data
      })
      // Popovers of GTK 3 are not windows of their own.
      if ((await popupsOn(desktop)).length > 0) expect(answer.popup ?? answer.menu).toBeDefined()
      try {
        expect(await differencesOf(app)).toEqual([])
        expect((await look(app, "--offscreen")).elements.length).toBeGreaterThan(before)
      } finally {
        await until(async () => {
          await output("xdotool", "key", "Escape")
          return (await popupsOn(desktop)).length === 0
        })
      }
    },
    LIMIT_MS,
  )
})

describe.skipIf(chosen !== undefined)("a click in the middle of the printed bounds reaches", () => {
  test("a button of GTK 4, which reports no screen coordinates", async () => {
    const { elements } = await look(appNamed("gnome-calculator"))
    const display = find(elements, "textfield", (one) => one.states?.includes("readonly") !== true)
    await activate((await windowOf(appNamed("gnome-calculator"))).id)
    await click(find(elements, "button", (one) => one.name === "7"))
    await until(async () => (await textOf(display)).includes("7"), EFFECT_MS)
  })

  test("a check box of GTK 3", () => toggles("gtk3-widget-factory", "checkbox"))
  test("a check box of Qt", () => toggles("qt6", "checkbox", "Agree"))
  test("a check box of a page", () => toggles("chromium", "checkbox", "Unchecked box"))
  test("a tool button that LibreOffice draws itself", () => toggles("writer", "button", "Bold"))
})

test.skipIf(chosen !== undefined)(
  "each control of a page has the role and states that its markup gives it",
  async () => {
    const { elements } = await look(appNamed("chromium"))
    const told = (name: string) =>
      elements
        .filter((one) => one.name === name)
        .map(({ role, states }) => [role, ...(states ?? [])].join(" "))
    const wrong = Object.entries(MARKUP).flatMap(([name, truth]) =>
      told(name).includes(truth) ? [] : [`${name}: ${truth}, not ${told(name).join(" or ") || "absent"}`],
    )
    expect(wrong).toEqual([])
    for (const name of ["Never there", "Not displayed", "Not visible", "Hidden item", "Far below"])
      expect(told(name)).toEqual([])
  },
)

const EFFECT_MS = 20_000

/** Name → role and states, as aria.html is written. */
const MARKUP: Readonly<Record<string, string>> = {
  "Native button": "button enabled",
  "ARIA button": "button enabled",
  "Disabled button": "button disabled",
  "Disabled native": "button disabled",
  Pressed: "button enabled pressed",
  "Not pressed": "button enabled",
  "Mixed pressed": "button enabled indeterminate",
  "Menu button": "menubutton enabled collapsed haspopup",
  "Expanded button": "button enabled expanded",
  "Named by aria-label": "button enabled",
  "Named by two texts": "button enabled",
  "Named by title": "button enabled",
  "Image button": "button enabled",
  "Closed details": "button enabled collapsed",
  "Open details": "button enabled expanded",
  Link: "link enabled",
  "ARIA link": "link enabled",
  "Checked box": "checkbox enabled checked",
  "Mixed box": "checkbox enabled indeterminate",
  "Disabled checked box": "checkbox disabled checked",
  "ARIA checked": "checkbox enabled checked",
  "ARIA unchecked": "checkbox enabled unchecked",
  "ARIA mixed": "checkbox enabled indeterminate",
  "ARIA required invalid": "checkbox enabled unchecked required invalid",
  "Switch on": "switch enabled checked",
  "Switch off": "switch enabled unchecked",
  "Native switch": "switch enabled unchecked",
  "Radio on": "radiobutton enabled checked",
  "Radio off": "radiobutton enabled unchecked",
  "Native radio on": "radiobutton enabled checked",
  "Native radio disabled": "radiobutton disabled unchecked",
  "Native text": "textfield enabled",
  Search: "textfield enabled",
  Mail: "textfield enabled required",
  Secret: "textfield enabled secure",
  "Read only": "textfield enabled readonly",
  "Disabled text": "textfield disabled",
  Invalid: "textfield enabled invalid",
  Area: "textfield enabled multiline",
  "Only a placeholder": "textfield enabled",
  "ARIA multiline": "textfield enabled multiline",
  "ARIA readonly": "textfield enabled readonly",
  "Native slider": "slider enabled",
  "ARIA slider": "slider enabled",
  Number: "incrementor enabled",
  "ARIA spin": "incrementor enabled",
  Day: "datefield enabled",
  "Native select": "combobox enabled collapsed haspopup",
  "Native list": "listbox enabled",
  Alpha: "option enabled selected",
  Beta: "option enabled",
  Gamma: "option disabled",
  "Native multiple": "listbox enabled multiselectable",
  "M two": "option enabled selected",
  "ARIA select-only": "combobox enabled collapsed haspopup",
  "ARIA combobox": "combobox enabled expanded haspopup",
  "Option selected": "option enabled selected",
  "Option not selected": "option enabled",
  "Option disabled": "option disabled",
  "Option checked": "option enabled checked",
  "Item with menu": "menuitem enabled collapsed haspopup",
  "Plain item": "menuitem enabled",
  "Disabled item": "menuitem disabled",
  "Check item on": "menuitem enabled checked",
  "Check item off": "menuitem enabled unchecked",
  "Radio item on": "menuitem enabled checked",
  "Tab selected": "tab enabled selected",
  "Tab other": "tab enabled",
  "Tab disabled": "tab disabled",
  "Open node": "treeitem enabled expanded",
  "Selected leaf": "treeitem enabled selected",
  "Checked leaf": "treeitem enabled checked",
  "Closed node": "treeitem enabled collapsed",
  "36": "cell enabled selected",
  "41": "cell enabled",
}

/** Looks until nothing changes meanwhile; then both must agree. A difference counts after three such looks. */
async function differencesOf(app: StockApp): Promise<readonly string[]> {
  const window = await windowOf(app)
  const deadline = Deadline.in(LIMIT_MS - 40_000)
  let before = await dump(app)
  for (let quiet = 0; ; ) {
    const { elements, texts } = await look(app, "--offscreen")
    const after = await dump(app)
    const isQuiet = before !== undefined && after !== undefined && shapeOf(before) === shapeOf(after)
    if (isQuiet && elements.length > 0) {
      const shift = await shiftOf(after, window.number)
      const found = [...differences(after, elements, shift), ...missingTexts(after, texts)]
      if (found.length === 0 || ++quiet === 3) return found
    }
    if (deadline.expired) throw new Error(`${app.key} never came to rest`)
    before = after
  }
}

/** The dump without its addresses, which Qt changes with every look at a tree. */
function shapeOf({ nodes }: Dump): string {
  const numbers = new Map(nodes.map(({ address }, i) => [address, i]))
  return JSON.stringify(
    nodes.map((node) => ({ ...node, address: "", parent: numbers.get(node.parent ?? "") })),
  )
}

const ok = answersOf(() => desktop)

async function dump({ app, title, frame = title }: StockApp): Promise<Dump | undefined> {
  const text = await output(
    "/usr/bin/python3",
    new URL("atspi-dump.py", import.meta.url).pathname,
    app,
    frame,
  )
  return text === "" ? undefined : JSON.parse(text)
}

interface Look {
  /** The interactive nodes. */
  readonly elements: readonly Printed[]
  /** The names of all nodes; of a node without one, its value: the texts. */
  readonly texts: ReadonlySet<string>
}

/** The elements and texts of a snapshot. */
async function look(app: StockApp, ...flags: readonly string[]): Promise<Look> {
  const { id } = await windowOf(app)
  const { json } = await desktop.run(
    "snapshot",
    "--window-id",
    id,
    "--max-depth",
    "50",
    "--include-bounds",
    "--timeout-ms",
    "20000",
    ...flags,
  )
  if (!json.ok) throw new Error(JSON.stringify(json.error))
  expect(json.data.complete).toBe(true)
  const { inner } = await Bun.file(`${desktop.home}/last_refmap.json`).json()
  const nodes = nodesOf(json.data.tree)
  const refs = nodes.filter((node) => node.ref_id !== undefined)
  expect(refs).toHaveLength(json.data.ref_count)
  const elements = refs.map(({ ref_id, role, name, name_inferred, value, states, bounds }) => ({
    address: inner[ref_id].address,
    role,
    name,
    name_inferred,
    value,
    states,
    bounds,
  }))
  return { elements, texts: new Set(nodes.map(({ name, value }) => name ?? value)) }
}

const nodesOf = (node: Json): Json[] => [node, ...(node.children ?? []).flatMap(nodesOf)]

async function windowOf({
  key,
  app,
  title,
  isWholeTitle,
}: StockApp): Promise<{ readonly id: string; readonly number: string }> {
  const id = await until(async () => {
    started.get(key)?.revive()
    const { json } = await desktop.run("list-windows")
    const windows: { id: string; app_name: string; title: string }[] = json?.data?.windows ?? []
    const fits = (one: string): boolean => (isWholeTitle ? one === title : one.includes(title))
    return windows.find((one) => one.app_name === app && fits(one.title))?.id
  }, 60_000)
  return { id, number: id.replace("w-", "") }
}

/** GTK 4 counts from the corner of its window. LibreOffice does not count the menu bar above its own drawing. */
async function shiftOf({ toolkit, nodes }: Dump, window: string): Promise<Shift> {
  const pane = nodes.find(({ role }) => role === "root pane")
  const around = nodes.find(({ address }) => address === pane?.parent)
  if (pane?.extents && around?.extents) return { x: 0, y: 0, drawnY: around.extents[1] - pane.extents[1] }
  if (toolkit !== "GTK") return { x: 0, y: 0 }
  return { ...(await frameShift(nodes, window)), popovers: await popoverShifts(nodes) }
}

/** Each popover of GTK 4 is a window of its own, and counts from the same corner as its own extents. */
async function popoverShifts(nodes: Dump["nodes"]): Promise<NonNullable<Shift["popovers"]>> {
  const windows = await output("xwininfo", "-root", "-children")
  return new Map(
    nodes.filter(isPopover).flatMap(({ address, extents }) => {
      if (!extents) return []
      const [left, top, width, height] = extents
      const [, x, y] =
        new RegExp(` ${width}x${height}\\+-?\\d+\\+-?\\d+ +\\+(-?\\d+)\\+(-?\\d+)`).exec(windows) ?? []
      return x === undefined ? [] : [[address, { x: Number(x) - left, y: Number(y) - top }]]
    }),
  )
}

async function frameShift(nodes: Dump["nodes"], window: string): Promise<Shift> {
  const numbers = (text: string, ...patterns: RegExp[]) =>
    patterns.map((one) => Number(one.exec(text)?.[1] ?? 0))
  const geometry = await output("xwininfo", "-id", window)
  const [x = 0, y = 0, width = 0, height = 0] = numbers(
    geometry,
    /left X: +(-?\d+)/,
    /left Y: +(-?\d+)/,
    /Width: (\d+)/,
    /Height: (\d+)/,
  )
  const shadow = /= (\d+), \d+, (\d+)/.exec(await output("xprop", "-id", window, "_GTK_FRAME_EXTENTS"))
  if (shadow) return { x: x + Number(shadow[1]), y: y + Number(shadow[2]) }
  const [, , inner = width, innerHeight = height] = nodes[0]?.extents ?? []
  return { x: x + Math.round((width - inner) / 2), y: y + Math.round((height - innerHeight) / 2) }
}

/** Clicks a control that is off, and waits until its own state says that it is on. */
async function toggles(key: string, role: string, name?: string): Promise<void> {
  const { elements } = await look(appNamed(key))
  const control = find(
    elements,
    role,
    (one) =>
      (name === undefined || one.name === name) &&
      one.states?.includes("enabled") === true &&
      !/\b(checked|pressed)\b/.test(one.states.join(" ")),
  )
  await activate((await windowOf(appNamed(key))).id)
  await click(control)
  await until(
    async () => (await stateBits(control)).some((bit) => bit === CHECKED || bit === PRESSED),
    EFFECT_MS,
  )
}

const CHECKED = 4
const PRESSED = 20

function find(elements: readonly Printed[], role: string, fits: (one: Printed) => boolean): Printed {
  const found = elements.find((one) => one.role === role && fits(one))
  if (!found) throw new Error(`There is no such ${role} in ${JSON.stringify(elements)}`)
  return found
}

async function click({ bounds }: Printed): Promise<void> {
  const x = Math.round(bounds!.x + bounds!.width / 2)
  const y = Math.round(bounds!.y + bounds!.height / 2)
  await output("xdotool", "mousemove", String(x), String(y), "click", "1")
}

async function activate(id: string): Promise<void> {
  const number = id.replace("w-", "")
  // Asks again each time, since an app that opens its window meanwhile takes the focus.
  await until(async () => {
    if ((await output("xdotool", "getactivewindow")).trim() === number) return true
    await output("xdotool", "windowactivate", number)
    return false
  }, EFFECT_MS)
}

/** Asks the object itself, with a tool that does not know AT-SPI. */
async function ask({ address }: Printed, member: string, ...args: readonly string[]): Promise<string> {
  const bus = /"(.*)"/.exec(await output("xprop", "-root", "AT_SPI_BUS"))?.[1]
  const slash = address.indexOf("/")
  const where = [`--bus=${bus}`, `--dest=${address.slice(0, slash)}`, address.slice(slash)]
  return output("dbus-send", "--print-reply", ...where, `org.a11y.atspi.${member}`, ...args)
}

async function stateBits(element: Printed): Promise<readonly number[]> {
  const words = [...(await ask(element, "Accessible.GetState")).matchAll(/uint32 (\d+)/g)].map(([, word]) =>
    Number(word),
  )
  return words.flatMap((word, i) =>
    Array.from({ length: 32 }, (_, bit) => bit)
      .filter((bit) => (word >>> bit) & 1)
      .map((bit) => bit + 32 * i),
  )
}

async function textOf(element: Printed): Promise<string> {
  return /string "(.*)"/s.exec(await ask(element, "Text.GetText", "int32:0", "int32:100"))?.[1] ?? ""
}

async function output(...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { ...desktop.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  })
  const text = await new Response(child.stdout).text()
  await child.exited
  return text
}
