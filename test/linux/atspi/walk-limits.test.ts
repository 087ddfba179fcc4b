import { describe, expect, test } from "bun:test"
import type { SeenNode } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { LiveSource } from "../../../src/linux/atspi/facts.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { walkTree } from "../../../src/linux/atspi/walk.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"

import { bus, daemon, depthOf, leafOf, OPTIONS, outline, read, withBus } from "./walked.ts"

withBus()

/** Limits of a walk: questions that it does not ask, and reasons for its end. */
describe("a walk", () => {
  test("stops counting when that would take long, and reports it", async () => {
    const panel = (): FakeNode => ({
      role: "PANEL",
      hidden: true,
      states: ["VISIBLE"],
      children: [{ role: "PUSH_BUTTON", hidden: true, states: ["VISIBLE"] }],
    })
    const children = [
      { role: "PUSH_BUTTON", name: "In view" } as const,
      ...Array.from({ length: 200 }, panel),
    ]
    using got = await read([{ role: "SCROLL_PANE", children }], { offscreen: "count" })
    const { below = 0, at_least } = got.root.children[0]?.offscreen ?? {}
    expect(at_least).toBe(true)
    expect(below).toBeLessThan(200)
  })

  test("asks a closed menu nothing, and hidden items of an open one only for their states", async () => {
    const item = (id: string): FakeNode => ({
      role: "MENU_ITEM",
      id,
      name: id,
      hidden: id.startsWith("hidden"),
    })
    using got = await read([
      {
        role: "MENU_BAR",
        children: [
          { role: "MENU", name: "File", id: "file", children: [item("hidden1")] },
          { role: "MENU", name: "Edit", states: ["SELECTED"], children: [item("hidden2"), item("Undo")] },
        ],
      },
    ])
    expect(outline(got.root)).toEqual({
      "window Window": [{ menubar: ["menuitem File", { "menuitem Edit": ["menuitem Undo"] }] }],
    })
    expect(got.app.asked("file")).not.toContain("GetChildren")
    expect(got.app.asked("hidden1")).toEqual([])
    expect(got.app.asked("hidden2")).toEqual(["GetState"])
  })

  test("never goes deeper than 50 levels", async () => {
    const endless = (levels: number): FakeNode =>
      levels === 0 ? { role: "LABEL", name: "end" } : { role: "FILLER", children: [endless(levels - 1)] }
    using got = await read([endless(80)], { maxDepth: 1000 })
    expect(depthOf(got.root)).toBe(50)
    expect(leafOf(got.root).children_count).toBe(1)
  })

  test("survives a cycle and a child that is listed twice", async () => {
    using got = await read([
      {
        role: "PANEL",
        name: "A",
        id: "a",
        children: [
          { role: "FRAME", id: "window" },
          { role: "PANEL", id: "a" },
        ],
      },
      { role: "PUSH_BUTTON", name: "B", id: "b" },
      { role: "PUSH_BUTTON", id: "b" },
    ])
    expect(outline(got.root)).toEqual({ "window Window": ["group A", "button B"] })
    expect(got.complete).toBe(true)
  })

  test("leaves out an object that disappeared or sends invalid replies, and reads the rest", async () => {
    const gone = { error: "org.freedesktop.DBus.Error.UnknownObject" }
    using got = await read([
      { role: "PUSH_BUTTON", answers: { GetState: gone } },
      { role: "PUSH_BUTTON", answers: { "Get Name": gone } },
      { role: "PUSH_BUTTON", answers: { GetState: { signature: "s", values: ["not states"] } } },
      { role: "PANEL", name: "P", answers: { GetChildren: { signature: "u", values: [7] } } },
      { role: "PUSH_BUTTON", name: "Kept", answers: { GetExtents: { signature: "s", values: ["wide"] } } },
    ])
    expect(outline(got.root)).toEqual({ "window Window": ["group P", "button Kept"] })
    expect(got.root.children[1]?.bounds).toBeUndefined()
    expect(got.complete).toBe(true)
  })

  test("returns the nodes read by its deadline if one object does not answer", async () => {
    using got = await read(
      [
        { role: "PUSH_BUTTON", name: "Before" },
        { role: "PUSH_BUTTON", name: "Silent", silent: ["*"] },
        { role: "PUSH_BUTTON", name: "No bounds", silent: ["GetExtents"] },
        { role: "PANEL", name: "No children", silent: ["GetChildren"] },
      ],
      { ms: 700 },
    )
    expect(outline(got.root)).toEqual({
      "window Window": ["button Before", "button No bounds", "group No children"],
    })
    expect(got.root.children_count).toBe(4)
    expect(got.complete).toBe(false)
  })

  test("with interactiveOnly, does not ask other nodes for values and descriptions", async () => {
    const children: FakeNode[] = [
      { role: "PROGRESS_BAR", name: "Progress", id: "bar", value: 3, interfaces: ["Component", "Value"] },
      { role: "IMAGE", name: "Picture", id: "image", description: "a cat" },
      { role: "SLIDER", name: "Volume", id: "slider", value: 5, interfaces: ["Component", "Value"] },
    ]
    using all = await read(children)
    using lean = await read(children, { interactiveOnly: true })
    expect(all.app.asked("bar")).toContain("Get CurrentValue")
    expect(all.app.asked("image")).toContain("Get Description")
    expect(lean.app.asked("bar")).not.toContain("Get CurrentValue")
    expect(lean.app.asked("image")).not.toContain("Get Description")
    expect(outline(lean.root)).toEqual(outline(all.root))
    const told = ({ handle: _, address: __, ...rest }: SeenNode) => rest
    expect(told(lean.root.children[2]!)).toEqual(told(all.root.children[2]!))
  })

  test("returns the nodes read so far if the application ends", async () => {
    const app = await FakeApp.start(daemon.address, {
      role: "FRAME",
      id: "window",
      children: [
        { role: "PUSH_BUTTON", name: "Seen" },
        { role: "PANEL", name: "Lost", id: "lost", silent: ["*"] },
      ],
    })
    const atspi = new Atspi(bus, Deadline.in(20_000))
    const place = {
      pid: process.pid,
      app: "fake",
      traits: TRAITS.gtk3,
      shift: { x: 0, y: 0 },
    }
    const walking = walkTree(
      atspi,
      new LiveSource(atspi, { traits: TRAITS.gtk3 }, false),
      new Element(app.ref("window"), place),
      OPTIONS,
    )
    while (app.asked("lost").length === 0) await Bun.sleep(1)
    app.bus.close()
    const { root, complete } = await walking
    expect(complete).toBe(false)
    expect(root.children_count).toBe(2)
  })

  test("asks a table of 2^31 cells only for the visible ones", async () => {
    using got = await read([
      {
        role: "TABLE",
        name: "Sheet",
        id: "sheet",
        states: ["MANAGES_DESCENDANTS"],
        childCount: 0x7fffffff,
        extents: [0, 0, 200, 100],
        interfaces: ["Component", "Table"],
        answers: {
          GetChildren: { error: "test.Error.NeverAsk", text: "this hangs Calc" },
          GetAccessibleAtPoint: { signature: "(so)", values: [["", "/org/a11y/atspi/null"]] },
        },
        children: [{ role: "TABLE_CELL", name: "A1" }],
      },
    ])
    expect(got.app.asked("sheet")).not.toContain("GetChildren")
    expect(got.root.children[0]).toMatchObject({ role: "table", children_count: 0x7fffffff, children: [] })
    // Some cells are in view, but no hit test named them.
    expect(got.complete).toBe(false)
  })

  test("does not ask a sheet for cells if the caller does not want them", async () => {
    const sheet = {
      role: "TABLE",
      id: "sheet",
      states: ["MANAGES_DESCENDANTS"],
      childCount: 0x7fffffff,
      extents: [0, 0, 200, 100],
      interfaces: ["Component", "Table"],
      children: [{ role: "TABLE_CELL", name: "A1" }],
    } satisfies FakeNode
    using got = await read([sheet], { skipsSheets: true })
    expect(got.complete).toBe(true)
    expect(got.root.children[0]).toMatchObject({ role: "table", children_count: 0x7fffffff, children: [] })
    expect(got.app.asked("sheet")).not.toContain("GetAccessibleAtPoint")
  })

  test("never asks a password field for its text", async () => {
    using got = await read([
      { role: "PASSWORD_TEXT", name: "Password", id: "secret", text: "hunter2", states: ["EDITABLE"] },
    ])
    expect(got.root.children[0]).toMatchObject({
      role: "textfield",
      value: undefined,
      states: ["enabled", "secure"],
    })
    expect(JSON.stringify(got.root)).not.toContain("hunter2")
    expect(got.app.asked("secret")).not.toContain("GetText")
    expect(got.app.asked("secret")).not.toContain("Get CharacterCount")
  })

  test("calls no interface that an object does not have", async () => {
    const roles = [
      "PUSH_BUTTON",
      "ENTRY",
      "SLIDER",
      "TABLE",
      "LABEL",
      "PANEL",
      "MENU_ITEM",
      "COMBO_BOX",
      "LIST_ITEM",
    ] as const
    using got = await read(
      roles.map((role): FakeNode => ({ role, id: role, interfaces: [], states: ["SELECTABLE"] })),
      { bounds: "all" },
    )
    const foreign = got.app.calls.filter(
      (call) =>
        call.id !== "window" &&
        !["org.a11y.atspi.Accessible", "org.freedesktop.DBus.Properties"].includes(call.interface),
    )
    expect(foreign).toEqual([])
  })
})
