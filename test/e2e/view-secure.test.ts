import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import type { Rect } from "../../src/node.ts"
import { decodePng, type Pixels } from "../../src/picture/png.ts"
import { chromium, firefox } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { film, startView, type View } from "../support/view.ts"

/** The dots of secure fields have a colour that nothing else has. A viewer must never get a pixel of it. */

let desktop: TestDesktop
let view: View

beforeAll(async () => {
  desktop = await openDesktop()
  view = await startView(desktop, "test")
})

afterAll(async () => {
  await view?.end()
  await desktop?.close()
})

const SECRET = "Fjord-bank-glyphs"
const FIXTURE = new URL("../fixtures/password.py", import.meta.url).pathname

/** A page that is longer than the window, with a secure field in the middle. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Password</title>
<p><label>Plain <input></label><p><label>Password <input type="password" value="${SECRET}" style="color:#ff00c8"></label>
<div style="height:3000px"></div>`

const TOOLKITS = ["gtk3", "gtk4", "qt5", "qt6", "Chromium", "Firefox"] as const

let started = 0

/** Opens a window with a secure field, and returns its process. */
async function open(toolkit: (typeof TOOLKITS)[number]): Promise<Bun.Subprocess> {
  if (toolkit === "Chromium" || toolkit === "Firefox") {
    const profile = `${desktop.directory}/profile-${started++}`
    mkdirSync(profile)
    const page = `${desktop.directory}/password.html`
    await Bun.write(page, PAGE)
    return desktop.spawnApp((toolkit === "Chromium" ? chromium : firefox)(profile, `file://${page}`).command)
  }
  const app = desktop.spawnApp(["/usr/bin/python3", FIXTURE, toolkit], {
    env: { PASSWORD_DIGEST: `${desktop.directory}/digests` },
  })
  app.stdin.write(`${SECRET}\n`)
  await app.stdin.flush()
  return app
}

test.each(TOOLKITS)(
  "%s: no frame shows a dot of a secure field",
  async (toolkit) => {
    await using viewer = await film(view.url)
    expect(secretsIn(await screen())).toBe(0)
    const app = await open(toolkit)
    const first = await windowBeside([])
    // Another look: the screen itself shows the dots.
    await until(async () => secretsIn(await screen()) > 20, 60_000)
    const isBrowser = toolkit === "Chromium" || toolkit === "Firefox"
    // The rest of the window is shown.
    const shows = async (): Promise<void> => {
      await until(async () => {
        const field = await boundsOf('textfield "Plain"', first.id)
        return field && sameIn(viewer.last(), await screen(), rightPartOf(field))
      }, 60_000)
    }
    await shows()
    await desktop.run("type", 'textfield "Password"', "more", "--window-id", first.id, "--input", "physical")
    // A person drags the window, resizes it, and brings it back.
    for (const step of Array(20).keys()) tool("windowmove", first.id, 30 + step * 12, 60 + step * 9)
    await shows()
    tool("windowsize", first.id, 640, 480)
    await shows()
    tool("windowsize", first.id, 520, 400)
    if (isBrowser) {
      const [x, y] = [40, 60]
      tool("windowmove", first.id, x, y)
      tool("mousemove", undefined, x + 200, y + 250)
      for (const button of [5, 5, 4, 5, 5, 5, 4, 4, 4, 4, 4]) tool("click", undefined, button)
      await shows()
    }
    await desktop.run("minimize", first.id)
    await desktop.run("restore", first.id)
    await shows()
    // A second window with such a field, above the first and beside it.
    const other = await open(toolkit)
    const second = await windowBeside([first.id])
    await until(async () => secretsIn(await screen()) > 20, 60_000)
    for (const [x, y] of [
      [20, 20],
      [200, 120],
      [500, 300],
    ])
      tool("windowmove", second.id, x!, y!)
    tool("windowactivate", first.id)
    tool("windowactivate", second.id)
    await until(async () => (await boundsOf('textfield "Plain"', second.id)) !== undefined, 60_000)
    for (const one of [other, app]) {
      one.kill("SIGTERM")
      await one.exited
    }
    await until(async () => (await windows()).length === 0, 60_000)
    await until(async () => secretsIn(await screen()) === 0, 60_000)
    const whole = { x: 0, y: 0, width: 1280, height: 1024 }
    await until(async () => sameIn(viewer.last(), await screen(), whole), 60_000)
    expect(viewer.frames()).toBeGreaterThan(8)
    const bare: number[] = []
    viewer.play((shown, number) => {
      if (secretsIn(shown) > 0) bare.push(number)
    })
    expect(bare).toEqual([])
  },
  300_000,
)

interface Shown {
  readonly id: string
}

async function windows(): Promise<readonly Shown[]> {
  return (await desktop.run("list-windows")).json?.data?.windows ?? []
}

const windowBeside = (known: readonly string[]): Promise<Shown> =>
  until(async () => (await windows()).find(({ id }) => !known.includes(id)), 60_000)

async function boundsOf(target: string, id: string): Promise<Rect | undefined> {
  return (await desktop.run("get", target, "bounds", "--window-id", id)).json?.data?.value
}

/** Without the caret, which blinks, and without the edge, which the cover of a field beside it may touch. */
const rightPartOf = ({ x, y, width, height }: Rect): Rect => ({
  x: Math.round(x + width / 2),
  y: Math.round(y + 6),
  width: Math.round(width / 2 - 6),
  height: Math.round(height - 12),
})

/** xdotool, with the number of a window that the program calls `w-…`. */
function tool(verb: string, id: string | undefined, ...args: readonly number[]): void {
  const window = id === undefined ? [] : [id.replace("w-", "")]
  Bun.spawnSync(["xdotool", verb, ...window, ...args.map(String)], { env: { ...desktop.env } })
}

async function screen(): Promise<Pixels> {
  const { json } = await desktop.run("screenshot", "--timeout-ms", "60000")
  return decodePng(Buffer.from(json.data.base64, "base64"))
}

/** The number of pixels with the colour of the dots, even mixed with the white of the background. */
function secretsIn({ bgrx }: Pixels): number {
  let count = 0
  for (let at = 0; at < bgrx.length; at += 4) {
    const [blue, green, red] = [bgrx[at]!, bgrx[at + 1]!, bgrx[at + 2]!]
    const mixed = 255 - (55 * (255 - green)) / 255
    if (green < 195 && red > 245 && Math.abs(blue - mixed) < 12) count++
  }
  return count
}

function sameIn(a: Pixels, b: Pixels, { x, y, width, height }: Rect): boolean {
  for (let row = y; row < y + height; row++) {
    const [from, to] = [(row * a.width + x) * 4, (row * a.width + x + width) * 4]
    if (Buffer.compare(a.bgrx.subarray(from, to), b.bgrx.subarray(from, to)) !== 0) return false
  }
  return true
}
