import { expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { CHROMIUM } from "../support/chromium.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Another run of these tests may be in the list of processes. */
const RUN = process.pid
/** The first content of the field, and one text for each way to fill it. None is part of another. */
const FIRST = `Fjord-bank-glyphs-${RUN}`
const TYPED = `vext-quiz-4711-${RUN}`
const KEYED = `ñ漢-Waltz-0815-${RUN}`
const SET = `jumped-Over-33-${RUN}`
const BATCHED = `pack-my-box-17-${RUN}`
const SERVED = `liquor-jugs-59-${RUN}`
const PLAIN = `sphinx-of-Quartz-${RUN}`
const SECRETS = [FIRST, TYPED, KEYED, SET, BATCHED, SERVED, PLAIN]

/** The server and the command line know the same refs. */
const SHARED = { AGENT_DESKTOP_SESSION: "shared" }

test.each(["gtk3", "gtk4", "qt5", "qt6", "web"])(
  "a password in %s appears in no output, no file and no list of processes",
  async (toolkit) => {
    await using desktop = await openDesktop()
    await using field = await (toolkit === "web" ? startPage(desktop) : startProgram(desktop, toolkit))
    const said: string[] = []
    const watch = watchProcesses()
    const trace = `${desktop.home}/trace`
    const ask = async (args: readonly string[], env: Record<string, string> = {}, stdin?: string) => {
      const ran = await run(
        desktop,
        [...args, "-v"],
        { AGENT_DESKTOP_TRACE: trace, ...SHARED, ...env },
        stdin,
      )
      said.push(ran.stdout, ran.stderr)
      return JSON.parse(ran.stdout)
    }
    const { data } = await until(async () => {
      const found = await ask(["snapshot", "--app", field.app])
      return found.ok && secureOf(found.data.tree) && found
    }, 30_000)
    const ref = secureOf(data.tree)!
    const set = (text: string, ...args: readonly string[]) =>
      until(() => field.holds(text), 5000).catch(() => {
        throw new Error(`${args} did not put it there`)
      })

    // Some toolkits take keys only with the focus.
    await ask(["focus", ref])
    await ask(["set-value", ref, "--secret", "env:PASSWORD", "--changes"], { PASSWORD: TYPED })
    await set(TYPED, "set-value")
    await ask(["clear", ref, "--changes"])
    await set("", "clear")
    const typed = await ask(["type", ref, "--secret", "stdin"], {}, `${SET}\n`)
    await set(SET, "type")
    const { focus_reason: _, ...told } = typed.data
    expect(told).toEqual({
      action: "type",
      ref_id: ref,
      element: { role: "textfield", name: "Password" },
      focused: expect.any(Boolean),
      method: expect.any(String),
      disposition: expect.any(Object),
    })
    await ask(["clear", ref])
    await ask(["type", ref, "--secret", "env:PASSWORD", "--input", "physical"], { PASSWORD: KEYED })
    await set(KEYED, "keys")
    expect(await leftKeys(desktop)).toEqual([])
    const item = { command: "set-value", args: { ref_id: ref, secret: "env:PASSWORD" } }
    await ask(["batch", JSON.stringify([item])], { PASSWORD: BATCHED })
    await set(BATCHED, "batch")
    await serve(desktop, said, {
      name: "desktop_set_value",
      arguments: { ref_id: ref, secret: "env:PASSWORD" },
    })
    await set(SERVED, "mcp")

    // The caller shows this one on the command line; the answers must not repeat it.
    const listed = watch.end()
    await ask(["set-value", ref, PLAIN])
    await set(PLAIN, "plain")
    for (const line of LOOKS) await ask(line.replaceAll("$ref", ref).replaceAll("$app", field.app).split(" "))
    for (const format of ["json", "text"])
      said.push(
        (await run(desktop, ["snapshot", "--app", field.app, "--format", format, "--include-hidden"])).stdout,
      )
    expect((await ask(["find", "--app", field.app, "--text", PLAIN, "--count"], NO_TRACE)).data).toEqual({
      count: 0,
    })
    expect((await ask(["find", "--app", field.app, "--value", PLAIN, "--count"], NO_TRACE)).data).toEqual({
      count: 0,
    })
    const awaited = [
      "wait",
      "--element",
      ref,
      "--predicate",
      "value",
      "--value",
      FIRST.slice(0, 5),
      "--timeout-ms",
      "300",
    ]
    expect((await ask(awaited)).error?.code).toBe("TIMEOUT")

    expect(SECRETS.filter((secret) => said.some((text) => holds(text, secret)))).toEqual([])
    expect(listed.filter((line) => SECRETS.some((secret) => holds(line, secret)))).toEqual([])
    const places = [desktop.home, desktop.env.XDG_RUNTIME_DIR!, desktop.env.HOME!]
    expect(
      places.flatMap(filesIn).filter((path) => SECRETS.some((secret) => fileHolds(path, secret))),
    ).toEqual([])
    // The length is secret too: no dots in place of characters, and no number of characters.
    expect(said.filter((text) => /[•●∙⚫*]{3}|characters_omitted/.test(text))).toEqual([])
  },
)

/** A trace records the search text of the caller, so these searches run without one. */
const NO_TRACE = { AGENT_DESKTOP_TRACE: "" }

const LOOKS = [
  "snapshot --app $app --include-bounds --max-depth 50",
  "snapshot --app $app --skeleton",
  "snapshot --app $app --compact -i",
  "snapshot --app $app --budget 200",
  "snapshot --app $app --diff",
  "snapshot --root $ref",
  "find --app $app --role textfield",
  "find --app $app --state secure",
  "get $ref text",
  "get $ref value",
  "get $ref title",
  "get $ref name",
  "get $ref description",
  "get $ref states",
  "get $ref actions",
  "is $ref enabled",
  "click $ref --changes",
  "triple-click $ref",
  "right-click $ref",
  "press escape",
  "list-surfaces --app $app",
  "select $ref nothing",
  "toggle $ref",
  "status",
  "doctor",
]

test("--secret types only into secure fields, and only from a source that exists", async () => {
  await using desktop = await openDesktop()
  await using field = await startProgram(desktop, "gtk3")
  const tree = await until(async () => {
    const { json } = await desktop.run("snapshot", "--app", field.app)
    return json.ok && secureOf(json.data.tree) && json.data.tree
  }, 30_000)
  const [ref, plain] = [secureOf(tree)!, plainOf(tree)!]
  const error = async (args: readonly string[], env = {}, stdin?: string) =>
    JSON.parse((await run(desktop, args, env, stdin)).stdout).error

  expect(await error(["type", plain, "--secret", "env:PASSWORD"], { PASSWORD: TYPED })).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    details: { kind: "not_secure" },
    disposition: { delivery: "not_delivered" },
  })
  expect(await error(["type", ref, "--secret", "env:NOWHERE"])).toMatchObject({
    code: "INVALID_ARGS",
    message: expect.stringContaining("no secret 'NOWHERE'"),
  })
  expect(await error(["type", ref, "--secret", "stdin"], {}, "")).toMatchObject({ code: "INVALID_ARGS" })
  expect(await error(["type", ref, "--secret", "PASSWORD"], { PASSWORD: TYPED })).toMatchObject({
    code: "INVALID_ARGS",
    message: expect.stringContaining("env:NAME or stdin"),
  })
  expect(await error(["type", ref, "text", "--secret", "stdin"], {}, TYPED)).toMatchObject({
    code: "INVALID_ARGS",
  })
  expect(await error(["type", ref])).toMatchObject({ code: "INVALID_ARGS" })
  const twice = JSON.stringify([{ command: "type", args: { ref_id: ref, secret: "stdin" } }])
  const { data } = JSON.parse((await run(desktop, ["batch", "-"], {}, twice)).stdout)
  expect(data.results[0].error).toMatchObject({
    code: "INVALID_ARGS",
    message: expect.stringContaining("read already"),
  })
  expect(field.holds(FIRST)).toBe(true)
})

// The field and the digests that it reports

interface Field extends AsyncDisposable {
  readonly app: string
  /** True if the field itself reports that it holds this text. */
  holds(text: string): boolean
}

async function startProgram(desktop: TestDesktop, toolkit: string): Promise<Field> {
  const path = `${desktop.directory}/digests`
  const script = new URL("../fixtures/password.py", import.meta.url).pathname
  const app = desktop.spawnApp(["/usr/bin/python3", script, toolkit], { env: { PASSWORD_DIGEST: path } })
  app.stdin.write(`${FIRST}\n`)
  await app.stdin.flush()
  const lines = () => readFileSync(path, "utf8").trimEnd().split("\n")
  await until(() => Bun.file(path).exists(), 20_000)
  return {
    app: "password",
    holds: (text) => lines().at(-1) === digest(text),
    [Symbol.asyncDispose]: async () => {
      app.kill("SIGKILL")
      await app.exited
    },
  }
}

/** The page sends only a digest of its password. */
async function startPage(desktop: TestDesktop): Promise<Field> {
  let last = ""
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response(PAGE, { headers: { "content-type": "text/html" } }),
      "/first": new Response(FIRST),
      "/digest": async (request) => {
        last = await request.text()
        return new Response()
      },
    },
    fetch: () => new Response("", { status: 404 }),
  })
  const profile = `${desktop.directory}/profile`
  mkdirSync(profile)
  const app = desktop.spawnApp([...CHROMIUM, `--user-data-dir=${profile}`, `--app=${server.url}`])
  await until(() => last === digest(FIRST), 30_000)
  return {
    app: "Chromium",
    holds: (text) => last === digest(text),
    [Symbol.asyncDispose]: async () => {
      app.kill("SIGKILL")
      await app.exited
      await server.stop(true)
    },
  }
}

const PAGE = `<!doctype html><title>Password</title>
<label>Plain <input></label> <label>Password <input type="password" autocomplete="off"></label>
<script>
const field = document.querySelector("[type=password]")
let turn = Promise.resolve()
const tell = () => {
  const text = field.value
  turn = turn.then(async () => {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
    await fetch("/digest", { method: "POST", body: new Uint8Array(bytes).toHex() })
  })
}
field.addEventListener("input", tell)
fetch("/first").then((first) => first.text()).then((text) => { field.value = text; tell() })
</script>`

const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

interface Printed {
  readonly ref_id?: string
  readonly role: string
  readonly states?: readonly string[]
  readonly children?: readonly Printed[]
}

const all = (node: Printed): Printed[] => [node, ...(node.children ?? []).flatMap(all)]
const secureOf = (tree: Printed) => all(tree).find((node) => node.states?.includes("secure"))?.ref_id
const plainOf = (tree: Printed) =>
  all(tree).find((node) => node.role === "textfield" && !node.states?.includes("secure"))?.ref_id

// Places to search

async function run(
  desktop: TestDesktop,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin?: string,
): Promise<{ stdout: string; stderr: string }> {
  const child = Bun.spawn([PROGRAM, ...args], {
    env: { ...desktop.env, ...env },
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  return { stdout, stderr }
}

async function serve(desktop: TestDesktop, said: string[], params: object): Promise<void> {
  const client = { name: "test", version: "1" }
  const lines = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params },
  ]
  const child = Bun.spawn([PROGRAM, "mcp", "-v"], {
    env: { ...desktop.env, ...SHARED, PASSWORD: SERVED, AGENT_DESKTOP_SECRETS: "PASSWORD" },
    stdio: ["pipe", "pipe", "pipe"],
  })
  for (const line of lines) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`)
  await child.stdin.flush()
  const decoder = new TextDecoder()
  let heard = ""
  for await (const piece of child.stdout) {
    heard += decoder.decode(piece, { stream: true })
    if (/"id":2/.test(heard)) break
  }
  child.stdin.end()
  said.push(heard, await new Response(child.stderr).text())
  await child.exited
}

/** Collects the arguments of every process until `end` is called. */
function watchProcesses(): { end(): readonly string[] } {
  const seen = new Set<string>()
  const look = () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      } catch {
        // The process has ended.
      }
    }
  }
  const timer = setInterval(look, 10)
  return {
    end: () => {
      clearInterval(timer)
      look()
      return [...seen]
    },
  }
}

/** Lines of the keymap and of our note about spare keys that still have a typed character that no layout has. */
async function leftKeys(desktop: TestDesktop): Promise<readonly string[]> {
  const [keymap, notes] = await Promise.all([
    Bun.$`xmodmap -pke`.env({ ...desktop.env }).text(),
    Bun.$`xprop -root _AGENT_DESKTOP_SPARE_KEYS`.env({ ...desktop.env }).text(),
  ])
  const code = KEYED.codePointAt(1)!
  return [
    ...keymap.split("\n").filter((line) => line.includes(`U${code.toString(16).toUpperCase()}`)),
    ...notes.split("\n").filter((line) => line.includes(String(0x1000000 + code))),
  ]
}

/** True if the text has the secret as it is, escaped for JSON, percent-encoded or in Base64. */
function holds(text: string, secret: string): boolean {
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    btoa(encodeURIComponent(secret)),
  ]
  return forms.some((form) => text.includes(form))
}

const fileHolds = (path: string, secret: string) => {
  const bytes = readFileSync(path)
  return bytes.includes(secret) || bytes.includes(Buffer.from(secret, "utf16le"))
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
}
