import { mkdirSync } from "node:fs"
import { noteApp } from "../../src/linux/desktops/record.ts"
import { CHROMIUM } from "../support/chromium.ts"
import type { TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import type { Op } from "./world.ts"

export const TOOLKITS = ["gtk3", "gtk4", "qt6", "qt5", "web"] as const
export type Toolkit = (typeof TOOLKITS)[number]

/** A live program whose elements change on command. It reports which of them were hit. */
export interface Fixture {
  readonly title: string
  /** Carries out the changes in order. Returns when the program has drawn them. */
  obey(ops: readonly Op[]): Promise<void>
  /** Ids of elements that were hit since the last call, in order. */
  takeHits(): readonly number[]
  readonly hits: readonly number[]
  /** Called when the pointer has entered the armed element, to which the program reacts. */
  onEntered: (id: number) => void
  pid(): number | undefined
  /** Kills the program and starts it again, under the same pid if possible. Returns true if the pid is the same. */
  restart(): Promise<boolean>
  stop(): Promise<void>
}

interface Message {
  readonly done?: number
  readonly hit?: number
  readonly entered?: number
}

const HERE = new URL(".", import.meta.url).pathname
const START_MS = 30_000

export async function startFixture(desktop: TestDesktop, toolkit: Toolkit): Promise<Fixture> {
  return toolkit === "web" ? startPage(desktop) : startProgram(desktop, toolkit)
}

const PROGRAMS = {
  gtk3: ["gtk3.py"],
  gtk4: ["gtk4.py"],
  qt6: ["qt.py"],
  qt5: ["qt.py", "--qt5"],
} as const

async function startProgram(desktop: TestDesktop, toolkit: keyof typeof PROGRAMS): Promise<Fixture> {
  const [script, ...options] = PROGRAMS[toolkit]
  let hits: number[] = []
  let done = -1
  let sent = 0
  let pid: number | undefined
  const start = (wanted: number) => {
    done = -1
    sent = 0
    pid = undefined
    const started = Bun.spawn(
      [
        "/usr/bin/python3",
        `${HERE}same-pid.py`,
        String(wanted),
        "/usr/bin/python3",
        HERE + script,
        ...options,
      ],
      {
        env: { ...desktop.env, GSK_RENDERER: "cairo" },
        cwd: desktop.directory,
        stdin: "pipe",
        stdout: "pipe",
        stderr: Bun.file(`${desktop.directory}/app.log`),
        detached: true,
      },
    )
    noteApp(desktop.env, started.pid)
    void listen(started.stdout, (message) => {
      if (message.done !== undefined) done = message.done
      if (message.hit !== undefined) hits.push(message.hit)
      if (message.entered !== undefined) fixture.onEntered(message.entered)
    })
    return started
  }
  let app = start(0)
  const ready = async () => {
    await until(async () => {
      if (app.exitCode !== null)
        throw new Error(`The fixture ended: ${await Bun.file(`${desktop.directory}/app.log`).text()}`)
      return done === 0
    }, START_MS)
    pid = childOf(app.pid) ?? app.pid
    noteApp(desktop.env, pid)
  }
  const fixture: Fixture = {
    title: `Fuzz ${toolkit}`,
    onEntered: () => {},
    async obey(ops) {
      const n = ++sent
      app.stdin.write(`${JSON.stringify({ n, ops })}\n`)
      await app.stdin.flush()
      await until(async () => {
        if (app.exitCode !== null)
          throw new Error(`The fixture ended: ${await Bun.file(`${desktop.directory}/app.log`).text()}`)
        return done >= n
      })
    },
    get hits() {
      return hits
    },
    takeHits: () => hits.splice(0),
    pid: () => pid,
    async restart() {
      const before = pid ?? 0
      process.kill(before, "SIGKILL")
      await app.exited
      hits = []
      app = start(process.getuid?.() === 0 ? before : 0)
      await ready()
      return pid === before
    },
    async stop() {
      app.stdin.end()
      if (pid) endIfAlive(pid)
      await app.exited
    },
  }
  await ready()
  return fixture
}

/** The end of its input may already have ended the process. */
function endIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
  }
}

function childOf(parent: number): number | undefined {
  const { stdout } = Bun.spawnSync(["cat", `/proc/${parent}/task/${parent}/children`])
  return Number(stdout.toString().trim().split(" ")[0]) || undefined
}

async function listen(output: ReadableStream<Uint8Array>, hear: (message: Message) => void): Promise<void> {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const piece of output) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) hear(JSON.parse(line))
  }
}

async function startPage(desktop: TestDesktop): Promise<Fixture> {
  let hits: number[] = []
  let done = -1
  let sent = 0
  let commands: object[] = []
  let wake = () => {}
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    routes: {
      "/": new Response(Bun.file(`${HERE}page.html`)),
      "/log": async (request) => {
        // The page's own log() creates these reports.
        const message = (await request.json()) as Message
        if (message.done !== undefined) done = message.done
        if (message.hit !== undefined) hits.push(message.hit)
        if (message.entered !== undefined) fixture.onEntered(message.entered)
        return new Response()
      },
      // Answers as soon as there is a command. Then the page asks again.
      "/commands": async () => {
        if (commands.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const waiting = commands
        commands = []
        return Response.json(waiting)
      },
    },
    fetch: () => new Response("", { status: 404 }),
  })
  server.unref()
  const start = () => {
    done = -1
    sent = 0
    const profile = `${desktop.directory}/chromium-${Math.random()}`
    mkdirSync(profile)
    return desktop.spawnApp([
      ...CHROMIUM,
      "--window-position=0,0",
      "--window-size=1000,820",
      `--user-data-dir=${profile}`,
      `--app=${server.url}`,
    ])
  }
  let app = start()
  const fixture: Fixture = {
    title: "Fuzz web",
    onEntered: () => {},
    async obey(ops) {
      const n = ++sent
      commands.push({ n, ops })
      wake()
      await until(() => done >= n)
      if (ops.length === 0) return
      // A browser reports a change to assistive programs a moment after it has drawn it.
      const { json } = await desktop.run("wait", "--text", `revision ${n} of the page`, "--app", "Chromium")
      if (!json?.ok) throw new Error(`Chromium did not report its change: ${JSON.stringify(json)}`)
    },
    get hits() {
      return hits
    },
    takeHits: () => hits.splice(0),
    pid: () => app.pid,
    async restart() {
      process.kill(-app.pid, "SIGKILL")
      await app.exited
      hits = []
      commands = []
      // The request of the killed page is still waiting for an answer.
      wake()
      app = start()
      await until(() => done === 0, START_MS)
      return false
    },
    async stop() {
      process.kill(-app.pid, "SIGKILL")
      await app.exited
      server.stop(true)
    },
  }
  await until(() => done === 0, START_MS)
  return fixture
}
