import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

/**
 * Runs cua-driver's runtime in one Node process, as a server for bench/rivals.ts:
 *
 *   node cua.mjs PACKAGE
 *
 * Takes lines of JSON, [TOOL, ARGUMENTS], and answers each with one line: { ms, failed } or { ms, text, data }.
 */

const { CuaDriver } = await import(pathToFileURL(`${process.argv[2]}/dist/index.js`).href)
const driver = CuaDriver.create(undefined)

for await (const line of createInterface({ input: process.stdin })) {
  const [tool, args] = JSON.parse(line)
  const start = performance.now()
  let answer
  try {
    const { text, structuredJson, isError, rawJson } = await driver.callTool(tool, JSON.stringify(args))
    answer = { text, bytes: rawJson?.length, data: structuredJson && JSON.parse(structuredJson), isError }
  } catch (error) {
    answer = { failed: String(error?.inner?.message ?? error?.message ?? error) }
  }
  process.stdout.write(`${JSON.stringify({ ms: performance.now() - start, ...answer })}\n`)
}
await driver.shutdown()
process.exit(0)
