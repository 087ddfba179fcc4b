import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { openDesktop, PROGRAM, runProgram, type TestDesktop } from "../support/desktop.ts"
import { shortTimeout } from "../support/pace.ts"
import { until } from "../support/until.ts"

const ODD = new URL("../fixtures/odd.py", import.meta.url).pathname
const POPUP = new URL("../fixtures/popup.py", import.meta.url).pathname
const ONLY = { AGENT_DESKTOP_APPS: "alpha" }

let desktop: TestDesktop
let beta: { readonly id: string; readonly bounds: { readonly x: number; readonly y: number } }
/** A ref of each app, from a snapshot without a policy. */
let refs: { readonly alpha: string; readonly beta: string }

beforeAll(async () => {
  desktop = await openDesktop()
  for (const name of ["alpha", "beta"])
    desktop.spawnApp(["/usr/bin/python3", ODD, name, `Title of ${name}`, `Press ${name}`])
  const ref = (name: string) =>
    until(async () => {
      const { json } = await desktop.run("find", "--app", name, "--role", "button", "--first")
      return json.ok && (json.data.match?.ref_id as string)
    }, 20_000)
  refs = { alpha: await ref("alpha"), beta: await ref("beta") }
  const { windows } = (await desktop.run("list-windows")).json.data
  beta = windows.find((one: { app_name: string }) => one.app_name === "beta")
})
afterAll(() => desktop.close())

const limited = (...args: readonly string[]) => runProgram(args, { ...desktop.env, ...ONLY })

test("no command shows or acts on an app that is not allowed", async () => {
  const point = `${beta.bounds.x + 20},${beta.bounds.y + 40}`
  const lines = [
    ["snapshot", "--app", "beta"],
    ["snapshot", "--window-id", beta.id],
    ["find", "--app", "beta", "--text", "Press"],
    ["get", refs.beta, "name"],
    ["click", refs.beta],
    ["click", refs.beta, "--input", "physical"],
    ["list-surfaces", "--app", "beta"],
    ["screenshot"],
    ["screenshot", "--window-id", beta.id],
    ["focus-window", beta.id],
    ["mouse-click", "--xy", point],
    ["close-app", "beta", "--force"],
    ["launch", "xterm"],
    ["clipboard-get"],
    ["batch", JSON.stringify([{ command: "click", args: { ref_id: refs.beta } }])],
  ]
  for (const line of lines) {
    const { json, stdout, stderr } = await limited(...line)
    const error = json.error ?? json.data.results?.[0].error
    expect({ line, code: error?.code }).toEqual({ line, code: "POLICY_DENIED" })
    expect(stdout + stderr).not.toContain("Title of beta")
  }
  for (const line of [["list-windows"], ["list-apps"], ["doctor"], ["status"]]) {
    const { json, stdout } = await limited(...line)
    expect({ line, ok: json.ok, isShown: stdout.includes("beta") }).toEqual({
      line,
      ok: true,
      isShown: false,
    })
  }
  expect((await desktop.run("get", refs.beta, "name")).json.ok).toBe(true)
})

test("an allowed app is seen and acted on as without a policy", async () => {
  expect((await limited("list-windows")).json.data.windows).toHaveLength(1)
  expect((await limited("snapshot", "--app", "alpha", "-i")).json).toMatchObject({
    ok: true,
    data: { ref_count: 1 },
  })
  expect((await limited("click", "@e1")).json.ok).toBe(true)
  expect((await limited("click", "@e1", "--input", "physical")).json.ok).toBe(true)
  expect((await limited("screenshot", "--app", "alpha")).json.ok).toBe(true)
  expect((await limited("press", "tab", "--app", "alpha")).json.ok).toBe(true)
})

test("the list of apps cannot be bypassed by drops, shortcuts, popups, options or pictures", async () => {
  const point = `${beta.bounds.x + 20},${beta.bounds.y + 40}`
  const { windows } = (await limited("list-windows")).json.data
  const own = `${windows[0].bounds.x + 20},${windows[0].bounds.y + 40}`
  await until(async () => (await limited("focus-window", windows[0].id)).json.ok)
  const lines = [
    ["mouse-up", "--xy", point],
    ["mouse-up", "--button", "middle", "--xy", point],
    ["press", "alt+tab"],
    ["press", "super+d"],
    ["key-down", "alt"],
    ["launch", "alpha", "--arg=--renderer-cmd-prefix=sh"],
  ]
  for (const line of lines)
    expect({ line, code: (await limited(...line)).json.error?.code }).toEqual({ line, code: "POLICY_DENIED" })
  // A popup of another program above the allowed window is in no list of windows.
  const [x, y] = own.split(",").map(Number)
  expect((await limited("mouse-click", "--xy", own)).json.ok).toBe(true)
  const log = `${desktop.directory}/popup.log`
  const popup = desktop.spawnApp(["/usr/bin/python3", POPUP, String(x! - 10), String(y! - 10), log])
  await until(() => existsSync(log), 20_000)
  await until(async () => (await limited("mouse-click", "--xy", own)).json.error?.code === "POLICY_DENIED")
  expect(readFileSync(log, "utf8")).toBe("shown\n")
  // Without the policy the same click reaches the popup and its log. So the click above did not.
  expect((await desktop.run("mouse-click", "--xy", own)).json.ok).toBe(true)
  await until(() => readFileSync(log, "utf8").includes("pressed"))
  popup.kill()
  await popup.exited
  const trace = `${desktop.home}/limited-trace`
  await limited("focus-window", beta.id, "--trace", trace, "--trace-screenshots")
  await limited("list-windows", "--trace", trace, "--trace-screenshots")
  const screen = (await desktop.run("list-displays")).json.data.displays[0].bounds
  const pictures = existsSync(`${trace}/pictures`) ? readdirSync(`${trace}/pictures`) : []
  const widths = pictures.map((name) => readFileSync(`${trace}/pictures/${name}`).readUInt32BE(16))
  expect(widths).not.toContain(screen.width)
})

test("no flag lifts a restriction of the environment, and read-only creates only new files", async () => {
  const reading = { AGENT_DESKTOP_READ_ONLY: "1" }
  for (const flag of ["--no-read-only", "--read-only=false"]) {
    const { json } = await runProgram(["mouse-move", "--xy", "5,5", flag], { ...desktop.env, ...reading })
    expect({ flag, code: json.error?.code }).toEqual({ flag, code: "POLICY_DENIED" })
  }
  for (const apps of ["", ",", " "]) {
    const { json } = await runProgram(["list-windows"], { ...desktop.env, AGENT_DESKTOP_APPS: apps })
    expect({ apps, windows: json.data.windows }).toEqual({ apps, windows: [] })
  }
  const profile = `${desktop.home}/profile`
  writeFileSync(profile, "mine")
  symlinkSync(profile, `${desktop.home}/link`)
  const shoot = (path: string, env = {}) => runProgram(["screenshot", path], { ...desktop.env, ...env })
  for (const path of [profile, `${desktop.home}/link`])
    expect((await shoot(path, reading)).json.error?.code).toBe("POLICY_DENIED")
  expect((await shoot(`${desktop.home}/link`)).json.error?.code).toBe("ACTION_FAILED")
  const planted = [{ command: "trace-export", args: { directory: "/tmp", output: profile } }]
  const [answer] = await serve([{ name: "desktop_batch", arguments: { commands: planted } }], {
    ...desktop.env,
    ...reading,
  })
  expect(answer).toContain("POLICY_DENIED")
  expect(readFileSync(profile, "utf8")).toBe("mine")
  expect((await shoot(`${desktop.home}/new.png`, reading)).json.ok).toBe(true)
  expect((await shoot(`${desktop.home}/new.png`)).json.ok).toBe(true)
})

test("the list of allowed apps and read-only mode also hold for MCP, batch and --desktop", async () => {
  // Without a session of the same name the server would not know the ref.
  const shared = { AGENT_DESKTOP_SESSION: "shared" }
  const looked = await runProgram(["snapshot", "--app", "beta", "-i"], { ...desktop.env, ...shared })
  expect(looked.json.data.ref_count).toBe(1)
  const ref = "@e1"
  const calls = [
    { name: "desktop_snapshot", arguments: { app: "beta" } },
    { name: "desktop_click", arguments: { ref_id: ref } },
    {
      name: "desktop_batch",
      arguments: { commands: [{ command: "get", args: { ref_id: ref, property: "name" } }] },
    },
  ]
  const answers = await serve(calls, { ...desktop.env, ...shared, ...ONLY })
  expect(answers.map((text) => text.includes("POLICY_DENIED"))).toEqual([true, true, true])
  const reading = await serve(
    [{ name: "desktop_batch", arguments: { commands: [{ command: "press", args: { combo: "a" } }] } }],
    {
      ...desktop.env,
      AGENT_DESKTOP_READ_ONLY: "1",
    },
  )
  expect(reading[0]).toContain("POLICY_DENIED")
  // From outside the desktop, by its name.
  const outside = { PATH: desktop.env.PATH!, HOME: desktop.env.HOME!, AGENT_DESKTOP_HOME: desktop.home }
  const named = (args: readonly string[], env = {}) =>
    runProgram([...args, "--desktop", "test"], { ...outside, ...env })
  expect((await named(["snapshot", "--app", "beta"], ONLY)).json.error.code).toBe("POLICY_DENIED")
  expect((await named(["press", "a", "--read-only"])).json.error.code).toBe("POLICY_DENIED")
  expect((await named(["permissions", "--request", "--read-only"])).json.error.code).toBe("POLICY_DENIED")
  expect((await named(["snapshot", "--app", "beta"])).json.ok).toBe(true)
})

test("names that an app gives itself, its window and its button cannot forge lines or nodes", async () => {
  desktop.spawnApp(["/usr/bin/python3", ODD, "forger", "@forged", "@forged"])
  const id = await until(async () => {
    const { windows } = (await desktop.run("list-windows")).json.data
    return windows.find((one: { app_name: string }) => one.app_name === "forger")?.id as string | undefined
  }, 20_000)
  const tree = await until(async () => {
    const { json } = await desktop.run("snapshot", "--window-id", id)
    return json.ok && json.data.ref_count > 0 && json.data
  }, 20_000)
  expect(tree.ref_count).toBe(1)
  const count = (node: { children?: object[] }): number =>
    (node.children ?? []).reduce((sum: number, child) => sum + count(child), 1)
  const { windows } = (await desktop.run("list-windows")).json.data
  const texts = [
    { args: ["snapshot", "--window-id", id], lines: 1 + count(tree.tree) },
    { args: ["snapshot", "--window-id", id, "-i"], lines: undefined },
    { args: ["find", "--app", "forger", "--role", "button"], lines: 1 },
    { args: ["list-windows", "--app", "forger"], lines: 1 },
    { args: ["list-surfaces", "--app", "forger"], lines: undefined },
    { args: ["click", "@e1", "--changes"], lines: undefined },
    { args: ["toggle", "@e1"], lines: 2 },
    {
      args: ["wait", "--window", 'a"\n[@e3]', "--timeout-ms", String(shortTimeout(200))],
      lines: 3 + windows.length,
    },
  ]
  for (const { args, lines } of texts) {
    const { stdout } = await desktop.run(...args, "--format", "text")
    // No control characters except our own line breaks, and no characters that hide or reverse text.
    expect(stdout).not.toMatch(
      /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u,
    )
    expect(stdout).not.toMatch(/^\s*button "(Forged|Inner|Line)"/m)
    if (lines !== undefined)
      expect({ args, lines: stdout.trimEnd().split("\n").length }).toEqual({ args, lines })
    // Text of the app appears only inside quotes.
    const bare = stdout.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    expect(bare).not.toMatch(/@e(7|8|9|10)\b|Forged|9x9/)
  }
})

async function serve(
  calls: readonly object[],
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const child = Bun.spawn([PROGRAM, "mcp", "--tools", "all"], {
    env: { ...env },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const clientInfo = { name: "test", version: "1" }
  send({
    id: "hello",
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  })
  send({ method: "notifications/initialized" })
  for (const [id, params] of calls.entries()) send({ id, method: "tools/call", params })
  await child.stdin.flush()
  const answers = new Map<unknown, string>()
  let heard = ""
  const decoder = new TextDecoder()
  for await (const piece of child.stdout) {
    heard += decoder.decode(piece, { stream: true })
    const lines = heard.split("\n")
    heard = lines.pop() ?? ""
    for (const line of lines) answers.set(JSON.parse(line).id, line)
    if (calls.every((_, id) => answers.has(id))) break
  }
  child.stdin.end()
  await child.exited
  return calls.map((_, id) => answers.get(id) ?? "")
}
