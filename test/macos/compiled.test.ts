import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { commands } from "../../src/commands/index.ts"
import { subjectOf } from "../e2e/matrix-cell.ts"
import { checkStory, outcomeOf, wantedOutcome } from "../e2e/matrix-outcome.ts"
import { nativeSamples } from "../support/every-command.ts"
import { compileProgram, MACHINE, onStage, type Stage } from "./compiled.ts"
import { CELLS } from "./compiled-cells.ts"
import { NOTIFICATIONS, VARIANTS } from "./compiled-variants.ts"
import { SCENES } from "./fake.ts"
import type { MacCell } from "./mac-cell.ts"

/** The macOS side as a compiled program, over scenes. The log of the scene shows the effects. */

if (MACHINE !== "x64") setDefaultTimeout(1_800_000)

const program = compileProgram()

/** Plays the cells one after another in one scene, as an agent would. */
async function play(stage: Stage, cells: readonly MacCell[]): Promise<void> {
  for (const cell of cells) {
    const { command, on, role, args = [], input, want } = cell
    const ref = on === undefined ? [] : [stage.ref(on, role)]
    const answer = await stage.ask(
      command,
      ...ref,
      ...args.map((arg) => (/^@(?!e\d)/.test(arg) ? stage.ref(arg.slice(1)) : arg)),
      ...(input ? ["--input", input] : []),
    )
    // While a drop target gets ready, the pointer keeps moving on the spot.
    const log = answer.log.filter((line, i, all) => !line.includes("dragged") || line !== all[i - 1])
    const subject = subjectOf(cell)
    const isRouted = "how" in want || "code" in want
    expect({ subject, ...(isRouted ? outcomeOf(answer.envelope) : {}), log }).toEqual({
      subject,
      ...(isRouted ? wantedOutcome(want) : {}),
      log: [...(want.log ?? [])],
    })
    if ("data" in want) expect(answer.envelope).toMatchObject({ ok: true, data: want.data })
    if ("how" in want) checkStory(answer.envelope, want)
    if ("how" in want && want.states) expect(answer.envelope.data.post_state.states).toEqual([...want.states])
    // Only a secure field gets this text.
    expect(JSON.stringify(answer.envelope)).not.toContain("s3cret")
    for (const [node, shown] of Object.entries(cell.after ?? {}))
      if (shown) expect(stage.mac.look(node)).toMatchObject(shown)
      else expect(stage.mac.look(node)).toEqual({})
    if (cell.world) expect(stage.mac.world()).toMatchObject(cell.world)
  }
}

test("every command has its documented effect once, and no other", () =>
  onStage(program, "workshop", (stage) => play(stage, CELLS)))

test("other options, synthesised input and failing commands have the expected result", () =>
  onStage(program, "workshop", (stage) => play(stage, VARIANTS)))

for (const [event_ms, arrives] of [
  [8, true],
  [5000, false],
] as const) {
  const title = arrives
    ? "input arrives before the program ends"
    : "input that the app handles much later is lost"
  test(`${title}: ${event_ms} ms`, async () => {
    const workshop = JSON.parse(readFileSync(join(SCENES, "workshop.json"), "utf8"))
    await onStage(program, { ...workshop, event_ms }, async ({ ask, mac, ref }) => {
      const notes = () => mac.record("note").map(({ text }) => text)
      await ask("snapshot", "--app", "Workshop")
      await ask("mouse-click", "--xy", "600,200")
      await ask("press", "cmd+s", "--app", "Workshop")
      expect(notes()).toEqual(arrives ? ["canvas clicked", "saved by menu"] : [])
      await ask("type", ref("Notes"), "Zeile ✓", "--input", "physical")
      expect(mac.look("notes").AXValue).toBe(arrives ? "Zeile ✓" : "")
    })
  })
}

test("without the permission to record the screen only screenshots fail", () =>
  onStage(
    program,
    { apps: [{ pid: 700, name: "Demo", frontmost: true, windows: [WINDOW] }], trust: { screen: false } },
    async ({ ask }) => {
      const { envelope, log } = await ask("screenshot")
      expect(envelope.error).toMatchObject({
        code: "PERM_DENIED",
        message: "Screen Recording permission not granted",
        suggestion: expect.stringContaining("Privacy & Security > Screen Recording"),
      })
      expect(log).toEqual([])
      const { data: windows } = (await ask("list-windows")).envelope
      expect(windows).toMatchObject({ windows: [{ id: "w-701", title: "Things" }] })
    },
  ))

const WINDOW = { window: 701, AXTitle: "Things", frame: [0, 25, 600, 400], children: [] }

test("notifications are listed, answered and dismissed", () =>
  onStage(program, "notifications", (stage) => play(stage, NOTIFICATIONS)))

test("every command that needs a desktop has a cell", async () => {
  const asked = new Set([...CELLS, ...NOTIFICATIONS].map(({ command }) => command))
  const native = (await nativeSamples(commands)).map(({ command }) => command.name)
  expect(native.filter((name) => !asked.has(name))).toEqual([])
})

test("without the accessibility permission nothing is read, and the error says how to grant it", () =>
  onStage(program, { apps: [], trust: { accessibility: false } }, async ({ ask }) => {
    const { envelope, trips } = await ask("snapshot")
    expect(envelope.error).toMatchObject({
      code: "PERM_DENIED",
      message: "Accessibility permission not granted",
      suggestion: expect.stringContaining("Privacy & Security > Accessibility"),
    })
    expect(trips).toBe(0)
  }))

test("the executable contains the adapter of macOS and not the one of Linux", async () => {
  const text = Buffer.from(await Bun.file(program).arrayBuffer())
  expect(text.includes("AXUIElementCopyMultipleAttributeValues")).toBe(true)
  expect(text.includes("org.a11y.atspi")).toBe(false)
})
