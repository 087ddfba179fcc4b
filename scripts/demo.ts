import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProgress } from "../src/cli/terminal.ts"

/**
 * Shows the main job in one command: installs missing packages, builds, starts an isolated desktop with a real app, and
 * lets agent-desktop write a text and replace a word of it there. If Chromium is installed, it also takes a picture of
 * desktop-view, the page on which a person can watch. docs/view.png is such a picture.
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
  // The names of the menu and of the dialog below are English.
  LC_ALL: "C.UTF-8",
  LANGUAGE: "en",
  AGENT_DESKTOP_HOME: join(state, "state"),
  AGENT_DESKTOP_DESKTOP: "demo",
  AGENT_DESKTOP_FORMAT: "text",
}
mkdirSync(home)

await prepare("Installing packages", [bun, "install", "--frozen-lockfile"])
await prepare("Installing the desktop's parts", [bun, "scripts/setup.ts", "--for", "demo"])
await prepare("Building", [bun, "build.ts"])

process.once("SIGINT", () => void stop().then(() => process.exit(130)))
try {
  console.log("\nagent-desktop works in an editor on an isolated desktop. Your own session is not touched.")
  await run("desktop-start", "--name", "demo", "--size", "1024x640")
  const view = chromiumPath ? await startView() : undefined
  await run("launch", "mousepad")
  const field = /textfield \[(@e\d+)\]/.exec(
    await run("snapshot", "--app", "mousepad", "-i", "--compact"),
  )?.[1]
  if (!field) throw new Error("The editor shows no text field")
  await run("type", field, "Dear World, this is agent-desktop: Grüße ✓")
  await run("menu", "Search > Find and Replace…", "--changes")
  await run("set-value", 'combobox "Search for:"', "World")
  await run("set-value", 'combobox "Replace with:"', "reader")
  await run("check", 'checkbox "Replace all in:"', "--changes")
  if (view && chromiumPath) await photographView(view.url, chromiumPath)
  await run("screenshot", picture)
  await run("click", 'button "Replace All"')
  await run("click", 'button "Close"', "--changes")
  const shown = await run("get", "textfield", "value")
  view?.end()
  if (!shown.includes("Dear reader, this is agent-desktop: Grüße ✓"))
    throw new Error(`The editor holds another text: ${shown}`)
  console.log("\nThe editor itself reports the new text, so every step had its effect.")
  console.log(`A picture of the dialog: ${relative(picture)}`)
  if (view) console.log(`A picture of the page on which a person can watch: ${relative(viewPicture)}`)
  console.log("Next: docs/getting-started.md")
} finally {
  await stop()
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

/** Prints a command and its answer, and returns the answer. */
async function run(...args: readonly string[]): Promise<string> {
  console.log(`\n$ agent-desktop ${args.map(quoted).join(" ")}`)
  const child = Bun.spawn([program, ...args], { env, stdout: "pipe", stderr: "inherit" })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(text)
  console.log(text.trim().replaceAll(`${root}/`, ""))
  return text
}

/** Serves the page of desktop-view until the demo ends. */
async function startView(): Promise<{ readonly url: string; end(): void }> {
  console.log("\n$ agent-desktop desktop-view demo")
  const child = Bun.spawn([program, "desktop-view", "demo"], { env, stdout: "pipe", stderr: "inherit" })
  for await (const chunk of child.stdout) {
    const text = new TextDecoder().decode(chunk)
    const url = /http:\S+/.exec(text)?.[0]
    if (!url) throw new Error(text)
    console.log(text.trim().replace(/(?<=\d\/)[\w-]{43}/, "TOKEN"))
    return { url, end: () => child.kill() }
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
  await page
    .locator("#lines li", { hasText: /button.*Replace All/ })
    .first()
    .hover()
  await page.screenshot({ path: viewPicture })
  await browser.close()
}

async function stop(): Promise<void> {
  await Bun.spawn([program, "desktop-stop", "demo"], { env, stdout: "ignore", stderr: "ignore" }).exited
  rmSync(state, { recursive: true, force: true })
}

function relative(path: string): string {
  return path.replace(`${root}/`, "")
}

function quoted(arg: string): string {
  if (/^[\w@./=-]+$/.test(arg)) return arg.replaceAll(`${root}/`, "")
  return arg.includes('"') ? `'${arg}'` : `"${arg}"`
}
