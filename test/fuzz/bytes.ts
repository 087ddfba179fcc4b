import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { commands } from "../../src/commands/index.ts"
import { Deadline } from "../../src/deadline.ts"
import { AppError } from "../../src/errors.ts"
import { Handshake, parseAddresses } from "../../src/linux/dbus/auth.ts"
import { Bus, DBusClosed, DBusError, DBusTimeout, method, WireError } from "../../src/linux/dbus/bus.ts"
import { message } from "../../src/linux/dbus/message.ts"
import { unmarshal } from "../../src/linux/dbus/read.ts"
import type { X11 } from "../../src/linux/x11/connection.ts"
import { listDisplays } from "../../src/linux/x11/displays.ts"
import { readKeymap } from "../../src/linux/x11/keymap.ts"
import {
  getGeometry,
  getNumbers,
  getProperty,
  propertyText,
  queryPointer,
  queryTree,
} from "../../src/linux/x11/requests.ts"
import { findCookie, parseDisplay } from "../../src/linux/x11/setup.ts"
import { listWindows } from "../../src/linux/x11/windows.ts"
import { Packet, type Request, XError } from "../../src/linux/x11/wire.ts"
import { decodePng } from "../../src/picture/png.ts"
import { formatRefMap, parseRefMap } from "../../src/refs/refmap-json.ts"
import { parseArgs, runCommand } from "../../src/run.ts"
import { readyDesk, samplesOf } from "../support/every-command.ts"

/** Malformed inputs for the functions that read input. Each target throws if the outcome is not allowed. */

/** Numbers from a seed; the same seed gives the same inputs. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 to below `n`. */
  roll(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }

  pick<T>(from: readonly T[]): T {
    return from[this.roll(from.length)]!
  }

  bytes(most: number): Uint8Array {
    return Uint8Array.from({ length: this.roll(most + 1) }, () => this.roll(256))
  }
}

export type Target = (dice: Dice) => void | Promise<void>

export const TARGETS: Readonly<Record<string, Target>> = {
  argv,
  batch,
  refmap,
  dbus,
  "dbus body": body,
  x11,
  files,
}

// Command lines

const WORDS = [
  ...Object.keys(commands),
  ..."--timeout-ms --app --window-id --xy --secret --format --session --desktop -i -v -h -- --help --json= --no-x -".split(
    " ",
  ),
  ..."@e1 @e0 e3 @s1:e9 w-1 0 -1 1e9 NaN 99999999999999999999 env:HOME stdin true false null [] {} 5,5".split(
    " ",
  ),
  "",
  " ",
  "\0",
  "\n\u2028\u202e",
  "x".repeat(5000),
  "--".repeat(200),
  "\ud800",
  "[".repeat(2000),
]

async function argv(dice: Dice): Promise<void> {
  const line = Array.from({ length: dice.roll(8) }, () =>
    dice.roll(3) ? dice.pick(WORDS) : mutateText(dice, dice.pick(WORDS)),
  )
  await orderly(async () => {
    const parsed = await parseArgv(line, commands, globals)
    if (parsed.kind === "run") await parseArgs(parsed.command, parsed.args)
  })
}

// Batches, run as every command is, on the fake desk

const desk = await readyDesk()
const ITEMS = (await samplesOf(commands)).map(({ command, args }) => ({
  command: command.name,
  args: { ...desk.fill(args), timeout_ms: 0 },
}))
/** Slow commands, and commands that end programs needed by the others. */
const LEFT_OUT = new Set(["wait", "close-app", "launch", "schema", "batch"])

async function batch(dice: Dice): Promise<void> {
  const items = Array.from({ length: dice.roll(3) }, () => dice.pick(ITEMS)).filter(
    (one) => !LEFT_OUT.has(one.command),
  )
  const commands = mutateText(dice, JSON.stringify(items))
  const envelope = await runCommand(desk.door, "batch", { commands, timeout_ms: 1000 })
  const errors = envelope.ok
    ? Object(envelope.data).results.map((one: { error?: object }) => one.error)
    : [envelope.error]
  for (const error of errors) if (error?.code === "INTERNAL") throw new Error(`${commands}: ${error.message}`)
}

// Maps of refs

const MAP = formatRefMap({
  inner: new Map(
    [1, 2, 3].map((n) => [
      `@e${n}`,
      {
        pid: 4711,
        role: "button",
        name: `Name ${n}`,
        states: ["enabled"],
        bounds: { x: 1, y: 2, width: 3, height: 4 },
        bounds_hash: 7255865167679474841n,
        available_actions: ["Click"],
        source_app: "App",
        window_id: "w-9",
        path: [0, 1, n],
      },
    ]),
  ),
  counter: 3,
  snapshot_id: "sabc",
} as unknown as Parameters<typeof formatRefMap>[0])

async function refmap(dice: Dice): Promise<void> {
  const text = dice.roll(8) ? mutateText(dice, MAP) : mutateText(dice, nested(dice))
  await orderly(async () => void parseRefMap(text))
}

const nested = (dice: Dice): string => '{"inner":'.repeat(dice.roll(5000)) + "[".repeat(dice.roll(5000))

// D-Bus

const SIGNATURES = [
  "",
  "s",
  "a(so)",
  "a{sv}",
  "(ii)au",
  "v",
  "aau",
  "a((so)(so)(so)iiassusau)",
  "ai",
  "ay",
  "g",
  "h",
  "x",
  "d",
]

function dbus(dice: Dice): void {
  const bus = new Bus(silentSocket(), "unix:path=silent", Deadline.in(60_000))
  bus.receive(Buffer.from("OK 1234deadbeef\r\n"))
  const calls = ["s", "a(so)", "v"].map((signature) =>
    bus
      .ask(method("a.b.C"), ":1.5", "/x", Deadline.in(60_000), (reply) => unmarshal(signature, reply.body))
      .catch(requireBusError),
  )
  for (let count = dice.roll(4) + 1; count > 0; count--) bus.receive(mutateBytes(dice, wholeMessage(dice)))
  bus.close()
  void Promise.all(calls)
}

function wholeMessage(dice: Dice): Buffer {
  const fields = { path: "/a/b", interface: "a.b", member: "C", sender: ":1.5", replySerial: dice.roll(6) }
  const values = ["text", [":1.2", "/p"].join()]
  return dice.roll(2)
    ? message(dice.roll(4) + 1, dice.roll(5) + 1, fields, "s", [values[0]!])
    : message(2, 3, fields, "a(so)", [
        [
          [":1.2", "/org/a11y"],
          [":1.3", "/org"],
        ],
      ])
}

async function body(dice: Dice): Promise<void> {
  const signature = dice.roll(3) ? dice.pick(SIGNATURES) : mutateText(dice, dice.pick(SIGNATURES))
  const head = wholeMessage(dice)
  const bus = new Bus(silentSocket(), "unix:path=silent", Deadline.in(60_000))
  bus.receive(Buffer.from("OK 1\r\n"))
  const read = bus
    .ask(method("a.b.C"), ":1.5", "/x", Deadline.in(60_000), (reply) => unmarshal(signature, reply.body))
    .catch(requireBusError)
  // A reply to our second message, of any type.
  const reply = Buffer.from(message(2, 9, { replySerial: 2 }, "s", ["x".repeat(dice.roll(40))]))
  bus.receive(dice.roll(2) ? reply : mutateBytes(dice, reply))
  bus.receive(mutateBytes(dice, head))
  bus.close()
  await read
}

function silentSocket(): Bun.Socket<undefined> {
  // A Bus uses only these two members.
  return { write: (bytes: Uint8Array) => bytes.length, end: () => 0 } as unknown as Bun.Socket<undefined>
}

function requireBusError(error: unknown): void {
  if ([DBusError, DBusClosed, DBusTimeout, WireError].some((kind) => error instanceof kind)) return
  throw error
}

// X11

const READS: readonly ((x: X11, deadline: Deadline) => Promise<unknown>)[] = [
  (x, deadline) => listWindows(x, deadline),
  (x, deadline) => queryTree(x, 1, deadline),
  (x, deadline) => queryPointer(x, deadline),
  (x, deadline) => getGeometry(x, 1, deadline),
  (x, deadline) => getNumbers(x, 1, 2, deadline),
  async (x, deadline) => propertyText(x, await getProperty(x, 1, 2, deadline)),
  (x, deadline) => readKeymap(x, 130, deadline),
  (x, deadline) => listDisplays(x, deadline),
]

async function x11(dice: Dice): Promise<void> {
  const reply = (): Packet | XError => {
    const raw = new Uint8Array(32 + 4 * dice.roll(40))
    raw.set(dice.bytes(raw.length).subarray(0, raw.length))
    raw[0] = 1
    if (dice.roll(3) === 0) raw.fill(dice.pick([0, 255]), 1 + dice.roll(16))
    return dice.roll(9) ? new Packet(raw) : new XError(new Packet(raw))
  }
  const ask = async (): Promise<Packet> => {
    const packet = reply()
    if (packet instanceof XError) throw packet
    return packet
  }
  const server = {
    root: 1,
    name: ":1",
    setup: {
      screen: { root: 1, width: 100, height: 100, depth: 24 },
      minKeycode: 8,
      maxKeycode: 255,
      idMask: 0x1fffff,
      idBase: 0x200000,
      formats: new Map(),
    },
    ask,
    askAll: async (requests: readonly Request[]) => requests.map(reply),
    intern: async () => {},
    atom: () => dice.roll(100),
    isAtom: () => dice.roll(2) === 0,
    extension: async () => (dice.roll(2) ? { opcode: 130, firstEvent: 90, firstError: 150 } : undefined),
    check: async () => {},
    send: () => {},
    sync: async () => {},
  }
  // A server with replies that no real server sends.
  await orderly(async () => void (await dice.pick(READS)(server as unknown as X11, Deadline.in(5000))))
}

// Files and addresses from other programs

const ADDRESS = "unix:path=/run/user/0/bus,guid=12;unix:abstract=/tmp/x%41;tcp:host=a"
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
  "base64",
)

async function files(dice: Dice): Promise<void> {
  await orderly(async () => {
    parseAddresses(mutateText(dice, ADDRESS))
    findCookie(
      mutateBytes(
        dice,
        Buffer.from("\x01\x00\x00\x04host\x00\x011\x00\x12MIT-MAGIC-COOKIE-1\x00\x10cookiecookiecook"),
      ),
      "host",
      "1",
    )
    parseDisplay(mutateText(dice, ":10.0"))
  })
  await orderly(
    async () => void new Handshake().push(mutateBytes(dice, Buffer.from("OK 12\r\nrest"))),
    [WireError],
  )
  await orderly(async () => void decodePng(mutateBytes(dice, PNG)), [Error])
}

// Inputs with damage, and the check of the outcome

/** Runs the read. If it throws, the error must be an expected one. */
async function orderly(
  work: () => Promise<void>,
  expected: readonly (abstract new (...args: never[]) => Error)[] = [],
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof AppError || expected.some((kind) => error instanceof kind)) return
    throw error
  }
}

function mutateText(dice: Dice, text: string): string {
  let changed = text
  for (let count = dice.roll(4) + 1; count > 0; count--) {
    const at = dice.roll(changed.length + 1)
    const to = at + dice.roll(12)
    const piece = dice.pick([changed.slice(0, dice.roll(64)), ...ODD_PIECES])
    changed = dice.pick([
      changed.slice(0, at),
      changed.slice(0, at) + piece + changed.slice(at),
      changed.slice(0, at) + piece + changed.slice(to),
      changed.slice(0, at) + changed.slice(to),
      changed + changed.slice(at, to),
    ])
  }
  return changed
}

const ODD_PIECES = [
  ...'null true -1 1e999 0.5 99999999999999999999 " \\ \\u0000 \\ud800 { } [ ] , : __proto__ constructor NaN'.split(
    " ",
  ),
  '"__proto__":{"x":1},',
  '"toString":1,',
  "\0",
  "\ud83d",
  "\u202e",
  "[".repeat(300),
  '{"a":'.repeat(100),
  "9".repeat(400),
  "é漢😀",
]

function mutateBytes(dice: Dice, bytes: Uint8Array): Buffer {
  const changed = Buffer.from(bytes)
  for (let count = dice.roll(5); count > 0 && changed.length > 0; count--) {
    const at = dice.roll(changed.length)
    if (dice.roll(2)) changed[at] = dice.pick([0, 1, 127, 128, 255, dice.roll(256)])
    else if (at + 4 <= changed.length)
      changed.writeUInt32LE(dice.pick([0, 1, 0x7fffffff, 0xffffffff, 0x04000000, dice.roll(4096)]), at)
  }
  const cut = dice.roll(6) === 0 ? changed.subarray(0, dice.roll(changed.length + 1)) : changed
  return dice.roll(6) === 0 ? Buffer.concat([cut, dice.bytes(64)]) : Buffer.from(cut)
}
