import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { allProcesses, processStart, startEnvironment } from "../../src/linux/host/processes.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { eventsIn } from "../support/log.ts"
import { until } from "../support/until.ts"

/** `launch` with real programs: splash screens, processes that hand over, and programs that end early. */

let desktop: TestDesktop
let log: string

beforeAll(async () => {
  desktop = await openDesktop()
  log = `${desktop.directory}/splash.log`
})

afterAll(() => desktop?.close(), 30_000)

const FIXTURE = new URL("../fixtures/splash.py", import.meta.url).pathname

async function launch(
  app: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const words = args.map((arg) => `--arg=${arg}`)
  const child = Bun.spawn([PROGRAM, "launch", app, ...words, "--timeout-ms", "90000"], {
    env: { ...desktop.env, FIXTURE_LOG: log, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  })
  return JSON.parse(await new Response(child.stdout).text())
}

/** The events of the fixture, each with its process. */
const events = () => eventsIn<{ readonly event: string; readonly pid: number }>(log)

/** Ends a program of the fixture, if it still runs. */
function endProcess(pid: number): void {
  if (processStart(pid) !== undefined && startEnvironment(pid)?.get("FIXTURE_LOG") === log)
    process.kill(pid, "SIGTERM")
}

const windows = async (): Promise<readonly Json[]> => (await desktop.run("list-windows")).json.data.windows
const apps = async (): Promise<readonly Json[]> => (await desktop.run("list-apps")).json.data.apps

describe("launch", () => {
  test.each(["show", "hand-over"])(
    "%s: returns the window that comes after the splash screen",
    async (how) => {
      for (let round = 0; round < 3; round++) {
        const title = `${how} ${round}`
        const { data, error } = await launch(FIXTURE, [how, title])
        expect({ error, title: data?.title }).toEqual({ error: undefined, title })
        // The program itself says which process showed which window, and that there was a splash screen before.
        const seen = await until(async () => {
          const all = await events()
          return all.at(-1)?.event === "main" && all
        })
        expect(seen.at(-1)).toEqual({ event: "main", pid: data.pid })
        expect(
          seen.some(
            ({ event, pid }) => event === "splash" && (how === "show" ? pid === data.pid : pid !== data.pid),
          ),
        ).toBe(true)
        const listed = (await windows()).find(({ id }) => id === data.id)
        expect({ title: listed?.title, app: listed?.app_name, pid: listed?.pid }).toEqual({
          title,
          app: data.app_name,
          pid: data.pid,
        })
        expect((await apps()).find(({ pid }) => pid === data.pid)?.name).toBe(data.app_name)
      }
    },
  )

  test("of a program that leaves its window to another process waits for that one", async () => {
    const { data, error } = await launch(FIXTURE, ["leave", "left"])
    expect(error).toBeUndefined()
    expect(data.title).toBe("left")
    expect((await events()).at(-1)).toEqual({ event: "main", pid: data.pid })
  })

  test("of a program that ends early shows its exit code and output, without secrets and with hidden characters escaped", async () => {
    const text = "first line\ncannot open \x1b[31mfile\x1b[0m \u202egnp.x hunter2-secret"
    const { error } = await launch(FIXTURE, ["fail", text, "7"], {
      AGENT_DESKTOP_SECRETS: "APP_PASSWORD",
      APP_PASSWORD: "hunter2-secret",
    })
    expect(error).toMatchObject({
      code: "ACTION_FAILED",
      message: `'${FIXTURE}' ended with exit code 7 before it showed a window; it wrote 'cannot open file \u202egnp.x [secret]'`,
      details: { exit_code: 7, stderr: "first line\ncannot open file \u202egnp.x [secret]" },
    })
  })

  test("of a program that a signal ends names the signal", async () => {
    const { error } = await launch("/bin/sh", ["-c", "echo dying >&2; kill -SEGV $$"])
    expect(error).toMatchObject({ details: { kind: "exited", signal: "SIGSEGV", stderr: "dying" } })
  })

  test("keeps at most 2,000 characters, and a program that keeps writing continues", async () => {
    const { error } = await launch("/bin/sh", [
      "-c",
      "i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3",
    ])
    expect(error.details.stderr.length).toBeLessThanOrEqual(2000)
    expect(error.details.stderr).toEndWith("line 19998\nline 19999")

    const { data } = await launch(FIXTURE, ["noise", "noisy"])
    expect(data.title).toBe("noisy")
    // The command has ended. Without a reader, the next write would end the program.
    const ticks = async () => (await events()).filter(({ event }) => event === "tick").length
    const before = await ticks()
    await until(async () => (await ticks()) >= before + 5, 20_000)
    expect(readersOf(desktop).length).toBeGreaterThan(0)
    for (const pid of new Set((await events()).map((event) => event.pid))) endProcess(pid)
    // Our readers end with the program.
    await until(() => readersOf(desktop).length === 0, 20_000)
  })

  test("of LibreOffice returns its window under the name that every list has for it", async () => {
    const profile = `-env:UserInstallation=file://${desktop.directory}/office`
    const { data, error } = await launch("libreoffice", [profile, "--norestore", "--writer"])
    expect(error).toBeUndefined()
    const { id, app_name, pid } = data
    expect(app_name).toBe("soffice")
    await until(async () => {
      const [listed, app] = [
        (await windows()).find((one) => one.pid === pid),
        (await apps()).find((one) => one.pid === pid),
      ]
      expect(listed?.app_name).toBe("soffice")
      expect(app?.name).toBe("soffice")
      return (await desktop.run("find", "--window-id", id, "--role", "menuitem", "--timeout-ms", "2000")).json
        .ok
    }, 60_000)
    expect((await windows()).some((one) => one.id === id)).toBe(true)
  }, 180_000)
})

/** The `cat` processes of the desktop. */
const readersOf = ({ env }: TestDesktop): readonly number[] =>
  allProcesses()
    .filter(({ name, pid }) => name === "cat" && startEnvironment(pid)?.get("DISPLAY") === env.DISPLAY)
    .map(({ pid }) => pid)
