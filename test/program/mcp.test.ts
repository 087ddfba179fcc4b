import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { openDesktop } from "../support/desktop.ts"
import { canFill, filled, flagsOf, samplesOf } from "../support/every-command.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { nowhere, PROGRAM } from "./program.ts"

const setting = nowhere()
afterAll(() => setting[Symbol.dispose]())

type Mode = "legacy" | { readonly pin: string }

interface Served extends AsyncDisposable {
  readonly client: Client
  readonly pid: number
  call(name: string, args?: object): Promise<Json>
}

interface ServeOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly mode?: Mode
  readonly tools?: string
}

/** The official client, with the compiled program as its server. */
async function serve(
  args: readonly string[] = [],
  { env = {}, mode = "legacy", tools = "core" }: ServeOptions = {},
): Promise<Served> {
  const transport = new StdioClientTransport({
    command: PROGRAM,
    args: [...args, "mcp", "--tools", tools],
    env: { PATH: process.env.PATH ?? "", HOME: setting.directory, ...env },
  })
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } })
  await client.connect(transport, { timeout: 60_000 })
  await client.listTools()
  return {
    client,
    pid: transport.pid!,
    call: (name, given = {}) =>
      client.callTool({ name: `desktop_${name}`, arguments: { ...given } }, { timeout: 60_000 }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

describe.each<[string, Mode]>([
  ["2025-11-25", "legacy"],
  ["2026-07-28", { pin: "2026-07-28" }],
])("protocol %s", (version, mode) => {
  test("lists, calls and fails", async () => {
    await using it = await serve([], { mode })
    expect(it.client.getNegotiatedProtocolVersion()).toBe(version)
    const { tools } = await it.client.listTools()
    expect(tools).toHaveLength((await loadAll(commands)).filter(({ tool }) => tool === "core").length)
    const waited = await it.call("wait", { ms: 1 })
    expect(waited.structuredContent.found).toBe(true)
    const failed = await it.call("click", { ref_id: "@e7" })
    const { stdout } = await setting.run(["click", "@e7"])
    expect(failed.isError).toBe(true)
    expect(JSON.parse(failed.content[0].text)).toEqual(JSON.parse(stdout).error)
  })
})

test("an older protocol is spoken too", async () => {
  const lines = [
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "old", version: "1" } },
    },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "desktop_batch", arguments: { commands: [{ command: "version" }] } },
    },
  ]
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { HOME: setting.directory },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`)
  child.stdin.flush()
  const answers: Json[] = []
  let rest = ""
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const [last = "", ...whole] = `${rest}${chunk}`.split("\n").reverse()
    rest = last
    answers.push(...whole.reverse().map((line) => JSON.parse(line)))
    if (answers.some((answer) => answer.id === 2)) break
  }
  child.stdin.end()
  expect(await child.exited).toBe(0)
  expect(await new Response(child.stderr).text()).toBe("")
  expect(answers.map((answer) => answer.id)).toEqual([1, 2])
  expect(answers[0].result.protocolVersion).toBe("2025-03-26")
  expect(answers[1].result.structuredContent.results[0].ok).toBe(true)
})

test("the program ends when its standard input closes", async () => {
  const { exitCode, stdout, stderr } = await setting.run(["mcp"], { stdin: "" })
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "", stderr: "" })
})

test("the program ends on SIGTERM", async () => {
  await using it = await serve()
  const closed = Promise.withResolvers<void>()
  it.client.onclose = closed.resolve
  process.kill(it.pid, "SIGTERM")
  await closed.promise
})

test("a long call reports progress, and stops when it is cancelled", async () => {
  const trace = `${setting.directory}/cancelled`
  await using it = await serve(["--trace", trace])
  const stop = new AbortController()
  const told = Promise.withResolvers<Json>()
  const waiting = it.client.callTool(
    { name: "desktop_wait", arguments: { ms: 600_000, timeout_ms: 700_000 } },
    { signal: stop.signal, onprogress: told.resolve, timeout: 600_000 },
  )
  waiting.catch(() => {})
  expect((await told.promise).progress).toBeGreaterThan(0)
  stop.abort()
  await expect(waiting).rejects.toThrow()
  // The trace shows that the call ended long before its timeout.
  const line = await until(
    () => existsSync(`${trace}/trace.jsonl`) && readFileSync(`${trace}/trace.jsonl`, "utf8"),
  )
  expect(JSON.parse(line)).toMatchObject({
    command: "wait",
    ok: false,
    error: { code: "TIMEOUT", details: { kind: "interrupted" } },
  })
  expect((await it.call("wait", { ms: 1 })).structuredContent.found).toBe(true)
})

test("unknown tools are an error in the command line", async () => {
  const { exitCode, stdout } = await setting.run(["mcp", "--tools", "clik"], { stdin: "" })
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 2, ok: false, command: "mcp" })
})

test("with --read-only, no tool that acts is offered", async () => {
  await using it = await serve(["--read-only"])
  const { tools } = await it.client.listTools()
  expect(tools.filter((tool) => !tool.annotations?.readOnlyHint).map((tool) => tool.name)).toEqual([
    "desktop_batch",
  ])
})

test.skipIf(process.platform !== "linux")(
  "one connection serves many calls like the command line, and survives a restart of the accessibility bus",
  async () => {
    await using desktop = await openDesktop()
    desktop.spawnApp(["zenity", "--entry", "--title=Question", "--text=Name", "--entry-text=Ada"])
    await desktop.run("wait", "--window", "Question")
    await using it = await serve(["--session", "served"], { env: desktop.env })
    const asked = { app: "zenity", include_bounds: true }
    const served = await it.call("snapshot", asked)
    const { json } = await desktop.run("snapshot", "--app", "zenity", "--include-bounds")
    expect({ ...served.structuredContent, snapshot_id: "" }).toEqual({ ...json.data, snapshot_id: "" })
    const field = (await it.call("find", { role: "textfield", first: true })).structuredContent.match
    const done = await it.call("set-value".replace("-", "_"), { ref_id: field.ref_id, value: "Grace" })
    expect(done.structuredContent).toMatchObject({ action: "set-value", ref_id: field.ref_id })
    expect((await desktop.run("find", "--role", "textfield", "--first")).json.data.match.value).toBe("Grace")
    const picture = await it.call("screenshot")
    expect(Buffer.from(picture.content[0].data, "base64").subarray(1, 4).toString()).toBe("PNG")

    const before = busesOf(desktop.display)
    expect(before).not.toEqual([])
    for (const pid of before) process.kill(pid, "SIGKILL")
    await until(() => busesOf(desktop.display).every((pid) => !before.includes(pid)))
    const after = await it.call("list_windows")
    expect(after.structuredContent?.windows ?? after).toEqual([
      expect.objectContaining({ title: "Question" }),
    ])
  },
)

test.skipIf(process.platform !== "linux")(
  "on a desktop, looking commands see the same through the command line, a batch and MCP",
  async () => {
    await using desktop = await openDesktop()
    desktop.spawnApp(["zenity", "--entry", "--title=Question", "--text=Name", "--entry-text=Ada"])
    await desktop.run("wait", "--window", "Question")
    await desktop.run("clipboard-set", "copied")
    // A server has a session of its own unless one is named, and numbers refs in another way.
    const session = ["--session", "both", "--refs", "fresh"]
    const run = (...args: string[]) => desktop.run(...args, ...session)
    await using it = await serve(session, { env: desktop.env, tools: "all" })
    const first = async (role: string) =>
      (await run("find", "--app", "zenity", "--role", role, "--first")).json.data.match.ref_id
    const { id } = (await run("list-windows")).json.data.windows[0]
    const words = {
      app: "zenity",
      window: id,
      title: "Question",
      button: await first("button"),
      field: await first("textfield"),
      file: `${setting.directory}/shot.png`,
    }
    const looks = (await samplesOf(commands)).filter(
      ({ command, args }) => command.effect === "reads" && command.tool !== "never" && canFill(args, words),
    )
    expect(looks.length).toBeGreaterThan(20)
    for (const { command, args: given } of looks) {
      const args = filled(given, words)
      const { name } = command
      const alone = (await run(name, ...flagsOf(args))).json.data
      const items = JSON.stringify([{ command: name, args }])
      const batch = (await run("batch", items)).json.data.results[0].data
      const { structuredContent, content } = await it.call(name.replaceAll("-", "_"), args)
      const { base64, ...rest } = alone
      expect(steady({ name, args, batch })).toEqual(steady({ name, args, batch: alone }))
      expect(steady({ name, args, structuredContent })).toEqual(
        steady({ name, args, structuredContent: rest }),
      )
      if (base64 !== undefined)
        expect(content).toEqual([{ type: "image", data: base64, mimeType: "image/png" }])
    }
  },
)

/** Replaces values that differ from look to look: ids, times, and connection names. */
const steady = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value), (key, inner) => {
    if (key === "snapshot_id" || key === "elapsed_ms" || key === "since") return `some ${typeof inner}`
    return key === "detail" ? inner.replace(/^:1\.\d+/, ":1.x") : inner
  })

/** The accessibility bus and its launcher on a display. */
function busesOf(display: string): readonly number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8")
        const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
        return /at-spi-bus-launcher|accessibility\.conf/.test(command) && env.includes(`DISPLAY=${display}`)
      } catch {
        // The process has ended meanwhile.
        return false
      }
    })
    .map(Number)
}
