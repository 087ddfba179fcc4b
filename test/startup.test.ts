import { expect, test } from "bun:test"

const root = new URL("..", import.meta.url).pathname
const scanner = new Bun.Transpiler({ loader: "js" })

/** The code loaded before any command: the program's first file and all its static imports. */
async function readFirst(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [`${root}src/main.ts`],
    splitting: true,
    minify: true,
    format: "esm",
    target: "bun",
    define: { "process.platform": '"linux"' },
  })
  const chunks = new Map(
    await Promise.all(outputs.map(async (one) => [one.path.replace(/^\.\//, ""), await one.text()] as const)),
  )
  const read = new Set<string>()
  const visit = (name: string): void => {
    const code = chunks.get(name)
    if (code === undefined || read.has(name)) return
    read.add(name)
    for (const { kind, path } of scanner.scanImports(code))
      if (kind === "import-statement") visit(path.replace(/^\.\//, ""))
  }
  visit("main.js")
  return [...read].map((name) => chunks.get(name)).join("\n")
}

test("the code that every command loads first is small and has no MCP, JSON Schema or skills", async () => {
  const code = await readFirst()
  expect(code.length).toBeGreaterThan(10_000)
  // citty is about 9,000 of them.
  expect(code.length).toBeLessThan(64_000)
  expect(code).not.toContain("jsonrpc")
  expect(code).not.toContain("json-schema.org")
  expect(code).not.toContain("skills get errors")
})
