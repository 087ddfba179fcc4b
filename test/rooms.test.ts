import { expect, test } from "bun:test"
import { dirname, join, relative } from "node:path"

/**
 * Rooms and the rooms below them. A folder is a room; the files directly in src/ are the spine, which every room may
 * use. A room imports the rooms on its line and nothing else, not even types, so that the rooms form a graph without
 * cycles: each room may name only rooms that stand above it in this list. `joints` are the files of JOINTS.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ffi: [],
  picture: [],
  content: [],
  schema: [],
  describe: [],
  "linux/dbus": [],
  "linux/windowing": [],
  "linux/x11": ["picture", "linux/dbus", "linux/windowing"],
  "linux/wayland": ["ffi", "picture", "linux/dbus", "linux/windowing"],
  "linux/host": ["ffi", "linux/dbus", "linux/windowing", "linux/x11", "linux/wayland"],
  "linux/atspi": ["content", "describe", "linux/dbus", "linux/windowing", "linux/host"],
  "linux/notifications": ["linux/dbus", "linux/x11", "linux/host", "linux/atspi"],
  "linux/desktops": ["linux/dbus", "linux/x11", "linux/host", "linux/notifications"],
  linux: [
    "linux/dbus",
    "linux/windowing",
    "linux/x11",
    "linux/wayland",
    "linux/host",
    "linux/atspi",
    "linux/notifications",
    "linux/desktops",
  ],
  macos: ["content", "describe", "ffi", "picture"],
  refs: ["ffi"],
  look: ["picture", "content", "schema", "refs"],
  act: ["content", "refs", "look"],
  trace: ["schema", "refs", "look"],
  view: ["picture", "refs", "look"],
  cli: ["schema"],
  mcp: ["schema", "look"],
  flow: ["schema", "cli", "look"],
  commands: ["picture", "schema", "refs", "look", "act", "trace", "cli", "mcp", "flow"],
  door: ["joints", "schema", "refs", "look", "act", "trace", "view"],
}

/** Rooms that every file of the spine may use: texts and tables, the arguments of commands, the run around a command. */
const BESIDE_SPINE = ["content", "schema", "door"]

/** Files of the spine that connect rooms, and the rooms they connect. */
const JOINTS: Readonly<Record<string, readonly string[]>> = {
  "src/main.ts": ["commands", "cli", "mcp", "look", "trace", "flow"],
  "src/index.ts": ["commands", "cli", "trace", "flow"],
  "src/platform.ts": ["linux", "linux/atspi", "linux/x11", "linux/wayland", "linux/notifications", "macos"],
}

/** Files where a run starts; nothing imports them. */
const ENTRANCES: ReadonlySet<string> = new Set(["src/main.ts", "src/index.ts"])

/** Packages and Node modules that each room may import. A room that is not listed imports none. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  spine: ["citty", "valibot", "package.json", "node:fs", "node:path"],
  schema: ["citty", "valibot"],
  door: ["node:fs"],
  ffi: ["bun:ffi"],
  picture: ["node:zlib"],
  "linux/x11": ["node:fs"],
  "linux/wayland": ["node:fs"],
  "linux/host": ["node:fs", "node:fs/promises", "node:path"],
  "linux/notifications": ["node:fs"],
  "linux/desktops": ["node:fs", "node:fs/promises", "node:path"],
  "linux/dbus": ["node:fs", "node:os"],
  linux: ["node:fs", "node:fs/promises", "node:os", "node:path"],
  macos: ["node:fs", "node:fs/promises", "node:os", "node:path"],
  refs: ["node:fs", "node:path"],
  trace: ["node:fs", "node:path"],
  view: ["node:crypto", "node:fs"],
  cli: ["citty", "valibot", "consola/core", "node:fs", "node:tty"],
  mcp: [
    "valibot",
    "@valibot/to-json-schema",
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/stdio",
    "skills",
  ],
  flow: ["valibot", "node:fs", "node:os", "node:path"],
  commands: ["valibot", "THIRD-PARTY-NOTICES.txt"],
}

/** Imports that must be lazy, by import(), because many commands do not need them. */
const LAZY: readonly (readonly [from: string, to: string])[] = [
  ["spine", "linux"],
  ["spine", "macos"],
  ["spine", "refs"],
  ["spine", "mcp"],
  ["spine", "trace"],
  ["door", "refs"],
  ["door", "trace"],
  ["spine", "flow"],
  ["spine", "linux/x11"],
  ["spine", "linux/wayland"],
  ["spine", "linux/notifications"],
]

interface Import {
  readonly path: string
  readonly kind: "static" | "type" | "lazy"
}

const root = join(import.meta.dir, "..")
const files = [...new Bun.Glob("{src,ffi}/**/*.ts").scanSync(root)].sort()

function roomOf(file: string): string {
  if (!file.startsWith("src/")) return file.split("/")[0] ?? ""
  const folder = dirname(file).slice("src/".length)
  return folder === "" ? "spine" : folder
}

/** The reason why an import is not allowed; undefined if it is allowed. */
function objectionTo(file: string, { path, kind }: Import): string | undefined {
  const from = roomOf(file)
  const target = path.startsWith(".") ? relative(root, join(root, dirname(file), path)) : path
  const to = path.startsWith(".") ? roomOf(target) : path
  const says = (why: string): string => `${file} (${from}) ${why} ${target}`
  if (from !== "spine" && ROOMS[from] === undefined)
    return says("is in a room without a line here; it imports")
  if (to === "spine" && ENTRANCES.has(target)) return says("may not import")
  if (to === from || (to === "spine" && !Object.hasOwn(JOINTS, target))) return undefined
  const rooms = from === "spine" ? [...BESIDE_SPINE, ...(JOINTS[file] ?? [])] : (ROOMS[from] ?? [])
  const allowed = [...rooms, ...(PACKAGES[from] ?? [])]
  if (!allowed.includes(to === "spine" ? "joints" : to)) return says("may not import")
  const isLazyOnly = LAZY.some((pair) => pair[0] === from && pair[1] === to)
  return isLazyOnly && kind === "static" ? says("may only import()") : undefined
}

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^"'()]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"[,)]/gm

async function importsOf(file: string): Promise<Import[]> {
  const text = await Bun.file(join(root, file)).text()
  return [...text.matchAll(IMPORT)].map(([, isType, path, lazy]) => ({
    path: lazy ?? path ?? "",
    kind: lazy ? "lazy" : isType ? "type" : "static",
  }))
}

test("every folder has a line in the table, and every line a folder", () => {
  expect(files.length).toBeGreaterThan(100)
  const rooms = [...new Set(files.map(roomOf))].filter((room) => room !== "spine")
  expect(rooms.toSorted()).toEqual(Object.keys(ROOMS).toSorted())
  expect(Object.keys(JOINTS).filter((file) => !files.includes(file))).toEqual([])
})

test("a room lists only rooms above it, so there is no cycle", () => {
  const order = Object.keys(ROOMS)
  const upward = Object.entries(ROOMS).flatMap(([room, below]) =>
    below.filter((one) => order.indexOf(one) >= order.indexOf(room)).map((one) => `${room} names ${one}`),
  )
  expect(upward).toEqual([])
})

test("no file imports anything that its room may not, types included", async () => {
  const all = await Promise.all(
    files.map(async (file) => (await importsOf(file)).map((one) => objectionTo(file, one))),
  )
  expect(all.flat().filter(Boolean)).toEqual([])
})

test.each([
  ["src/act/act.ts", "../trace/record.ts", "type"],
  ["src/act/act.ts", "node:fs", "static"],
  ["src/commands/act.ts", "../linux/adapter.ts", "lazy"],
  ["src/tree.ts", "./refs/allocate.ts", "type"],
  ["src/look/find.ts", "../commands/find.ts", "type"],
  ["src/platform.ts", "./linux/adapter.ts", "static"],
  ["src/linux/adapter.ts", "../macos/adapter.ts", "lazy"],
  ["src/linux/x11/window.ts", "../atspi/frames.ts", "type"],
  ["src/macos/adapter.ts", "bun:ffi", "static"],
  ["src/main.ts", "./act/act.ts", "static"],
  ["src/errors.ts", "./main.ts", "type"],
  ["src/nowhere/new.ts", "../errors.ts", "static"],
] as const)("%s would be stopped from importing %s (%s)", (file, path, kind) => {
  expect(objectionTo(file, { path, kind })).toContain(file)
})

const TOOLKITS_FILE = "src/linux/atspi/toolkits.ts"

/** Tables may be longer. */
const LONGEST = 500
const TABLES: ReadonlySet<string> = new Set([TOOLKITS_FILE])

test("no file is longer than one subject needs, except for tables", async () => {
  const sources = [...new Bun.Glob("{src,ffi,test,bench,scripts}/**/*.{ts,py,c,h}").scanSync(root)]
  expect(sources.length).toBeGreaterThan(files.length)
  const lengths = await Promise.all(
    sources.map(async (file) => {
      const lines = (await Bun.file(join(root, file)).text()).split("\n").length - 1
      return lines > LONGEST && !TABLES.has(file) ? [`${file}: ${lines} lines`] : []
    }),
  )
  expect(lengths.flat()).toEqual([])
})

const transpiler = new Bun.Transpiler({ loader: "ts" })

/** The code without its comments and types. */
async function codeOf(file: string): Promise<string> {
  return transpiler.transformSync(await Bun.file(join(root, file)).text())
}

const isPlatform = (file: string): boolean => /^(src\/(linux|macos|platform)|ffi)/.test(file)
const PLATFORM_WORDS =
  /\bAX[A-Z]\w*|\bAT-?SPI|\b[Aa]tspi|\b[Dd]-?[Bb]us\b|\b[Xx]11\b|\bXTest|\bNS[A-Z]\w+|\bCG[A-Z]\w+/

test("no file above the platform folders mentions a platform's own interfaces", async () => {
  const above = files.filter((file) => !isPlatform(file))
  const speaking = await Promise.all(
    above.map(async (file) => {
      // A kind of desktop that callers can name.
      const word = PLATFORM_WORDS.exec((await codeOf(file)).replaceAll('"x11"', ""))?.[0]
      return word === undefined ? [] : [`${file}: ${word}`]
    }),
  )
  expect(speaking.flat()).toEqual([])
})

test("only main prints, one answer, and no file ends the program early", async () => {
  const printing = await Promise.all(
    files.map(async (file) => {
      const word = /\bconsole\.|process\.(stdout|stderr|exit\()/.exec(await codeOf(file))?.[0]
      return word === undefined ? [] : [`${file}: ${word}`]
    }),
  )
  expect(printing.flat()).toEqual([])
})

test("no file puts a Proxy between its callers and the code they call", async () => {
  const codes = await Promise.all(files.map(async (file) => ({ file, code: await codeOf(file) })))
  expect(codes.flatMap(({ file, code }) => (/\bnew Proxy\b/.test(code) ? [file] : []))).toEqual([])
})

/** A toolkit's or program's name as a whole string, or the table of traits. */
const TOOLKIT_NAME =
  /(["'`])(?:gail|gtk[234]?|qt[456]?|chromium|chrome|electron|gecko|firefox|webkit|java|soffice(?:\.bin)?|libreoffice)\1/i
const namesToolkit = (code: string): string | undefined =>
  (TOOLKIT_NAME.exec(code) ?? /\bTRAITS\b/.exec(code))?.[0]

test("only toolkits.ts compares toolkit names: other files ask for a trait", async () => {
  const others = files.filter((file) => file.startsWith("src/linux/") && file !== TOOLKITS_FILE)
  const naming = await Promise.all(
    others.map(async (file) => {
      const word = namesToolkit(await codeOf(file))
      return word === undefined ? [] : [`${file}: ${word}`]
    }),
  )
  expect(naming.flat()).toEqual([])
  expect(namesToolkit(await codeOf(TOOLKITS_FILE))).toBeDefined()
})

test.each(['toolkit === "GTK"', "app !== 'soffice'", 'case "Qt":', "TRAITS.gtk4"])(
  "%s counts as such a comparison",
  (code) => expect(namesToolkit(code)).toBeDefined(),
)
