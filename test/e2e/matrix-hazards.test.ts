import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type FixtureEvent, TOOLKITS } from "../fixtures/fixture.ts"
import type { RunResult } from "../support/desktop.ts"
import { NOTHING } from "../support/dispositions.ts"
import { within } from "../support/pace.ts"
import { until } from "../support/until.ts"
import { type Printed, Stage } from "./matrix-stage.ts"

/** Obstacles to an action, and changes while it runs. The fixture's own log decides. */

/** Enough for a look on a busy machine, and short enough to wait for its end. */
const SHORT = ["--timeout-ms", "1500"]
/** Another session, so that the look does not replace the refs of this one. */
const ASIDE = ["--session", "aside"]

describe.each(TOOLKITS)("%s:", (toolkit) => {
  let stage: Stage

  beforeAll(async () => {
    stage = await Stage.open(toolkit)
  })
  afterAll(() => stage?.desktop.close())

  /** Runs a command, and expects the app to log these events and no others. */
  const doing = async (
    expected: readonly FixtureEvent[],
    act: () => Promise<RunResult>,
  ): Promise<RunResult> => {
    const mark = await stage.mark()
    const result = await act()
    expect(await stage.seenSince(mark, expected)).toEqual(expected)
    return result
  }

  const refOf = async (name: string, ...look: readonly string[]): Promise<string> =>
    named(await stage.look(...look), name)

  test.each(["auto", "semantic", "physical"])("%s input does not click a disabled control", async (input) => {
    await stage.reset()
    const ref = await refOf("Locked")
    const { json } = await doing([], () => stage.run("click", ref, "--input", input, ...SHORT))
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      message: `Click action failed on ${ref}: it is disabled`,
      details: { kind: "not_actionable" },
      disposition: NOTHING,
    })
  })

  test.each(["auto", "physical"])(
    "%s input waits until a control is enabled and clicks it once",
    async (input) => {
      await stage.reset()
      const ref = await refOf("Later")
      const seen = [on("enabled", "Later"), on("press", "Later")]
      const { json } = await doing(seen, async () => {
        await stage.fixture.command({ do: "enable-later", ms: 600 })
        return stage.run("click", ref, "--input", input, "--timeout-ms", "15000")
      })
      expect(json.ok).toBe(true)
    },
  )

  test("with a timeout of 0 a click on a disabled control fails at once", async () => {
    await stage.reset()
    const ref = await refOf("Later")
    const { json } = await doing([], () => stage.run("click", ref, "--timeout-ms", "0"))
    expect(json.error).toMatchObject({ code: "ACTION_FAILED", disposition: NOTHING })
  })

  test("with a timeout of 0 a click on a ready control succeeds", async () => {
    await stage.reset()
    const ref = await refOf("Press me")
    const { json } = await doing([on("press", "Press me")], () =>
      stage.run("click", ref, "--timeout-ms", "0"),
    )
    expect(json.ok).toBe(true)
  })

  test("a physical click reaches neither a covered control nor its cover; a semantic click works", async () => {
    await stage.reset()
    const ref = await refOf("Occluded")
    const { json } = await doing([], () => stage.run("click", ref, "--input", "physical", ...SHORT))
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining(`action failed on ${ref}: it is covered by`),
      details: { kind: "not_actionable" },
      disposition: NOTHING,
    })
    const { json: semantic } = await doing([on("press", "Occluded")], () => stage.run("click", ref))
    expect(semantic.data.method).toStartWith("atspi:")
  })

  test("a control that is hidden or has no size is not clicked", async () => {
    await stage.reset()
    const nodes = await stage.look("--include-hidden")
    const refs = nodes.filter(
      ({ name, ref_id, bounds }) => ref_id && (name === "Hidden" || (name === "Zero" && bounds?.width === 0)),
    )
    for (const { ref_id = "" } of refs) {
      const { json } = await doing([], () => stage.run("click", ref_id, "--input", "physical", ...SHORT))
      expect(json.error).toMatchObject({
        code: "ACTION_FAILED",
        details: { kind: "not_actionable" },
        disposition: NOTHING,
      })
    }
    // GTK 4 and Chromium leave hidden controls out of the tree.
    expect(refs.length > 0).toBe(toolkit !== "web" && toolkit !== "gtk4")
  })

  test("a control outside the screen is not clicked", async () => {
    await stage.reset()
    const ref = await refOf("Press me")
    const id = await stage.windowId()
    expect((await stage.run("move-window", id, "-700", "100")).json.ok).toBe(true)
    const { json } = await doing([], () => stage.run("click", ref, "--input", "physical", ...SHORT))
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_actionable" },
      disposition: NOTHING,
    })
    expect((await stage.run("move-window", id, "20", "30")).json.ok).toBe(true)
    const { json: back } = await doing([on("press", "Press me")], () =>
      stage.run("click", ref, "--input", "physical", "--timeout-ms", "15000"),
    )
    expect(back.ok).toBe(true)
  })

  test("a physical click brings a covered window to the front first", async () => {
    await stage.reset()
    const ref = await refOf("Press me")
    const cover = stage.desktop.spawnApp(["xterm", "-T", "Cover", "-geometry", "150x50+0+0"])
    await stage.windowId("Cover")
    const { json } = await doing([on("press", "Press me")], () =>
      stage.run("click", ref, "--input", "physical"),
    )
    expect(json.data.method).toBe("pointer")
    cover.kill()
    await cover.exited
  })

  test("two controls with the same name keep their own refs, and the ref of a removed one is stale", async () => {
    await stage.reset()
    const [first = "", second = ""] = (await stage.look())
      .filter(({ name }) => name === "Delete")
      .flatMap(({ ref_id }) => ref_id ?? [])
    await stage.fixture.command({ do: "destroy", name: "Delete 1" })
    // A browser reports the removal some time later.
    await until(
      async () =>
        (await stage.look(...ASIDE)).filter(({ name, ref_id }) => ref_id && name === "Delete").length === 1,
    )
    const { json } = await doing([], () => stage.run("click", first))
    expect(json.error).toMatchObject({ code: "STALE_REF", disposition: NOTHING })
    const kept = { event: "press", name: "Delete", key: "Delete 2" }
    expect((await doing([kept], () => stage.run("click", second))).json.ok).toBe(true)
    const { json: late } = await doing([], async () => {
      await stage.fixture.command({ do: "destroy", name: "Delete 2" })
      return stage.run("click", second)
    })
    // A page that has not reported the removal yet looks like a page that does not react.
    const { code = "ok", disposition } = late.error ?? late.data
    const unknown = toolkit === "web" ? ["ok delivered_unverified"] : []
    expect(`${code} ${disposition.delivery}`).toBeOneOf(["STALE_REF not_delivered", ...unknown])
  })

  test("one click opens a dialog, and the next click answers it", async () => {
    await stage.reset()
    const ref = await refOf("Open dialog")
    const { json } = await doing([on("opened", "Confirm")], () => stage.run("click", ref))
    expect(json.ok).toBe(true)
    const ok = await refInDialog(stage, "Confirm", "OK")
    const { json: answer } = await doing([on("dialog", "Confirm", "ok")], () => stage.run("click", ok))
    expect(answer.ok).toBe(true)
    const { json: late } = await doing([], () => stage.run("click", ok))
    expect(late.error).toMatchObject({ code: "STALE_REF", disposition: NOTHING })
  })

  // A browser stops the page while such a dialog is open.
  test.skipIf(toolkit === "web")("a click returns while its handler waits for a dialog", async () => {
    await stage.reset()
    const ref = await refOf("Ask")
    const { json } = await within(3000, () =>
      doing([on("opened", "Question")], () => stage.run("click", ref)),
    )
    expect(json.ok).toBe(true)
    const ok = await refInDialog(stage, "Question", "OK")
    const { json: answer } = await doing([on("dialog", "Question", "ok")], () => stage.run("click", ok))
    expect(answer.ok).toBe(true)
  })

  test("a control that vanishes when clicked is clicked once, and its ref is stale afterwards", async () => {
    await stage.reset()
    const ref = await refOf("Vanish")
    expect((await doing([on("press", "Vanish")], () => stage.run("click", ref))).json.ok).toBe(true)
    const { json } = await doing([], () => stage.run("click", ref))
    expect(json.error).toMatchObject({ code: "STALE_REF", disposition: NOTHING })
  })

  test("if the app stops during a click, the reported delivery agrees with the app's log", async () => {
    await stage.reset()
    const [ref, next] = [await refOf("Press me"), await refOf("Help me")]
    const pid = await pidOf(stage)
    for (const afterMs of [0, 30, 60, 100, 150]) {
      const mark = await stage.mark()
      const { json } = await within(1650, async () => {
        const running = stage.run("click", ref, ...SHORT)
        await Bun.sleep(afterMs)
        process.kill(pid, "SIGSTOP")
        return running
      }).finally(() => process.kill(pid, "SIGCONT"))
      const { presses, others } = await pressesUntil(stage, mark, next)
      expect(others).toEqual([])
      const { delivery } = (json.data ?? json.error).disposition
      expect({ afterMs, delivery, presses }).toSatisfy(agrees)
      if (!json.ok) expect(json.error.code).toBe("APP_UNRESPONSIVE")
    }
  })

  // This test comes last, since it ends the app.
  test("a click that ends the app succeeds, and its ref is stale afterwards", async () => {
    await stage.reset()
    const ref = await refOf("Exit")
    const mark = await stage.mark()
    const { json } = await stage.run("click", ref)
    expect(json.ok).toBe(true)
    await until(() => !stage.fixture.isAlive())
    const news = (await stage.fixture.events()).slice(mark)
    expect(news.filter(({ event }) => event === "press")).toEqual([on("press", "Exit")])
    await until(async () => {
      const { json: late } = await stage.run("click", ref)
      return late.error?.code === "STALE_REF"
    })
  })
})

function on(event: string, name: string, value?: unknown): FixtureEvent {
  return value === undefined ? { event, name } : { event, name, value }
}

function named(nodes: readonly Printed[], name: string): string {
  const ref = nodes.find((node) => node.name === name && node.ref_id)?.ref_id
  if (!ref) throw new Error(`Nothing to act on is named ${name}`)
  return ref
}

/** The ref of a control in a dialog, which is a window, or a part of the page in a browser. */
async function refInDialog(stage: Stage, title: string, name: string): Promise<string> {
  if (stage.toolkit === "web") return until(async () => named(await stage.look(), name))
  const id = await stage.windowId(title)
  return until(async () => {
    const { json } = await stage.run("snapshot", "--window-id", id)
    const nodes: Printed[] = [json?.data?.tree].filter(Boolean)
    for (const node of nodes) nodes.push(...(node.children ?? []))
    return nodes.find((node) => node.name === name && node.ref_id)?.ref_id
  })
}

async function pidOf(stage: Stage): Promise<number> {
  const id = await stage.windowId()
  const { json } = await stage.run("list-windows")
  return json.data.windows.find((window: { id: string }) => window.id === id).pid
}

/**
 * Counts presses of the first button before a press of the next. That press goes the same way, through the same queue
 * and the same delay. So everything sent earlier has become a press by then, or never will.
 */
async function pressesUntil(
  stage: Stage,
  mark: number,
  next: string,
): Promise<{ readonly presses: number; readonly others: readonly FixtureEvent[] }> {
  const { json } = await stage.run("click", next, "--timeout-ms", "15000")
  expect(json.ok).toBe(true)
  const seen = await until(async () => {
    const events = await stage.seenSince(mark, [])
    return events.some(({ name }) => name === "Help me") ? events : undefined
  })
  const isPress = ({ event, name }: FixtureEvent) => event === "press" && name === "Press me"
  const isNext = ({ event, name }: FixtureEvent) => event === "press" && name === "Help me"
  return {
    presses: seen.filter(isPress).length,
    others: seen.filter((one) => !isPress(one) && !isNext(one)),
  }
}

/** Not delivered: no press. Delivered: one press. Uncertain: at most one. */
function agrees({ delivery, presses }: { delivery: string; presses: number }): boolean {
  if (delivery === "not_delivered") return presses === 0
  return delivery === "delivery_uncertain" ? presses <= 1 : presses === 1
}
