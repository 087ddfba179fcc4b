import { describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { LiveSource } from "../../../src/linux/atspi/facts.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { walkElement } from "../../../src/linux/atspi/walk.ts"
import type { FakeNode } from "./fake-app.ts"

import { bus, leafOf, outline, read, withBus } from "./walked.ts"

withBus()

describe("a walk", () => {
  test("reports roles, names, states, values, bounds and actions in the contract's words", async () => {
    using got = await read([
      {
        role: "PUSH_BUTTON",
        name: "Save",
        description: "Saves it",
        extents: [1, 2, 30, 40],
        actions: ["click"],
      },
      { role: "ENTRY", text: "hello", states: ["EDITABLE", "FOCUSABLE", "FOCUSED"], labelledBy: "label" },
      { role: "LABEL", name: "Name:", id: "label" },
      { role: "CHECK_BOX", name: "Agree", states: ["CHECKED"] },
      { role: "SLIDER", name: "Volume", value: 0.5, disabled: true },
    ])
    expect(got.complete).toBe(true)
    expect(got.root.children.map(({ handle: _, address: __, children: ___, ...seen }) => seen)).toEqual([
      {
        role: "button",
        name: "Save",
        value: undefined,
        description: "Saves it",
        hint: undefined,
        states: ["enabled"],
        bounds: { x: 101, y: 52, width: 30, height: 40 },
        actions: ["Click"],
        index: 0,
      },
      {
        role: "textfield",
        name: "Name:",
        value: "hello",
        description: undefined,
        hint: undefined,
        states: ["enabled", "focused"],
        bounds: { x: 100, y: 50, width: 10, height: 10 },
        actions: ["Click", "SetValue", "TypeText", "Clear", "SetFocus"],
        index: 1,
      },
      {
        role: "statictext",
        name: "Name:",
        value: undefined,
        description: undefined,
        hint: undefined,
        states: [],
        bounds: undefined,
        actions: [],
        index: 2,
      },
      {
        role: "checkbox",
        name: "Agree",
        value: undefined,
        description: undefined,
        hint: undefined,
        states: ["enabled", "checked"],
        bounds: { x: 100, y: 50, width: 10, height: 10 },
        actions: ["Click", "Toggle", "Check", "Uncheck"],
        index: 3,
      },
      {
        role: "slider",
        name: "Volume",
        value: "0.5",
        description: undefined,
        hint: undefined,
        states: ["disabled"],
        bounds: { x: 100, y: 50, width: 10, height: 10 },
        actions: ["Click", "SetValue"],
        index: 4,
      },
    ])
    expect(got.root.children[0]?.address).toBe(`${got.app.name}/org/a11y/atspi/accessible/1`)
  })

  test("leaves out hidden nodes, and includes them at their place on request", async () => {
    const children: FakeNode[] = [
      { role: "PUSH_BUTTON", name: "Hidden", hidden: true },
      { role: "PANEL", name: "Page", hidden: true, children: [{ role: "PUSH_BUTTON", name: "Deep" }] },
      { role: "PUSH_BUTTON", name: "Shown" },
    ]
    using shown = await read(children)
    expect(outline(shown.root)).toEqual({ "window Window": ["button Shown"] })
    expect(shown.root.children[0]?.index).toBe(2)
    using all = await read(children, { includeHidden: true })
    expect(outline(all.root)).toEqual({
      "window Window": ["button Hidden", { "group Page": ["button Deep"] }, "button Shown"],
    })
    expect(all.root.children[0]?.states).toEqual(["enabled", "hidden"])
  })

  test("reads a field of LibreOffice that only claims to be defunct, and asks nothing of other defunct objects", async () => {
    const panel = (name: string, id: string): FakeNode => ({
      role: "PANEL",
      name,
      id,
      hidden: true,
      disabled: true,
      states: ["DEFUNCT"],
      children: [{ role: "PARAGRAPH", text: "=1+2", states: ["EDITABLE", "FOCUSABLE", "FOCUSED"] }],
    })
    const children: FakeNode[] = [
      { role: "FILLER", children: [panel("Input line", "line")] },
      { role: "DOCUMENT_SPREADSHEET", children: [panel("Gone", "gone")] },
    ]
    using got = await read(children, { app: "soffice" })
    const [area, sheet] = got.root.children
    expect(area?.children).toMatchObject([
      {
        role: "textfield",
        name: "Input line",
        value: "=1+2",
        states: ["enabled", "readonly"],
        actions: ["Click"],
      },
    ])
    expect(sheet?.children).toEqual([])
    const asked = got.app.calls.filter(({ id }) => id === "gone").map(({ member }) => member)
    expect(asked.toSorted()).toEqual(["GetRole", "GetState"])
    using other = await read(children)
    expect(other.root.children.flatMap((child) => child.children)).toEqual([])
  })

  test("the text of a cell that is edited is a copy: it has no focus and takes no text", async () => {
    const text: FakeNode = { role: "PARAGRAPH", text: "Ada", states: ["EDITABLE", "FOCUSABLE", "FOCUSED"] }
    const panel = (...states: NonNullable<FakeNode["states"]>): FakeNode => ({
      role: "PANEL",
      states,
      children: [text],
    })
    const cell = panel("EDITABLE", "MULTISELECTABLE")
    const shape = panel("EDITABLE", "MULTISELECTABLE", "SELECTABLE")
    using got = await read([cell, shape], { app: "soffice" })
    const [copy, original] = got.root.children.map(leafOf)
    expect(copy).toMatchObject({ role: "paragraph", name: "Ada", states: [], actions: ["SetFocus"] })
    expect(original).toMatchObject({ role: "textfield", value: "Ada", states: ["enabled", "focused"] })
  })

  const LONG: readonly FakeNode[] = [
    {
      role: "SCROLL_PANE",
      children: [
        { role: "PUSH_BUTTON", name: "In view" },
        { role: "PUSH_BUTTON", name: "Below", id: "below", hidden: true, states: ["VISIBLE"] },
        {
          role: "PANEL",
          id: "panel",
          hidden: true,
          states: ["VISIBLE"],
          children: [
            { role: "PUSH_BUTTON", name: "Deep", hidden: true, states: ["VISIBLE"] },
            { role: "PUSH_BUTTON", name: "Hidden in it", hidden: true },
          ],
        },
        { role: "SCROLL_BAR", hidden: true, states: ["VISIBLE"] },
      ],
    },
    {
      role: "PAGE_TAB",
      name: "Other page",
      children: [{ role: "PUSH_BUTTON", name: "On it", id: "page", hidden: true, states: ["VISIBLE"] }],
    },
  ]

  test.each(["gtk", "GAIL"])(
    "counts or reads elements of %s that are scrolled out of view, and does not count hidden ones",
    async (toolkit) => {
      using counted = await read(LONG, { offscreen: "count", toolkit })
      expect(counted.root.children[0]).toMatchObject({ offscreen: { below: 2 } })
      expect(outline(counted.root)).toEqual({
        "window Window": [{ scrollarea: ["button In view"] }, "tab Other page"],
      })
      // Its position is enough to tell the side, so it is not asked for its name.
      expect(counted.app.asked("below").sort()).toEqual(["GetExtents", "GetRole", "GetState"])
      using all = await read(LONG, { offscreen: "read", toolkit })
      expect(outline(all.root)).toEqual({
        "window Window": [
          { scrollarea: ["button In view", "button Below", { group: ["button Deep"] }] },
          "tab Other page",
        ],
      })
      expect(all.root.children[0]?.children[1]?.states).toEqual(["enabled", "offscreen"])
      using hidden = await read(LONG, { includeHidden: true, toolkit })
      expect(hidden.root.children[1]?.children[0]?.states).toEqual(["enabled", "hidden"])
    },
  )

  test("finds out by their positions which elements of Swing are scrolled out of view", async () => {
    const rows = [10, 900].map(
      (y): FakeNode => ({ role: "PUSH_BUTTON", name: `At ${y}`, extents: [0, y, 50, 20] }),
    )
    const bar: FakeNode = { role: "SCROLL_BAR", extents: [90, 0, 10, 100] }
    const pane: FakeNode = { role: "SCROLL_PANE", extents: [0, 0, 100, 100], children: [...rows, bar] }
    using got = await read([pane], { toolkit: "J2SE-access-bridge" })
    expect(got.root.children[0]?.children.slice(0, 2).map(({ states }) => states)).toEqual([
      ["enabled"],
      ["enabled", "offscreen"],
    ])
  })

  test("reads the texts of labels and pages without a name, and the length of a text that it cuts", async () => {
    const page: FakeNode = { role: "PAGE", text: "First line\nSecond line" }
    const long: FakeNode = { role: "ENTRY", text: "x".repeat(5000), states: ["EDITABLE"] }
    using got = await read([{ role: "LABEL", text: "Sheet 1 of 2" }, page, long])
    expect(got.root.children.map(({ role, name, value }) => [role, name, value?.slice(0, 30)])).toEqual([
      ["statictext", "Sheet 1 of 2", undefined],
      ["group", undefined, "First line\nSecond line"],
      ["textfield", undefined, "x".repeat(30)],
    ])
    expect(got.root.children.map(({ valueLength }) => valueLength)).toEqual([undefined, undefined, 5000])
  })

  test("reads visible children of a parent that does not report that it shows", async () => {
    const form: FakeNode = {
      role: "LANDMARK",
      name: "Form",
      hidden: true,
      states: ["VISIBLE"],
      children: [{ role: "PUSH_BUTTON", name: "Send" }],
    }
    const page: FakeNode = { role: "DOCUMENT_WEB", children: [form, { role: "PUSH_BUTTON", name: "After" }] }
    using got = await read([page], { toolkit: "Gecko", offscreen: "count" })
    expect(outline(got.root)).toEqual({
      "window Window": [{ webarea: [{ "region Form": ["button Send"] }, "button After"] }],
    })
    expect(got.root.children[0]?.children[0]?.states).toEqual([])
  })

  test("counts named nodes as depth but not wrappers without a name, and reports how many it left out", async () => {
    const deep = (node: FakeNode, levels: number): FakeNode =>
      levels === 0 ? node : deep({ role: "PANEL", children: [node] }, levels - 1)
    const group: FakeNode = {
      role: "PANEL",
      name: "Group",
      children: [
        {
          role: "TOOL_BAR",
          name: "Tools",
          children: [
            { role: "LABEL", name: "x" },
            { role: "LABEL", name: "y" },
          ],
        },
      ],
    }
    using got = await read([deep(group, 20)], { maxDepth: 2 })
    const tools = leafOf(got.root)
    expect(tools).toMatchObject({ role: "toolbar", name: "Tools", children_count: 2 })
    expect(got.complete).toBe(true)
  })

  test("cuts long texts and removes control characters from names", async () => {
    using got = await read([
      { role: "PUSH_BUTTON", name: "x".repeat(1_000_000) },
      { role: "PUSH_BUTTON", name: "  two\nlines\u0007 " },
      { role: "ENTRY", name: "Long", text: "é".repeat(5000), states: ["EDITABLE"] },
      { role: "PUSH_BUTTON", name: " \n " },
    ])
    const [long, lines, entry, blank] = got.root.children
    expect(long?.name).toBe(`${"x".repeat(2000)}…`)
    expect(lines?.name).toBe("two lines")
    expect(entry?.value).toBe(`${"é".repeat(2000)}…`)
    expect(blank?.name).toBeUndefined()
  })

  test("uses the id in a page as the identifier of a field without a name", async () => {
    const attributes = (id: string) => ({ signature: "a{ss}", values: [new Map([["id", id]])] })
    using got = await read(
      [
        { role: "ENTRY", answers: { GetAttributes: attributes("email") } },
        { role: "ENTRY", answers: { GetAttributes: attributes("") } },
      ],
      { toolkit: "Chromium" },
    )
    expect(got.root.children.map(({ identifier }) => identifier)).toEqual(["email", undefined])
  })

  test("names a button by its label, its tool item or its description", async () => {
    using got = await read([
      { role: "PUSH_BUTTON", children: [{ role: "PANEL", children: [{ role: "LABEL", name: "Inner" }] }] },
      { role: "PUSH_BUTTON", description: "Described" },
      { role: "PANEL", description: "Tip", children: [{ role: "PUSH_BUTTON" }] },
    ])
    expect(got.root.children[0]?.name).toBe("Inner")
    expect(got.root.children[1]).toMatchObject({ name: "Described", description: undefined })
    expect(got.root.children[2]?.children[0]?.name).toBe("Tip")
  })

  test("gives actions and bounds to a calendar without objects for its days", async () => {
    using got = await read([
      { role: "CALENDAR", states: ["FOCUSABLE"], interfaces: ["Component"], extents: [5, 5, 200, 150] },
      { role: "CALENDAR", children: [{ role: "LABEL", name: "1" }] },
    ])
    expect(got.root.children[0]).toMatchObject({ role: "canvas", bounds: { width: 200 } })
    expect(got.root.children[0]?.actions).toContain("Click")
    expect(got.root.children[1]).toMatchObject({ role: "grid", actions: [] })
  })

  test("marks the button of a LibreOffice list, so that the label beside it may name it", async () => {
    const parts: readonly FakeNode[] = [
      { role: "TEXT", hidden: true },
      { role: "COMBO_BOX", hidden: true },
      { role: "TOGGLE_BUTTON" },
    ]
    const children: readonly FakeNode[] = [{ role: "FILLER", children: parts }, { role: "TOGGLE_BUTTON" }]
    for (const [app, marks] of [
      ["soffice", [true, undefined]],
      ["other", [undefined, undefined]],
    ] as const) {
      using got = await read(children, { app })
      const [box, button] = got.root.children
      expect([box?.children[0]?.isDropDown, button?.isDropDown]).toEqual([...marks])
    }
  })

  test("gives a ref to a list of GTK 4 without objects for its rows, and keeps its column titles", async () => {
    const titles: readonly FakeNode[] = [{ role: "PUSH_BUTTON", name: "Size", extents: [0, 0, 40, 20] }]
    const view = (name: string): FakeNode => ({
      role: "FILLER",
      name,
      states: ["FOCUSABLE"],
      extents: [0, 0, 200, 90],
      children: titles,
    })
    using got = await read([view("GtkTreeView"), view("GtkPaned")], { toolkit: "GTK" })
    expect(
      got.root.children.map(({ role, name, actions, children }) => [
        role,
        name,
        actions?.[0],
        children.length,
      ]),
    ).toEqual([
      ["canvas", undefined, "Click", 1],
      ["group", undefined, "SetFocus", 1],
    ])
  })

  test("reads the labels in a list of Swing as its options", async () => {
    const labels: readonly FakeNode[] = [
      { role: "LABEL", name: "Red", states: ["SELECTABLE"] },
      { role: "LABEL", name: "Title" },
    ]
    using got = await read([{ role: "LIST", children: labels }], { toolkit: "J2SE-access-bridge" })
    expect(got.root.children[0]?.children.map(({ role }) => role)).toEqual(["option", "statictext"])
  })

  test("has the shortcut of a GTK 4 menu item as its hint, not in its name", async () => {
    const label = (name: string): FakeNode => ({ role: "LABEL", name, extents: [0, 0, 9, 9] })
    using got = await read(
      [
        { role: "MENU_ITEM", children: [label("Save As…"), label("Umschalt+Strg+S")] },
        { role: "MENU_ITEM", name: "Quit", children: [label("Quit"), label("Strg+Q")] },
        { role: "MENU_ITEM", children: [label("About")] },
      ],
      { toolkit: "GTK" },
    )
    expect(got.root.children.map(({ name, hint }) => [name, hint])).toEqual([
      ["Save As…", "Umschalt+Strg+S"],
      ["Quit", "Strg+Q"],
      ["About", undefined],
    ])
  })

  test("reads one element in the same words as a tree, and nothing below its labels", async () => {
    using got = await read([
      {
        role: "PUSH_BUTTON",
        id: "button",
        children: [{ role: "PANEL", children: [{ role: "LABEL", name: "Inner" }] }],
      },
      { role: "ENTRY", text: "hello", states: ["EDITABLE"], labelledBy: "label" },
      { role: "LABEL", name: "Name:", id: "label" },
      { role: "PANEL", name: "Group", id: "group", children: [{ role: "LABEL", name: "Deep", id: "deep" }] },
    ])
    const atspi = new Atspi(bus, Deadline.in(10_000))
    const live = new LiveSource(atspi, { traits: TRAITS.gtk3 }, false)
    got.app.calls.length = 0
    for (const { children: _, ...seen } of got.root.children) {
      const alone = await walkElement(atspi, live, Element.of(seen.handle))
      // A single element always has bounds: the pointer scrolls lists and tables.
      const bounds = seen.bounds ?? alone.seen.bounds
      expect(alone).toEqual({ seen: { ...seen, bounds }, complete: true })
    }
    expect(got.root.children[0]?.name).toBe("Inner")
    expect(got.app.asked("group")).not.toContain("GetChildren")
    expect(got.app.asked("deep")).toEqual([])
  })

  test.each([
    { toolkit: "gtk", count: undefined },
    { toolkit: "GTK", count: 2 },
  ])("a hidden row of a list is out of view in GTK 4 only: %j", async ({ toolkit, count }) => {
    const hidden: FakeNode = { role: "LIST_ITEM", name: "Hidden", hidden: true }
    const list: FakeNode = { role: "LIST", children: [{ role: "LIST_ITEM", name: "Shown" }, hidden] }
    using got = await read([list], { toolkit })
    expect(got.root.children[0]?.children_count).toBe(count)
  })

  test("gives a button at the maximum depth the same name as elsewhere", async () => {
    const button: FakeNode = { role: "PUSH_BUTTON", children: [{ role: "LABEL", name: "Inner" }] }
    using got = await read([button], { maxDepth: 1 })
    expect(got.root.children[0]).toMatchObject({ name: "Inner", children: [], children_count: 1 })
  })

  test("gives actions to an image that can be clicked, not to one that can only be focused", async () => {
    using got = await read([
      { role: "IMAGE", name: "Live", actions: ["activate"] },
      { role: "IMAGE", name: "Dead", actions: ["SetFocus"] },
    ])
    expect(got.root.children.map(({ actions }) => actions)).toEqual([["Click"], []])
    expect(got.root.children[0]?.bounds).toBeDefined()
  })
})
