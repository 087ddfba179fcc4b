import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { CORE } from "../../src/mcp-tools.ts"
import { openDesktop, until } from "../desktop.ts"
import type { Json } from "../fake-desk.ts"
import { nowhere, PROGRAM } from "./program.ts"

const setting = nowhere()
afterAll(() => setting[Symbol.dispose]())

type Mode = "legacy" | { readonly pin: string }

interface Served extends AsyncDisposable {
  readonly client: Client
  readonly pid: number
  call(name: string, args?: object): Promise<Json>
}

/** The official client, with the compiled program as its server. */
async function serve(
  args: readonly string[] = [],
  { env = {}, mode = "legacy" as Mode }: { env?: Readonly<Record<string, string>>; mode?: Mode } = {},
): Promise<Served> {
  const transport = new StdioClientTransport({
    command: PROGRAM,
    args: [...args, "mcp"],
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
    expect(tools).toHaveLength(CORE.length)
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

test("the program ends when nobody writes to it any more", async () => {
  const { exitCode, stdout, stderr } = await setting.run(["mcp"], { stdin: "" })
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "", stderr: "" })
})

test("the program ends when it is told to", async () => {
  await using it = await serve()
  const closed = Promise.withResolvers<void>()
  it.client.onclose = closed.resolve
  process.kill(it.pid, "SIGTERM")
  await closed.promise
})

test("tools that there are not are a mistake in the command line", async () => {
  const { exitCode, stdout } = await setting.run(["mcp", "--tools", "clik"], { stdin: "" })
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 2, ok: false, command: "mcp" })
})

test("where only reading is allowed, nothing that acts is offered", async () => {
  await using it = await serve(["--read-only"])
  const { tools } = await it.client.listTools()
  expect(tools.filter((tool) => !tool.annotations?.readOnlyHint).map((tool) => tool.name)).toEqual([
    "desktop_batch",
  ])
})

test.skipIf(process.platform !== "linux")(
  "one connection serves many calls, the same as the command line, and outlives the accessibility bus",
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
  120_000,
)

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
        // It has ended since.
        return false
      }
    })
    .map(Number)
}
