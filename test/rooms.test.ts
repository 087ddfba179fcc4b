import { expect, test } from "bun:test"
import { dirname, join, relative } from "node:path"

/**
 * Who may import whom. A room names its files, or the folder they are in; a file is in the first room
 * that names it. Imports of types alone are free: they are gone before anything runs.
 */
interface Room {
  readonly files: readonly string[]
  /** Rooms and packages that may be imported; `lazily` only with import(). */
  readonly may: readonly string[]
  readonly lazily?: readonly string[]
}

const ROOMS: Readonly<Record<string, Room>> = {
  words: { files: ["src/errors.ts", "src/node.ts"], may: [] },
  pure: {
    files: [
      "src/actions.ts",
      "src/annotate.ts",
      "src/budget.ts",
      "src/carry.ts",
      "src/change-lines.ts",
      "src/compact.ts",
      "src/deadline.ts",
      "src/diff.ts",
      "src/envelope.ts",
      "src/expect.ts",
      "src/fields.ts",
      "src/fit.ts",
      "src/fxhash.ts",
      "src/glyphs.ts",
      "src/identity.ts",
      "src/issues.ts",
      "src/kept.ts",
      "src/keys.ts",
      "src/lazy.ts",
      "src/match.ts",
      "src/nearest.ts",
      "src/outline.ts",
      "src/pairing.ts",
      "src/plain.ts",
      "src/png.ts",
      "src/policy.ts",
      "src/png-decode.ts",
      "src/properties.ts",
      "src/refjson.ts",
      "src/refmap.ts",
      "src/rows.ts",
      "src/secret.ts",
      "src/sent.ts",
      "src/text.ts",
      "src/tokens.ts",
      "src/trace-entry.ts",
      "src/trace-page.ts",
      "src/trace-redact.ts",
      "src/trace-style.ts",
      "src/tree.ts",
      "src/until.ts",
      "src/usage.ts",
      "src/version.ts",
    ],
    // The adapter's file has lists of words besides its types.
    may: ["words", "pure", "adapter", "package.json", "node:zlib"],
  },
  adapter: { files: ["src/adapter.ts"], may: ["words"] },
  contract: {
    files: ["src/command.ts", "src/globals.ts", "src/inputs.ts"],
    may: ["words", "pure", "adapter", "contract", "valibot"],
  },
  registry: { files: ["src/commands/index.ts"], may: [], lazily: ["handlers"] },
  handlers: {
    files: [
      "src/commands/",
      "src/act.ts",
      "src/changes.ts",
      "src/changing.ts",
      "src/choose.ts",
      "src/deliver.ts",
      "src/found.ts",
      "src/lifecycle.ts",
      "src/marks.ts",
      "src/menus.ts",
      "src/notifications.ts",
      "src/observe.ts",
      "src/physical.ts",
      "src/pick.ts",
      "src/pointing.ts",
      "src/resolve.ts",
      "src/since.ts",
      "src/wait.ts",
      "src/window-ops.ts",
    ],
    may: ["words", "pure", "adapter", "contract", "handlers", "valibot"],
    lazily: ["pure", "reference", "traces"],
  },
  /** What the schemas say, for other readers: JSON Schema, shells, manuals, agents. */
  reference: {
    files: ["src/completions.ts", "src/error-guide.ts", "src/results.ts", "src/schema.ts", "src/skills.ts"],
    may: [
      "words",
      "pure",
      "adapter",
      "contract",
      "reference",
      "valibot",
      "@valibot/to-json-schema",
      "skills/core.md",
      "skills/linux.md",
      "skills/macos.md",
    ],
  },
  run: { files: ["src/run.ts"], may: ["words", "pure", "adapter", "contract", "valibot"] },
  doors: {
    files: ["src/args.ts", "src/help.ts", "src/manual.ts", "src/mcp.ts", "src/mcp-tools.ts"],
    may: [
      "words",
      "pure",
      "contract",
      "registry",
      "run",
      "doors",
      "reference",
      "@modelcontextprotocol/server",
      "@modelcontextprotocol/server/stdio",
    ],
  },
  stores: {
    files: ["src/home.ts", "src/log.ts", "src/refstore.ts"],
    may: ["words", "pure", "stores", "node:fs", "node:path"],
    lazily: ["ffi", "consola/core", "node:fs", "terminal"],
  },
  /** What a person at a terminal sees besides the answer. */
  terminal: { files: ["src/progress.ts", "src/terminal.ts"], may: ["terminal", "node:fs", "node:tty"] },
  /** What was done, written down and read again. */
  traces: {
    files: ["src/trace.ts", "src/trace-read.ts"],
    may: ["words", "pure", "stores", "node:fs", "node:path"],
  },
  platform: { files: ["src/internal.ts", "src/platform.ts"], may: ["words"], lazily: ["linux", "macos"] },
  linux: {
    files: ["src/linux/"],
    may: [
      "words",
      "pure",
      "adapter",
      "stores",
      "linux",
      "ffi",
      "node:fs",
      "node:fs/promises",
      "node:os",
      "node:path",
    ],
    lazily: ["linux", "ffi", "pure", "stores"],
  },
  macos: {
    files: ["src/macos/"],
    may: [
      "words",
      "pure",
      "adapter",
      "stores",
      "macos",
      "ffi",
      "node:fs",
      "node:fs/promises",
      "node:os",
      "node:path",
    ],
    lazily: ["macos", "ffi", "pure", "stores"],
  },
  ffi: { files: ["ffi/"], may: ["ffi", "bun:ffi"], lazily: ["ffi", "bun:ffi"] },
  library: {
    files: ["src/index.ts"],
    may: ["words", "pure", "contract", "registry", "run"],
    lazily: ["stores", "traces", "platform"],
  },
  main: {
    files: ["src/main.ts"],
    may: ["words", "pure", "contract", "registry", "run", "doors"],
    lazily: ["pure", "doors", "stores", "terminal", "traces", "platform"],
  },
}

interface Import {
  readonly path: string
  readonly isLazy: boolean
}

const root = join(import.meta.dir, "..")
const transpiler = new Bun.Transpiler({ loader: "ts" })
const files = [...new Bun.Glob("{src,ffi}/**/*.ts").scanSync(root)].sort()

function roomOf(file: string): string | undefined {
  const names = (one: string) => one === file || (one.endsWith("/") && file.startsWith(one))
  return Object.entries(ROOMS).find(([, room]) => room.files.some(names))?.[0]
}

/** What is wrong with an import, in words; undefined if nothing is. */
function objectionTo(file: string, { path, isLazy }: Import): string | undefined {
  const target = path.startsWith(".") ? relative(root, join(root, dirname(file), path)) : path
  const from = roomOf(file) ?? "no room"
  const to = roomOf(target) ?? target
  const room = ROOMS[from]
  if (room?.may.includes(to) || (isLazy && room?.lazily?.includes(to))) return undefined
  const how = room?.lazily?.includes(to) ? "imports, and may only import()," : "may not import"
  return `${file} (${from}) ${how} ${target}${to === target ? "" : ` (${to})`}`
}

async function importsOf(file: string): Promise<Import[]> {
  const found = transpiler.scanImports(await Bun.file(join(root, file)).text())
  return found.map(({ path, kind }) => ({ path, isLazy: kind === "dynamic-import" }))
}

test("every file has a room, and every room's files are there", () => {
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => roomOf(file) === undefined)).toEqual([])
  const named = Object.values(ROOMS).flatMap((room) => room.files)
  expect(named.filter((one) => !files.some((file) => file === one || file.startsWith(one)))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})

test("nobody imports what its room may not", async () => {
  const all = await Promise.all(
    files.map(async (file) => (await importsOf(file)).map((one) => objectionTo(file, one))),
  )
  expect(all.flat().filter(Boolean)).toEqual([])
})

test.each([
  ["src/act.ts", "./refstore.ts", false],
  ["src/act.ts", "node:fs", false],
  ["src/commands/click.ts", "../linux/adapter.ts", true],
  ["src/commands/index.ts", "./click.ts", false],
  ["src/tree.ts", "valibot", false],
  ["src/errors.ts", "./tree.ts", false],
  ["src/platform.ts", "./linux/adapter.ts", false],
  ["src/linux/adapter.ts", "../macos/adapter.ts", false],
  ["src/macos/adapter.ts", "bun:ffi", false],
  ["src/main.ts", "./act.ts", false],
  ["src/nowhere.ts", "./errors.ts", false],
])("%s would not get away with importing %s", (file, path, isLazy) => {
  expect(objectionTo(file, { path, isLazy })).toContain(file)
})

/** The code without its comments and types. */
async function codeOf(file: string): Promise<string> {
  return transpiler.transformSync(await Bun.file(join(root, file)).text())
}

const PLATFORM_ROOMS: ReadonlySet<string | undefined> = new Set(["linux", "macos", "ffi", "platform"])
const PLATFORM_WORDS =
  /\bAX[A-Z]\w*|\bAT-?SPI|\b[Aa]tspi|\b[Dd]-?[Bb]us\b|\b[Xx]11\b|\bXTest|\bNS[A-Z]\w+|\bCG[A-Z]\w+/

test("nothing above the platform folders speaks of a platform's own interfaces", async () => {
  const above = files.filter((file) => !PLATFORM_ROOMS.has(roomOf(file)))
  const speaking = await Promise.all(
    above.map(async (file) => {
      const word = PLATFORM_WORDS.exec(await codeOf(file))?.[0]
      return word === undefined ? [] : [`${file}: ${word}`]
    }),
  )
  expect(speaking.flat()).toEqual([])
})

test("nothing but main's one answer is printed, and nothing ends the program early", async () => {
  const printing = await Promise.all(
    files.map(async (file) => {
      const word = /\bconsole\.|process\.(stdout|stderr|exit\()/.exec(await codeOf(file))?.[0]
      return word === undefined ? [] : [`${file}: ${word}`]
    }),
  )
  expect(printing.flat()).toEqual([])
})
