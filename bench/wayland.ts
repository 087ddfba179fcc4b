import { startProgress } from "../src/cli/terminal.ts"
import { type Fixture, startFixture } from "../test/fixtures/fixture.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { median, table } from "./measure.ts"

/**
 * Compares sway with X11: `list-windows` and a click by accessibility in turn, round after round. Then many processes
 * click once each, and the app counts the presses: `bun bench/wayland.ts [ROUNDS] [CLICKS]`.
 */

const ROUNDS = Number(process.argv[2] ?? 40)
const CLICKS = Number(process.argv[3] ?? 1000)
/** The most that a list of windows on sway may cost, compared with X11. */
const GOAL = 1.5

const progress = startProgress("bench:wayland")
await using x11 = await openDesktop()
await using sway = await openDesktop({ kind: "wayland" })
const desks = await Promise.all(
  [
    { name: "X11", desktop: x11 },
    { name: "sway", desktop: sway },
  ].map(async ({ name, desktop }) => ({ name, desktop, ...(await prepare(desktop)) })),
)
const commands = [
  { name: "list-windows", args: () => ["list-windows"] },
  { name: "click by accessibility", args: (ref: string) => ["click", ref] },
].map((command) => ({ ...command, wall: desks.map(() => [] as number[]) }))
for (let round = -2; round < ROUNDS; round++) {
  progress.say(`round ${round + 1} of ${ROUNDS}`)
  for (const { args, wall } of commands) {
    for (const [i, { desktop, button }] of desks.entries()) {
      const start = performance.now()
      const done = Bun.spawnSync([PROGRAM, ...args(button)], { env: { ...desktop.env } })
      if (!done.success) throw new Error(done.stdout.toString())
      if (round >= 0) wall[i]!.push(performance.now() - start)
    }
  }
}
progress.clear()
console.log(`${ROUNDS} rounds, medians\n`)
const rows = commands.map(({ name, wall: [onX = [], onSway = []] }) => {
  const ratio = median(onSway) / median(onX)
  return [name, median(onX).toFixed(1), median(onSway).toFixed(1), ratio.toFixed(2)]
})
console.log(table(["command", "X11 ms", "sway ms", "ratio"], rows))
if (Number(rows[0]?.[3]) > GOAL) process.exitCode = 1

const { desktop, fixture, button } = desks[1]!
const before = await presses(fixture)
const { value } = JSON.parse((await desktop.run("get", button, "bounds")).stdout).data
const middle = { x: Math.round(value.x + value.width / 2), y: Math.round(value.y + value.height / 2) }
for (let i = 0; i < CLICKS; i++) {
  progress.say(`click ${i + 1} of ${CLICKS}`)
  // Alternate between both ends of the button, so that two clicks never become a double click.
  const x = middle.x + (i % 2 === 0 ? -1 : 1) * Math.round(value.width / 4)
  const { json } = await desktop.run("mouse-click", "--xy", `${x},${middle.y}`)
  if (!json.ok) throw new Error(`click ${i + 1}: ${JSON.stringify(json.error)}`)
}
await until(async () => (await presses(fixture)) >= before + CLICKS).catch(() => {})
progress.end()
const heard = (await presses(fixture)) - before
console.log(`\n${CLICKS} clicks, each by its own process: the app counted ${heard}`)
if (heard !== CLICKS) process.exitCode = 1

async function prepare(
  desktop: TestDesktop,
): Promise<{ readonly fixture: Fixture; readonly button: string }> {
  const fixture = await startFixture(desktop, "gtk3")
  const button = await until(async () => {
    const query = ["find", "--role", "button", "--name", "Press me", "--exact", "--first"]
    return (await desktop.run(...query)).json.data?.match?.ref_id as string | undefined
  })
  return { fixture, button }
}

async function presses(fixture: Fixture): Promise<number> {
  return (await fixture.events()).filter(({ event, name }) => event === "press" && name === "Press me").length
}
