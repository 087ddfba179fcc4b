import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import type { Env } from "../../adapter.ts"

/** An app as its desktop file describes it (freedesktop.org Desktop Entry 1.5). */
export interface DesktopEntry {
  /** The desktop-file id without `.desktop`. */
  readonly id: string
  readonly path: string
  /** `Name`, then its translation for the user. */
  readonly names: readonly string[]
  /** The command line, field codes not expanded. */
  readonly command: readonly string[]
  readonly icon?: string
  readonly workingDirectory?: string
  readonly wmClass?: string
  readonly terminal: boolean
  /** Shown in the menus of this desktop. Other entries can still be named by id. */
  readonly shown: boolean
}

/** Every installed app by id. The first directory that has an id wins. */
export function allEntries(env: Env): ReadonlyMap<string, DesktopEntry> {
  const directories = applicationDirectories(env)
  // An app that is installed while we run changes the time of the directory.
  const key = directories
    .map((path) => `${path} ${statSync(path, { throwIfNoEntry: false })?.mtimeMs}`)
    .join(":")
  if (found?.key === key) return found.entries
  const entries = new Map<string, DesktopEntry | undefined>()
  for (const directory of directories) {
    for (const file of listFiles(directory)) {
      const id = idOf(file)
      // A file of the user with Hidden=true also hides the system's file of the same id.
      if (!entries.has(id)) entries.set(id, readEntry(`${directory}/${file}`, id, env))
    }
  }
  const installed = new Map([...entries].flatMap(([id, entry]) => (entry ? [[id, entry] as const] : [])))
  found = { key, entries: installed }
  return installed
}

/** The app of exactly this id. Tries a few paths and lists no directory. */
export function entryById(id: string, env: Env): DesktopEntry | undefined {
  const plain = id.replace(/\.desktop$/, "")
  if (!plain || plain.includes("/")) return undefined
  for (const directory of applicationDirectories(env)) {
    const path = `${directory}/${plain}.desktop`
    if (isReadable(path)) return readEntry(path, plain, env)
  }
  return undefined
}

/** undefined: not an app, hidden, or its program is not installed. */
export function readEntry(path: string, id: string, env: Env): DesktopEntry | undefined {
  const value = readGroup(path)
  const command = splitCommand(value("Exec") ?? "")
  const tried = value("TryExec")
  if (value("Type") !== "Application" || value("Hidden") === "true" || command.length === 0) return undefined
  if (tried && !Bun.which(tried, { PATH: env.PATH ?? "" })) return undefined
  return {
    id,
    path,
    names: [...new Set([value("Name") ?? id, localName(value, env) ?? []].flat())],
    command,
    icon: value("Icon"),
    workingDirectory: value("Path") || undefined,
    wmClass: value("StartupWMClass") || undefined,
    terminal: value("Terminal") === "true",
    shown: value("NoDisplay") !== "true" && isShownHere(value, env),
  }
}

/** The command to run: `args` replace the field codes, or go to the end if there are none. */
export function expandCommand(entry: DesktopEntry, args: readonly string[]): readonly string[] {
  const command = entry.command.flatMap((word) => {
    if (/^%[fFuU]$/.test(word)) return args
    if (word === "%i") return entry.icon ? ["--icon", entry.icon] : []
    const text = word.replace(/%(.)/g, (_, code) => expansions(entry)[code] ?? "")
    // A word that was only a code without a value, or a deprecated code, is left out.
    return text === "" && word !== "" ? [] : [text]
  })
  return entry.command.some((word) => /^%[fFuU]$/.test(word)) ? command : [...command, ...args]
}

/** The program that the entry starts, without a leading `env A=b`. */
export function programOf({ command }: DesktopEntry): string {
  const [first, ...rest] = command
  if (first === undefined || !/^(.*\/)?env$/.test(first)) return first ?? ""
  return rest.find((word) => !word.startsWith("-") && !word.includes("=")) ?? first
}

/**
 * The entry of a program that matches its arguments: all words of the entry occur among them, and no other entry has as
 * many. undefined if two entries match equally well.
 */
export function fittingEntry(
  entries: readonly DesktopEntry[],
  args: readonly string[],
): DesktopEntry | undefined {
  const shown = entries.filter((entry) => entry.shown)
  const candidates = shown.length > 0 ? shown : entries
  if (candidates.length === 1) return candidates[0]
  const words = ({ command }: DesktopEntry) => command.slice(1).filter((word) => !/^%./.test(word))
  const fitting = candidates.filter((entry) => words(entry).every((word) => args.includes(word)))
  const most = Math.max(...fitting.map((entry) => words(entry).length))
  const best = fitting.filter((entry) => words(entry).length === most)
  return best.length === 1 ? best[0] : undefined
}

let found: { readonly key: string; readonly entries: ReadonlyMap<string, DesktopEntry> } | undefined

const expansions = (entry: DesktopEntry): Readonly<Record<string, string>> => ({
  "%": "%",
  c: entry.names[0] ?? entry.id,
  k: entry.path,
})

/** The name in the user's language: `de_AT@euro` is tried whole, then ever shorter parts of it. */
function localName(value: Lookup, env: Env): string | undefined {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || ""
  const [, language = "", country = "", variant = ""] =
    /^([^_.@]+)(_[^.@]+)?(?:\.[^@]*)?(@.*)?$/.exec(locale) ?? []
  const forms = [language + country + variant, language + country, language + variant, language]
  return forms.map((form) => value(`Name[${form}]`)).find(Boolean)
}

function applicationDirectories(env: Env): readonly string[] {
  const own = env.XDG_DATA_HOME || `${env.HOME ?? ""}/.local/share`
  const shared = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":")
  return [own, ...shared]
    .filter((path) => path.startsWith("/"))
    .map((path) => `${path.replace(/\/+$/, "")}/applications`)
}

function listFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".desktop"),
    )
  } catch {
    // Most directories that XDG_DATA_DIRS may name do not exist.
    return []
  }
}

const idOf = (file: string): string => file.slice(0, -".desktop".length).replaceAll("/", "-")

type Lookup = (key: string) => string | undefined

/** Looks up keys of the group `[Desktop Entry]`. Escapes in values are undone. */
function readGroup(path: string): Lookup {
  const text = `\n${readText(path).replaceAll("\r\n", "\n")}\n`
  const start = text.indexOf("\n[Desktop Entry]\n")
  if (start < 0) return () => undefined
  const end = text.indexOf("\n[", start + 1)
  const group = text.slice(start, end < 0 ? undefined : end + 1)
  return (key) => {
    for (let at = group.indexOf(`\n${key}`); at >= 0; at = group.indexOf(`\n${key}`, at + 1)) {
      const rest = group.slice(at + 1 + key.length, group.indexOf("\n", at + 1)).trimStart()
      if (rest.startsWith("=")) return unescapeValue(rest.slice(1).trim())
    }
    return undefined
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // A dangling link, or a file that we may not read.
    return ""
  }
}

const ESCAPES: Readonly<Record<string, string>> = { s: " ", n: "\n", t: "\t", r: "\r", "\\": "\\" }

const unescapeValue = (text: string): string =>
  text.replace(/\\(.)/g, (whole, code) => ESCAPES[code] ?? whole)

/** Splits at blanks. In double quotes a backslash escapes `"`, backtick, `$` and itself. */
function splitCommand(text: string): readonly string[] {
  return [...text.matchAll(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g)].map(([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"/g, (_, quoted: string) => quoted.replace(/\\(["`$\\])/g, "$1")),
  )
}

function isShownHere(value: Lookup, env: Env): boolean {
  const here = (env.XDG_CURRENT_DESKTOP ?? "").split(":")
  const list = (key: string) => value(key)?.split(";").filter(Boolean)
  const only = list("OnlyShowIn")
  if (only && !only.some((name) => here.includes(name))) return false
  return !list("NotShowIn")?.some((name) => here.includes(name))
}

function isReadable(path: string): boolean {
  // Most files do not exist, and an exception for each would cost more than all the rest.
  if (!existsSync(path)) return false
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
