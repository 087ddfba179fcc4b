import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Action } from "../../../src/action.ts"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { perform } from "../../../src/linux/atspi/perform.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { type Answer, Bus } from "../../../src/linux/dbus/bus.ts"
import { NOTHING } from "../../support/dispositions.ts"
import { type Daemon, startDaemon, startPeer } from "../dbus/daemon.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"

/** Reports of delivery if an app does part of an action, or stops answering in the middle. */

let daemon: Daemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

const YES: Answer = { signature: "b", values: [true] }
const NO: Answer = { signature: "b", values: [false] }
const UNKNOWN: Answer = { error: "org.freedesktop.DBus.Error.UnknownMethod", text: "no" }
const number = (value: number): Answer => ({ signature: "v", values: [{ signature: "i", value }] })

/** A field with "abc" in it, of which "b" is selected. */
const FIELD: FakeNode = {
  role: "ENTRY",
  id: "it",
  states: ["FOCUSED"],
  interfaces: ["Component", "EditableText"],
  text: "abc",
  answers: {
    GetNSelections: { signature: "i", values: [1] },
    GetSelection: { signature: "ii", values: [1, 2] },
    "Get CaretOffset": number(2),
    DeleteText: YES,
    InsertText: YES,
  },
}

/** With `silentFrom`, the app stops answering at the first call of that member. */
async function performOn(node: FakeNode, action: Action, silentFrom?: string) {
  const it: FakeNode = {
    ...node,
    get silent() {
      return silentFrom && app.asked("it").includes(silentFrom) ? ["*"] : []
    },
  }
  // Qt apps have no direct socket.
  using app = await FakeApp.start(daemon.address, it, { toolkit: "Qt" })
  const ms = silentFrom ? 400 : 10_000
  const bus = await Bus.open(daemon.address, Deadline.in(10_000))
  const place = { pid: process.pid, app: "fake", traits: TRAITS.qt, shift: { x: 0, y: 0 } }
  const element = new Element(app.ref("it"), place)
  const sent = () => app.asked("it").filter((member) => CHANGING.has(member))
  try {
    const done = await perform(new Atspi(bus, Deadline.in(ms)), element, action)
    return { ...done, sent: sent() }
  } catch (error) {
    return { error, sent: sent() }
  } finally {
    bus.close()
  }
}

const CHANGING: ReadonlySet<string> = new Set(["DoAction", "DeleteText", "InsertText", "SetTextContents"])
const TYPE = { kind: "type", text: "x" } as const

describe("typing over a selection", () => {
  test("deletes it and inserts the text", async () => {
    expect(await performOn(FIELD, TYPE)).toEqual({
      method: "atspi:EditableText.InsertText",
      delivery: "delivered_unverified",
      sent: ["DeleteText", "InsertText"],
    })
  })

  test.each([
    ["says no to", NO],
    ["does not know", UNKNOWN],
  ])("is half done if the field %s the text", async (_, refusal) => {
    const answers = { ...FIELD.answers, InsertText: refusal }
    expect(await performOn({ ...FIELD, answers }, TYPE)).toMatchObject({
      error: {
        code: "ACTION_FAILED",
        details: { kind: "half_done" },
        platformDetail: "EditableText.DeleteText was done, EditableText.InsertText was refused",
        disposition: { delivery: "delivered_unverified", retry: "unsafe" },
      },
      sent: ["DeleteText", "InsertText"],
    })
  })

  test("does nothing if the selection cannot be deleted", async () => {
    const answers = { ...FIELD.answers, DeleteText: NO }
    expect(await performOn({ ...FIELD, answers }, TYPE)).toEqual({
      method: "none",
      delivery: "not_delivered",
      sent: ["DeleteText"],
    })
  })
})

const BUTTON: FakeNode = { role: "PUSH_BUTTON", id: "it", actions: ["click"], answers: { DoAction: YES } }
const CLICK = { kind: "click" } as const

describe("an application that names its own socket", () => {
  test.each([
    ["which never answers", {}],
    ["which accepts and says no more", { data: (socket: Socket) => void socket.write("OK 00\r\n") }],
    ["which closes at once", { open: (socket: Socket) => void socket.end() }],
  ])("%s, is asked to act by the bus", async (_, handlers) => {
    using peer = startPeer(handlers)
    using app = await FakeApp.start(daemon.address, BUTTON, { toolkit: "gtk", address: peer.address })
    const bus = await Bus.open(daemon.address, Deadline.in(10_000))
    const place = { pid: process.pid, app: "fake", traits: TRAITS.gtk3, shift: { x: 0, y: 0 } }
    const done = await perform(
      new Atspi(bus, Deadline.in(10_000)),
      new Element(app.ref("it"), place),
      CLICK,
    ).finally(() => bus.close())
    expect(done).toMatchObject({ method: "atspi:click", delivery: "delivered_unverified" })
    expect(app.asked("it").filter((member) => member === "DoAction")).toHaveLength(1)
  })
})

type Socket = Bun.Socket<undefined>

describe("an application that stops answering", () => {
  test.each(["GetState", "GetRole", "GetInterfaces", "Get NActions", "GetName"])(
    "at %s has not been asked to act",
    async (member) => {
      const { error, sent } = await performOn(BUTTON, CLICK, member)
      expect(error).toMatchObject({ code: "APP_UNRESPONSIVE", disposition: NOTHING })
      expect(sent).toEqual([])
    },
  )

  test.each([
    ["the action itself", BUTTON, CLICK, ["DoAction"]],
    ["the deletion of the selection", FIELD, TYPE, ["DeleteText"]],
    ["the insertion of the text", FIELD, TYPE, ["DeleteText", "InsertText"]],
  ] as const)("at %s may have acted", async (_, node, action, calls) => {
    const { error, sent } = await performOn(node, action, calls.at(-1))
    expect(error).toMatchObject({ code: "APP_UNRESPONSIVE" })
    expect(error).not.toHaveProperty("disposition", NOTHING)
    expect(sent).toEqual([...calls])
  })
})

test("an option of Swing is chosen in its combo box: its list would only mark it", async () => {
  const holds = { interfaces: ["Component", "Selection"], answers: { SelectChild: YES } }
  const item = (name: string): FakeNode => ({ role: "LABEL", name, states: ["SELECTABLE"] })
  const list: FakeNode = { role: "LIST", id: "list", ...holds, children: [item("Red"), item("Blue")] }
  using app = await FakeApp.start(
    daemon.address,
    { role: "COMBO_BOX", id: "it", ...holds, children: [list] },
    { toolkit: "J2SE-access-bridge" },
  )
  const bus = await Bus.open(daemon.address, Deadline.in(10_000))
  const place = { pid: process.pid, app: "fake", traits: TRAITS.java, shift: { x: 0, y: 0 } }
  const element = new Element(app.ref("it"), place)
  const done = await perform(new Atspi(bus, Deadline.in(10_000)), element, {
    kind: "select",
    value: "Blue",
  }).finally(() => bus.close())
  expect(done).toMatchObject({ method: "atspi:Selection.SelectChild", chosen: "Blue" })
  expect(app.asked("it")).toContain("SelectChild")
  expect(app.asked("list")).not.toContain("SelectChild")
})
