import { expect, test } from "bun:test"
import type { Json } from "../support/json.ts"
import { onMac, type Program } from "./program.ts"
import { type Scene, sceneOf } from "./random-scenes.ts"

/**
 * Random windows of apps that answer, delay and lie at random, with one command in each. Nothing may be done twice or
 * to a neighbour, no answer may claim an effect that is missing or deny one that is there, and nothing may leak.
 * AGENT_DESKTOP_SCENES=20000 makes a long run, AGENT_DESKTOP_SEED=n starts with another scene.
 */

const SCENES = Number(process.env.AGENT_DESKTOP_SCENES ?? 60)
const SEED = Number(process.env.AGENT_DESKTOP_SEED ?? 1)

/** Longer than any delay of an app in these scenes. */
const LATER_MS = 15_000

const tally = { acts: 0, verified: 0, open: 0, notDelivered: 0, noRef: 0 }

async function play({ act, way, more, fault }: Scene, { mac, run }: Program): Promise<void> {
  const looked = await run("snapshot", { app: "Demo", max_depth: 50 })
  const ref = looked.ok ? refOf(looked.data.tree) : undefined
  if (!ref) {
    tally.noRef++
    return
  }
  tally.acts++
  mac.fail(fault)
  const envelope = await run(act.command, { ref_id: ref, ...act.args, ...more })
  const { disposition, code } = envelope.ok ? envelope.data : envelope.error
  const { delivery, retry } = disposition ?? {}
  const then = lookAt(mac)
  mac.sleep(LATER_MS)
  const { now, done, notes } = lookAt(mac)
  const context = JSON.stringify({
    way,
    fault,
    more,
    delivery,
    retry,
    code,
    done,
    value: now.AXValue,
    ok: envelope.ok,
  })
  expect(code, context).not.toBe("INTERNAL")
  expect(notes, context).not.toContain("neighbour")
  // A typed text may arrive key by key, and a value may be stepped. Every other action is done once.
  if (act.command === "type") expect(`${now.AXValue}`.split("Q7").length, context).toBeLessThanOrEqual(2)
  else if (act.asked === "AXIncrement") expect(now.AXValue ?? 0, context).toBeLessThanOrEqual(3)
  else expect(done, context).toBeLessThanOrEqual(1)
  if (delivery === "delivered_verified") {
    tally.verified++
    expect(act.isDone && then.now.serial ? act.isDone(then.now) : then.done === 1, context).toBe(true)
  } else if (delivery === "not_delivered") {
    tally.notDelivered++
    expect(act.isUndone && now.serial ? act.isUndone(now) : done === 0, context).toBe(true)
  } else tally.open++
  if (act.isOnce && retry === "safe") expect(done, context).toBe(0)
}

function lookAt(mac: Program["mac"]) {
  const notes = mac.record("note").map(({ text }) => text)
  return { now: mac.look("it"), notes, done: notes.filter((text) => text === "done").length }
}

function refOf(node: Json): string | undefined {
  if (node.name === "It" && node.ref_id) return node.ref_id
  for (const child of node.children ?? []) {
    const found = refOf(child)
    if (found) return found
  }
  return undefined
}

test(
  `${SCENES} random scenes: nothing is done twice, reported wrongly, or leaked`,
  async () => {
    const since = performance.now()
    const failures: string[] = []
    for (let seed = SEED; seed < SEED + SCENES; seed++) {
      const scene = sceneOf(seed)
      try {
        await onMac(scene.scene, (program) => play(scene, program), { virtualClock: true })
      } catch (error) {
        failures.push(`seed ${seed}, ${scene.act.command} ${scene.act.node.AXRole}: ${error}`)
      }
    }
    const seconds = Math.round((performance.now() - since) / 1000)
    if (SCENES > 100) console.log(`${SCENES} scenes in ${seconds} s: ${JSON.stringify(tally)}`)
    expect(failures).toEqual([])
    expect(tally.acts).toBeGreaterThan(SCENES / 2)
  },
  24 * 3600_000,
)
