import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { STATE } from "../../../src/linux/atspi/bits.ts"
import { readFrames } from "../../../src/linux/atspi/frames.ts"
import { frameElement, readTree } from "../../../src/linux/atspi/read-tree.ts"
import { ROLE } from "../../../src/linux/atspi/roles.ts"
import { type Answer, Bus, DBUS, DBUS_PATH, method } from "../../../src/linux/dbus/bus.ts"
import { unmarshal } from "../../../src/linux/dbus/read.ts"
import { type Daemon, startDaemon } from "../dbus/daemon.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"

let daemon: Daemon
let bus: Bus
/** The registry. It records the app and the event of each client that starts to listen. */
let registry: Bus
let listeners: string[] = []
let refuses = false

const soon = () => Deadline.in(10_000)

beforeAll(async () => {
  daemon = await startDaemon()
  bus = await Bus.open(daemon.address, soon())
  registry = await Bus.open(daemon.address, soon())
  const own = method(`${DBUS}.RequestName`, "su", ["org.a11y.atspi.Registry", 0])
  await registry.call(own, DBUS, DBUS_PATH, soon())
  registry.serve((call) => {
    if (refuses) return UNKNOWN
    const [event, , app] = unmarshal(call.signature, call.body)
    listeners.push(`${call.member} ${event} ${app}`)
    return {}
  })
})
afterAll(async () => {
  bus.close()
  registry.close()
  await daemon[Symbol.asyncDispose]()
})
beforeEach(() => {
  listeners = []
  refuses = false
})

const UNKNOWN: Answer = { error: "org.freedesktop.DBus.Error.UnknownMethod" }
const NO_ITEMS: Answer = { signature: "a((so)(so)(so)iiassusau)", values: [[]] }
const OPTIONS = { maxDepth: 10, bounds: "interactive", includeHidden: false, interactiveOnly: false } as const

async function treeOf(app: FakeApp, deadline = soon()) {
  const atspi = new Atspi(bus, deadline)
  const owner = { ref: app.ref("root"), pid: process.pid, name: "fake", responsive: true }
  const [frame] = await readFrames(atspi, owner, true)
  const element = frameElement(frame!, undefined, async () => [])
  const window = { id: "w-1", title: "Window" }
  return readTree(atspi, { element, window, surface: "window", frame }, OPTIONS)
}

const named = async (app: FakeApp) => (await treeOf(app)).root.children.map(({ name }) => name)

/** A GTK 3 window with three buttons, and the state that a test sets. */
interface State {
  /** The ids of the buttons in the window: a, b or c. */
  shown: readonly string[]
  suffix: string
  isSilent: boolean
  /** The answer of the cache. */
  items: () => Answer
}

async function start(change: Partial<State> = {}) {
  const state: State = { shown: ["a", "b"], suffix: "", isSilent: false, items: () => UNKNOWN, ...change }
  let name = ""
  const buttons = ["a", "b", "c"].map(
    (id): FakeNode => ({
      role: "PUSH_BUTTON",
      id,
      get silent() {
        return state.isSilent ? ["GetState"] : []
      },
      answers: {
        get "Get Name"() {
          return { signature: "v", values: [{ signature: "s", value: id + state.suffix }] }
        },
      },
    }),
  )
  // The path of the cache is outside the objects' paths; the fake serves it as an object with an empty id.
  const cache: FakeNode = {
    role: "PANEL",
    id: "",
    answers: {
      get GetItems() {
        return state.items()
      },
    },
  }
  const app = await FakeApp.start(daemon.address, {
    role: "FRAME",
    name: "Window",
    id: "window",
    children: [...buttons, cache],
    answers: {
      get GetChildren(): Answer {
        const refs = state.shown.map((id) => [name, `/org/a11y/atspi/accessible/${id}`])
        return { signature: "a(so)", values: [refs] }
      },
    },
  })
  name = app.name
  return { app, state, [Symbol.dispose]: () => app[Symbol.dispose]() }
}

describe("the cache of a GTK 3 app", () => {
  const requests = (app: FakeApp) => app.asked("").filter((member) => member === "GetItems").length

  test("is created when we listen to this app once", async () => {
    using got = await start({ items: () => (listeners.length > 0 ? NO_ITEMS : UNKNOWN) })
    expect(await named(got.app)).toEqual(["a", "b"])
    expect(listeners).toEqual([`RegisterEvent window:create ${got.app.name}`])
    expect(requests(got.app)).toBe(2)
    expect(await named(got.app)).toEqual(["a", "b"])
    expect(listeners).toHaveLength(1)
    expect(requests(got.app)).toBe(3)
  })

  test("is not waited for if the app has none, or if there is no registry", async () => {
    using got = await start()
    expect(await named(got.app)).toEqual(["a", "b"])
    expect(requests(got.app)).toBe(2)
    refuses = true
    expect(await named(got.app)).toEqual(["a", "b"])
    expect(requests(got.app)).toBe(3)
  })
})

describe("the second reading of a window", () => {
  test("asks the same questions once, and shows the new answers", async () => {
    using got = await start()
    expect(await named(got.app)).toEqual(["a", "b"])
    const first = got.app.calls.splice(0).map(({ id, member }) => `${id} ${member}`)
    got.state.suffix = "!"
    expect(await named(got.app)).toEqual(["a!", "b!"])
    expect(got.app.calls.map(({ id, member }) => `${id} ${member}`).sort()).toEqual(first.sort())
  })

  test("does not wait for an answer before it asks the next question", async () => {
    using got = await start()
    await treeOf(got.app)
    got.app.calls.length = 0
    got.state.isSilent = true
    await treeOf(got.app, Deadline.in(500))
    expect(got.app.asked("b")).toContain("GetExtents")
    // Without the states it still reads nothing.
    expect((await treeOf(got.app, Deadline.in(500))).root.children).toEqual([])
  })

  test("leaves out elements that are gone and reads new ones", async () => {
    using got = await start()
    expect(await named(got.app)).toEqual(["a", "b"])
    for (const shown of [["c", "a"], ["a", "b", "c"], ["c"], []]) {
      got.state.shown = shown
      expect(await named(got.app)).toEqual(shown)
    }
    got.state.shown = ["a", "gone"]
    expect(await named(got.app)).toEqual(["a"])
  })
})

describe("known facts of a GTK 3 app", () => {
  test("the class of an object determines its interfaces, and is asked for once", async () => {
    using got = await start()
    await treeOf(got.app)
    await treeOf(got.app)
    got.app.calls.length = 0
    expect(await named(got.app)).toEqual(["a", "b"])
    expect(got.app.asked("a")).toContain("GetExtents")
    expect(got.app.asked("a")).not.toContain("GetInterfaces")
    got.state.shown = ["a", "c"]
    await treeOf(got.app)
    expect(got.app.asked("c")).toContain("GetInterfaces")
  })

  test("only a cell whose class has no children is not asked for children again", async () => {
    let name = ""
    let isOpen = false
    const cell = (id: string, ...interfaces: string[]): FakeNode => ({
      role: "TABLE_CELL",
      name: id,
      id,
      interfaces: ["Component", ...interfaces],
      answers: {
        get GetChildren(): Answer {
          return { signature: "a(so)", values: [isOpen ? [[name, `${PREFIX}part`]] : []] }
        },
      },
    })
    const part: FakeNode = { role: "PUSH_BUTTON", name: "part", id: "part" }
    const cells = [cell("text", "TableCell", "Text"), cell("holder", "TableCell"), cell("own", "Text")]
    using app = await FakeApp.start(daemon.address, {
      role: "FRAME",
      name: "Window",
      id: "window",
      children: [{ role: "TABLE", id: "table", children: [...cells, part] }],
    })
    name = app.name
    await treeOf(app)
    isOpen = true
    await treeOf(app)
    app.calls.length = 0
    const [table] = (await treeOf(app)).root.children
    const inside = table?.children.slice(0, 3).map(({ children }) => children.map((one) => one.name))
    expect(inside).toEqual([[], ["part"], ["part"]])
    expect(app.asked("text")).not.toContain("GetChildren")
  })

  test("a combo box is expanded if the list of the app says so, in every reading", async () => {
    let isOpen = false
    let name = ""
    const item = (id: string, parent: string, index: number, role: number, count: number, states: number) => [
      [name, `${PREFIX}${id}`],
      [name, `${PREFIX}root`],
      [name, `${PREFIX}${parent}`],
      index,
      count,
      ["org.a11y.atspi.Component"],
      id,
      role,
      "",
      [states, 0],
    ]
    using got = await start({
      shown: ["combo"],
      items: () => ({
        signature: "a((so)(so)(so)iiassusau)",
        values: [
          [
            item("combo", "window", 0, ROLE.COMBO_BOX, 1, SHOWN),
            item("menu", "combo", 0, ROLE.MENU, 0, isOpen ? SHOWN : 0),
          ],
        ],
      }),
    })
    name = got.app.name
    for (isOpen of [false, true, false]) {
      const [combo] = (await treeOf(got.app)).root.children
      expect(combo?.states).toContain(isOpen ? "expanded" : "collapsed")
    }
    expect(got.app.asked("menu")).not.toContain("GetRole")
    expect(got.app.asked("menu")).not.toContain("GetState")
  })
})

const PREFIX = "/org/a11y/atspi/accessible/"
const SHOWN = 2 ** STATE.VISIBLE + 2 ** STATE.SHOWING + 2 ** STATE.ENABLED + 2 ** STATE.SENSITIVE
