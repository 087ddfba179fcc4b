import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** Mac apps as users have them, with their peculiar answers and reactions. */

test("Contacts: Edit and Done answer with errors, and each is pressed once", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    await ok("snapshot", { app: "Contacts" })
    const edited = await ok("click", { ref_id: await ref("Edit") })
    expect(edited).toMatchObject({ method: "AXPress", disposition: { delivery: "delivery_uncertain" } })
    await ok("snapshot", { app: "Contacts" })
    await ok("click", { ref_id: await ref("Done") })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["edit", "done"])
    expect(mac.record("post")).toEqual([])
  }))

test("Contacts: a field that takes the focus and answers with an error has the focus", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    await ok("snapshot", { app: "Contacts" })
    expect(await ok("focus", { ref_id: await ref("Phone") })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("phone").focused).toBe(true)
    await ok("check", { ref_id: await ref("Favourite") })
    expect(mac.look("favourite").AXValue).toBe(1)
    expect(mac.record("post")).toEqual([])
  }))

test("Contacts: elements that answer 'failure' for everything they lack are complete, and hide nothing", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    expect(await ok("snapshot", { app: "Contacts" })).toMatchObject({ complete: true })
    expect(
      await ok("wait", { text: "No such text", gone: true, app: "Contacts", timeout: 500 }),
    ).toMatchObject({ found: true })
    expect(await ok("find", { role: "button", name: "Delete 2" })).toMatchObject({
      total_matches: 1,
    })
    await ok("snapshot", { app: "Contacts" })
    expect(await ok("get", { ref_id: await ref("Note"), property: "value" })).toMatchObject({
      value: "met in Rome",
    })
    await ok("click", { ref_id: await ref("Delete 2") })
    expect(mac.record("perform").map(({ node }) => node)).toEqual(["delete-2"])
  }))

/** A link this many levels below the root of a page. */
const deepPage = (levels: number, more: object = {}) => {
  const place = { frame: [200, 200, 200, 40] }
  const link = {
    id: "link",
    AXRole: "AXLink",
    AXTitle: "Deep",
    on: { click: [{ do: "note", text: "click" }] },
    ...place,
  }
  const nested = Array.from({ length: levels - 1 }).reduce<object>(
    (child) => ({ AXRole: "AXGroup", children: [child], ...place }),
    link,
  )
  return { AXRole: "AXWebArea", AXTitle: "Page", children: [nested], frame: [110, 110, 700, 500], ...more }
}

for (const levels of [12, 13, 40]) {
  test(`a page: a link ${levels} levels below its root can be clicked with the pointer`, () =>
    onMac(appWith([deepPage(levels)]), async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo", max_depth: 50 })
      await ok("click", { ref_id: await ref("Deep"), input: "physical" })
      expect(mac.record("note")).toHaveLength(1)
    }))
}

test("a page that reports its content is trusted: a cover is a cover", () =>
  onMac(
    appWith([
      deepPage(20, { hits: true }),
      { AXRole: "AXGroup", AXTitle: "Cookies", frame: [150, 150, 500, 200] },
    ]),
    async ({ mac, ok, error, ref }) => {
      await ok("snapshot", { app: "Demo", max_depth: 50 })
      expect(
        await error("click", { ref_id: await ref("Deep"), input: "physical", timeout_ms: 500 }),
      ).toMatchObject({ details: { reason: "covered by group 'Cookies'" } })
      expect(mac.record("note")).toEqual([])
    },
  ))

test("a parent that cannot be read does not make a cover", () =>
  onMac(
    appWith([
      {
        AXRole: "AXGroup",
        AXTitle: "Card",
        frame: [200, 200, 200, 40],
        children: [
          {
            AXRole: "AXButton",
            AXTitle: "Buy",
            frame: [200, 200, 200, 40],
            on: { click: [{ do: "note", text: "click" }] },
            children: [{ AXRole: "AXImage", frame: [200, 200, 200, 40], errors: { AXParent: -25299 } }],
          },
        ],
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      await ok("click", { ref_id: await ref("Buy"), input: "physical", timeout_ms: 1000 })
      expect(mac.record("note")).toHaveLength(1)
    },
  ))

test("TextEdit with a Save sheet: the sheet has the keyboard, and its window counts as focused", () =>
  onMac("textedit-save", async ({ mac, ok, ref }) => {
    const { windows } = await ok("list-windows")
    expect(windows).toMatchObject([{ id: "w-3401", title: "Untitled", is_focused: true }])
    const { surfaces } = await ok("list-surfaces", { app: "TextEdit" })
    expect(surfaces.map(({ type, id }: { type: string; id: string }) => [type, id])).toEqual([
      ["window", "w-3401"],
      ["focused", "w-3401"],
      ["sheet", "w-3401"],
    ])
    await ok("snapshot", { app: "TextEdit", surface: "sheet" })
    const name = await ref("Save As:")
    expect(await ok("type", { ref_id: name, text: "Letter", input: "physical" })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(await ok("select", { ref_id: await ref("Where:"), value: "Desktop" })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(await ok("set-value", { ref_id: name, value: "Letter" })).toMatchObject({ method: "AXValue" })
    expect(mac.look("save-as").AXValue).toBe("Letter")
    // Refs from the whole window lead to the same elements.
    await ok("snapshot", { window_id: "w-3401" })
    mac.apply({ do: "focus", node: "text" })
    expect(await ok("focus", { ref_id: await ref("Save As:") })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    await ok("click", { ref_id: await ref("Save", "button") })
    expect(mac.record("note")).toHaveLength(1)
    expect((await ok("list-surfaces", { app: "TextEdit" })).surfaces).toHaveLength(2)
  }))

const notes = ({ mac }: Program) => mac.record("note").map(({ text }) => text)

test("Finder's sidebar: a click opens the folder once, through the cell, although the row could only be selected", () =>
  onMac("finder", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { window_id: "w-4521" })
    expect(await ok("click", { ref_id: await ref("Downloads", "treeitem") })).toMatchObject({
      method: "AXOpen",
    })
    expect(notes(program)).toEqual(["go to Downloads"])
    await ok("click", { ref_id: await ref("Desktop", "cell") })
    expect(notes(program)).toEqual(["go to Downloads", "go to Desktop"])
    expect(mac.look("window-files").AXTitle).toBe("Desktop")
    expect(mac.record("post")).toEqual([])
  }))

test("Finder's list view: a click on a file selects it and is not verified; a double click opens it", () =>
  onMac("finder", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { window_id: "w-4521" })
    expect(await ok("click", { ref_id: await ref("Letter.pages", "treeitem") })).toMatchObject({
      method: "AXSelected",
      disposition: { delivery: "delivered_unverified" },
    })
    expect(mac.look("file-1").AXSelected).toBe(true)
    await ok("double-click", { ref_id: await ref("Letter.pages", "treeitem") })
    expect(notes(program)).toEqual(["open Letter.pages"])
  }))

test("Finder's icon view: files have refs, and are opened once", () =>
  onMac("finder", async (program) => {
    const { ok, ref } = program
    await ok("snapshot", { window_id: "w-4522" })
    const beach = await ref("Beach.jpg", "image")
    await ok("double-click", { ref_id: beach })
    expect(notes(program)).toEqual(["open Beach.jpg"])
    await ok("click", { ref_id: await ref("Forest.jpg", "image"), input: "semantic" })
    expect(notes(program)).toEqual(["open Beach.jpg", "open Forest.jpg"])
    await expect(ref("decoration")).rejects.toThrow("0 refs")
  }))

test("every element that can be pressed or opened has a ref, and a click never confirms a text field", () =>
  onMac(
    appWith([
      ...["AXGroup", "AXStaticText", "AXRow", "AXHeading", "AXUnknown"].map((AXRole, i) => ({
        id: AXRole,
        AXRole,
        AXTitle: `Press ${AXRole}`,
        actions: { AXPress: [] },
        on: { AXPress: [{ do: "note", text: AXRole }] },
        frame: [200, 150 + 30 * i, 120, 24],
      })),
      { AXRole: "AXStaticText", AXTitle: "Plain", actions: { AXShowMenu: [] }, frame: [400, 150, 120, 24] },
      {
        AXRole: "AXTextField",
        AXTitle: "Name",
        on: { AXConfirm: [{ do: "note", text: "confirmed" }] },
        frame: [400, 200, 120, 24],
      },
    ]),
    async (program) => {
      const { ok, ref } = program
      await ok("snapshot", { app: "Demo" })
      for (const role of ["AXGroup", "AXStaticText", "AXRow", "AXHeading", "AXUnknown"])
        await ok("click", { ref_id: await ref(`Press ${role}`) })
      expect(notes(program)).toEqual(["AXGroup", "AXStaticText", "AXRow", "AXHeading", "AXUnknown"])
      await expect(ref("Plain")).rejects.toThrow("0 refs")
      await ok("click", { ref_id: await ref("Name") })
      expect(notes(program)).not.toContain("confirmed")
    },
  ))

test("an Electron app: its main window is woken although its sign-in window had contents, and again after a restart", () =>
  onMac("electron", async ({ mac, ok }) => {
    const shown = async (id: string): Promise<string> =>
      JSON.stringify(await ok("snapshot", { window_id: id, max_depth: 20 }))
    expect(await shown("w-6002")).toContain("Sign in with browser")
    expect(await shown("w-6001")).toContain("Send now")
    const asked = mac.record("write").length
    // Contents that are already there are not requested again.
    expect(await shown("w-6001")).toContain("Send now")
    expect(mac.record("write")).toHaveLength(asked)
    // The renderer has restarted, and has forgotten the request.
    mac.apply({ do: "hide", node: "page" })
    expect(await shown("w-6001")).toContain("Send now")
  }))

test("System Settings: a row of the sidebar is selected, and contents that only the reading order has are seen", () =>
  onMac("settings", async (program) => {
    const { mac, ok, ref } = program
    expect(await ok("snapshot", { app: "com.apple.systempreferences" })).toMatchObject({ complete: true })
    expect(await ok("click", { ref_id: await ref("Ton", "treeitem") })).toMatchObject({
      method: "AXSelected",
      disposition: { delivery: "delivered_unverified" },
    })
    expect(mac.look("settings").AXTitle).toBe("Ton")
    expect(await ok("check", { ref_id: await ref("WLAN", "switch") })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    await ok("click", { ref_id: await ref("Details …") })
    expect(notes(program)).toEqual(["details"])
    await ok("set-value", { ref_id: await ref("Lautstärke"), value: "0.75" })
    expect(mac.look("volume").AXValue).toBe(0.75)
    // The value of a stepper cannot be written, only stepped.
    expect(await ok("set-value", { ref_id: await ref("Wiederholungen"), value: "5" })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("alert-volume").AXValue).toBe(5)
    expect(mac.record("post")).toEqual([])
  }))

test("a menu that opens at once and answers only when it is closed is found", () =>
  onMac(
    appWith([
      {
        id: "size",
        AXRole: "AXPopUpButton",
        AXTitle: "Size",
        AXValue: "Small",
        latency: { AXPress: 3_000_000 },
        frame: [200, 200, 100, 24],
        menu: {
          AXRole: "AXMenu",
          frame: [200, 200, 100, 60],
          children: ["Small", "Large"].map((AXTitle) => ({ AXRole: "AXMenuItem", AXTitle })),
        },
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("select", { ref_id: await ref("Size"), value: "Large" })).toMatchObject({
        disposition: { delivery: "delivered_verified" },
      })
      expect(mac.look("size").AXValue).toBe("Large")
    },
  ))

test("a locked screen: nothing is sent to the lock screen", () =>
  onMac(
    appWith(
      [{ id: "text", AXRole: "AXTextArea", AXTitle: "Text", frame: [200, 200, 200, 60] }],
      {},
      { session: "locked" },
    ),
    async ({ mac, ok, error, ref }) => {
      await ok("snapshot", { app: "Demo" })
      const locked = {
        code: "ACTION_FAILED",
        details: { kind: "locked" },
        disposition: { delivery: "not_delivered" },
      }
      expect(await error("type", { ref_id: await ref("Text"), text: "x", input: "physical" })).toMatchObject(
        locked,
      )
      expect(await error("press", { combo: "tab" })).toMatchObject({ details: { kind: "locked" } })
      expect(await error("mouse-click", { xy: "10,10" })).toMatchObject({ details: { kind: "locked" } })
      expect(mac.record("post")).toEqual([])
      await ok("type", { ref_id: await ref("Text"), text: "x" })
      expect(mac.look("text").AXValue).toBe("x")
    },
  ))

test("panels that an app keeps ready are not windows on another Space", () =>
  onMac(
    appWith([{ AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }], {
      start: [1_700_000_000, 0],
      windows: [
        { window: 9001, AXTitle: "Main", frame: [100, 100, 800, 600] },
        { window: 9002, AXTitle: "Accessory", space: 2, frame: [0, 0, 500, 60] },
        { window: 9003, AXTitle: "Elsewhere", space: 2, frame: [0, 0, 500, 400] },
      ],
    }),
    async ({ ok }) => {
      const { windows } = await ok("list-windows", { app: "Demo" })
      expect(windows.map(({ title }: { title: string }) => title)).toEqual(["Main", "Elsewhere"])
    },
  ))
