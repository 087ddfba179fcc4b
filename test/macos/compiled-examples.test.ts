import { expect, setDefaultTimeout, test } from "bun:test"
import { compileProgram, MACHINE, onStage } from "./compiled.ts"

/** Plays the documented examples and whole tasks with the compiled program over scenes. */

if (MACHINE !== "x64") setDefaultTimeout(1_800_000)

const program = compileProgram()

/** Nodes of the documented examples. Snapshots may have further members and nodes. */
const button = (ref_id: string, name: string, ...more: readonly string[]) => ({
  ref_id,
  role: "button",
  name,
  states: ["enabled", ...more],
})
const bounds = (x: number, y: number, width: number, height: number) => ({ bounds: { x, y, width, height } })
const search = { ref_id: "@e2", role: "textfield", name: "Search", value: "", states: ["enabled"] }

const EXAMPLES = [
  {
    scene: "example-finder",
    args: ["--app", "Finder", "-i"],
    app: "Finder",
    window: { id: "w-4521", title: "Documents" },
    ref_count: 14,
    root: { role: "window", name: "Documents" },
    children: [button("@e1", "Back"), search, button("@e3", "List View", "checked")],
  },
  {
    scene: "example-finder-new-folder",
    args: ["--app", "Finder", "--include-bounds"],
    app: "Finder",
    window: { id: "w-4521", title: "Documents" },
    ref_count: 14,
    root: { role: "window", name: "Documents", ...bounds(0, 40, 800, 600) },
    children: [
      { ...button("@e1", "New Folder"), ...bounds(20, 80, 100, 32) },
      { ...search, ...bounds(500, 80, 200, 32) },
    ],
  },
  {
    scene: "example-settings",
    args: ["--app", "System Settings", "--include-bounds"],
    app: "System Settings",
    window: { id: "w-8892", title: "General" },
    ref_count: 42,
    root: { role: "window", name: "General", ...bounds(100, 200, 800, 600) },
    children: [
      {
        ref_id: "@e1",
        role: "checkbox",
        name: "Show scroll bars",
        states: ["enabled", "checked"],
        ...bounds(150, 300, 200, 20),
      },
    ],
  },
  {
    scene: "example-textedit-menu",
    args: ["--surface", "menu", "--app", "TextEdit"],
    app: "TextEdit",
    window: { id: "menu-1", title: "File" },
    ref_count: 8,
    root: { role: "menu", name: "File" },
    children: ["New", "Open…", "Save"].map((name, i) => ({
      ref_id: `@e${i + 1}`,
      role: "menuitem",
      name,
      // Keyboard shortcuts are hints.
      hint: `cmd+${name[0]?.toLowerCase()}`,
      states: ["enabled"],
    })),
  },
  {
    scene: "example-textedit",
    args: ["--app", "TextEdit", "-i"],
    app: "TextEdit",
    window: { id: "w-3001", title: "Untitled" },
    ref_count: 5,
    root: { role: "window", name: "Untitled" },
    children: [
      button("@e1", "Close"),
      button("@e2", "Minimize"),
      {
        role: "group",
        children: [button("@e3", "Bold", "unchecked"), button("@e4", "Italic", "unchecked")],
      },
      { ref_id: "@e5", role: "textfield", value: "", states: ["focused", "multiline"] },
    ],
  },
  {
    scene: "example-login",
    args: ["--app", "Safari"],
    app: "Safari",
    window: { id: "w-5001", title: "Log In" },
    ref_count: 3,
    root: { role: "window", name: "Log In" },
    children: [
      {
        role: "group",
        name: "Login Form",
        children: [
          { role: "statictext", value: "Username:" },
          { ref_id: "@e1", role: "textfield", name: "Username", value: "", states: ["enabled", "focused"] },
          { role: "statictext", value: "Password:" },
          // Nothing about the value of a secure field is shown, not even that it is empty.
          { ref_id: "@e2", role: "textfield", name: "Password", states: ["enabled", "secure"] },
          button("@e3", "Log In"),
        ],
      },
    ],
  },
]

for (const { scene, args, app, window, ref_count, root, children } of EXAMPLES) {
  test(`the snapshot of ${scene} matches the documentation`, () =>
    onStage(program, scene, async ({ ask }) => {
      const { envelope } = await ask("snapshot", ...args)
      const { tree, snapshot_id, complete, ...rest } = envelope.data
      const { children: shown, ...top } = tree
      expect(rest).toEqual({ app, window, ref_count })
      expect([typeof snapshot_id, complete]).toEqual(["string", true])
      expect(top).toEqual(root)
      expect(shown.slice(0, children.length)).toEqual(children)
    }))
}

test("the documented loop of snapshot, type and a menu shortcut saves the document", () =>
  onStage(program, "example-textedit", async ({ ask, mac }) => {
    await ask("snapshot", "--app", "TextEdit", "-i")
    await ask("type", "@e5", "Hello world")
    await ask("click", "@e3")
    await ask("press", "cmd+s")
    expect(mac.look("text").AXValue).toBe("Hello world")
    expect(mac.look("bold").AXValue).toBe(1)
    expect(mac.look("window-text").AXTitle).toBe("Saved")
    expect(mac.record("note").map(({ text }) => text)).toEqual(["saved"])
  }))

test("in Safari an address is typed, a link is followed and a form is filled in", () =>
  onStage(program, "safari", async ({ ask, mac, ref }) => {
    const { envelope } = await ask("snapshot", "--app", "Safari", "-i")
    expect(envelope.data).toMatchObject({ app: "Safari", window: { title: "Example" }, complete: true })
    await ask("set-value", ref("smart search field", "textfield"), "github.com")
    expect(mac.look("address").AXValue).toBe("github.com")
    await ask("click", ref("More information", "link"))
    expect(mac.look("page").AXTitle).toBe("More")
    await ask("type", ref("E-mail", "textfield"), "ann@example.org")
    expect(mac.look("email").AXValue).toBe("ann@example.org")
    await ask("check", ref("I agree", "checkbox"))
    expect(mac.look("agree").AXValue).toBe(1)
    const match = (await ask("find", "--role", "button", "--name", "Send", "--app", "Safari")).envelope.data
    expect(match).toMatchObject({ total_matches: 1 })
  }))

/** As large as an IDE: lines of code, a navigator, and toolbars around them. */
const LARGE = {
  apps: [
    {
      pid: 700,
      name: "Xcode",
      start: [1_700_000_000, 0],
      frontmost: true,
      windows: [
        {
          window: 701,
          AXTitle: "Things",
          frame: [0, 25, 600, 400],
          children: [
            {
              AXRole: "AXToolbar",
              children: [
                {
                  repeat: 30,
                  node: { AXRole: "AXButton", AXTitle: "Tool {n}", frame: [0, 30, 20, 20] },
                },
              ],
            },
            ...Array.from({ length: 50 }, (_, section) => ({
              AXRole: "AXGroup",
              AXTitle: `Section ${section}`,
              frame: [0, 50, 600, 300],
              children: [
                {
                  repeat: 90,
                  node: { AXRole: "AXStaticText", AXValue: "line {n}", frame: [0, 60, 500, 10] },
                },
                { repeat: 6, node: { AXRole: "AXGroup", frame: [0, 60, 500, 10] } },
                {
                  repeat: 4,
                  node: { AXRole: "AXButton", AXTitle: `Fix ${section} {n}`, frame: [500, 60, 40, 10] },
                },
              ],
            })),
          ],
        },
      ],
    },
  ],
}

test("-i shows the 230 refs of a window with 5,000 nodes in less than a tenth of the characters", () =>
  onStage(program, LARGE, async ({ ask, ref }) => {
    const size = (node: { children?: readonly object[] }): number =>
      1 + (node.children ?? []).reduce((sum, child) => sum + size(child), 0)
    const whole = (await ask("snapshot", "--app", "Xcode")).envelope.data
    const brief = (await ask("snapshot", "--app", "Xcode", "-i")).envelope.data
    expect([whole.ref_count, brief.ref_count]).toEqual([230, 230])
    expect(size(whole.tree)).toBeGreaterThan(5000)
    expect(size(brief.tree)).toBeLessThan(300)
    expect(JSON.stringify(brief).length).toBeLessThan(JSON.stringify(whole).length / 10)
    const { envelope, trips } = await ask("click", ref("Fix 49 4", "button"))
    expect(envelope).toMatchObject({ ok: true, data: { method: "AXPress" } })
    // The number of trips does not grow with the window.
    expect(trips).toBeLessThan(80)
  }))
