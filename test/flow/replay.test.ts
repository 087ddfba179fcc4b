import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeOutput } from "../../src/door/output-file.ts"
import type { Door } from "../../src/door.ts"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { temporaryForFile } from "../support/temporary.ts"

const BOUNDS = { x: 10, y: 10, width: 80, height: 20 }
const directory = temporaryForFile()
afterAll(clearDesks)

/** A desk whose door opens another with the same refs, and the flow as a file. */
function flowDesk(flow: string, door: Partial<Door> = {}): { readonly file: string; readonly it: Desk } {
  const file = join(directory, `${Bun.hash(flow).toString(36)}.flow`)
  writeFileSync(file, flow)
  const it = desk({
    writeFile: writeOutput,
    env: (name) => (name === "FROM_ENV" ? "from the environment" : undefined),
    apart: async () => ({ platform: it.door.platform, refs: it.refs, close: async () => {} }),
    ...door,
  })
  it.world
    .app("Editor")
    .window("Note", [{ role: "button", name: "Save", states: ["enabled"], actions: ["Click"] }])
  return { file, it }
}

test("a flow runs line by line and reports the number of lines", async () => {
  const { file, it } = flowDesk("# looks only\nlist-windows\n\nexpect --window Note\nversion\n")
  expect(await it.ok("replay", { file })).toEqual({ file, lines: 3, elapsed_ms: expect.any(Number) })
})

test("a line waits for the app and the window that it names", async () => {
  const { file, it } = flowDesk("focus-window --app Mail --title Inbox\nversion\n")
  const done = it.ok("replay", { file })
  it.world.later(() => it.world.app("Mail").window("Inbox", []))
  await done
  expect(it.world.focused?.title).toBe("Inbox")
})

test("a line waits until an element takes the focus, and types once", async () => {
  const { file, it } = flowDesk("type 'textfield \"To\"' Ada --app Mail --input physical\n")
  const bounds = { x: 5, y: 5, width: 90, height: 20 }
  it.world
    .app("Mail")
    .window("Inbox", [{ role: "textfield", name: "To", value: "", states: ["enabled"], bounds }])
  it.world.refusesFocus = true
  const replayed = it.ok("replay", { file })
  while (it.world.calls.filter((call) => call === "window").length < 2) await Bun.sleep(1)
  it.world.refusesFocus = false
  await replayed
  expect(it.world.at("To").value).toBe("Ada")
})

test("a flow can come from standard input, and --set overrides the environment", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
  const flow = "clipboard-set ${FROM_ENV}"
  const { it } = flowDesk("", { stdin: async () => flow })
  await it.ok("replay", { file: "-" })
  expect(it.world.clipboard).toBe("from the environment")
  const other = flowDesk("", { stdin: async () => flow }).it
  await other.ok("replay", { file: "-", set: ["FROM_ENV=a=b"] })
  expect(other.world.clipboard).toBe("a=b")
})

describe("a line that fails", () => {
  test("ends the flow, and the error names the line and keeps the evidence", async () => {
    const report = join(directory, "report")
    const { file, it } = flowDesk(
      "version\nfocus-window --app Editor --title None --timeout-ms 50\nclipboard-set never\n",
    )
    const error = await it.error("replay", { file, report })
    expect(error).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message:
        "Line 2 failed: focus-window --app Editor --title None --timeout-ms 50: No window has the title 'None'",
      suggestion: "Use 'list-windows' to see available windows",
      details: { line: 2, report },
    })
    expect(readdirSync(report).toSorted()).toEqual(["error.json", "screen.png", "snapshot.txt"])
    expect(JSON.parse(readFileSync(join(report, "error.json"), "utf8"))).toMatchObject({
      message: error.message,
      details: { line: 2 },
    })
    expect(readFileSync(join(report, "snapshot.txt"), "utf8")).toContain('button "Save" [@e1]')
    expect(it.world.clipboard).toBeUndefined()
  })

  test("leaves no files behind under --read-only, unless --report names a place", async () => {
    const { file, it } = flowDesk("expect --window Nothing --timeout-ms 0\n", { readOnly: true })
    const { details } = await it.error("replay", { file })
    expect(details).not.toHaveProperty("report")
  })

  test("is a failure in the JUnit report, and the lines after it are skipped", async () => {
    const junit = join(directory, "report.xml")
    const { file, it } = flowDesk("version\nfocus-window --app '<&\">' --timeout-ms 0\nversion\n")
    await it.error("replay", { file, junit, report: join(directory, "other") })
    const xml = readFileSync(junit, "utf8")
    expect(xml).toContain('tests="3" failures="1" skipped="1"')
    expect(xml).toContain(`name="2: focus-window --app '`)
    expect(xml).toMatch(/<failure type="APP_NOT_FOUND" message="[^"<>]*&#60;&#38;&#34;&#62;/)
    expect(xml.match(/<skipped\/>/g)).toHaveLength(1)
  })
})

test.each([
  ["clik @e1", "Line 2: Unknown command 'clik'"],
  ["click @e1 --desktop other", "Line 2: Unknown option '--desktop'"],
  ["batch []", "Line 2: batch cannot be a line of a flow"],
  ["mcp", "Line 2: mcp cannot be a line of a flow"],
  ["replay -", "Line 2: replay cannot be a line of a flow"],
  ["expect", "Line 2: expect needs something to expect"],
  [
    "expect @e1 purple",
    "Line 2: expect takes a state: visible, enabled, checked, focused, expanded, selected, disabled, unchecked",
  ],
  ["expect --app Editor 'button \"Save\"' purple", "Line 2: MS (--ms) must be"],

  ["click --help", "Line 2: Unknown option '--help'"],
  ["desktop-view", "Line 2: desktop-view cannot be a line of a flow"],
  ["desktop-start", "Line 2: desktop-start cannot be a line of a flow"],
  ["desktop-stop --all", "Line 2: desktop-stop cannot be a line of a flow"],
  ["focus-window", "Line 2: Which window? An id, --app or --title is needed"],
  ["click @e1", "Line 2: @e1 means another element in the next run"],
  ["expect s1:e1 enabled", "Line 2: s1:e1 means another element in the next run"],
  ["drag --from 'button \"Save\"' --to @e2", "Line 2: @e2 means another element in the next run"],
  ["focus-window w-12", "Line 2: w-12 means another window in the next run"],
  ["click 'button \"Save\"' --snapshot s1", "Line 2: s1 means another snapshot in the next run"],
])("%j is refused before any line runs", async (line, message) => {
  const { file, it } = flowDesk(`clipboard-set before\n${line}\n`)
  const error = await it.error("replay", { file })
  expect(error.message).toStartWith(message)
  expect(error.details.line).toBe(2)
  expect(it.world.clipboard).toBeUndefined()
})

describe("expect", () => {
  const box: Spec = { role: "checkbox", name: "Wrap", states: ["enabled", "checked"], bounds: BOUNDS }
  const row: Spec = {
    role: "treeitem",
    name: "Row",
    states: ["enabled", "expanded", "selected"],
    bounds: BOUNDS,
  }
  const field: Spec = { role: "textfield", name: "City", states: ["enabled", "focused"], bounds: BOUNDS }
  const others: readonly Spec[] = [
    { role: "checkbox", name: "Off", states: ["enabled", "unchecked"], bounds: BOUNDS },
    { role: "treeitem", name: "Shut", states: ["enabled", "collapsed"], bounds: BOUNDS },
    { role: "option", name: "Free", states: ["enabled"], bounds: BOUNDS, actions: ["Select"] },
    { role: "button", name: "Grey", states: ["disabled"], bounds: BOUNDS },
  ]
  const held = [
    `'checkbox "Wrap"' visible`,
    `'checkbox "Wrap"' enabled`,
    `'checkbox "Wrap"' checked`,
    `'textfield "City"' focused`,
    `'treeitem "Row"' expanded`,
    `'treeitem "Row"' selected`,
    `'button "Grey"' disabled`,
    `'checkbox "Off"' unchecked`,
    `'treeitem "Shut"' collapsed`,
    `'option "Free"' unselected`,
    `'checkbox "Off"' --app Editor unchecked`,
    `--app Editor 'checkbox "Wrap"' checked`,
    `--app Editor 'checkbox "Off"' unchecked`,
    `'checkbox "Off"' --property unchecked`,
  ]
  const broken = [
    `'button "Grey"' enabled`,
    `'checkbox "Off"' checked`,
    `'checkbox "Wrap"' unchecked`,
    `'checkbox "Wrap"' disabled`,
    `'checkbox "Wrap"' focused`,
    `'treeitem "Shut"' expanded`,
    `'treeitem "Row"' collapsed`,
    `'treeitem "Row"' unselected`,
    // An element that knows no such state is neither.
    `'button "Save"' checked`,
    `'button "Save"' unchecked`,
    `'button "Save"' expanded`,
    `'button "Save"' collapsed`,
  ]

  test.each([
    ...held.map((words) => [words, true] as const),
    ...broken.map((words) => [words, false] as const),
  ])("%s: %p", async (words, isHeld) => {
    const { file, it } = flowDesk(`expect ${words} --timeout-ms 0\n`)
    for (const one of [box, row, field, ...others]) it.world.apps[0]!.windows[0]!.root.add(one)
    if (isHeld) expect(await it.ok("replay", { file })).toMatchObject({ lines: 1 })
    else
      expect(await it.error("replay", { file, report: join(directory, "states") })).toMatchObject({
        code: "TIMEOUT",
        details: { line: 1, kind: "state" },
      })
  })
})

describe("standard input", () => {
  test("is not there for a line if the flow itself came from it", async () => {
    const { it } = flowDesk("", { stdin: async () => "version\nclipboard-set -\n" })
    const error = await it.error("replay", { file: "-" })
    expect([error.code, error.message, error.details]).toEqual([
      "INVALID_ARGS",
      "Line 2: clipboard-set cannot read standard input here. The flow itself is standard input",
      { line: 2 },
    ])
    expect(it.world.clipboard).toBeUndefined()
  })

  test("is there for one line of a file", async () => {
    const two = flowDesk("clipboard-set -\nclipboard-set -\n", { stdin: async () => "text" })
    expect((await two.it.error("replay", { file: two.file })).message).toStartWith(
      "Line 2: clipboard-set cannot",
    )
    expect(two.it.world.clipboard).toBeUndefined()
    await two.it.ok("replay", { file: two.file, from: 2 })
    expect(two.it.world.clipboard).toBe("text")
  })
})

test("lines that --from leaves out need no values and are not checked", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a flow
  const { file, it } = flowDesk("launch ${MISSING}\nclik\nclipboard-set ${FROM_ENV}\n")
  expect((await it.error("replay", { file })).message).toBe("Line 1: The variable MISSING is not set")
  expect(await it.ok("replay", { file, from: 3 })).toMatchObject({ lines: 1 })
  expect(it.world.clipboard).toBe("from the environment")
})

test("a report that cannot be written fails the run, but not in place of a line that failed", async () => {
  const junit = join(directory, "no-such-directory", "report.xml")
  const good = flowDesk("version\n")
  expect(await good.it.error("replay", { file: good.file, junit })).toMatchObject({ code: "ACTION_FAILED" })
  const bad = flowDesk("expect --window Nothing --timeout-ms 0\n")
  const error = await bad.it.error("replay", { file: bad.file, junit, report: join(directory, "both") })
  expect(error).toMatchObject({
    code: "TIMEOUT",
    details: { line: 1, junit: `Cannot write '${junit}'` },
  })
})

test("--dry-run checks every line and runs none; --from leaves out the lines before it", async () => {
  const { file, it } = flowDesk("clipboard-set one\nversion\nclipboard-set three\n")
  expect(await it.ok("replay", { file, dry_run: true })).toEqual({ file, lines: 3 })
  expect(it.world.clipboard).toBeUndefined()
  expect(await it.ok("replay", { file, from: 2 })).toMatchObject({ lines: 2 })
  expect(it.world.clipboard).toBe("three")
})

test("a step that could not be recorded is listed by its line, and skipped in the JUnit report", async () => {
  const junit = join(directory, "holes.xml")
  const hole = '# Not recorded: click button "Delete", because a <reason>'
  const { file, it } = flowDesk(`# a note\nversion\n${hole}\nversion # Not recorded: this is a note\n`)
  expect(await it.ok("replay", { file, dry_run: true })).toEqual({ file, lines: 2, not_recorded: [3] })
  expect(await it.ok("replay", { file, junit })).toMatchObject({ lines: 2, not_recorded: [3] })
  const xml = readFileSync(junit, "utf8")
  expect(xml).toContain('tests="3" failures="0" skipped="1"')
  expect(xml).toMatch(
    /name="2: version".*\n.*name="3: # Not recorded: click .*&#60;reason&#62;">\n +<skipped message="Only a comment"\/>\n.*\n.*name="4: version/,
  )
  expect(await it.ok("replay", { file, from: 4 })).not.toHaveProperty("not_recorded")
})

test.each(["launch mousepad -- --new", "launch mousepad --new=yes", "launch mousepad notes.txt"])(
  "%s is refused with the way to pass an argument to the app",
  async (line) => {
    const { file, it } = flowDesk(`${line}\n`)
    expect(await it.error("replay", { file, dry_run: true })).toMatchObject({
      code: "INVALID_ARGS",
      suggestion: "Pass each argument of the app as --arg=ARG; see 'agent-desktop help launch'",
      details: { line: 1 },
    })
  },
)

test("a notification that an earlier line caused is new to a later one", async () => {
  const { file, it } = flowDesk("click 'button \"Save\"'\nexpect --notification --text Sent --timeout-ms 0\n")
  it.world.notifications = [{ id: "1", index: 0, app_name: "Mail", title: "Old" }]
  it.world.at("Save").does = () => {
    it.world.notifications.unshift({ id: "2", index: 0, app_name: "Mail", title: "Sent" })
  }
  expect(await it.ok("replay", { file })).toMatchObject({ lines: 2 })
})

test("commands that may not act elsewhere may not act in a flow", async () => {
  const { file, it } = flowDesk("version\nclipboard-set text\n", { readOnly: true })
  expect(await it.error("replay", { file })).toMatchObject({ code: "POLICY_DENIED", details: { line: 2 } })
})

test.each([
  ["# only a comment\n", {}, "has no command"],
  ["version\n", { from: 2 }, "has no command at line 2 or later"],
])("a flow that runs nothing does not pass: %j", async (flow, args, message) => {
  const { file, it } = flowDesk(flow)
  const error = await it.error("replay", { file, ...args })
  expect(error.code).toBe("INVALID_ARGS")
  expect(error.message).toContain(message)
})
