import { afterAll, describe, expect, test } from "bun:test"
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { openDesktop } from "../support/desktop.ts"
import { canFill, filled, flagsOf, samplesOf } from "../support/every-command.ts"
import { dataOf, type Json } from "../support/json.ts"
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
    args: [...args, "--format", "json", "mcp", "--tools", tools],
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

test.if(process.platform === "linux")(
  "runs without the last stage of the compiler, unless the user chose",
  async () => {
    const stageOf = ({ pid }: Served) =>
      /BUN_JSC_useFTLJIT=(\w+)/.exec(readFileSync(`/proc/${pid}/environ`, "utf8"))?.[1]
    await using own = await serve()
    expect(stageOf(own)).toBe("no")
    await using chosen = await serve([], { env: { BUN_JSC_useFTLJIT: "1" } })
    expect(stageOf(chosen)).toBe("1")
  },
)

describe.each<[string, Mode]>([
  ["2025-11-25", "legacy"],
  ["2026-07-28", { pin: "2026-07-28" }],
])("protocol %s", (version, mode) => {
  test("lists the tools, and a call returns its data or its error", async () => {
    await using it = await serve([], { mode })
    expect(it.client.getNegotiatedProtocolVersion()).toBe(version)
    const { tools } = await it.client.listTools()
    expect(tools).toHaveLength((await loadAll(commands)).filter(({ tool }) => tool === "core").length)
    const waited = await it.call("wait", { ms: 1 })
    expect(dataOf(waited).found).toBe(true)
    const failed = await it.call("click", { ref_id: "@e7" })
    const { stdout } = await setting.run(["click", "@e7"])
    expect(failed.isError).toBe(true)
    const { suggestion: _, ...error } = JSON.parse(stdout).error
    expect(dataOf(failed)).toMatchObject(error)
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
      params: { name: "desktop_batch", arguments: { commands: [{ command: "wait", args: { ms: 1 } }] } },
    },
  ]
  const child = Bun.spawn([PROGRAM, "mcp", "--format", "json"], {
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
  expect(dataOf(answers[1].result).results[0].ok).toBe(true)
})

test("the program ends when its standard input closes", async () => {
  const { exitCode, stdout, stderr } = await setting.run(["mcp"], { stdin: "" })
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "", stderr: "" })
})

test("requests from a file are answered into a file, even if the input ends at once", async () => {
  const [asked, answered] = [`${setting.directory}/requests`, `${setting.directory}/answers`]
  const call = { name: "desktop_wait", arguments: { ms: 1 } }
  const lines = [HELLO, { jsonrpc: "2.0", id: "call", method: "tools/call", params: call }]
  await Bun.write(asked, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { HOME: setting.directory },
    stdin: Bun.file(asked),
    stdout: Bun.file(answered),
  })
  expect(await child.exited).toBe(0)
  const answers = (await Bun.file(answered).text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(answers.map(({ id }) => id)).toEqual(["hello", "call"])
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
  expect(dataOf(await it.call("wait", { ms: 1 })).found).toBe(true)
})

const HELLO = {
  jsonrpc: "2.0",
  id: "hello",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
}

/** A server that gets raw bytes. `answers` are its lines so far. */
function rawServer() {
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { PATH: process.env.PATH ?? "", HOME: setting.directory },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const answers: Json[] = []
  const listening = (async () => {
    let rest = ""
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const [last = "", ...whole] = `${rest}${chunk}`.split("\n").reverse()
      rest = last
      answers.push(...whole.reverse().map((line) => JSON.parse(line)))
    }
  })()
  return {
    child,
    answers,
    async say(text: string): Promise<void> {
      child.stdin.write(text)
      await child.stdin.flush()
    },
    heard: (id: unknown) => until(() => answers.find((one) => one.id === id), 20_000),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await child.exited
      await listening
    },
  }
}

describe("a line that is not a message gets the standard error, and the server continues", () => {
  const long = 11 * 1024 * 1024

  test.each([
    ["no JSON", "{broken", { id: null, code: -32700 }],
    ["half a line of JSON", '{"jsonrpc":"2.0","id":7', { id: null, code: -32700 }],
    ["a word", "hello", { id: null, code: -32700 }],
    ["invalid UTF-8 in place of JSON", "\ufffd\ufffd", { id: null, code: -32700 }],
    ["a number", "42", { id: null, code: -32600 }],
    ["null", "null", { id: null, code: -32600 }],
    ["an empty batch", "[]", { id: null, code: -32600 }],
    ["a batch", `[${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}]`, { id: null, code: -32600 }],
    ["an object without a method", '{"jsonrpc":"2.0","id":8}', { id: 8, code: -32600 }],
    ["an older JSON-RPC", '{"jsonrpc":"1.0","id":"a","method":"ping"}', { id: "a", code: -32600 }],
    ["the id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', { id: null, code: -32600 }],
    ["half an id", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', { id: null, code: -32600 }],
    ["a method that is a number", '{"jsonrpc":"2.0","id":9,"method":5}', { id: 9, code: -32600 }],
    [
      "initialize without parameters",
      '{"jsonrpc":"2.0","id":3,"method":"initialize"}',
      { id: 3, code: -32602 },
    ],
    ["an unknown method", '{"jsonrpc":"2.0","id":4,"method":"nothing"}', { id: 4, code: -32601 }],
    [
      "a line that is too long",
      `{"jsonrpc":"2.0","id":5,"x":"${"x".repeat(long)}"}`,
      { id: null, code: -32600 },
    ],
  ])("%s", async (_, line, { id, code }) => {
    await using it = rawServer()
    await it.say(`${JSON.stringify(HELLO)}\n`)
    await it.heard("hello")
    // A call that runs meanwhile is answered as ever.
    const wait = { name: "desktop_wait", arguments: { ms: 300 } }
    await it.say(`${JSON.stringify({ jsonrpc: "2.0", id: "running", method: "tools/call", params: wait })}\n`)
    await it.say(`${line}\n\n`)
    expect(await it.heard(id)).toMatchObject({ jsonrpc: "2.0", id, error: { code } })
    expect(dataOf((await it.heard("running")).result).found).toBe(true)
    expect(it.answers.filter((one) => one.id === id)).toHaveLength(1)
  })
})

/** A server whose answers wait in a pipe until the test reads them. Bun would read the pipe of a child by itself. */
function unreadServer(name: string) {
  const path = `${setting.directory}/${name}`
  Bun.spawnSync(["mkfifo", path])
  // Open at both ends: neither waits for the other.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { PATH: process.env.PATH ?? "", HOME: setting.directory },
    stdio: ["pipe", openSync(path, "w"), "ignore"],
  })
  const ask = async (count: number): Promise<void> => {
    // More than the pipe holds, so that some of it stays here if the server does not read.
    const params = { _meta: { pad: "x".repeat(300) } }
    const lists = Array.from({ length: count }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/list",
      params,
    }))
    child.stdin.write(`${[HELLO, ...lists].map((one) => JSON.stringify(one)).join("\n")}\n`)
    await child.stdin.flush()
  }
  /** Bytes that are there; none if the pipe is empty. */
  const read = (bytes: Uint8Array): number => {
    try {
      return readSync(pipe, bytes)
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0
      throw error
    }
  }
  return { child, ask, read, [Symbol.dispose]: () => closeSync(pipe) }
}

/** Less than a server that answers takes, and more than one that starts. */
const AT_WORK_MB = 50

test.skipIf(process.platform !== "linux")(
  "a client that asks and does not read costs little memory, and is served when it reads again",
  async () => {
    using it = unreadServer("unread")
    const asked = 3000
    let isAllRead = false
    const written = it.ask(asked).then(() => {
      isAllRead = true
    })
    // Its memory grows until it reads no more, and then stays as it is.
    let most = 0
    let since = performance.now()
    await until(() => {
      const status = readFileSync(`/proc/${it.child.pid}/status`, "utf8")
      const now = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
      if (now > most + 1) since = performance.now()
      most = Math.max(most, now)
      // A program that has just started has not read anything yet.
      return most > AT_WORK_MB && performance.now() - since > 2000
    }, 60_000)
    expect(most).toBeLessThan(220)
    // The server leaves the rest of the questions in the pipe.
    expect(isAllRead).toBe(false)
    const bytes = new Uint8Array(1 << 20)
    let lines = 0
    await until(() => {
      for (let end = it.read(bytes); end > 0; end = it.read(bytes))
        lines += bytes.subarray(0, end).reduce((sum, byte) => (byte === 10 ? sum + 1 : sum), 0)
      return lines === asked + 1
    }, 100_000)
    await written
    it.child.stdin.end()
    expect(await it.child.exited).toBe(0)
  },
  200_000,
)

test("a client that has stopped reading does not keep the program alive", async () => {
  using it = unreadServer("stopped")
  await it.ask(50)
  it.child.stdin.end()
  expect(await it.child.exited).toBe(0)
})

test.each(["w", "a"])("a file that the server writes to (%s) keeps its old content", async (mode) => {
  const path = `${setting.directory}/answers-${mode}`
  writeFileSync(path, "what others had written\n")
  const file = openSync(path, mode)
  const requests = [HELLO, { jsonrpc: "2.0", method: "notifications/initialized" }]
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { PATH: process.env.PATH ?? "", HOME: setting.directory },
    stdio: ["pipe", file, "ignore"],
  })
  child.stdin.write(`${requests.map((one) => JSON.stringify(one)).join("\n")}\n`)
  await child.stdin.flush()
  await until(() => readFileSync(path, "utf8").includes('"hello"'))
  child.stdin.end()
  expect(await child.exited).toBe(0)
  closeSync(file)
  const lines = readFileSync(path, "utf8").trimEnd().split("\n")
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    id: "hello",
    result: { serverInfo: { name: "agent-desktop" } },
  })
  expect(lines.length).toBe(mode === "a" ? 2 : 1)
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
    expect({ ...dataOf(served), snapshot_id: "" }).toEqual({ ...json.data, snapshot_id: "" })
    const field = dataOf(await it.call("find", { role: "textfield", first: true })).match
    const done = await it.call("set-value".replace("-", "_"), { ref_id: field.ref_id, value: "Grace" })
    expect(dataOf(done)).toMatchObject({ action: "set-value", ref_id: field.ref_id })
    expect((await desktop.run("find", "--role", "textfield", "--first")).json.data.match.value).toBe("Grace")
    const picture = await it.call("screenshot")
    expect(Buffer.from(picture.content[0].data, "base64").subarray(1, 4).toString()).toBe("PNG")

    const before = busesOf(desktop.display)
    expect(before).not.toEqual([])
    for (const pid of before) process.kill(pid, "SIGKILL")
    await until(() => busesOf(desktop.display).every((pid) => !before.includes(pid)))
    const after = await it.call("list_windows")
    expect(dataOf(after).windows ?? after).toEqual([expect.objectContaining({ title: "Question" })])
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
      ({ command, args }) =>
        command.effect === "reads" &&
        command.tool !== "never" &&
        // The window of this test has no table.
        command.name !== "table" &&
        canFill(args, words),
    )
    expect(looks.length).toBeGreaterThan(20)
    for (const { command, args: given } of looks) {
      const args = filled(given, words)
      const { name } = command
      const alone = (await run(name, ...flagsOf(args))).json.data
      const items = JSON.stringify([{ command: name, args }])
      const batch = (await run("batch", items)).json.data.results[0].data
      const answer = await it.call(name.replaceAll("-", "_"), args)
      const { base64, ...rest } = alone
      expect(steady({ name, args, batch })).toEqual(steady({ name, args, batch: alone }))
      expect(steady({ name, args, data: dataOf(answer) })).toEqual(steady({ name, args, data: rest }))
      if (base64 !== undefined)
        expect(answer.content[0]).toEqual({ type: "image", data: base64, mimeType: "image/png" })
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
