import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProgress } from "../src/cli/terminal.ts"
import { outline } from "../src/look/outline.ts"
import type { Node } from "../src/node.ts"

/**
 * Shows the main job in one command: installs missing packages, builds, starts an isolated desktop with a real app,
 * and runs snapshot → act → snapshot there. If Chromium is installed, it also takes a picture of desktop-view, the page
 * on which a person can watch. docs/view.png is such a picture.
 */

const root = join(import.meta.dir, "..")
const bun = process.execPath
const program = join(root, "dist", "agent-desktop")
const picture = join(root, "dist", "demo.png")
const viewPicture = join(root, "dist", "view.png")
const chromiumPath = Bun.which("chromium") ?? Bun.which("google-chrome") ?? undefined
const state = mkdtempSync(join(tmpdir(), "agent-desktop-demo-"))
// A HOME of its own keeps the user's editor settings, such as a session to restore, out of the demo.
const home = join(state, "home")
const env = {
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_DATA_HOME: join(home, "data"),
  AGENT_DESKTOP_HOME: join(state, "state"),
  AGENT_DESKTOP_DESKTOP: "demo",
}
mkdirSync(home)

await prepare("Installing packages", [bun, "install", "--frozen-lockfile"])
await prepare("Installing the desktop's parts", [bun, "scripts/setup.ts", "--for", "demo"])
await prepare("Building", [bun, "build.ts"])

process.once("SIGINT", () => void stop().then(() => process.exit(130)))
try {
  await run("desktop-start", "--name", "demo", "--size", "1024x640")
  const view = chromiumPath ? await startView() : undefined
  await run("launch", "mousepad")
  const before = await run("snapshot", "--app", "mousepad", "-i", "--compact")
  const field = refOf(before.data.tree, "textfield")
  await run("type", field, "Hello from agent-desktop: Grüße ✓")
  const after = await run("snapshot", "--app", "mousepad", "-i", "--compact")
  const shown = textIn(after.data.tree, field)
  if (!shown?.includes("Hello from agent-desktop: Grüße ✓"))
    throw new Error(`The text did not arrive: ${shown}`)
  if (view && chromiumPath) await photographView(view.url, chromiumPath)
  await run("screenshot", picture)
  view?.end()
  console.log(`\nThe editor now holds: ${JSON.stringify(shown)}\nA picture of it: ${relative(picture)}`)
  if (view) console.log(`A picture of desktop-view: ${relative(viewPicture)}`)
} finally {
  await stop()
}

interface Envelope {
  readonly ok: boolean
  readonly data: { readonly tree: Node; readonly [member: string]: unknown }
}

async function prepare(title: string, command: readonly string[]): Promise<void> {
  const progress = startProgress(title)
  const child = Bun.spawn([...command], { cwd: root, stdout: "pipe", stderr: "pipe" })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const exitCode = await child.exited
  progress.end()
  if (exitCode === 0) return
  console.error(`${title} failed\n${output.join("")}`)
  process.exit(1)
}

async function run(...args: readonly string[]): Promise<Envelope> {
  console.log(`\n$ agent-desktop ${args.map(quoted).join(" ")}`)
  const child = Bun.spawn([program, ...args], { env, stdout: "pipe", stderr: "inherit" })
  const text = await new Response(child.stdout).text()
  const envelope = JSON.parse(text) as Envelope
  if (!envelope.ok) throw new Error(text)
  if (args[0] === "snapshot") console.log(outline(envelope.data.tree).trimEnd())
  else console.log(text.trim().replaceAll(`${root}/`, ""))
  return envelope
}

/** Serves the page of desktop-view until the demo ends. */
async function startView(): Promise<{ readonly url: string; end(): void }> {
  console.log("\n$ agent-desktop desktop-view demo")
  const child = Bun.spawn([program, "desktop-view", "demo"], { env, stdout: "pipe", stderr: "inherit" })
  for await (const chunk of child.stdout) {
    const line = new TextDecoder().decode(chunk)
    console.log(line.trim().replace(/(?<=\d\/)[\w-]{43}/, "TOKEN"))
    return { url: JSON.parse(line).data.url, end: () => child.kill() }
  }
  throw new Error("desktop-view printed no address")
}

async function photographView(url: string, executablePath: string): Promise<void> {
  const { chromium } = await import("playwright-core")
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []
  const browser = await chromium.launch({ executablePath, args })
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
  await page.goto(url)
  await page.locator("canvas[data-drawn]").waitFor()
  await page.locator("#lines li", { hasText: "Search" }).first().hover()
  await page.screenshot({ path: viewPicture })
  await browser.close()
}

async function stop(): Promise<void> {
  await Bun.spawn([program, "desktop-stop", "demo"], { env, stdout: "ignore", stderr: "ignore" }).exited
  rmSync(state, { recursive: true, force: true })
}

function refOf(tree: Node, role: string): string {
  const found = find(tree, (node) => node.role === role && node.ref_id !== undefined)
  if (!found?.ref_id) throw new Error(`There is no ${role} in the window`)
  return found.ref_id
}

function textIn(tree: Node, ref: string): string | undefined {
  return find(tree, (node) => node.ref_id === ref)?.value
}

function find(node: Node, fits: (node: Node) => boolean): Node | undefined {
  if (fits(node)) return node
  for (const child of node.children ?? []) {
    const found = find(child, fits)
    if (found) return found
  }
  return undefined
}

function relative(path: string): string {
  return path.replace(`${root}/`, "")
}

function quoted(arg: string): string {
  return /^[\w@./=-]+$/.test(arg) ? arg.replaceAll(`${root}/`, "") : `"${arg}"`
}
