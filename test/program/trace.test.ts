import { afterAll, expect, test } from "bun:test"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { openDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { nowhere, PROGRAM } from "./program.ts"

const setting = nowhere()
afterAll(() => setting[Symbol.dispose]())

let made = 0
const fresh = (): string => `${setting.directory}/trace-${made++}`

const linesOf = (directory: string): readonly Json[] =>
  readFileSync(`${directory}/trace.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

test("a flag or a variable makes commands write a trace line, and their output stays the same", async () => {
  const directory = fresh()
  const plain = await setting.run(["click", "@e7"])
  const byFlag = await setting.run(["--trace", directory, "click", "@e7"])
  const byVariable = await setting.run(["click", "@e7"], { env: { AGENT_DESKTOP_TRACE: directory } })
  expect([byFlag, byVariable]).toEqual([plain, plain])
  expect(linesOf(directory).map(({ door, command, error }) => [door, command, error.code])).toEqual([
    ["cli", "click", "STALE_REF"],
    ["cli", "click", "STALE_REF"],
  ])
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(statSync(`${directory}/trace.jsonl`).mode & 0o777).toBe(0o600)
})

test("an invalid command line leaves a trace line too, without its words", async () => {
  const directory = fresh()
  await setting.run(["--trace", directory, "type", "@e1", "first secret", "second secret"])
  await setting.run(["clik", "my secret"], { env: { AGENT_DESKTOP_TRACE: directory } })
  expect(linesOf(directory).map(({ command, error }) => [command, error.code])).toEqual([
    ["type", "INVALID_ARGS"],
    ["unknown", "INVALID_ARGS"],
  ])
  expect(readFileSync(`${directory}/trace.jsonl`, "utf8")).not.toContain("secret")
})

test("parallel processes write whole lines", async () => {
  const directory = fresh()
  const items = Array.from({ length: 20 }, () => ({
    command: "skills",
    args: { action: "get", name: "core" },
  }))
  await Promise.all(
    Array.from({ length: 8 }, () => setting.run(["--trace", directory, "batch", JSON.stringify(items)])),
  )
  expect(linesOf(directory)).toHaveLength(8 * 21)
})

test("calls of an MCP client leave trace lines too", async () => {
  const directory = fresh()
  const transport = new StdioClientTransport({
    command: PROGRAM,
    args: ["--trace", directory, "mcp"],
    env: { PATH: process.env.PATH ?? "", HOME: setting.directory },
  })
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transport, { timeout: 60_000 })
  await client.callTool({ name: "desktop_wait", arguments: { ms: 1 } })
  await client.callTool({
    name: "desktop_batch",
    arguments: { commands: [{ command: "wait", args: { ms: 1 } }] },
  })
  await client.close()
  expect(linesOf(directory).map(({ door, command }) => [door, command])).toEqual([
    ["mcp", "wait"],
    ["batch", "wait"],
    ["mcp", "batch"],
  ])
})

test("if the trace cannot be written, the answer is the same, and stderr has a warning", async () => {
  const directory = fresh()
  writeFileSync(directory, "")
  const [plain, traced] = [
    await setting.run(["version"]),
    await setting.run(["--trace", directory, "version"]),
  ]
  expect({ ...traced, stderr: "" }).toEqual(plain)
  expect(traced.stderr).toMatch(/^warn The trace in .* is not complete: .+\n$/)
})

/** A tiny disk that only one process sees. */
const small = (directory: string): readonly string[] => [
  "unshare",
  "-rm",
  "sh",
  "-c",
  `mount -t tmpfs -o size=4k tmpfs ${directory} && exec "$0" "$@"`,
]
const canMount = (): boolean => {
  const directory = fresh()
  mkdirSync(directory)
  return Bun.which("unshare") !== null && Bun.spawnSync([...small(directory), "true"]).success
}

test.skipIf(!canMount())("a full disk does not change the answer", async () => {
  const directory = fresh()
  mkdirSync(directory)
  const items = JSON.stringify(Array.from({ length: 60 }, () => ({ command: "version" })))
  const child = Bun.spawn([...small(directory), PROGRAM, "--trace", directory, "batch", items], {
    env: { PATH: process.env.PATH, HOME: setting.directory },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const plain = await setting.run(["batch", items])
  expect({ stdout, exitCode: await child.exited }).toEqual({ stdout: plain.stdout, exitCode: 0 })
  expect(stderr.match(/is not complete/g)).toHaveLength(1)
})

test.skipIf(process.platform !== "linux")(
  "on a desktop, pictures are in the trace and on the page, and typed text is in neither",
  async () => {
    await using desktop = await openDesktop()
    const directory = `${desktop.directory}/trace`
    desktop.spawnApp(["zenity", "--entry", "--title=Question", "--text=Name", "--entry-text=Ada"])
    await desktop.run("wait", "--window", "Question")
    const traced = (...args: readonly string[]) =>
      desktop.run("--trace", directory, "--trace-screenshots", ...args)
    const { json } = await traced("find", "--app", "zenity", "--role", "textfield", "--first")
    const typed = await traced("set-value", json.data.match.ref_id, "Grace Hopper")
    expect(typed.json.data.post_state.value).toBe("Grace Hopper")
    const [found, set] = linesOf(directory)
    expect(found.data.match.value).toBe("(3 characters)")
    expect(set).toMatchObject({ arguments: { value: "(12 characters)" } })
    expect(set.before).not.toBe(set.after)
    for (const name of [set.before, set.after])
      expect(readFileSync(`${directory}/${name}`).subarray(1, 4).toString()).toBe("PNG")
    const page = `${desktop.directory}/trace.html`
    const exported = await desktop.run("trace-export", directory, "--output", page)
    expect(exported.json.data).toMatchObject({ path: page, entries: 2, bytes: statSync(page).size })
    const html = readFileSync(page, "utf8")
    expect(html.split("data:image/png;base64,").length - 1).toBe(exported.json.data.pictures)
    for (const text of [html, readFileSync(`${directory}/trace.jsonl`, "utf8")])
      expect(text).not.toContain("Grace")
  },
)
