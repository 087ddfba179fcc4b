import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Entry } from "./archive.ts"

/**
 * Builds the package behind `import { agentDesktop } from "agent-desktop"`: plain JavaScript files for Bun, loaded
 * on demand, and the types of the exports.
 */

const root = join(import.meta.dir, "..")

export async function buildLibrary(): Promise<readonly Entry[]> {
  const [code, types] = await Promise.all([bundle(), declarations()])
  return [...code, ...types].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function bundle(): Promise<Entry[]> {
  const { outputs, success, logs } = await Bun.build({
    // The program is included: the library starts it for work that outlives a command, such as owning the clipboard.
    entrypoints: [join(root, "src/index.ts"), join(root, "src/main.ts")],
    target: "bun",
    format: "esm",
    splitting: true,
    minify: { whitespace: true, syntax: true },
    define: { LIBRARY_MAIN: '"./main.js"' },
    naming: { entry: "[name].js", chunk: "[name]-[hash].js" },
  })
  if (!success) throw new AggregateError(logs, "The library could not be built")
  return Promise.all(
    outputs.map(async (one) => ({ path: `lib/${one.path.replace(/^\.\//, "")}`, content: await one.text() })),
  )
}

/** The source files whose types appear in the library's types. */
const TYPED = ["index", "envelope", "errors", "node"]

async function declarations(): Promise<Entry[]> {
  const out = await mkdtemp(join(tmpdir(), "agent-desktop-types-"))
  try {
    const flags = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", out]
    const compiler = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", root, ...flags], {
      stdout: "pipe",
    })
    const said = await new Response(compiler.stdout).text()
    if ((await compiler.exited) !== 0) throw new Error(`The types could not be written: ${said}`)
    return await Promise.all(
      TYPED.map(async (name) => {
        const text = await Bun.file(join(out, `src/${name}.d.ts`)).text()
        return { path: `lib/${name}.d.ts`, content: text.replaceAll(/(from "\.\/\w+)\.ts"/g, '$1.js"') }
      }),
    )
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}
