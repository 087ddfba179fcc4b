import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { version } from "../../package.json"
import { nowhere, PROGRAM } from "./program.ts"

test("a command prints exactly one line of JSON, with its members in the contract's order", async () => {
  using setting = nowhere()
  const { exitCode, stdout, stderr } = await setting.run(["version"])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
  expect(stdout).toMatch(
    /^\{"version":"1\.0","ok":true,"command":"version","data":\{"version":"[^\n]*\}\}\n$/,
  )
  expect(JSON.parse(stdout).data.version).toBe(version)
})

test("a ref that is not in the map fails with the contract's message and exit code 1", async () => {
  using setting = nowhere()
  const { exitCode, stdout } = await setting.run(["click", "@e7"])
  expect(exitCode).toBe(1)
  expect(stdout).toBe(
    '{"version":"1.0","ok":false,"command":"click","error":{"code":"STALE_REF","message":"@e7 not found in current RefMap","suggestion":"Run \'snapshot\' to refresh, then retry with updated ref","disposition":{"delivery":"not_delivered","retry":"safe"}}}\n',
  )
})

test.each([
  [["clik", "@e1"], "unknown", "'clik'", "click"],
  [["click", "@e1", "--tmeout-ms", "5"], "click", "'--tmeout-ms'", "--timeout-ms"],
  [["click"], "click", "TARGET", ""],
  [["click", "@e1", "@e2"], "click", "'@e2'", ""],
  [["click", "three"], "click", "three", "@e3"],
  [["snapshot", "--max-depth", "0"], "snapshot", "--max-depth", ""],
  [["snapshot", "--max-depth", "many"], "snapshot", "--max-depth", ""],
  [["snapshot", "--max-depth"], "snapshot", "--max-depth", ""],
  [["snapshot", "--surface", "windw"], "snapshot", "--surface", "window"],
  [["find", "--first", "--last"], "find", "--first", "--last"],
  [["press", "ctlr+s"], "press", "ctlr", ""],
  [["mouse-move", "--xy", "12"], "mouse-move", "--xy", "X,Y"],
  [["--sesion", "a", "version"], "unknown", "--sesion", "--session"],
])("%j ends with exit code 2 and an envelope that names the mistake", async (args, command, named, also) => {
  using setting = nowhere()
  const { exitCode, stdout } = await setting.run(args)
  const envelope = JSON.parse(stdout)
  expect(exitCode).toBe(2)
  expect(envelope).toMatchObject({ version: "1.0", ok: false, command, error: { code: "INVALID_ARGS" } })
  expect(envelope.error.message).toContain(named)
  expect(`${envelope.error.message} ${envelope.error.suggestion}`).toContain(also)
})

test("help is plain text, with --help or without arguments", async () => {
  using setting = nowhere()
  const [bare, help, ofClick] = await Promise.all([
    setting.run([]),
    setting.run(["--help"]),
    setting.run(["click", "--help"]),
  ])
  expect(bare.stdout).toBe(help.stdout)
  expect(help.stdout).toContain("Usage: agent-desktop COMMAND")
  expect(ofClick.stdout).toContain("Usage: agent-desktop click TARGET")
  for (const text of [help.stdout, ofClick.stdout]) expect(text).not.toContain("\x1b")
})

test("--help in the position of text is text", async () => {
  using setting = nowhere()
  const { stdout } = await setting.run(["type", "@e1", "--help"])
  expect(JSON.parse(stdout)).toMatchObject({ command: "type", error: { code: "STALE_REF" } })
})

test.each([
  [["click", "--format", "text"], {}],
  [["--format=text", "click"], {}],
  [["click"], { AGENT_DESKTOP_FORMAT: "text" }],
])("%j with %j is refused as text", async (args, more) => {
  using setting = nowhere()
  const child = Bun.spawn([PROGRAM, ...args], {
    env: { PATH: process.env.PATH, HOME: setting.directory, ...more },
    stdout: "pipe",
  })
  expect(await new Response(child.stdout).text()).toStartWith(
    "error INVALID_ARGS: Missing TARGET (--ref-id)\n",
  )
  expect(await child.exited).toBe(2)
})

test("a text after -- that looks like --format does not choose the format of a refusal", async () => {
  using setting = nowhere()
  const { stdout } = await setting.run(["clik", "--", "--format", "text"])
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "INVALID_ARGS" } })
})

test("a reader that closes the pipe ends the program quietly", async () => {
  using setting = nowhere()
  const child = Bun.spawn(
    [
      "bash",
      "-c",
      `"$0" --help 2>"$1" | true; echo "\${PIPESTATUS[0]}"`,
      PROGRAM,
      `${setting.directory}/err`,
    ],
    {
      env: { PATH: process.env.PATH, HOME: setting.directory },
      stdout: "pipe",
    },
  )
  expect((await new Response(child.stdout).text()).trim()).toBe("0")
  expect(await Bun.file(`${setting.directory}/err`).text()).toBe("")
})

test.each([
  [["version"], "a command that worked"],
  [["--help"], "plain text"],
  [["--version"], "the version"],
  [["clik"], "a refused command line"],
  [["click", "@e7", "--format", "text"], "a failed command"],
])("%j on a full disk ends with one line about it and exit code 1: %s", async (args) => {
  using setting = nowhere()
  const env = { PATH: process.env.PATH, HOME: setting.directory }
  const child = Bun.spawn([PROGRAM, ...args], { env, stdout: Bun.file("/dev/full"), stderr: "pipe" })
  const stderr = await new Response(child.stderr).text()
  expect({ exitCode: await child.exited, stderr }).toEqual({
    exitCode: 1,
    stderr: "warn The answer cannot be written to standard output (ENOSPC). Effects of the command remain.\n",
  })
})

test("a full standard output and a full standard error are not a crash", async () => {
  using setting = nowhere()
  const env = { PATH: process.env.PATH, HOME: setting.directory }
  const child = Bun.spawn([PROGRAM, "version"], {
    env,
    stdio: ["ignore", Bun.file("/dev/full"), Bun.file("/dev/full")],
  })
  expect({ exitCode: await child.exited, signal: child.signalCode }).toEqual({ exitCode: 1, signal: null })
})

test("a closed standard output is not a crash", async () => {
  using setting = nowhere()
  const child = Bun.spawn(["bash", "-c", '"$0" version >&-', PROGRAM], {
    env: { PATH: process.env.PATH, HOME: setting.directory },
    stderr: "pipe",
  })
  const stderr = await new Response(child.stderr).text()
  expect(child.signalCode).toBeNull()
  expect(stderr).not.toContain("at ")
})

test(".env and bunfig.toml in the working directory are ignored", async () => {
  using setting = nowhere()
  writeFileSync(`${setting.directory}/.env`, "AGENT_DESKTOP_SESSION=../../escape\n")
  writeFileSync(`${setting.directory}/bunfig.toml`, 'preload = ["./boom.ts"]\n')
  writeFileSync(`${setting.directory}/boom.ts`, 'throw new Error("boom")\n')
  const { exitCode, stdout } = await setting.run(["click", "@e1"])
  expect({ exitCode, code: JSON.parse(stdout).error.code }).toEqual({ exitCode: 1, code: "STALE_REF" })
})

test("variables of the runtime do not make the program run other code", async () => {
  using setting = nowhere()
  const script = `${setting.directory}/other.js`
  writeFileSync(script, 'console.log("other code")\n')
  const plain = await setting.run(["version"])
  const switches: readonly Record<string, string>[] = [
    { BUN_BE_BUN: "1" },
    { BUN_OPTIONS: `--preload=${script}` },
    { BUN_INSPECT: "ws://127.0.0.1:0/x", BUN_INSPECT_PRELOAD: script },
  ]
  for (const env of switches) {
    const { exitCode, stdout, stderr } = await setting.run(["version"], { env })
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: plain.stdout, stderr: "" })
    expect(await setting.run(["-e", 'console.log("other code")'], { env })).toMatchObject({ exitCode: 2 })
  }
})

test("without a desktop, desktop commands suggest a next step, and other commands still work", async () => {
  using setting = nowhere()
  for (const args of [["snapshot"], ["list-windows"], ["list-apps"], ["screenshot"], ["press", "a"]]) {
    const { exitCode, stdout } = await setting.run(args)
    const { error } = JSON.parse(stdout)
    expect({ args, exitCode, code: error.code }).toEqual({
      args,
      exitCode: 1,
      code: "PLATFORM_NOT_SUPPORTED",
    })
    expect(error.suggestion).toBeTruthy()
  }
  const status = JSON.parse((await setting.run(["status"])).stdout)
  expect(status).toMatchObject({ ok: true, data: { platform: "linux", permissions: { granted: false } } })
  const batch = JSON.parse(
    (await setting.run(["batch", '[{"command":"list-apps"},{"command":"version"}]'])).stdout,
  )
  expect(batch.data.results).toMatchObject([
    { command: "list-apps", ok: false, error: { code: "PLATFORM_NOT_SUPPORTED" } },
    { command: "version", ok: true },
  ])
})

test("without a display, doctor suggests a session or an isolated desktop, and no part of one", async () => {
  using setting = nowhere()
  const { checks } = JSON.parse((await setting.run(["doctor"])).stdout).data
  const onDisplay = checks.filter(({ name }: { name: string }) =>
    ["display", "window_manager", "input"].includes(name),
  )
  expect(onDisplay).toHaveLength(3)
  for (const check of onDisplay)
    expect(check).toMatchObject({ ok: false, suggestion: expect.stringContaining("desktop-start") })
})

test("doctor only reports missing parts, and fails with --strict", async () => {
  using setting = nowhere()
  const [told, strict] = await Promise.all([setting.run(["doctor"]), setting.run(["doctor", "--strict"])])
  expect([told.exitCode, strict.exitCode]).toEqual([0, 1])
  const missing = JSON.parse(told.stdout).data.checks.filter((check: { ok: boolean }) => !check.ok)
  expect(JSON.parse(strict.stdout).error).toMatchObject({
    code: "PLATFORM_NOT_SUPPORTED",
    message: expect.stringContaining("display"),
    details: { checks: missing },
  })
})

test("a batch can come from standard input", async () => {
  using setting = nowhere()
  const { stdout } = await setting.run(["batch", "-"], { stdin: '[{"command":"version"}]' })
  expect(JSON.parse(stdout).data.results).toMatchObject([{ command: "version", ok: true }])
})

test("read-only prevents acting, by flag and by variable", async () => {
  using setting = nowhere()
  const runs = await Promise.all([
    setting.run(["--read-only", "click", "@e1"]),
    setting.run(["click", "@e1"], { env: { AGENT_DESKTOP_READ_ONLY: "1" } }),
    setting.run(["batch", '[{"command":"click","args":{"ref_id":"@e1"}}]'], {
      env: { AGENT_DESKTOP_READ_ONLY: "1" },
    }),
  ])
  const [byFlag, byVariable, inBatch] = runs.map(({ stdout }) => JSON.parse(stdout))
  expect(byFlag.error.code).toBe("POLICY_DENIED")
  expect(byVariable.error.code).toBe("POLICY_DENIED")
  expect(JSON.stringify(inBatch)).toContain("POLICY_DENIED")
})

test("--verbose logs to stderr, in colour only on request", async () => {
  using setting = nowhere()
  const quiet = await setting.run(["click", "@e1"])
  const loud = await setting.run(["-v", "click", "@e1"])
  const colour = await setting.run(["-v", "click", "@e1"], { env: { FORCE_COLOR: "1" } })
  expect(quiet.stderr).toBe("")
  expect(loud.stderr).toContain("click")
  expect(loud.stderr).not.toContain("\x1b")
  expect(colour.stderr).toContain("\x1b")
  expect(loud.stdout).toBe(quiet.stdout)
})
