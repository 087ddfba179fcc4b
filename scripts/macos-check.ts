import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Tests the main commands on a real Mac, against Apple's own applications:
 *
 *   bun scripts/macos-check.ts BINARY [WORDS]
 *
 * With WORDS, runs only the checks whose title contains them. Needs Accessibility and Screen Recording. macOS asks
 * once whether Finder may be controlled. Independent programs judge the results: the saved file, pbpaste,
 * sips, Finder itself. Written without a Mac, and not yet run.
 */

const [binary = "dist/agent-desktop", words = ""] = Bun.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), "agent-desktop-check-"))
const TEXT = "Grüße ✓ 👋\nzweite Zeile"
const PATIENCE_MS = 10_000

interface Node {
  readonly role: string
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Node[]
}

interface Window {
  readonly id: string
  readonly title: string
  readonly bounds: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
}

/** The checks in order: each needs the ones above it. A check returns a line to print, or undefined. */
const checks: Readonly<Record<string, () => string | undefined>> = {
  "agent-desktop starts": () => JSON.stringify(desktop("version")),
  "every native symbol exists": () => {
    const { checks: found } = answer("doctor", "--ffi").data
    const said = found.map(({ name, ok, detail = "" }: Finding) => `${ok ? "✓" : "✗"} ${name}: ${detail}`)
    const missing = found.filter(({ name, ok }: Finding) => name.startsWith("symbols of") && !ok)
    if (missing.length > 0) throw new Error(said.join("\n  "))
    return said.join("\n  ")
  },
  "Accessibility and Screen Recording are granted": () => {
    const permissions = desktop("permissions")
    if (!permissions.granted || permissions.screen_recording.state !== "granted")
      throw new Error(JSON.stringify(permissions, null, 2))
    return undefined
  },
  "apps and windows are listed": () => {
    const { apps } = desktop("list-apps")
    if (!apps.some(({ bundle_id }: { bundle_id?: string }) => bundle_id === "com.apple.finder"))
      throw new Error(`There is no Finder: ${JSON.stringify(apps)}`)
    return `${apps.length} apps, ${desktop("list-windows").windows.length} windows, ${JSON.stringify(
      desktop("list-displays").displays,
    )}`
  },
  "text typed into TextEdit and saved is in the file": () => {
    const window = textEdit()
    const field = nodesIn(window.id).find(({ role }) => role === "textfield")
    desktop("type", refOf(field, "a text field in TextEdit"), TEXT)
    desktop("press", "cmd+s", "--app", "TextEdit")
    eventually(() => expectEqual(readFileSync(join(folder, NOTE), "utf8"), TEXT))
    return undefined
  },
  "text typed by synthesised keys is the same": () => {
    const window = textEdit()
    const field = refOf(
      nodesIn(window.id).find(({ role }) => role === "textfield"),
      "a text field",
    )
    desktop("clear", field)
    desktop("type", field, TEXT, "--input", "physical")
    desktop("press", "cmd+s", "--app", "TextEdit")
    eventually(() => expectEqual(readFileSync(join(folder, NOTE), "utf8"), TEXT))
    return undefined
  },
  "the menu bar can be read, and one of its menus opens": () => {
    const window = textEdit()
    const bar = desktop("snapshot", "--window-id", window.id, "--surface", "menubar").tree
    const edit = flatten(bar).find(({ name }) => name === "Edit" || name === "Bearbeiten")
    desktop("click", refOf(edit, "a menu Edit"))
    const menu = flatten(desktop("snapshot", "--app", "TextEdit", "--surface", "menu").tree)
    desktop("press", "escape")
    return `${menu.length} items`
  },
  "Calculator adds, judged by the result that it copies": () => {
    desktop("launch", "Calculator")
    for (const key of ["escape", "escape", "7", "+", "5", "return", "cmd+c"])
      desktop("press", key, "--app", "Calculator")
    eventually(() => expectEqual(succeed(["pbpaste"]).trim(), "12"))
    return undefined
  },
  "the clipboard is the same as that of pbpaste": () => {
    desktop("clipboard-set", TEXT)
    expectEqual(succeed(["pbpaste"]), TEXT)
    expectEqual(desktop("clipboard-get").text, TEXT)
    return undefined
  },
  "a Finder window can be moved, maximised and restored": () => {
    osascript('tell application "Finder" to open home')
    const window = eventually(() => {
      const [first] = desktop("list-windows", "--app", "Finder").windows
      if (!first) throw new Error("Finder has no window")
      return first as Window
    })
    desktop("focus-window", window.id)
    const moved = desktop("move-window", window.id, "120", "140").window
    expectEqual(osascript('tell application "Finder" to get position of front window').split(", ")[0], "120")
    const large = desktop("maximize", window.id).window
    const back = desktop("restore", window.id).window
    expectEqual(JSON.stringify(back.bounds), JSON.stringify(moved.bounds))
    return `maximised ${JSON.stringify(large.bounds)}`
  },
  "a screenshot of a window has the size that sips reports": () => {
    const window = textEdit()
    const path = join(folder, "window.png")
    const { width, height } = desktop("screenshot", path, "--window-id", window.id)
    const said = succeed(["sips", "-g", "pixelWidth", "-g", "pixelHeight", path])
    if (!said.includes(`pixelWidth: ${width}`) || !said.includes(`pixelHeight: ${height}`))
      throw new Error(`${width}x${height} instead of ${said}`)
    return `${width}x${height} for ${JSON.stringify(window.bounds)}`
  },
}

interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string
}

const NOTE = "agent-desktop-check.txt"

let failed = 0
for (const [title, check] of Object.entries(checks).filter(([title]) => title.includes(words))) {
  try {
    const told = check()
    console.log(`✓ ${title}${told ? `\n  ${told}` : ""}`)
  } catch (error) {
    failed++
    console.log(`✗ ${title}\n  ${error instanceof Error ? error.message : error}`)
  }
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = failed > 0 ? 1 : 0

/** Opens an empty file in TextEdit, so that it does not ask for a file to open or a place to save. */
function textEdit(): Window {
  writeFileSync(join(folder, NOTE), "")
  succeed(["open", "-a", "TextEdit", join(folder, NOTE)])
  return eventually(() => {
    const windows: readonly Window[] = desktop("list-windows", "--app", "TextEdit").windows
    const own = windows.find(({ title }) => title.startsWith("agent-desktop-check"))
    if (!own) throw new Error(`TextEdit shows ${JSON.stringify(windows.map(({ title }) => title))}`)
    return own
  })
}

/** Runs a command and returns its data. Throws the whole answer if it failed. */
function desktop(...args: readonly string[]) {
  const said = answer(...args)
  if (!said.ok) throw new Error(`${args.join(" ")}: ${JSON.stringify(said)}`)
  return said.data
}

function answer(...args: readonly string[]) {
  const { stdout, stderr } = Bun.spawnSync([binary, ...args], { timeout: 60_000 })
  if (stdout.length === 0) throw new Error(`${args.join(" ")} printed nothing: ${stderr}`)
  return JSON.parse(stdout.toString())
}

function flatten(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(flatten)]
}

function nodesIn(window: string): readonly Node[] {
  return flatten(desktop("snapshot", "--window-id", window, "-i").tree)
}

function refOf(node: Node | undefined, what: string): string {
  if (!node?.ref_id) throw new Error(`There is no ${what}`)
  return node.ref_id
}

/** Repeats an attempt until it does not throw, or the time is up. */
function eventually<T>(attempt: () => T): T {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (performance.now() > end) throw error
      Bun.sleepSync(100)
    }
  }
}

function osascript(script: string): string {
  return succeed(["osascript", "-e", script]).trim()
}

function succeed(command: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { timeout: 60_000 })
  if (exitCode === 0) return stdout.toString()
  throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stdout}${stderr}`)
}

function expectEqual(actual: string | undefined, expected: string): void {
  if (actual !== expected) throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
