import { expect, test } from "bun:test"
import type { Action } from "../../src/action.ts"
import { Deadline } from "../../src/deadline.ts"
import { pause } from "../../src/until.ts"
import { appWith, type Desk, onDesk } from "./adapter-desk.ts"

const act = async ({ adapter, node }: Desk, role: string, name: string | undefined, action: Action) =>
  adapter.perform((await node(role, name)).handle, action)

const NOTHING = { method: "none", delivery: "not_delivered" } as const

test("a click performs the element's AXPress, once", () =>
  onDesk(
    appWith([
      {
        id: "save",
        AXRole: "AXButton",
        AXTitle: "Save",
        on: { AXPress: [{ do: "set", node: "save", attribute: "AXTitle", value: "Saved" }] },
      },
    ]),
    async (desk) => {
      expect(await act(desk, "button", "Save", { kind: "click" })).toEqual({
        method: "AXPress",
        delivery: "delivered_unverified",
      })
      expect(desk.mac.report().calls.AXUIElementPerformAction).toBe(1)
      expect(desk.mac.look("save").AXTitle).toBe("Saved")
    },
  ))

test("an element that offers no action reports not_delivered, and nothing is sent", () =>
  onDesk(appWith([{ AXRole: "AXButton", AXTitle: "Bare", bare: true }]), async (desk) => {
    for (const action of [
      "click",
      "double-click",
      "triple-click",
      "right-click",
      "toggle",
      "expand",
      "clear",
      "focus",
      "scroll-to",
    ] as const) {
      expect(await act(desk, "button", "Bare", { kind: action })).toEqual(NOTHING)
    }
    expect(await act(desk, "button", "Bare", { kind: "type", text: "x" })).toEqual(NOTHING)
    expect(await act(desk, "button", "Bare", { kind: "set-value", value: "x" })).toEqual(NOTHING)
    expect(await act(desk, "button", "Bare", { kind: "scroll", direction: "down", amount: 1 })).toEqual(
      NOTHING,
    )
    const { calls } = desk.mac.report()
    expect([calls.AXUIElementPerformAction, calls.AXUIElementSetAttributeValue]).toEqual([
      undefined,
      undefined,
    ])
  }))

const CODES: readonly (readonly [code: string, delivery: string])[] = [
  ["-25204", "delivery_uncertain"],
  ["-25200", "delivery_uncertain"],
  ["-25208", "delivery_uncertain"],
  ["-25205", "delivery_uncertain"],
  ["-25206", "delivery_uncertain"],
  ["-25212", "delivery_uncertain"],
  ["-25201", "not_delivered"],
  ["dead", "delivery_uncertain"],
]

for (const [code, delivery] of CODES) {
  test(`an action with the return code ${code} counts as ${delivery}, and is not sent again`, () =>
    onDesk(appWith([{ AXRole: "AXButton", AXTitle: "Save" }]), async (desk) => {
      const { handle } = await desk.node("button", "Save")
      desk.mac.fail(`AXUIElementPerformAction/1:${code}`)
      const performed = await desk.adapter.perform(handle, { kind: "click" })
      expect(performed).toMatchObject({ method: "AXPress", delivery })
      expect(desk.mac.report().calls.AXUIElementPerformAction).toBe(1)
    }))
}

test("an app that answers a press too late has acted on it, or may still act", () =>
  onDesk(
    appWith([
      {
        id: "save",
        AXRole: "AXButton",
        AXTitle: "Save",
        latency: { AXPress: 1_500_000 },
        on: { AXPress: [{ do: "set", attribute: "AXDescription", value: "done", after_ms: 300 }] },
      },
    ]),
    async (desk) => {
      expect(await act(desk, "button", "Save", { kind: "click" })).toMatchObject({
        delivery: "delivery_uncertain",
      })
      const end = Deadline.in(5000)
      while (desk.mac.look("save").AXDescription !== "done" && !end.expired) await pause(20, end)
      expect(desk.mac.look("save").AXDescription).toBe("done")
    },
  ))

test("an error names the permission if it is withdrawn in the middle of a command", () =>
  onDesk(appWith([{ AXRole: "AXButton", AXTitle: "Save" }]), async (desk) => {
    const { handle } = await desk.node("button", "Save")
    // The permission was there for the reads of this command.
    desk.mac.apply({ do: "grant", what: "accessibility", to: false })
    await expect(desk.adapter.perform(handle, { kind: "click" })).rejects.toMatchObject({
      code: "PERM_DENIED",
      message: "Accessibility permission not granted",
      suggestion:
        "Open System Settings > Privacy & Security > Accessibility and add the program that 'agent-desktop permissions' names",
    })
  }))

test("text in any script is inserted at the caret", () =>
  onDesk(appWith([{ id: "field", AXRole: "AXTextField", AXTitle: "Name", AXValue: "Ann" }]), async (desk) => {
    expect(await act(desk, "textfield", "Name", { kind: "type", text: " Ünal 😀\n名" })).toMatchObject({
      method: "AXSelectedText",
    })
    expect(desk.mac.look("field").AXValue).toBe("Ann Ünal 😀\n名")
    await act(desk, "textfield", "Name", { kind: "clear" })
    expect(desk.mac.look("field").AXValue).toBe("")
    await act(desk, "textfield", "Name", { kind: "set-value", value: "Bob" })
    expect(desk.mac.look("field").AXValue).toBe("Bob")
    await act(desk, "textfield", "Name", { kind: "focus" })
    expect(desk.mac.look("field").focused).toBe(true)
  }))

test("a value is written in its present type", () =>
  onDesk(
    appWith([
      { id: "volume", AXRole: "AXSlider", AXTitle: "Volume", AXValue: { $float: 10 } },
      { id: "flag", AXRole: "AXTextField", AXTitle: "Flag", AXValue: true },
    ]),
    async (desk) => {
      await act(desk, "slider", "Volume", { kind: "set-value", value: "42.5" })
      expect(desk.mac.look("volume").AXValue).toBe(42.5)
      await act(desk, "textfield", "Flag", { kind: "set-value", value: "false" })
      expect(desk.mac.look("flag").AXValue).toBe(false)
      await expect(act(desk, "slider", "Volume", { kind: "set-value", value: "loud" })).rejects.toMatchObject(
        { code: "INVALID_ARGS" },
      )
      expect(desk.mac.look("volume").AXValue).toBe(42.5)
    },
  ))

test("a box is toggled by its press", () =>
  onDesk(appWith([{ id: "bold", AXRole: "AXCheckBox", AXTitle: "Bold", AXValue: 0 }]), async (desk) => {
    await act(desk, "checkbox", "Bold", { kind: "check" })
    expect(desk.mac.look("bold").AXValue).toBe(1)
    expect((await desk.node("checkbox", "Bold")).states).toContain("checked")
    await act(desk, "checkbox", "Bold", { kind: "uncheck" })
    expect(desk.mac.look("bold").AXValue).toBe(0)
  }))

test("a row is expanded through its attributes, a disclosure triangle by its press", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXOutline",
        children: [
          {
            id: "row",
            AXRole: "AXRow",
            AXSubrole: "AXOutlineRow",
            AXTitle: "Folder",
            AXDisclosing: false,
            settable: ["AXDisclosing"],
          },
        ],
      },
      { id: "triangle", AXRole: "AXDisclosureTriangle", AXTitle: "More", AXValue: 0 },
    ]),
    async (desk) => {
      expect(await act(desk, "treeitem", "Folder", { kind: "expand" })).toMatchObject({
        method: "AXDisclosing",
      })
      expect(desk.mac.look("row").AXDisclosing).toBe(true)
      await act(desk, "treeitem", "Folder", { kind: "collapse" })
      expect(desk.mac.look("row").AXDisclosing).toBe(false)
      expect(await act(desk, "disclosure", "More", { kind: "expand" })).toMatchObject({ method: "AXPress" })
      expect(desk.mac.look("triangle").AXValue).toBe(1)
    },
  ))

test("clicking a cell without AXPress selects its row", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXTable",
        children: [1, 2].map((n) => ({
          id: `row-${n}`,
          AXRole: "AXRow",
          AXSelected: false,
          settable: ["AXSelected"],
          children: [{ AXRole: "AXCell", AXTitle: `Cell ${n}`, bare: true }],
        })),
      },
    ]),
    async (desk) => {
      expect(await act(desk, "cell", "Cell 2", { kind: "click" })).toMatchObject({ method: "AXSelected" })
      expect([desk.mac.look("row-1").AXSelected, desk.mac.look("row-2").AXSelected]).toEqual([false, true])
    },
  ))

const popUp = (...titles: string[]) => ({
  id: "colour",
  AXRole: "AXPopUpButton",
  AXTitle: "Colour",
  AXValue: "Red",
  frame: [200, 200, 100, 24],
  menu: {
    AXRole: "AXMenu",
    frame: [200, 200, 100, 60],
    children: titles.map((AXTitle) => ({ AXRole: "AXMenuItem", AXTitle })),
  },
})

test("an item of a pop-up menu is chosen by name, and a wrong name closes the menu again", () =>
  onDesk(appWith([popUp("Red", "Blue", "Blue-green")]), async (desk) => {
    await act(desk, "combobox", "Colour", { kind: "select", value: "Blue" })
    expect(desk.mac.look("colour").AXValue).toBe("Blue")
    await expect(act(desk, "combobox", "Colour", { kind: "select", value: "Green" })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { candidates: ["Red", "Blue", "Blue-green"] },
    })
    expect(desk.mac.look("colour")).toMatchObject({ AXValue: "Blue", children: [] })
  }))

test("of two items with the same name none is chosen", () =>
  onDesk(appWith([popUp("Red", "Blue", "Blue")]), async (desk) => {
    await expect(act(desk, "combobox", "Colour", { kind: "select", value: "Blue" })).rejects.toMatchObject({
      code: "AMBIGUOUS_TARGET",
    })
    expect(desk.mac.look("colour").AXValue).toBe("Red")
  }))

test("choosing an option of a list selects that option only", () =>
  onDesk(
    appWith([
      {
        id: "list",
        AXRole: "AXList",
        AXTitle: "Fonts",
        children: ["Arial", "Courier"].map((font) => ({
          id: font,
          AXRole: "AXStaticText",
          AXValue: font,
          AXSelected: false,
          settable: ["AXSelected"],
        })),
      },
    ]),
    async (desk) => {
      await act(desk, "list", "Fonts", { kind: "select", value: "Courier" })
      expect([desk.mac.look("Arial").AXSelected, desk.mac.look("Courier").AXSelected]).toEqual([false, true])
    },
  ))

test("the distance of a scroll depends on the length of the contents beyond the view", () =>
  onDesk(
    appWith([
      {
        AXRole: "AXScrollArea",
        AXTitle: "Page",
        frame: [100, 100, 300, 200],
        content: [300, 1000],
        AXContents: { $elements: ["page"] },
        children: [
          {
            id: "page",
            AXRole: "AXGroup",
            AXTitle: "Contents",
            frame: [100, 100, 300, 1000],
            children: [{ AXRole: "AXButton", AXTitle: "Low", frame: [100, 900, 80, 24] }],
          },
          {
            id: "bar",
            AXRole: "AXScrollBar",
            AXOrientation: "AXVerticalOrientation",
            AXValue: { $float: 0 },
            settable: ["AXValue"],
          },
        ],
      },
    ]),
    async (desk) => {
      expect(
        await act(desk, "button", "Low", { kind: "scroll", direction: "down", amount: 4 }),
      ).toMatchObject({ method: "AXVerticalScrollBar" })
      expect(Number(desk.mac.look("bar").AXValue)).toBeCloseTo(0.2)
      await act(desk, "button", "Low", { kind: "scroll", direction: "up", amount: 100 })
      expect(desk.mac.look("bar").AXValue).toBe(0)
    },
  ))

test("a hit test distinguishes hit, miss, cover and container", () =>
  onDesk(
    appWith([
      { AXRole: "AXButton", AXTitle: "Below", frame: [110, 120, 100, 40] },
      { AXRole: "AXGroup", AXTitle: "Cover", frame: [150, 120, 300, 40] },
    ]),
    async ({ adapter, node }) => {
      const { handle } = await node("button", "Below")
      expect(await adapter.hit(handle, { x: 120, y: 130 })).toEqual({ kind: "hit" })
      expect(await adapter.hit(handle, { x: 200, y: 130 })).toEqual({ kind: "occluded", by: "group 'Cover'" })
      const cover = await node("group", "Cover")
      expect(await adapter.hit(cover.handle, { x: 300, y: 130 })).toEqual({ kind: "hit" })
    },
  ))

test("a removed element reads as gone", () =>
  onDesk(appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save" }]), async ({ mac, adapter, node }) => {
    const { handle } = await node("button", "Save")
    expect(await adapter.read(handle)).toMatchObject({ role: "button", name: "Save" })
    mac.apply({ do: "remove", node: "save" })
    expect(await adapter.read(handle)).toBeUndefined()
    expect(await adapter.perform(handle, { kind: "click" })).toMatchObject({ delivery: "not_delivered" })
  }))

test("a read that fails is an error, not an absence", () =>
  onDesk(appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save" }]), async ({ mac, adapter, node }) => {
    const { handle } = await node("button", "Save")
    mac.fail("AXUIElementCopyMultipleAttributeValues/1:-25299")
    await expect(adapter.read(handle)).rejects.toMatchObject({
      code: "ACTION_FAILED",
      platformDetail: "AXError -25299: unknown",
    })
  }))
