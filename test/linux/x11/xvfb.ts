import { join } from "node:path"
import { Deadline } from "../../../src/deadline.ts"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { managerAnswers, readManager } from "../../../src/linux/x11/windows.ts"
import { openXtest } from "../../../src/linux/x11/xtest.ts"
import { temporary } from "../../support/temporary.ts"
import { until } from "../../support/until.ts"

/** A deadline that no wait here reaches, even on a busy machine. */
export const patience = () => Deadline.in(20_000)

export interface Xvfb extends AsyncDisposable {
  readonly display: string
  readonly env: Record<string, string>
  readonly pid: number
  readonly x: X11
  /** A directory for the test's files. */
  readonly dir: string
  /** Starts a program on this display; it ends no later than the display. */
  spawn(
    command: string[],
    options?: { stdin?: Blob | "ignore"; env?: Record<string, string> },
  ): Bun.Subprocess<"ignore", "pipe", "ignore">
  /** Runs a program on this display and returns its output. */
  run(command: string[]): Promise<string>
}

/** A private X server that chooses its own number, with a connection to it. */
export async function startXvfb(
  options: { size?: string; cookie?: string; args?: string[] } = {},
): Promise<Xvfb> {
  const place = temporary()
  const dir = place.path
  const { size = "1280x800", cookie } = options
  const authority = join(dir, "authority")
  const authorize = (display: string) =>
    cookie &&
    Bun.spawn(["xauth", "-q", "-f", authority, "add", display, ".", cookie], { stderr: "ignore" }).exited
  await authorize(":0")
  const args = [...(options.args ?? []), ...(cookie ? ["-auth", authority] : [])]
  const server = Bun.spawn(
    ["Xvfb", "-displayfd", "1", "-screen", "0", `${size}x24`, "-nolisten", "tcp", "-noreset", ...args],
    { stdin: "ignore", stdout: "pipe", stderr: "ignore" },
  )
  const number = await readLine(server.stdout)
  const display = `:${number}`
  const env: Record<string, string> = { ...plainEnv(), DISPLAY: display, HOME: dir, XDG_RUNTIME_DIR: dir }
  await authorize(display)
  if (cookie) env.XAUTHORITY = authority
  const x = await X11.connect(env, patience()).catch((error) => {
    server.kill("SIGKILL")
    throw error
  })
  const children: Bun.Subprocess[] = []
  const spawn: Xvfb["spawn"] = (command, { env: more = {} } = {}) => {
    const child = Bun.spawn(command, {
      env: { ...env, ...more },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    })
    children.push(child)
    return child
  }
  return {
    display,
    env,
    dir,
    x,
    pid: server.pid,
    spawn,
    run: async (command) => {
      const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${err}`)
      return out
    },
    [Symbol.asyncDispose]: async () => {
      x.close()
      for (const child of children) {
        child.kill("SIGCONT")
        child.kill("SIGKILL")
      }
      server.kill("SIGKILL")
      await Promise.all([server.exited, ...children.map((child) => child.exited)])
      place[Symbol.dispose]()
    },
  }
}

/** Starts a window manager with a session bus for its settings, and waits until it manages windows. */
export async function startManager(desk: Xvfb, command: string[]) {
  const bus = desk.spawn(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"])
  const env = { DBUS_SESSION_BUS_ADDRESS: await readLine(bus.stdout), NO_AT_BRIDGE: "1" }
  const child = desk.spawn(command, { env })
  await until(() => readManager(desk.x, patience()))
  if (!(await managerAnswers(desk.x, patience()))) throw new Error(`${command[0]} does not answer`)
  return child
}

/** Presses a key by its keycode. */
export async function tapKey(desk: Xvfb, keycode: number): Promise<void> {
  const xtest = await openXtest(desk.x, patience())
  xtest.keyDown(keycode)
  xtest.keyUp(keycode)
  await desk.x.sync(patience())
}

/** All output of a stream so far. */
export function follow(stream: ReadableStream<Uint8Array>): { text(): string } {
  let text = ""
  const decoder = new TextDecoder()
  void (async () => {
    for await (const piece of stream) text += decoder.decode(piece, { stream: true })
  })().catch(() => undefined)
  return { text: () => text }
}

export async function readLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let text = ""
  while (!text.includes("\n")) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the stream ended after '${text}'`)
    text += decoder.decode(value)
  }
  reader.releaseLock()
  return text.slice(0, text.indexOf("\n"))
}

function plainEnv(): Record<string, string> {
  const { PATH = "/usr/bin:/bin" } = process.env
  return { PATH, LC_ALL: "C.UTF-8", LANG: "C.UTF-8", NO_AT_BRIDGE: "1", GTK_A11Y: "none" }
}
