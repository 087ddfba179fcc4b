/**
 * The main job on a real Mac, against Apple's own applications:
 *
 *   bun scripts/macos-check.ts BINARY
 *
 * Needs Accessibility. What agent-desktop claims is checked with osascript. Written without a Mac; not yet run.
 */

const binary = Bun.argv[2] ?? "dist/agent-desktop"

interface Node {
  readonly role: string
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Node[]
}

const checks: Readonly<Record<string, () => void>> = {
  "every native symbol is there": () => void desktop("doctor", "--ffi"),
  "typed text is in TextEdit's document": () => {
    osascript('tell application "TextEdit" to make new document')
    desktop("launch", "TextEdit")
    const field = nodesOf("TextEdit").find(({ role }) => role === "textfield")
    desktop("type", refOf(field, "a text field in TextEdit"), "Grüße ✓")
    expectEqual(osascript('tell application "TextEdit" to get text of front document'), "Grüße ✓")
  },
  "Calculator adds": () => {
    desktop("launch", "Calculator")
    for (const key of ["7", "+", "5", "return"]) desktop("press", key, "--app", "Calculator")
    const texts = JSON.stringify(desktop("snapshot", "--app", "Calculator"))
    if (!texts.includes("12")) throw new Error("There is no 12 in Calculator")
  },
  "Finder's windows are seen, and one moves": () => {
    osascript('tell application "Finder" to open home')
    const [window] = desktop("list-windows", "--app", "Finder").windows
    if (!window) throw new Error("Finder has no window")
    desktop("move-window", window.id, "120", "140")
    expectEqual(osascript('tell application "Finder" to get position of front window').split(", ")[0], "120")
  },
}

let failed = 0
for (const [title, check] of Object.entries(checks)) {
  try {
    check()
    console.log(`✓ ${title}`)
  } catch (error) {
    failed++
    console.log(`✗ ${title}\n  ${error instanceof Error ? error.message : error}`)
  }
}
process.exitCode = failed > 0 ? 1 : 0

/** The answer's data; a failure is thrown with the whole answer. */
function desktop(...args: readonly string[]) {
  const text = succeed([binary, ...args])
  const answer = JSON.parse(text)
  if (!answer.ok) throw new Error(text)
  return answer.data
}

function nodesOf(app: string): readonly Node[] {
  const flatten = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(flatten)]
  return flatten(desktop("snapshot", "--app", app, "-i").tree)
}

function refOf(node: Node | undefined, what: string): string {
  if (!node?.ref_id) throw new Error(`There is no ${what}`)
  return node.ref_id
}

const osascript = (script: string): string => succeed(["osascript", "-e", script]).trim()

function succeed(command: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { timeout: 60_000 })
  if (exitCode === 0) return stdout.toString()
  throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stdout}${stderr}`)
}

function expectEqual(actual: string | undefined, expected: string): void {
  if (actual !== expected) throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
