import { afterAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { AppError } from "../src/errors.ts"
import { clearDesks, desk } from "./support/fake-desk.ts"
import type { Spec } from "./support/fake-world.ts"
import type { Json } from "./support/json.ts"

afterAll(clearDesks)

/** Compares with the documented examples character by character, after removing the members added since. */

const OURS = ["element", "snapshot_id", "complete", "method", "disposition"]

function documented(envelope: Json): string {
  return JSON.stringify(envelope, (key, value) => (OURS.includes(key) ? undefined : value))
}

/** A world with one app that has one window. */
function showing(app: string, title: string, id: string, children: readonly Spec[], pid = 1234) {
  const it = desk()
  const running = it.world.app(app, { pid })
  const window = running.window(title, children, { id })
  return { ...it, running, window }
}

test("a snapshot of a window has the documented bytes", async () => {
  const { run } = showing("Finder", "Documents", "w-4521", [
    { role: "button", name: "New Folder", states: ["enabled"] },
    { role: "textfield", name: "Search", value: "" },
  ])
  expect(documented(await run("snapshot", { app: "Finder", interactive_only: true }))).toBe(
    '{"version":"1.0","ok":true,"command":"snapshot","data":{"app":"Finder","window":{"id":"w-4521","title":"Documents"},' +
      '"ref_count":2,"tree":{"role":"window","name":"Documents","children":[' +
      '{"ref_id":"@e1","role":"button","name":"New Folder","states":["enabled"]},' +
      '{"ref_id":"@e2","role":"textfield","name":"Search","value":""}]}}}',
  )
})

test("a snapshot lists several states of an element in the documented order", async () => {
  const { run } = showing("Finder", "Documents", "w-4521", [
    { role: "button", name: "Back", states: ["enabled"] },
    { role: "textfield", name: "Search", value: "", states: ["enabled"] },
    { role: "button", name: "List View", states: ["enabled", "checked"] },
  ])
  expect(documented((await run("snapshot", { app: "Finder", interactive_only: true })).data.tree)).toBe(
    '{"role":"window","name":"Documents","children":[' +
      '{"ref_id":"@e1","role":"button","name":"Back","states":["enabled"]},' +
      '{"ref_id":"@e2","role":"textfield","name":"Search","value":"","states":["enabled"]},' +
      '{"ref_id":"@e3","role":"button","name":"List View","states":["enabled","checked"]}]}',
  )
})

test("a snapshot with bounds has the documented bytes", async () => {
  const { run, window } = showing("System Settings", "General", "w-8892", [
    {
      role: "checkbox",
      name: "Show scroll bars",
      states: ["enabled", "checked"],
      bounds: { x: 150, y: 300, width: 200, height: 20 },
    },
  ])
  window.root.bounds = { x: 100, y: 200, width: 800, height: 600 }
  expect(documented(await run("snapshot", { app: "System Settings", include_bounds: true }))).toBe(
    '{"version":"1.0","ok":true,"command":"snapshot","data":{"app":"System Settings","window":{"id":"w-8892","title":"General"},' +
      '"ref_count":1,"tree":{"role":"window","name":"General","bounds":{"x":100,"y":200,"width":800,"height":600},"children":[' +
      '{"ref_id":"@e1","role":"checkbox","name":"Show scroll bars","states":["enabled","checked"],' +
      '"bounds":{"x":150,"y":300,"width":200,"height":20}}]}}}',
  )
})

test("a snapshot of an open menu names its surface as documented", async () => {
  const { run, running } = showing("TextEdit", "Untitled", "w-1", [])
  const item = (name: string): Spec => ({ role: "menuitem", name, states: ["enabled"] })
  running.show("menu", { role: "menu", name: "File", children: ["New", "Open…", "Save"].map(item) })
  expect(documented(await run("snapshot", { surface: "menu", app: "TextEdit" }))).toBe(
    '{"version":"1.0","ok":true,"command":"snapshot","data":{"app":"TextEdit","window":{"id":"menu-1","title":"File"},' +
      '"ref_count":3,"tree":{"role":"menu","name":"File","children":[' +
      '{"ref_id":"@e1","role":"menuitem","name":"New","states":["enabled"]},' +
      '{"ref_id":"@e2","role":"menuitem","name":"Open…","states":["enabled"]},' +
      '{"ref_id":"@e3","role":"menuitem","name":"Save","states":["enabled"]}]}}}',
  )
})

test("refs are numbered depth first, across structure that gets none", async () => {
  const { run } = showing("TextEdit", "", "w-1", [
    { role: "button", name: "Close" },
    { role: "button", name: "Minimize" },
    {
      role: "group",
      children: [
        { role: "button", name: "Bold" },
        { role: "button", name: "Italic" },
      ],
    },
    { role: "textfield", value: "" },
  ])
  expect(documented((await run("snapshot", { app: "TextEdit", interactive_only: true })).data.tree)).toBe(
    '{"role":"window","children":[{"ref_id":"@e1","role":"button","name":"Close"},' +
      '{"ref_id":"@e2","role":"button","name":"Minimize"},' +
      '{"role":"group","children":[{"ref_id":"@e3","role":"button","name":"Bold"},{"ref_id":"@e4","role":"button","name":"Italic"}]},' +
      '{"ref_id":"@e5","role":"textfield","value":""}]}',
  )
})

test("labels stay as context; the value of a secure field is hidden", async () => {
  const { run, running } = showing("Safari", "Login", "w-1", [])
  running.show("sheet", {
    role: "group",
    name: "Login Form",
    children: [
      { role: "statictext", value: "Username:" },
      { role: "textfield", name: "Username", value: "" },
      { role: "statictext", value: "Password:" },
      { role: "textfield", name: "Password", value: "", states: ["secure"] },
      { role: "button", name: "Log In" },
    ],
  })
  expect(documented((await run("snapshot", { surface: "sheet" })).data.tree)).toBe(
    '{"role":"group","name":"Login Form","children":[{"role":"statictext","value":"Username:"},' +
      '{"ref_id":"@e1","role":"textfield","name":"Username","value":""},{"role":"statictext","value":"Password:"},' +
      '{"ref_id":"@e2","role":"textfield","name":"Password","states":["secure"]},' +
      '{"ref_id":"@e3","role":"button","name":"Log In"}]}',
  )
})

test("a node has its members in the documented order, whether it has few or all of them", async () => {
  const { run, window } = showing("TextEdit", "Untitled", "w-1", [
    { role: "button" },
    {
      role: "button",
      name: "Save Document",
      description: "Saves the current file",
      hint: "Cmd+S",
      states: ["enabled", "focused"],
      bounds: { x: 20, y: 80, width: 100, height: 32 },
    },
  ])
  window.root.bounds = undefined
  expect(documented((await run("snapshot", { include_bounds: true })).data.tree.children)).toBe(
    '[{"ref_id":"@e1","role":"button"},' +
      '{"ref_id":"@e2","role":"button","name":"Save Document","description":"Saves the current file","hint":"Cmd+S",' +
      '"states":["enabled","focused"],"bounds":{"x":20,"y":80,"width":100,"height":32}}]',
  )
})

test("the result of an action has the documented bytes", async () => {
  const { run } = showing("Finder", "Documents", "w-1", [
    { role: "button", name: "a", states: ["enabled"] },
    { role: "button", name: "b", states: ["enabled"] },
    {
      role: "button",
      name: "c",
      states: ["enabled"],
      does: (it) => it.set({ states: ["enabled", "focused"] }),
    },
  ])
  await run("snapshot")
  expect(documented(await run("click", { ref_id: "@e3" }))).toBe(
    '{"version":"1.0","ok":true,"command":"click","data":{"action":"click","ref_id":"@e3",' +
      '"post_state":{"role":"button","states":["enabled","focused"]}}}',
  )
})

test("list-windows and list-apps have the documented bytes", async () => {
  const it = desk()
  const finder = it.world.app("Finder", { pid: 1234, bundleId: "com.apple.finder" })
  finder.window("Documents", [], { id: "w-4521", bounds: { x: 100, y: 100, width: 800, height: 600 } })
  expect(documented(await it.run("list-windows"))).toBe(
    '{"version":"1.0","ok":true,"command":"list-windows","data":{"windows":[{"id":"w-4521","title":"Documents",' +
      '"app_name":"Finder","pid":1234,"bounds":{"x":100,"y":100,"width":800,"height":600},"is_focused":true}]}}',
  )
  expect(documented(await it.run("list-apps"))).toBe(
    '{"version":"1.0","ok":true,"command":"list-apps","data":{"apps":[{"name":"Finder","pid":1234,"bundle_id":"com.apple.finder"}]}}',
  )
})

test("clipboard-get and screenshot have the documented bytes", async () => {
  const it = desk()
  it.world.clipboard = "Hello world"
  expect(documented(await it.run("clipboard-get"))).toBe(
    '{"version":"1.0","ok":true,"command":"clipboard-get","data":{"text":"Hello world"}}',
  )
  expect(documented(await it.run("screenshot"))).toBe(
    '{"version":"1.0","ok":true,"command":"screenshot","data":{"format":"png","base64":"iVBORw==","width":1920,"height":1080}}',
  )
})

test("a ref that is not in the map returns the documented STALE_REF", async () => {
  const { run } = showing("Finder", "Documents", "w-1", [])
  expect(documented(await run("click", { ref_id: "@e7" }))).toBe(
    '{"version":"1.0","ok":false,"command":"click","error":{"code":"STALE_REF","message":"@e7 not found in current RefMap",' +
      '"suggestion":"Run \'snapshot\' to refresh, then retry with updated ref"}}',
  )
})

test("a missing app, window or permission returns the documented error", async () => {
  const { run, world } = showing("Finder", "Documents", "w-1", [])
  const errorOf = async (args: object) => (await run("snapshot", args)).error
  expect(await errorOf({ app: "InvalidApp" })).toMatchObject({
    code: "APP_NOT_FOUND",
    message: "No windows found for app 'InvalidApp'",
  })
  expect(documented(await run("snapshot", { window_id: "w-99999" }))).toBe(
    '{"version":"1.0","ok":false,"command":"snapshot","error":{"code":"WINDOW_NOT_FOUND","message":"Window \'w-99999\' not found",' +
      '"suggestion":"Use \'list-windows\' to see available windows"}}',
  )
  const suggestion = "Open System Settings > Privacy & Security > Accessibility and add your terminal"
  world.fail("windows", new AppError("PERM_DENIED", "Accessibility permission not granted", { suggestion }))
  expect(documented(await run("snapshot"))).toBe(
    '{"version":"1.0","ok":false,"command":"snapshot","error":{"code":"PERM_DENIED","message":"Accessibility permission not granted",' +
      '"suggestion":"Open System Settings > Privacy & Security > Accessibility and add your terminal"}}',
  )
})

test("an action that the element does not support returns the documented error", async () => {
  const { run, world } = showing("Finder", "Documents", "w-1", [
    { role: "statictext", name: "x", actions: ["Click"] },
  ])
  await run("snapshot")
  expect((await run("toggle", { ref_id: "@e1" })).error).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    message: "Toggle action not supported by statictext elements",
  })
  expect(world.deliveries).toEqual([])
})

test("is enabled returns the documented bytes", async () => {
  const { run } = showing("Finder", "Documents", "w-1", [{ role: "button", name: "x", states: ["enabled"] }])
  await run("snapshot")
  expect((await run("get", { ref_id: "@e1", property: "enabled" })).data.value).toBe("true")
})

test("the ref map file has the documented bytes", async () => {
  const { run, root } = showing("TextEdit", "Untitled", "w-1", [
    {
      role: "button",
      name: "Save",
      states: ["enabled"],
      bounds: { x: 100, y: 50, width: 80, height: 30 },
      actions: ["Click"],
    },
  ])
  await run("snapshot")
  const text = readFileSync(`${root}/last_refmap.json`, "utf8")
  expect(text).toStartWith(
    '{"inner":{"@e1":{"pid":1234,"role":"button","name":"Save","value":null,"states":["enabled"],' +
      '"bounds":{"x":100,"y":50,"width":80,"height":30},"bounds_hash":7255865167679474841,' +
      '"available_actions":["Click"],"source_app":"TextEdit"',
  )
  expect(text).toContain('}},"counter":1')
})

test("a batch that stops at an error returns the documented results", async () => {
  const { run, world } = showing("Finder", "Documents", "w-1", [
    { role: "button", name: "a" },
    { role: "button", name: "b" },
    { role: "button", name: "c" },
    { role: "button", name: "d" },
    { role: "textfield", name: "e", value: "" },
  ])
  await run("snapshot")
  const commands = `[
    {"command": "click", "args": {"ref_id": "@e2"}},
    {"command": "type", "args": {"ref_id": "@e5", "text": "hello"}},
    {"command": "press", "args": {"combo": "return"}}
  ]`
  const { ok, data } = await run("batch", { commands, stop_on_error: true })
  expect([ok, ...data.results.map((one: Json) => one.ok)]).toEqual([true, true, true, true])
  expect(world.at("e").value).toBe("hello")
  expect(world.sent("b")).toEqual(["semantic click"])
  expect(world.keys).toEqual(["return"])
})
