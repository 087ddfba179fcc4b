import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import { AppError } from "../../errors.ts"
import { EXTENSION_VERSION } from "./gnome.ts"
import script from "./gnome-43.txt" with { type: "text" }
import module from "./gnome-45.txt" with { type: "text" }
import service from "./gnome-service.txt" with { type: "text" }

/** The optional GNOME Shell extension, which reports window positions. It is installed only if the user asks for it. */

const UUID = "windows@agent-desktop"

/** Returns what the user has to do next. */
export async function installExtension(env: Env): Promise<string> {
  const directory = extensionDirectory(env)
  const version = await shellVersion()
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  writeFileSync(`${directory}/metadata.json`, metadata(version))
  writeFileSync(`${directory}/extension.js`, (version >= MODULES ? module : script) + service)
  const isEnabled = await setEnabled(env, true)
  return isEnabled
    ? `installed for GNOME ${version}; log out and in again, then run 'doctor'`
    : `installed for GNOME ${version}; log out and in again, then run: gnome-extensions enable ${UUID}`
}

export async function removeExtension(env: Env): Promise<string> {
  await setEnabled(env, false)
  rmSync(extensionDirectory(env), { recursive: true, force: true })
  return "removed; GNOME Shell forgets it when you log out"
}

function extensionDirectory(env: Env): string {
  const data = env.XDG_DATA_HOME?.startsWith("/") ? env.XDG_DATA_HOME : `${env.HOME}/.local/share`
  return `${data}/gnome-shell/extensions/${UUID}`
}

async function shellVersion(): Promise<number> {
  const child = Bun.spawn(["gnome-shell", "--version"], { stdout: "pipe", stderr: "ignore" })
  const major = Number(/(\d+)/.exec(await new Response(child.stdout).text())?.[1])
  if (major >= OLDEST) return major
  throw new AppError("PLATFORM_NOT_SUPPORTED", `This is not GNOME Shell ${OLDEST} or later`, {
    suggestion:
      "Use commands that work by accessibility, or an isolated desktop: agent-desktop desktop-start",
  })
}

/** Enables or disables it in the user's settings. False: the settings tool is missing or fails. */
async function setEnabled(env: Env, isOn: boolean): Promise<boolean> {
  const run = async (...args: readonly string[]): Promise<string | undefined> => {
    const child = Bun.spawn(["gsettings", ...args], { env, stdout: "pipe", stderr: "ignore" })
    const text = await new Response(child.stdout).text()
    return (await child.exited) === 0 ? text.trim() : undefined
  }
  if (!Bun.which("gsettings", { PATH: env.PATH })) return false
  const now = await run("get", SCHEMA, "enabled-extensions")
  if (now === undefined) return false
  const others = [...now.matchAll(/'([^']*)'/g)].flatMap(([, name = ""]) => (name === UUID ? [] : name))
  const list = [...others, ...(isOn ? [UUID] : [])].map((name) => `'${name}'`).join(", ")
  const value = list === "" ? "@as []" : `[${list}]`
  return (await run("set", SCHEMA, "enabled-extensions", value)) !== undefined
}

const metadata = (version: number): string =>
  `${JSON.stringify(
    {
      uuid: UUID,
      name: "Windows for agent-desktop",
      description: "Tells agent-desktop where windows are, and lets it focus, move and resize them.",
      "shell-version": [String(version)],
      version: Number(EXTENSION_VERSION),
    },
    undefined,
    2,
  )}\n`

const SCHEMA = "org.gnome.shell"
const OLDEST = 43
/** Extensions are modules since this version. */
const MODULES = 45
