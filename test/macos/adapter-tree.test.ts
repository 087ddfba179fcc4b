import { expect, test } from "bun:test"
import type { SeenNode, SeenTree } from "../../src/adapter.ts"
import { Deadline } from "../../src/deadline.ts"
import { AppError } from "../../src/errors.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { walk } from "../../src/tree.ts"
import { timed } from "../support/pace.ts"
import { appWith, onDesk } from "./adapter-desk.ts"
import { ALL, outline } from "./adapter-outline.ts"
import { startScene } from "./fake.ts"

const nodes = (root: SeenNode): SeenNode[] => [...walk(root)].map((place) => place.node)

const text = (value: string, more: object = {}) => ({ AXRole: "AXStaticText", AXValue: value, ...more })
const button = (title: string, more: object = {}) => ({ AXRole: "AXButton", AXTitle: title, ...more })
const group = (...children: object[]) => ({ AXRole: "AXGroup", children })

test("a tree has the names, values and states that the app reports", () =>
  onDesk(
    appWith(
      [
        button("Save", { AXHelp: "Writes the file", frame: [110, 120, 80, 24], AXIdentifier: "save" }),
        text("Name:", { id: "label" }),
        { id: "name", AXRole: "AXTextField", AXValue: "Ann", AXTitleUIElement: { $element: "label" } },
        {
          AXRole: "AXTextField",
          AXValue: "fixed",
          AXDescription: "Locked",
          fixed: ["AXValue", "AXSelectedText"],
        },
        { AXRole: "AXTextArea", AXValue: "", AXPlaceholderValue: "Notes" },
        { AXRole: "AXCheckBox", AXTitle: "Bold", AXValue: 1 },
        { AXRole: "AXCheckBox", AXSubrole: "AXSwitch", AXTitle: "Wi-Fi", AXValue: 0, AXEnabled: false },
        { AXRole: "AXSlider", AXTitle: "Volume", AXValue: { $float: 0.5 } },
        { AXRole: "AXPopUpButton", AXDescription: "Colour", AXValue: "Red" },
        button("", { children: [{ AXRole: "AXImage" }, text("Send"), text("now")] }),
        { AXRole: "AXTextField", AXTitle: "", AXValue: { $attributed: "rich" } },
        { AXRole: "AXSomethingNew", AXTitle: "New" },
      ],
      { focused: "name" },
    ),
    async ({ tree }) => {
      const { root, complete, ...seen } = await tree()
      expect(complete).toBe(true)
      expect(seen).toEqual({ window: { id: "w-9001", title: "Main" }, app: "Demo", pid: 501, rootPath: [] })
      expect(outline(root)).toEqual([
        'window "Main"',
        '  button "Save" enabled',
        '  statictext = "Name:"',
        '  textfield "Name:" = "Ann" enabled focused',
        '  textfield "Locked" = "fixed" enabled readonly',
        '  textfield "Notes" = "" multiline',
        '  checkbox "Bold" enabled checked',
        '  switch "Wi-Fi" disabled unchecked',
        '  slider "Volume" = "0.5" enabled',
        '  combobox "Colour" = "Red" enabled',
        '  button "Send now" enabled',
        "    image",
        '    statictext = "Send"',
        '    statictext = "now"',
        '  textfield = "rich" enabled',
        '  unknown "New"',
      ])
      const save = root.children[0]
      expect(save).toMatchObject({
        hint: "Writes the file",
        identifier: "save",
        bounds: { x: 110, y: 120, width: 80, height: 24 },
        actions: ["Click"],
        index: 0,
      })
    },
  ))

test("the value of a password field is never requested: in a tree, by a read, or before a write", () =>
  onDesk(
    appWith([
      {
        id: "password",
        AXRole: "AXTextField",
        AXSubrole: "AXSecureTextField",
        AXTitle: "Password",
        AXValue: "hunter2",
      },
    ]),
    async ({ mac, adapter, node }) => {
      const field = await node("textfield", "Password")
      expect(field.states).toContain("secure")
      expect(field.value).toBeUndefined()
      expect((await adapter.read(field.handle))?.value).toBeUndefined()
      await adapter.perform(field.handle, { kind: "set-value", value: "new" })
      expect(mac.look("password").AXValue).toBe("new")
      expect(mac.report().attributes.AXValue).toBeUndefined()
    },
  ))

test("the value of a field whose subrole cannot be read is not requested", () =>
  onDesk(
    appWith([{ AXRole: "AXTextField", AXTitle: "Code", AXValue: "1234", errors: { AXSubrole: -25299 } }]),
    async ({ mac, node }) => {
      expect((await node("textfield", "Code")).value).toBeUndefined()
      expect(mac.report().attributes.AXValue).toBeUndefined()
    },
  ))

test("a field that answers 'failure' for its subrole is asked again: it may be a secure one", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXTextField",
        AXSubrole: "AXSecureTextField",
        AXTitle: "Password",
        AXValue: "hunter2",
        errors: { AXSubrole: { batch: -25200 } },
      },
      { AXRole: "AXTextField", AXTitle: "Code", AXValue: "1234", errors: { AXSubrole: -25200 } },
    ]),
    async ({ node }) => {
      const password = await node("textfield", "Password")
      expect([password.value, password.states.includes("secure")]).toEqual([undefined, true])
      const code = await node("textfield", "Code")
      expect([code.value, code.states.includes("secure")]).toEqual(["1234", false])
    },
  ))

test("a field that becomes secure while the tree is read is secure or has a value, never both", async () => {
  const field = { id: "field", AXRole: "AXTextField", AXTitle: "Field", AXValue: "hunter2" }
  const change = { do: "set", node: "field", attribute: "AXSubrole", value: "AXSecureTextField" }
  const shown = new Set<string>()
  for (let after_calls = 1; after_calls <= 24; after_calls++) {
    // Not onDesk: if the field changes between two reads, its value is read, which is a violation, and dropped.
    const mac = startScene(appWith([group(button("Before"), field)]))
    const platform = connectMacos({ env: {}, root: mac.directory })
    const adapter = platform.adapter(Deadline.in(20_000))
    const [window] = await adapter.windows()
    if (!window) throw new Error("the scene shows no window")
    mac.apply({ ...change, after_calls })
    const { root } = await adapter.tree({ kind: "surface", window, surface: "window" }, ALL)
    for (const line of outline(root)) if (line.includes("Field")) shown.add(line.trim())
    await platform.close()
    mac.close()
  }
  expect([...shown].toSorted()).toEqual([
    'textfield "Field" = "hunter2" enabled',
    'textfield "Field" enabled secure',
  ])
})

test("a node that only gives context costs one round trip", () =>
  onDesk(appWith(Array.from({ length: 100 }, () => group())), async ({ mac, adapter, window }) => {
    const target = { kind: "surface" as const, window: await window(), surface: "window" as const }
    const options = {
      maxDepth: 10,
      bounds: "interactive" as const,
      includeHidden: false,
      interactiveOnly: false,
    }
    await adapter.tree(target, options)
    const start = mac.report().round_trips
    const { root } = await adapter.tree(target, options)
    expect(root.children).toHaveLength(100)
    // The rest finds the window, and asks the first nodes for actions and for children in other attributes.
    expect(mac.report().round_trips - start).toBeLessThanOrEqual(100 + 8 + 40)
  }))

test("-i does not read the texts that it leaves out, and names stay the same", () =>
  onDesk(
    appWith([
      ...Array.from({ length: 20 }, (_, i) => text(`paragraph ${i}`)),
      button("", { children: [group(text("Send"))] }),
      text("Label", { id: "label" }),
      { AXRole: "AXTextField", AXTitleUIElement: { $element: "label" } },
    ]),
    async ({ mac, tree }) => {
      const whole = await tree()
      const before = mac.report().attributes.AXValue ?? 0
      const { root } = await tree({ interactiveOnly: true })
      const asked = (mac.report().attributes.AXValue ?? 0) - before
      expect(asked).toBeLessThan(10)
      const named = (node: SeenNode) =>
        nodes(node).flatMap(({ role, name }) => (role === "button" || role === "textfield" ? [name] : []))
      expect(named(root)).toEqual(["Send", "Label"])
      expect(named(whole.root)).toEqual(["Send", "Label"])
    },
  ))

test("--max-depth cuts the tree with a count, and nameless wrappers do not add depth", () =>
  onDesk(
    appWith([
      group(group(group(button("Deep")))),
      { AXRole: "AXGroup", AXTitle: "Named", children: [group(button("Below"))] },
    ]),
    async ({ tree }) => {
      const { root, complete } = await tree({ maxDepth: 1 })
      expect(complete).toBe(true)
      expect(nodes(root).map(({ role, name, children_count }) => [role, name, children_count])).toEqual([
        ["window", "Main", undefined],
        ["group", undefined, undefined],
        ["group", undefined, undefined],
        ["group", undefined, undefined],
        ["button", "Deep", undefined],
        ["group", "Named", 1],
      ])
    },
  ))

test("a control at the depth limit has the same name as in a whole tree", () =>
  onDesk(
    appWith([{ AXRole: "AXGroup", AXTitle: "Bar", children: [button("", { children: [text("Send")] })] }]),
    async ({ tree }) => {
      const { root } = await tree({ maxDepth: 2 })
      expect(outline(root)).toEqual(['window "Main"', '  group "Bar"', '    button "Send" enabled'])
    },
  ))

test("hidden nodes and menus of closed items are left out by default", () =>
  onDesk(
    appWith([button("Shown"), button("Hidden", { AXHidden: true })], {
      menubar: {
        AXRole: "AXMenuBar",
        children: [
          {
            AXRole: "AXMenuBarItem",
            AXTitle: "File",
            AXSelected: false,
            children: [{ AXRole: "AXMenu", children: [{ AXRole: "AXMenuItem", AXTitle: "New" }] }],
          },
        ],
      },
    }),
    async ({ tree }) => {
      expect(outline((await tree()).root)).toEqual(['window "Main"', '  button "Shown" enabled'])
      expect(outline((await tree({ includeHidden: true })).root)).toContain(
        '  button "Hidden" enabled hidden',
      )
      expect(nodes((await tree({}, "menubar")).root).map(({ name }) => name)).toEqual(["Demo", "File"])
      expect(nodes((await tree({ includeHidden: true }, "menubar")).root).map(({ name }) => name)).toContain(
        "New",
      )
    },
  ))

test("a separator in a menu is not an item", () =>
  onDesk(
    appWith([], {
      menubar: {
        AXRole: "AXMenuBar",
        children: [
          { AXRole: "AXMenuItem", AXTitle: "Undo", AXEnabled: false },
          { AXRole: "AXMenuItem", AXTitle: "", AXEnabled: false },
        ],
      },
    }),
    async ({ tree }) => {
      expect(outline((await tree({}, "menubar")).root)).toEqual([
        'menubar "Demo"',
        '  menuitem "Undo" disabled',
        "  separator",
      ])
    },
  ))

test("of a long table only the visible rows are read, each with its index among all rows", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXScrollArea",
        frame: [100, 100, 300, 200],
        content: [300, 200_000],
        children: [
          {
            AXRole: "AXTable",
            frame: [100, 100, 300, 200_000],
            children: [
              {
                repeat: 10_000,
                step: [0, 20],
                node: {
                  AXRole: "AXRow",
                  frame: [100, 100, 300, 20],
                  children: [{ AXRole: "AXCell", frame: [100, 100, 300, 20], children: [text("Row {n}")] }],
                },
              },
            ],
          },
        ],
      },
    ]),
    async ({ mac, adapter, tree }) => {
      const { root, complete } = await tree()
      const table = nodes(root).find(({ role }) => role === "table")
      expect(complete).toBe(true)
      expect(table?.children_count).toBe(10_000)
      expect(table?.children.length).toBeGreaterThan(5)
      expect(table?.children.length).toBeLessThan(30)
      expect(mac.report().round_trips).toBeLessThan(400)
      const third = table?.children[2]
      expect(third?.index).toBe(2)
      const opened = await adapter.open(entry([0, 0, 2, 0]), "path")
      expect(opened?.name).toBe("Row 3")
    },
  ))

const entry = (path: readonly number[], window_id = "w-9001"): RefEntry => ({
  pid: 501,
  role: "button",
  states: [],
  available_actions: [],
  window_id,
  path,
})

test("a path is followed with one call per level, and leads to the element or to nothing", () =>
  onDesk(
    appWith([group(), group(button("First"), group(button("Second", { children: [text("two")] })))]),
    async ({ mac, adapter }) => {
      const found = await adapter.open(entry([1, 1, 0]), "path")
      expect(found).toMatchObject({ role: "button", name: "Second", index: 0 })
      expect(await adapter.open(entry([1, 1, 7]), "path")).toBeUndefined()
      expect(await adapter.open(entry([1, 1], "w-1"), "path")).toBeUndefined()
      expect(await adapter.open({ ...entry([1, 1]), address: "x" }, "address")).toBeUndefined()
      expect(mac.report().calls.AXUIElementCopyAttributeValues).toBe(6)
    },
  ))

test("an element that is its own ancestor, and one that is listed twice, are read once", () =>
  onDesk(
    appWith([
      {
        id: "loop",
        AXRole: "AXGroup",
        AXTitle: "Loop",
        children: [button("Inside")],
        AXChildren: { $elements: ["inside", "loop", "main", "inside"] },
      },
      button("Twin", { id: "inside" }),
    ]),
    async ({ tree }) => {
      const { root, complete } = await tree()
      expect(complete).toBe(true)
      expect(outline(root)).toEqual([
        'window "Main"',
        '  group "Loop"',
        '    button "Twin" enabled',
        '  button "Twin" enabled',
      ])
    },
  ))

test("children that an app returns only in ranges are read in ranges", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXList",
        AXTitle: "Books",
        errors: { AXChildren: { single: -25205, batch: -25205 } },
        children: [button("Open")],
      },
    ]),
    async ({ tree }) => {
      expect(outline((await tree()).root)).toEqual([
        'window "Main"',
        '  list "Books"',
        '    button "Open" enabled',
      ])
    },
  ))

test("an element that dies during the walk is left out, and the tree is complete", () =>
  onDesk(appWith([button("One"), button("Two", { dies_after: 0 }), button("Three")]), async ({ tree }) => {
    const { root, complete } = await tree()
    expect(complete).toBe(true)
    expect(root.children.map(({ name }) => name)).toEqual(["One", "Three"])
  }))

test("a node that cannot be read makes the tree incomplete, and the walk continues", () =>
  onDesk(appWith([button("One"), button("Two", { error: -25299 }), button("Three")]), async ({ tree }) => {
    const { root, complete } = await tree()
    expect(complete).toBe(false)
    expect(root.children.map(({ name }) => name)).toEqual(["One", "Three"])
  }))

test("an element that answers 'failure' to everything is a node without facts, and the tree is complete", () =>
  onDesk(appWith([button("One"), button("Two", { error: -25200 }), button("Three")]), async ({ tree }) => {
    const { root, complete } = await tree()
    expect(complete).toBe(true)
    expect(root.children.map(({ role, name }) => [role, name])).toEqual([
      ["button", "One"],
      ["unknown", undefined],
      ["button", "Three"],
    ])
  }))

test("an element that answers 'failure' to a list of questions is asked one by one", () =>
  onDesk(appWith([button("One", { id: "one" })]), async ({ mac, adapter, node }) => {
    const { handle } = await node("button", "One")
    mac.fail("AXUIElementCopyMultipleAttributeValues/1:-25200")
    expect(await adapter.read(handle)).toMatchObject({ role: "button", name: "One" })
  }))

test("bounds come from position and size if the app has no frame", () =>
  onDesk(
    appWith([button("Old", { frame: [110, 120, 80, 24], errors: { AXFrame: -25205 } })]),
    async ({ node }) => {
      expect((await node("button", "Old")).bounds).toEqual({ x: 110, y: 120, width: 80, height: 24 })
    },
  ))

test("an element outside its window is offscreen", () =>
  onDesk(
    appWith([
      button("In", { frame: [110, 120, 80, 24] }),
      button("Out", { id: "out", frame: [110, 2000, 80, 24] }),
    ]),
    async ({ adapter, node }) => {
      expect((await node("button", "In")).states).toEqual(["enabled"])
      const out = await node("button", "Out")
      expect(out.states).toEqual(["enabled", "offscreen"])
      expect((await adapter.read(out.handle))?.states).toEqual(out.states)
    },
  ))

test("an element outside the scroll area around it is offscreen, and so is a text", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXScrollArea",
        frame: [110, 120, 200, 100],
        children: [
          button("Near", { frame: [110, 130, 80, 24] }),
          button("Far", { frame: [110, 230, 80, 24] }),
          { AXRole: "AXStaticText", AXValue: "Below", frame: [110, 260, 80, 24] },
        ],
      },
      button("Beside", { frame: [110, 230, 80, 24] }),
    ]),
    async ({ node }) => {
      expect((await node("button", "Near")).states).toEqual(["enabled"])
      expect((await node("button", "Far")).states).toEqual(["enabled", "offscreen"])
      expect((await node("button", "Beside")).states).toEqual(["enabled"])
      const { children } = await node("scrollarea")
      expect(children.at(-1)).toMatchObject({ role: "statictext", states: ["offscreen"] })
    },
  ))

test("a deadline in the middle of a walk returns the part that was read, with the cuts marked", () =>
  onDesk(
    appWith(
      Array.from({ length: 30 }, (_, i) => ({
        AXRole: "AXGroup",
        AXTitle: `Group ${i}`,
        children: [button(`Button ${i}`)],
      })),
      {},
      { latency: { call_us: 10_000 } },
    ),
    async ({ within, window }) => {
      const target = { kind: "surface" as const, window: await window(), surface: "window" as const }
      const { root, complete } = await firstPart((ms) => within(ms).tree(target, ALL))
      expect(complete).toBe(false)
      expect(nodes(root).length).toBeGreaterThan(5)
      expect(nodes(root).length).toBeLessThan(61)
      expect(nodes(root).some(({ children_count }) => children_count !== undefined)).toBe(true)
    },
  ))

/** Reads with growing deadlines until part of the tree is there: a busy machine reads less in the same time. */
async function firstPart(read: (ms: number) => Promise<SeenTree>): Promise<SeenTree> {
  for (let ms = 700; ; ms *= 1.3) {
    const tree = await read(ms).catch((error: unknown) => {
      if (error instanceof AppError && error.code === "TIMEOUT") return undefined
      throw error
    })
    if (tree && nodes(tree.root).length > 5) return tree
  }
}

test("an app that hangs is reported as unresponsive long before the deadline", () =>
  onDesk(appWith([button("One")]), async ({ mac, adapter, window }) => {
    const shown = await window()
    mac.apply({ do: "hang", app: 501 })
    const read = () => adapter.tree({ kind: "surface", window: shown, surface: "window" }, ALL)
    const { ms, slackMs } = await timed(() =>
      expect(read()).rejects.toMatchObject({ code: "APP_UNRESPONSIVE" }),
    )
    expect(ms).toBeLessThan(3000 + slackMs)
    expect((await adapter.windows()).map(({ id, accessible }) => [id, accessible])).toEqual([
      ["w-9001", undefined],
    ])
  }))

test("a snapshot needs neither AppKit nor the keyboard layouts, which are slow to load", () =>
  onDesk(appWith([button("One")]), async ({ elsewhere }) => {
    const { lines } = await elsewhere(["NSApplicationLoad", "LMGetKbdType", "objc_getClass"])
    expect(lines).toEqual(['window "Main"', '  button "One" enabled'])
  }))
