import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deadline } from "../../src/deadline.ts"
import { X11 } from "../../src/linux/x11/connection.ts"
import { Request } from "../../src/linux/x11/wire.ts"
import { type FixtureEvent, TOOLKITS } from "../fixtures/fixture.ts"
import { NOTHING } from "../support/dispositions.ts"
import { until } from "../support/until.ts"
import { type Printed, Stage } from "./matrix-stage.ts"

/** Changes of the screen, the window or the keyboard around an action. The fixture's own log decides. */

const PATIENT = ["--timeout-ms", "15000"]
const soon = () => Deadline.in(10_000)

describe.each(TOOLKITS)("%s:", (toolkit) => {
  let stage: Stage

  beforeAll(async () => {
    stage = await Stage.open(toolkit)
  })
  afterAll(() => stage?.desktop.close())

  const refOf = async (name: string): Promise<string> => named(await stage.look(), name)

  test("a control is clicked at its new place after its window has moved", async () => {
    await stage.reset()
    const ref = await refOf("Press me")
    const mark = await stage.mark()
    const [id, { bounds }] = [await stage.windowId(), await windowOf(stage)]
    const moved = await stage.run("move-window", id, String(bounds.x + 37), String(bounds.y + 41))
    expect(moved.json.ok).toBe(true)
    const { json } = await stage.run("click", ref, "--input", "physical", ...PATIENT)
    expect(json.ok).toBe(true)
    const pressed = [{ event: "press", name: "Press me" }]
    expect(await stage.seenSince(mark, pressed)).toEqual(pressed)
    expect((await stage.run("move-window", id, String(bounds.x), String(bounds.y))).json.ok).toBe(true)
  })

  test("five clicks in quick succession are five presses", async () => {
    await stage.reset()
    const click = { command: "click", args: { ref_id: await refOf("Press me"), timeout_ms: 0 } }
    const mark = await stage.mark()
    const { json } = await stage.run("batch", JSON.stringify(Array(5).fill(click)), ...PATIENT)
    expect(json.data.results.map(({ ok }: { ok: boolean }) => ok)).toEqual(Array(5).fill(true))
    const pressed = Array(5).fill({ event: "press", name: "Press me" })
    expect(await stage.seenSince(mark, pressed)).toEqual(pressed)
  })

  test.each([
    ["INVALID_ARGS", "press", "ctrl+nosuchkey"],
    ["INVALID_ARGS", "key-down", "hyperspace"],
  ])("an unknown key is %s, and no key is pressed", async (code, command, combo) => {
    await stage.reset()
    const mark = await stage.mark()
    const { json, exitCode } = await stage.run(command, combo)
    expect([json.error.code, exitCode]).toEqual([code, 2])
    await stage.seenSince(mark, [])
    expect(await stage.keysSince(mark)).toEqual([])
  })

  test("while the screen is locked, input commands fail and the app below gets no input", async () => {
    await stage.reset()
    const [button, field] = [await refOf("Press me"), await fieldOf(stage)]
    const mark = await stage.mark()
    const locker = await X11.connect(stage.desktop.env, soon())
    await coverAndGrab(locker)
    for (const args of [
      ["click", button, "--input", "physical", "--timeout-ms", "5000"],
      ["type", field, "secret", "--input", "physical", "--timeout-ms", "5000"],
      ["press", "a"],
      ["mouse-click", "--xy", "300,300"],
    ]) {
      const { json } = await stage.run(...args)
      expect(json).toMatchObject({ ok: false, error: { code: "ACTION_FAILED" } })
      if (json.error.disposition) expect(json.error.disposition).toEqual(NOTHING)
    }
    locker.close()
    expect(await stage.seenSince(mark, [])).toEqual([])
    expect(await stage.keysSince(mark)).toEqual([])
    const typed = [{ event: "text", name: "Name", value: "k" }]
    await until(async () => (await stage.run("type", field, "k", "--input", "physical", ...PATIENT)).json.ok)
    expect(await stage.seenSince(mark, typed)).toEqual(typed)
  })

  test("type fails if another program grabs the keyboard, and no key stays down", async () => {
    await stage.reset()
    const field = await fieldOf(stage)
    const mark = await stage.mark()
    const other = await X11.connect(stage.desktop.env, soon())
    await grabKeyboard(other, other.root)
    const { json } = await stage.run("type", field, "lost", "--input", "physical", ...PATIENT)
    expect(json).toMatchObject({ ok: false, error: { code: "ACTION_FAILED" } })
    other.close()
    expect((await stage.seenSince(mark, [])).filter(({ event }) => event === "text")).toEqual([])
    const again = await stage.mark()
    await until(async () => (await stage.run("type", field, "k", "--input", "physical", ...PATIENT)).json.ok)
    const typed = [{ event: "text", name: "Name", value: "k" }]
    expect(await stage.seenSince(again, typed)).toEqual(typed)
  })

  test("focus in a window in the back succeeds only if keys arrive there", async () => {
    await stage.reset()
    const field = await fieldOf(stage)
    const front = stage.desktop.spawnApp(["xterm", "-T", "Front", "-geometry", "20x5-0+0"])
    await until(async () => (await stage.attention()).window === "Front")
    const mark = await stage.mark()
    const { json } = await stage.run("focus", field, ...PATIENT)
    await Bun.$`xdotool type q`.env(stage.desktop.env).quiet()
    const typed = json.ok ? [{ event: "text", name: "Name", value: "q" }] : []
    expect(await stage.seenSince(mark, typed)).toEqual(typed)
    if (json.ok) expect(json.data.disposition.delivery).toBe("delivered_verified")
    else
      expect(json.error).toMatchObject({
        code: "ACTION_FAILED",
        details: { kind: "contradicted" },
        suggestion: expect.stringContaining("focus-window"),
      })
    front.kill()
    await front.exited
    await until(async () => (await stage.attention()).window === stage.fixture.title)
  })

  test("a dialog that closes during a click is answered once, and the result agrees with the answer", async () => {
    for (const afterMs of [0, 25, 50, 75, 100]) {
      await stage.reset()
      const mark = await stage.mark()
      await stage.fixture.command({ do: "dialog" })
      const ok = await refInDialog(stage, "Confirm", "OK")
      const running = stage.run("click", ok, "--timeout-ms", "3000")
      await Bun.sleep(afterMs)
      // Cancels the dialog if it is still open.
      await stage.fixture.command({ do: "reset" })
      const { json } = await running
      const answers = await until(async () => {
        const seen = (await stage.seenSince(mark, [])).filter(({ event }) => event === "dialog")
        return seen.length > 0 ? seen : undefined
      })
      const { delivery } = (json.data ?? json.error).disposition
      const code = json.error?.code
      expect({ afterMs, delivery, code, answers }).toSatisfy(agrees)
    }
  })
})

/**
 * True if there was one answer, and it is not from a click that was reported as not delivered. A click that
 * arrived while its dialog closed may have come too late to be the answer.
 */
function agrees({ delivery, code, answers }: Ending): boolean {
  if (answers.length !== 1) return false
  return delivery !== "not_delivered" || (answers[0]?.value === "cancel" && ENDED.has(code ?? ""))
}

interface Ending {
  readonly delivery: string
  readonly code?: string
  readonly answers: readonly FixtureEvent[]
}

/** Errors that say that the button is gone. */
const ENDED: ReadonlySet<string> = new Set(["STALE_REF", "ACTION_FAILED", "WINDOW_NOT_FOUND"])

async function windowOf(
  stage: Stage,
): Promise<{ readonly bounds: { readonly x: number; readonly y: number } }> {
  const { json } = await stage.run("list-windows")
  return json.data.windows.find(({ title }: { title: string }) => title === stage.fixture.title)
}

function named(nodes: readonly Printed[], name: string, role?: string): string {
  const ref = nodes.find((one) => one.name === name && one.ref_id && (!role || one.role === role))?.ref_id
  if (!ref) throw new Error(`Nothing to act on is named ${name}`)
  return ref
}

const fieldOf = async (stage: Stage): Promise<string> => named(await stage.look(), "Name", "textfield")

/** The ref of a button in a dialog, which is a window, or a part of the page in a browser. */
async function refInDialog(stage: Stage, title: string, name: string): Promise<string> {
  const id = stage.toolkit === "web" ? await stage.windowId() : await stage.windowId(title)
  return until(async () => {
    const { json } = await stage.run("find", "--window-id", id, "--name", name, "--role", "button", "--first")
    return json?.data?.match?.ref_id
  })
}

/** Covers the screen and grabs the keyboard, as a screen lock does. */
async function coverAndGrab(x: X11): Promise<void> {
  const id = x.newId()
  const { width, height } = x.setup.screen
  const place = new Request(1, 0).u32(id).u32(x.root).i16(0).i16(0).u16(width).u16(height).u16(0).u16(1)
  const create = place.u32(0).u32(OVERRIDE_REDIRECT).u32(1)
  await x.check([create, new Request(8).u32(id)], soon())
  await grabKeyboard(x, id)
}

async function grabKeyboard(x: X11, id: number): Promise<void> {
  await until(async () => {
    const grab = new Request(31, 0).u32(id).u32(0).u8(1).u8(1).u16(0)
    return (await x.ask(grab, soon())).u8(1) === 0
  })
}

const OVERRIDE_REDIRECT = 1 << 9
