import type { Door } from "../../src/run.ts"
import { type Desk, desk } from "./fake-desk.ts"
import type { Spec } from "./fake-world.ts"

/** A desk on which every command has something to do, and what to ask of each. */

const at = (x: number, y: number) => ({ bounds: { x, y, width: 80, height: 20 } })

const TRACE = new URL("../fixtures/trace", import.meta.url).pathname

const CONTENTS: readonly Spec[] = [
  { role: "button", name: "Save", states: ["enabled"], ...at(10, 10), actions: ["Click", "RightClick"] },
  { role: "textfield", name: "Title", value: "draft", states: ["enabled"], ...at(10, 40) },
  { role: "checkbox", name: "Wrap", states: ["enabled", "unchecked"], ...at(10, 70) },
  { role: "checkbox", name: "Lines", states: ["enabled", "checked"], ...at(10, 100) },
  { role: "treeitem", name: "Open me", states: ["enabled", "collapsed"], ...at(10, 130) },
  { role: "treeitem", name: "Close me", states: ["enabled", "expanded"], ...at(10, 160) },
  { role: "slider", name: "Volume", value: "10", states: ["enabled"], ...at(10, 190) },
  {
    role: "combobox",
    name: "Size",
    value: "A4",
    states: ["enabled"],
    ...at(10, 220),
    actions: ["Select", "SetValue"],
  },
  { role: "textfield", name: "Letter", value: "a long letter ".repeat(80), ...at(10, 280) },
  { role: "group", name: "Body", ...at(10, 250), children: [{ role: "statictext", name: "12 words" }] },
]

/** Commands in an order in which each finds what it needs; `$Name` stands for the ref of that name. */
export const ASKED: readonly (readonly [command: string, args: Readonly<Record<string, unknown>>])[] = [
  ["snapshot", {}],
  ["snapshot", { include_bounds: true, compact: true }],
  ["snapshot", { skeleton: true }],
  ["snapshot", { budget: 200 }],
  ["snapshot", {}],
  ["find", { role: "button" }],
  ["find", { text: "words", first: true }],
  ["find", { text: "nowhere", first: true }],
  ["find", { count: true }],
  ["get", { ref_id: "$Save", property: "name" }],
  ["get", { ref_id: "$Save", property: "bounds" }],
  ["get", { ref_id: "$Save", property: "actions" }],
  ["get", { ref_id: "$Save", property: "description" }],
  ["is", { ref_id: "$Save", property: "enabled" }],
  ["is", { ref_id: "$Save", property: "checked" }],
  ["screenshot", {}],
  ["screenshot", { path: "shot.png" }],
  ["list-surfaces", { app: "Editor" }],
  ["list-windows", {}],
  ["list-apps", {}],
  ["list-displays", {}],
  ["click", { ref_id: "$Save" }],
  ["double-click", { ref_id: "$Save" }],
  ["triple-click", { ref_id: "$Title" }],
  ["right-click", { ref_id: "$Save" }],
  ["type", { ref_id: "$Title", text: " one" }],
  ["set-value", { ref_id: "$Title", value: "two" }],
  ["clear", { ref_id: "$Title" }],
  ["focus", { ref_id: "$Title" }],
  ["toggle", { ref_id: "$Wrap" }],
  ["check", { ref_id: "$Wrap" }],
  ["uncheck", { ref_id: "$Lines" }],
  ["expand", { ref_id: "$Open me" }],
  ["collapse", { ref_id: "$Close me" }],
  ["select", { ref_id: "$Size", value: "A5" }],
  ["scroll", { ref_id: "$Volume" }],
  ["scroll-to", { ref_id: "$Save" }],
  ["press", { combo: "ctrl+s" }],
  ["key-down", { combo: "shift" }],
  ["key-up", { combo: "shift" }],
  ["hover", { xy: "20,20" }],
  ["drag", { from_xy: "20,20", to_xy: "40,40", duration_ms: 0 }],
  ["mouse-move", { xy: "20,20" }],
  ["mouse-click", { xy: "20,20" }],
  ["mouse-down", { xy: "20,20" }],
  ["mouse-up", { xy: "20,20" }],
  ["mouse-wheel", { xy: "20,20", dy: 1 }],
  ["focus-window", { app: "Editor" }],
  ["resize-window", { app: "Editor", width: 900, height: 700 }],
  ["move-window", { app: "Editor", x: 5, y: 5 }],
  ["minimize", { app: "Editor" }],
  ["maximize", { app: "Editor" }],
  ["restore", { app: "Editor" }],
  ["clipboard-set", { text: "copied" }],
  ["clipboard-get", {}],
  ["clipboard-clear", {}],
  ["list-notifications", {}],
  ["notification-action", { index: 0, action: "Reply" }],
  ["dismiss-notification", { index: 1 }],
  ["dismiss-all-notifications", {}],
  ["wait", { ms: 0 }],
  ["wait", { element: "$Save" }],
  ["wait", { window: "notes" }],
  ["wait", { text: "words", app: "Editor" }],
  ["wait", { menu: true, app: "Editor" }],
  ["desktop-start", { name: "test" }],
  ["list-desktops", {}],
  ["desktop-stop", { name: "test" }],
  ["batch", { commands: '[{"command":"version"},{"command":"click","args":{"ref_id":"@e99"}}]' }],
  ["status", {}],
  ["permissions", {}],
  ["version", {}],
  ["doctor", {}],
  ["skills", { action: "list" }],
  ["skills", { action: "get", name: "core" }],
  ["completions", { shell: "bash" }],
  ["completions", { shell: "fish", line: "agent-desktop cl" }],
  ["mcp-config", { client: "vscode" }],
  ["mcp-config", { client: "codex" }],
  ["schema", {}],
  ["schema", { command: "click" }],
  ["trace-show", { directory: TRACE }],
  ["trace-export", { directory: TRACE, output: "trace.html" }],
  ["launch", { app: "Other" }],
  ["close-app", { app: "Other" }],
]

export function busyDesk(door: Partial<Door> = {}): Desk {
  const it = desk({ session: "tests", desktop: "here", ...door })
  const editor = it.world.app("Editor", { pid: 4242, bundleId: "org.example.Editor" })
  editor.window("notes.txt", CONTENTS)
  editor.show("menu", { role: "menu", name: "File", children: [{ role: "menuitem", name: "New" }] })
  const other = it.world.app("Other", { pid: 4343 })
  it.world.launch = () => {
    other.window("Fresh", [])
    return { pid: 4343, names: ["Other"], exited: new Promise(() => {}) }
  }
  it.world.quit = () => {
    other.end()
    return "asked"
  }
  it.world.desktops = [{ name: "test", display: ":90", size: "800x600", pid: 1, env: { DISPLAY: ":90" } }]
  it.world.notifications = ["First", "Second", "Third"].map((title, index) => ({
    id: `n-${index}`,
    index,
    app_name: "Chat",
    title,
    ...(index === 0 ? { body: "hello", actions: ["Reply"] } : {}),
  }))
  return it
}

/** The arguments with every `$Name` replaced by the ref of that element. */
export async function withRefs(it: Desk, args: Readonly<Record<string, unknown>>): Promise<object> {
  const entries = await Promise.all(
    Object.entries(args).map(async ([key, value]) => [
      key,
      typeof value === "string" && value.startsWith("$") ? await it.ref(value.slice(1)) : value,
    ]),
  )
  return Object.fromEntries(entries)
}
