import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { rmSync } from "node:fs"
import { nowhere, PROGRAM } from "../program/program.ts"
import { timed } from "../support/pace.ts"
import { Dice, TARGETS } from "./bytes.ts"

setDefaultTimeout(230_000)

/** FUZZ_BYTES=1000000 for a long run. FUZZ_SEED repeats a run, or continues with other inputs. */
const INPUTS = Number(process.env.FUZZ_BYTES ?? 20_000)
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const LONGEST_MS = 2000
const MOST_GROWTH = 300 * 1024 * 1024

const names = Object.keys(TARGETS)
const share = Math.ceil(INPUTS / names.length)

const setting = nowhere()
afterAll(() => rmSync(setting.directory, { recursive: true, force: true }))

test.each(names)("%s: every input is read or refused, in time and in bounds", async (name) => {
  const target = TARGETS[name]!
  const before = process.memoryUsage.rss()
  const { result: slowest, slackMs } = await timed(async () => {
    let slowest = 0
    for (let number = 0; number < share; number++) {
      const dice = new Dice(
        Math.imul(SEED, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b) ^ names.indexOf(name),
      )
      const start = performance.now()
      try {
        await target(dice)
      } catch (error) {
        throw new Error(`${name} ${number} of seed ${SEED}: ${error}`, { cause: error })
      }
      slowest = Math.max(slowest, performance.now() - start)
    }
    return slowest
  })
  expect(slowest).toBeLessThan(LONGEST_MS + slackMs)
  Bun.gc(true)
  expect(process.memoryUsage.rss() - before).toBeLessThan(MOST_GROWTH)
})

test("the program itself answers every odd line with one envelope", async () => {
  const dice = new Dice(SEED)
  const words = [
    "click",
    "batch",
    "find",
    "@e1",
    "[{}]",
    "--timeout-ms",
    "0",
    "--xy",
    "--",
    "\u202e",
    '{"a":',
    "-5",
    "=",
  ]
  const lines = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + dice.roll(5) }, () => dice.pick(words)),
  )
  for (let at = 0; at < lines.length; at += 6) {
    const ran = await Promise.all(lines.slice(at, at + 6).map((line) => setting.run(line, { stdin: "[" })))
    for (const [index, { stdout, stderr, exitCode }] of ran.entries()) {
      const line = lines[at + index]!
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: expect.any(Number), stderr: "" })
      expect([0, 1, 2]).toContain(exitCode)
      if (!stdout.startsWith("{")) expect(exitCode).toBe(0)
      else expect(JSON.parse(stdout)).toMatchObject({ version: "1.0", ok: exitCode === 0 })
    }
  }
})

test("a server continues after lines that are not messages", async () => {
  const child = Bun.spawn([PROGRAM, "mcp"], {
    env: { PATH: process.env.PATH, HOME: setting.directory },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const dice = new Dice(SEED)
  const say = (line: string) => child.stdin.write(`${line}\n`)
  const clientInfo = { name: "test", version: "1" }
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
  say(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: hello }))
  say(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
  const odd = [
    "{}",
    "null",
    "[]",
    '"x"',
    "\0",
    "{",
    '{"jsonrpc":"2.0"}',
    "[".repeat(10_000),
    "x".repeat(100_000),
  ]
  const call =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"desktop_status","arguments":{}}}'
  for (let count = 0; count < 1000; count++) {
    const at = dice.roll(call.length)
    say(
      dice.roll(2)
        ? dice.pick(odd)
        : `${call.slice(0, at)}${dice.pick(odd.slice(0, 7))}${call.slice(at + dice.roll(9))}`,
    )
    if (count % 100 === 0) await child.stdin.flush()
  }
  say(
    JSON.stringify({
      jsonrpc: "2.0",
      id: "last",
      method: "tools/call",
      params: { name: "desktop_list_apps", arguments: {} },
    }),
  )
  await child.stdin.flush()
  let heard = ""
  const decoder = new TextDecoder()
  for await (const piece of child.stdout) {
    heard += decoder.decode(piece, { stream: true })
    if (heard.includes('"id":"last"')) break
  }
  child.stdin.end()
  expect(await child.exited).toBe(0)
  for (const line of heard.trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
  expect(heard).toContain('"id":"last"')
})
