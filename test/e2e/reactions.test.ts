import { describe, expect, test } from "bun:test"
import { isSameRect } from "../../src/rect.ts"
import { type Reacting, startHoverPage, startReacting } from "../fixtures/reacting.ts"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, PROGRAM, type RunResult, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

const NOT_DELIVERED = { delivery: "not_delivered", retry: "safe" }
const AWAY = ["mouse-move", "--xy", "1200,1000"]
const SECRET = "correct-horse-battery-staple"

/** The ref of the element with this name, by its snapshot: a later one does not change its meaning. */
async function refOf(desktop: TestDesktop, app: Reacting, name: string): Promise<string> {
  return until(async () => {
    const { json } = await desktop.run("snapshot", "--app", app.app)
    const ref = json?.ok && nodesOf(json.data.tree).find((node) => node.name === name)?.ref_id
    return ref && `@${json.data.snapshot_id}:${ref.slice(1)}`
  }, 30_000)
}

const namesOf = async (app: Reacting, event: string) =>
  (await app.events()).filter((one) => one.event === event).map(({ name }) => name)

describe("the pointer presses only its element, even with", () => {
  test("a page that covers a button as soon as the pointer is there", async () => {
    await using desktop = await openDesktop()
    await using page = await startHoverPage(desktop)
    const open = await refOf(desktop, page, "Open")
    for (const command of [
      ["double-click", open],
      ["triple-click", open],
      ["click", open, "--input", "physical"],
      ["right-click", open, "--input", "physical"],
      ["drag", open, "--to-xy", "500,400"],
    ]) {
      await desktop.run(...AWAY)
      const { json } = await desktop.run(...command, "--timeout-ms", "3000")
      expect(json).toMatchObject({
        ok: false,
        error: {
          code: "ACTION_FAILED",
          message: expect.stringContaining("Delete forever"),
          disposition: NOT_DELIVERED,
        },
      })
    }
    // A button that only moves a little when the pointer comes is still the one under it.
    const lift = await refOf(desktop, page, "Lift")
    expect((await desktop.run("double-click", lift)).json).toMatchObject({ ok: true })
    await until(async () => (await namesOf(page, "dblclick")).includes("Lift"))
    const hits = (await page.events()).filter(({ event }) => event !== "ready")
    expect(hits.filter(({ name }) => name !== "Lift")).toEqual([])
  })

  test("two buttons that change places when it arrives", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "swap")
    const keep = await refOf(desktop, app, "Keep")
    for (let turn = 0; turn < 8; turn++) {
      await desktop.run(...AWAY)
      await app.tell("0")
      const { json } = await desktop.run("click", keep, "--input", "physical", "--timeout-ms", "3000")
      expect(json).toMatchObject({ ok: false, error: { disposition: NOT_DELIVERED } })
    }
    await app.tell("0")
    expect(await namesOf(app, "clicked")).toEqual([])
  })

  test("two buttons that change places a moment later, even between the last look and the press", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "swap")
    const keep = await refOf(desktop, app, "Keep")
    for (let ms = 10; ms <= 400; ms += 10) {
      await desktop.run(...AWAY)
      await app.tell(String(ms))
      await desktop.run("click", keep, "--input", "physical", "--timeout-ms", "3000")
    }
    await app.tell("0")
    expect((await namesOf(app, "clicked")).filter((name) => name !== "Keep")).toEqual([])
  })

  test("another element that takes the place of the drop target during the drag", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "drop")
    const [file, folder] = [await refOf(desktop, app, "File"), await refOf(desktop, app, "Folder")]
    const { json } = await desktop.run("drag", file, "--to", folder, "--timeout-ms", "15000")
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("covered by button Bin"),
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    await until(async () => (await app.events()).some(({ event }) => event === "ended"))
    expect(await namesOf(app, "dropped")).toEqual([])
  })

  test("a window that another process opens when it arrives", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "popup")
    const save = await refOf(desktop, app, "Save")
    const answers: boolean[] = []
    for (let turn = 0; turn < 8; turn++) {
      await desktop.run(...AWAY)
      await app.tell("close")
      const { json } = await desktop.run("click", save, "--input", "physical", "--timeout-ms", "3000")
      answers.push(json.ok)
      if (!json.ok) expect(json.error.disposition).toEqual(NOT_DELIVERED)
    }
    await app.tell("close")
    // If the other process is slow, the button is pressed before its window is there.
    expect(await namesOf(app, "clicked")).toEqual(answers.filter(Boolean).map(() => "Save"))
  })

  test("the open menu of another app, which would take the press", async () => {
    await using desktop = await openDesktop()
    const [app, other] = [await startReacting(desktop, "swap"), await startReacting(desktop, "menu")]
    const target = await refOf(desktop, app, "Delete everything")
    const file = await refOf(desktop, other, "File")
    // The items of the menu itself can be pressed: its own app holds the pointer.
    expect((await desktop.run("click", file, "--input", "physical")).json).toMatchObject({ ok: true })
    const print = await until(async () => {
      const { json } = await desktop.run("snapshot", "--app", other.app, "--surface", "menu")
      return json.ok && nodesOf(json.data.tree).find(({ name }) => name === "Print")?.ref_id
    })
    expect((await desktop.run("click", print, "--input", "physical")).json).toMatchObject({ ok: true })
    await until(async () => (await namesOf(other, "chosen")).length === 1)

    await desktop.run("click", file, "--input", "physical")
    await until(async () => (await other.events()).filter(({ event }) => event === "menu").length === 2)
    for (const command of [
      ["click", target, "--input", "physical"],
      ["double-click", target],
      ["hover", target],
      ["drag", target, "--to-xy", "1000,900"],
    ]) {
      const { json } = await desktop.run(...command, "--timeout-ms", "3000")
      expect(json).toMatchObject({ ok: false, error: { disposition: NOT_DELIVERED } })
    }
    expect(await namesOf(app, "clicked")).toEqual([])
    await desktop.run("press", "escape")
    expect((await desktop.run("click", target, "--input", "physical")).json).toMatchObject({ ok: true })
    await until(async () => (await namesOf(app, "clicked")).length === 1)
  })
})

test("a press that opens a list ends before a slow app could treat the release as a choice", async () => {
  await using desktop = await openDesktop()
  const app = await startReacting(desktop, "slow")
  const fruit = await refOf(desktop, app, "Fruit")
  const pointer = ["--input", "physical", "--timeout-ms", "20000"]
  expect((await desktop.run("expand", fruit, ...pointer)).json).toMatchObject({ ok: true })
  expect(await namesOf(app, "chosen")).toEqual([])
  await desktop.run("press", "escape")
  await app.tell("reset")
  const { json } = await desktop.run("select", fruit, "Banana", ...pointer)
  expect(json).toMatchObject({ ok: true, data: { post_state: { value: "Banana" } } })
  expect(await namesOf(app, "chosen")).toEqual(["Banana"])
})

test("a press is long enough for a control that acts on a timer while the button is down", async () => {
  await using desktop = await openDesktop()
  const profile = `-env:UserInstallation=file://${desktop.directory}/office`
  desktop.spawnApp(["soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", profile])
  const tabs = async () => {
    const look = ["snapshot", "--app", "soffice", "--include-bounds", "--max-depth", "30"]
    const { json } = await desktop.run(...look, "--timeout-ms", "20000")
    return json?.ok ? nodesOf(json.data.tree).filter(({ name = "" }) => /^Sheet\d+$/.test(name)) : []
  }
  // A starting window may move its tabs once more. A press beside the button proves nothing, so it is repeated.
  const addSheet = async (count: number): Promise<void> => {
    const first = await until(async () => (await tabs())[0]?.bounds, 90_000)
    // "Add sheet" has no accessible object. It is left of the first tab.
    await desktop.run("mouse-click", "--xy", `${first.x - 12},${first.y + Math.floor(first.height / 2)}`)
    const after = await until(async () => {
      const now = await tabs()
      return (now.length === count || (now[0] && !isSameRect(now[0].bounds, first))) && now
    })
    if (after.length < count) await addSheet(count)
  }
  await addSheet(2)
  await addSheet(3)
})

describe("a secret is typed into its own field only:", () => {
  /** FOCUS_TURNS=100 makes the long runs of docs/reliability.md, and prints what became of the secrets. */
  const turns = (usual: number): number => Number(process.env.FOCUS_TURNS ?? usual)
  const tell = (what: string, answers: readonly string[]): void => {
    if (process.env.FOCUS_TURNS)
      console.error(
        what,
        Object.entries(Object.groupBy(answers, String)).map(([key, all = []]) => `${key}: ${all.length}`),
      )
  }
  const answerOf = (json: Json): string => (json.ok ? "ok" : json.error.disposition.delivery)

  test("while a chat window opens", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "login")
    const field = await refOf(desktop, app, "Password")
    const answers: string[] = []
    for (let turn = 0; turn < turns(3); turn++) {
      await app.tell("close")
      // ä and € are on no key of the layout, so the app has to read a new keyboard map.
      const { json } = await typeSecret(desktop, field, `pässw€rd-${turn}-ñ`)
      const chat = (await app.events()).filter(({ event }) => event === "chat")
      expect({ turn, chat }).toEqual({ turn, chat: [] })
      answers.push(answerOf(json))
      if (!json.ok) expect(json.error.disposition.retry).toBe(isSent(json) ? "unsafe" : "safe")
    }
    tell("a chat window", answers)
  }, 1_200_000)

  test.each([1, 4, 6, SECRET.length])(
    "if its window goes on to another field after %i letters",
    async (letters) => {
      await using desktop = await openDesktop()
      const app = await startReacting(desktop, "advance")
      const field = await refOf(desktop, app, "Password")
      await app.tell(String(letters))
      const { json } = await typeSecret(desktop, field, SECRET)
      expect(json).toMatchObject({
        ok: false,
        error: { disposition: { delivery: "delivery_uncertain", retry: "unsafe" } },
      })
      expect((await app.events()).filter(({ event }) => event === "loot")).toEqual([])
    },
  )

  test("while a program steals the focus", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "login")
    const thief = await startReacting(desktop, "thief")
    const field = await refOf(desktop, app, "Password")
    const answers: string[] = []
    for (let turn = 0; turn < turns(20); turn++) {
      await thief.tell(String((turn * 2) % 60))
      const before = (await thief.events()).length
      const { json } = await typeSecret(desktop, field, SECRET)
      const loot = (await thief.events()).slice(before).filter(({ event }) => event === "loot")
      expect({ turn, loot }).toEqual({ turn, loot: [] })
      answers.push(answerOf(json))
      if (!json.ok && isSent(json))
        expect(json.error.disposition).toEqual({ delivery: "delivery_uncertain", retry: "unsafe" })
    }
    tell("a thief", answers)
  }, 1_200_000)
})

describe("a button that a command left down", () => {
  const SIGNALS = ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTERM", "SIGINT"] as const

  test.each(SIGNALS)("is released where the drag began when %s ends it", async (signal) => {
    await using desktop = await openDesktop()
    await dragAndKill(desktop, signal)
    expect(await buttonsDown(desktop)).toBe(0)
  })

  test("by SIGKILL is released where the drag began, before the next click", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "swap")
    const target = await refOf(desktop, app, "Delete everything")
    await dragAndKill(desktop, "SIGKILL")
    expect(await buttonsDown(desktop)).not.toBe(0)
    expect((await desktop.run("click", target, "--input", "physical")).json).toMatchObject({ ok: true })
    expect(await buttonsDown(desktop)).toBe(0)
    await until(async () => (await namesOf(app, "clicked")).length === 1)
  })

  test("on purpose stays down, and a click with the same button says so", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "swap")
    const target = await refOf(desktop, app, "Delete everything")
    await desktop.run("mouse-down", "--xy", "1000,900")
    expect((await desktop.run("mouse-move", "--xy", "1050,920")).json.ok).toBe(true)
    expect((await desktop.run("click", target, "--input", "physical")).json).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("mouse-down"), disposition: NOT_DELIVERED },
    })
    expect(await buttonsDown(desktop)).not.toBe(0)
    await desktop.run("mouse-up", "--xy", "1050,920")
    expect(await buttonsDown(desktop)).toBe(0)
    expect((await desktop.run("click", target, "--input", "physical")).json).toMatchObject({ ok: true })
  })

  test("by another program is refused with the way out", async () => {
    await using desktop = await openDesktop()
    const app = await startReacting(desktop, "swap")
    const target = await refOf(desktop, app, "Delete everything")
    await Bun.$`xdotool mousemove 1000 900 mousedown 1`.env({ ...desktop.env })
    const { json } = await desktop.run("click", target, "--input", "physical")
    expect(json).toMatchObject({
      ok: false,
      error: { suggestion: expect.stringContaining("mouse-up"), disposition: NOT_DELIVERED },
    })
    await desktop.run("mouse-up", "--xy", "1000,900")
    expect((await desktop.run("click", target, "--input", "physical")).json).toMatchObject({ ok: true })
  })
})

// biome-ignore lint/suspicious/noExplicitAny: an envelope
const isSent = (json: any): boolean => json.error.disposition.delivery !== "not_delivered"

async function typeSecret(
  desktop: TestDesktop,
  ref: string,
  secret: string,
): Promise<Pick<RunResult, "json">> {
  const child = Bun.spawn([PROGRAM, "type", ref, "--secret", "stdin", "--input", "physical"], {
    env: { ...desktop.env },
    stdin: new Blob([secret]),
    stdout: "pipe",
    stderr: "ignore",
  })
  return { json: JSON.parse(await new Response(child.stdout).text()) }
}

/** Starts a long drag over the empty desktop, and ends it half way. */
async function dragAndKill(desktop: TestDesktop, signal: NodeJS.Signals): Promise<void> {
  const drag = [
    "drag",
    "--from-xy",
    "900,700",
    "--to-xy",
    "1200,1000",
    "--duration",
    "20000",
    "--timeout-ms",
    "30000",
  ]
  const child = Bun.spawn([PROGRAM, ...drag], {
    env: { ...desktop.env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  })
  await until(async () => (await buttonsDown(desktop)) !== 0)
  child.kill(signal)
  await child.exited
}

/** The buttons that the X server says are down. */
async function buttonsDown(desktop: TestDesktop): Promise<number> {
  const script = `
import ctypes
x = ctypes.CDLL("libX11.so.6"); x.XOpenDisplay.restype = ctypes.c_void_p
d = ctypes.c_void_p(x.XOpenDisplay(None)); x.XDefaultRootWindow.restype = ctypes.c_ulong
n = [ctypes.c_ulong() for _ in range(2)]; i = [ctypes.c_int() for _ in range(4)]; mask = ctypes.c_uint()
x.XQueryPointer(d, ctypes.c_ulong(x.XDefaultRootWindow(d)), *map(ctypes.byref, n + i), ctypes.byref(mask))
print(mask.value >> 8 & 31)`
  return Number(await Bun.$`/usr/bin/python3 -c ${script}`.env({ ...desktop.env }).text())
}
