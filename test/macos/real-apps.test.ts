import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** Apps of a Mac as their users met them: what they answer, and what they do, in ways of their own. */

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

const typed = ({ mac }: Program) =>
  mac
    .record("write")
    .flatMap(({ node, attribute }) => (attribute === "AXFocused" ? [] : [`${node} ${attribute}`]))

test("Terminal: text is typed as keys, because what is written to its view is lost", () =>
  onMac("terminal", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Terminal" })
    expect(await ok("type", { ref_id: await ref("shell"), text: "ls -l" })).toMatchObject({
      method: "keyboard",
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("shell").AXValue).toBe("me@mac ~ % ls -l")
    expect(typed(program)).toEqual([])
  }))

test("Messages, a Catalyst app: text is typed as keys", () =>
  onMac("messages", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Messages" })
    expect(await ok("type", { ref_id: await ref("Message"), text: "On my way" })).toMatchObject({
      method: "keyboard",
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("message").AXValue).toBe("On my way")
    expect(await ok("set-value", { ref_id: await ref("Message"), value: "Later" })).toMatchObject({
      method: "keyboard",
    })
    expect(mac.look("message").AXValue).toBe("Later")
    expect(typed(program)).toEqual([])
  }))

test("a web page: text is typed as keys, and what its field shows proves nothing", () =>
  onMac("safari", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Safari" })
    const email = await ref("E-mail")
    for (const [command, args] of [
      ["type", { text: "ann@example.org" }],
      ["set-value", { value: "bob@example.org" }],
      ["clear", {}],
    ] as const) {
      expect(await ok(command, { ref_id: email, ...args })).toMatchObject({
        method: "keyboard",
        disposition: { delivery: "delivered_unverified" },
      })
    }
    expect(mac.look("email").AXValue).toBe("")
    expect(typed(program)).toEqual([])
    // The address field is not part of the page.
    expect(await ok("set-value", { ref_id: await ref("smart search field"), value: "x.org" })).toMatchObject({
      method: "AXValue",
      disposition: { delivery: "delivered_verified" },
    })
  }))

test("a native field without the focus gets it first, and keeps its text", () =>
  onMac(
    appWith([
      { id: "name", AXRole: "AXTextField", AXTitle: "Name", AXValue: "Ann", frame: [200, 200, 120, 24] },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Name"), text: " Lee" })).toMatchObject({
        method: "AXSelectedText",
        disposition: { delivery: "delivered_verified" },
      })
      expect(mac.look("name").AXValue).toBe("Ann Lee")
      expect(mac.record("post")).toEqual([])
    },
  ))

test("a native field that accepts text and drops it gets the keys, once", () =>
  onMac(
    appWith([
      {
        id: "name",
        AXRole: "AXTextField",
        AXTitle: "Name",
        AXValue: "Ann",
        ignores: ["AXSelectedText"],
        frame: [200, 200, 120, 24],
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Name"), text: " Lee" })).toMatchObject({
        method: "keyboard",
        disposition: { delivery: "delivered_verified" },
      })
      expect(mac.look("name").AXValue).toBe("Ann Lee")
    },
  ))

test("one app that refuses accessibility clients does not stop the work with others", () =>
  onMac(
    appWith(
      [],
      {},
      {
        apps: [
          ...appsOf(
            appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }]),
          ),
          {
            pid: 502,
            name: "Helper",
            bundle_id: "com.example.Helper",
            path: "/Applications/Helper.app",
            error: -25211,
            windows: [{ window: 9101, AXTitle: "Helper", frame: [950, 100, 300, 200] }],
          },
        ],
      },
    ),
    async ({ mac, ok, error, ref }) => {
      expect((await ok("list-windows")).windows.map(({ id }: { id: string }) => id)).toEqual([
        "w-9001",
        "w-9101",
      ])
      await ok("snapshot", { app: "Demo" })
      await ok("click", { ref_id: await ref("Save") })
      expect(mac.record("perform")).toHaveLength(1)
      await ok("press", { combo: "tab", app: "Demo" })
      expect(await error("snapshot", { app: "Helper" })).toMatchObject({
        code: "APP_UNRESPONSIVE",
        message: expect.stringContaining("Helper"),
        platform_detail: "AXError -25211: API disabled",
      })
      // The same answer means the missing grant once the grant is missing.
      mac.apply({ do: "grant", what: "accessibility", to: false })
      expect(await error("snapshot", { app: "Demo" })).toMatchObject({ code: "PERM_DENIED" })
    },
  ))

const appsOf = (scene: object): readonly object[] =>
  "apps" in scene && Array.isArray(scene.apps) ? scene.apps : []

/** A link so many levels below the root of a page. */
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

test("a page that tells what is in it is believed: a cover is a cover", () =>
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

test("Finder's sidebar: a click goes there, by the cell and once, although the row could only be selected", () =>
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

test("Finder's list view: a click on a file selects it, which is not called done; a double click opens it", () =>
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

test("whatever can be pressed or opened has a ref, and a click never confirms a text field", () =>
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

/** Apps that never answer, beside the one that is meant. */
const amongHungApps = (): object => {
  const [demo] = appsOf(
    appWith(
      [
        { id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] },
        { id: "text", AXRole: "AXTextArea", AXTitle: "Text", frame: [200, 300, 200, 24] },
      ],
      { path: "/Applications/Demo.app" },
    ),
  )
  const hung = [1, 2, 3].map((n) => ({
    pid: 600 + n,
    name: `Hung ${n}`,
    hung: true,
    windows: [{ window: 9200 + n, AXTitle: `Hung ${n}`, frame: [50 * n, 50, 300, 200] }],
  }))
  return appWith([], {}, { apps: [demo, ...hung] })
}

/** Microseconds that one hung app costs. */
const ONE_APP = 250_000

test("only the app that was asked for is asked: three others that hang cost nothing", () =>
  onMac(amongHungApps(), async ({ mac, ok, ref }) => {
    const waited = async (command: string, args: object): Promise<number> => {
      const before = mac.report().slept_us
      await ok(command, args)
      return mac.report().slept_us - before
    }
    expect(await waited("snapshot", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", { app: "com.example.Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", { window_id: "w-9001" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", {})).toBeLessThan(ONE_APP)
    expect(await waited("list-windows", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("list-surfaces", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("wait", { window: "Main", app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("click", { ref_id: await ref("Save"), input: "physical" })).toBeLessThan(ONE_APP)
    expect(await waited("type", { ref_id: await ref("Text"), text: "x", input: "physical" })).toBeLessThan(
      ONE_APP,
    )
    expect(await waited("press", { combo: "tab", app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("move-window", { window_id: "w-9001", x: 120, y: 120 })).toBeLessThan(ONE_APP)
    // A list of all windows has to ask every app, each once and for a short time.
    expect(await waited("list-windows", {})).toBeLessThan(1_100_000)
  }))

test("an Electron app: its main window is woken although its sign-in window had contents, and again after a restart", () =>
  onMac("electron", async ({ mac, ok }) => {
    const shown = async (id: string): Promise<string> =>
      JSON.stringify(await ok("snapshot", { window_id: id, max_depth: 20 }))
    expect(await shown("w-6002")).toContain("Sign in with browser")
    expect(await shown("w-6001")).toContain("Send now")
    const asked = mac.record("write").length
    // Contents that are there are not asked for again.
    expect(await shown("w-6001")).toContain("Send now")
    expect(mac.record("write")).toHaveLength(asked)
    // The renderer has started again, and has forgotten that it was asked.
    mac.apply({ do: "hide", node: "page" })
    expect(await shown("w-6001")).toContain("Send now")
  }))

test("an app that has just started is waited for, and one that stays silent is named", () =>
  onMac(
    appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }], {
      ready_ms: 2000,
    }),
    async ({ ok, error, ref }) => {
      // There is no time to wait here.
      const early = await error("snapshot", { app: "Demo", timeout_ms: 500 })
      expect(early).toMatchObject({ code: "APP_UNRESPONSIVE", details: { starting: true } })
      expect(early.suggestion).not.toContain("--force")
      expect(await ok("snapshot", { app: "Demo" })).toMatchObject({ ref_count: 1, complete: true })
      await ok("click", { ref_id: await ref("Save") })
    },
  ))

test("an app that has been running for long and answers nothing is not waited for", () =>
  onMac(appWith([], { ready_ms: 1e15, start: [1_700_000_000, 0] }), async ({ error }) => {
    const start = performance.now()
    expect(await error("snapshot", { app: "Demo" })).toMatchObject({ code: "APP_UNRESPONSIVE" })
    expect(performance.now() - start).toBeLessThan(4000)
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
    // A stepper has no value that can be written, only steps.
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

test("keys stop when the focus moves away while a long text is typed", () =>
  onMac(
    appWith([
      {
        id: "text",
        AXRole: "AXTextArea",
        AXTitle: "Text",
        frame: [200, 200, 200, 60],
      },
      { id: "chat", AXRole: "AXTextArea", AXTitle: "Chat", frame: [200, 300, 200, 60] },
    ]),
    async ({ mac, ok, error, ref }) => {
      await ok("snapshot", { app: "Demo" })
      mac.apply({ do: "focus", node: "text" })
      mac.apply({ do: "focus", node: "chat", after_ms: 300 })
      const text = "all work and no play ".repeat(400)
      expect(
        await error("type", { ref_id: await ref("Text"), text, input: "physical", timeout_ms: 20_000 }),
      ).toMatchObject({
        details: { kind: "typing" },
        disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
      })
      expect(String(mac.look("chat").AXValue).length).toBeLessThan(300)
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

test("a text that is too long to be read as a whole is typed into once, and proves nothing", () =>
  onMac(
    appWith([
      {
        id: "log",
        AXRole: "AXTextArea",
        AXTitle: "Log",
        AXValue: "x".repeat(70_000),
        frame: [200, 200, 200, 60],
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Log"), text: " end" })).toMatchObject({
        method: "AXSelectedText",
        disposition: { delivery: "delivered_unverified" },
      })
      expect(String(mac.look("log").AXValue).slice(-6)).toBe("xx end")
      expect(mac.record("post")).toEqual([])
    },
  ))
