import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Picture } from "../../../src/desktop.ts"
import { listDisplays } from "../../../src/linux/x11/displays.ts"
import { takeScreenshot, takeWindow } from "../../../src/linux/x11/screenshot.ts"
import { listWindows } from "../../../src/linux/x11/windows.ts"
import type { Rect } from "../../../src/node.ts"
import { until } from "../../support/until.ts"
import { patience, startXvfb, type Xvfb } from "./xvfb.ts"

/** Decodes a picture with ImageMagick; returns the colour at a point. */
async function look(picture: Picture) {
  const convert = Bun.spawn(["convert", "png:-", "-depth", "8", "rgb:-"], {
    stdin: picture.png,
    stdout: "pipe",
  })
  const rgb = await convert.stdout.bytes()
  expect(rgb.length).toBe(picture.width * picture.height * 3)
  return (x: number, y: number) =>
    Buffer.from(rgb.subarray((y * picture.width + x) * 3).subarray(0, 3)).toString("hex")
}

describe("a screenshot", () => {
  let desk: Xvfb
  const orange: Rect = { x: 100, y: 150, width: 0, height: 0 }
  const shoot = (area: Rect) => takeScreenshot(desk.x, area, patience())

  beforeAll(async () => {
    desk = await startXvfb({ size: "801x601" })
    await desk.run(["xsetroot", "-solid", "#123456"])
    desk.spawn([
      "xterm",
      "-bw",
      "0",
      "-b",
      "0",
      "+sb",
      "-bg",
      "#ff8000",
      "-fg",
      "#ff8000",
      "-cr",
      "#ff8000",
      "-geometry",
      "40x10+100+150",
    ])
    const window = await until(async () => (await listWindows(desk.x, patience()))[0])
    Object.assign(orange, window.frame)
    await until(async () => (await look(await shoot(orange)))(5, 5) === "ff8000")
  })

  afterAll(() => desk[Symbol.asyncDispose]())

  test("of the screen has the drawn colours in their places", async () => {
    const picture = await shoot({ x: 0, y: 0, width: 801, height: 601 })
    expect(picture).toMatchObject({ width: 801, height: 601, origin: { x: 0, y: 0 } })
    const colour = await look(picture)
    const { x, y, width, height } = orange
    expect([x, y]).toEqual([100, 150])
    const inside = [
      colour(x, y),
      colour(x + width - 1, y),
      colour(x, y + height - 1),
      colour(x + width - 1, y + height - 1),
    ]
    expect(new Set(inside)).toEqual(new Set(["ff8000"]))
    const outside = [
      colour(x - 1, y),
      colour(x, y - 1),
      colour(x + width, y),
      colour(x, y + height),
      colour(0, 0),
      colour(800, 600),
    ]
    expect(new Set(outside)).toEqual(new Set(["123456"]))
  })

  test("of an area has that size, for any width", async () => {
    for (const width of [1, 2, 3, 4, 5, 63]) {
      const picture = await shoot({ x: orange.x, y: orange.y - 1, width, height: 3 })
      const colour = await look(picture)
      expect([colour(width - 1, 0), colour(width - 1, 1), colour(0, 2)]).toEqual([
        "123456",
        "ff8000",
        "ff8000",
      ])
    }
  })

  test("is clipped to the screen and reports its origin", async () => {
    const picture = await shoot({ x: -50, y: 590, width: 100, height: 100 })
    expect(picture).toMatchObject({ width: 50, height: 11, origin: { x: 0, y: 590 } })
    expect((await look(picture))(49, 10)).toBe("123456")
  })

  test("of an area outside the screen fails", async () => {
    await expect(shoot({ x: 900, y: 0, width: 10, height: 10 })).rejects.toMatchObject({
      code: "ACTION_FAILED",
    })
    await expect(shoot({ x: 10, y: 10, width: 0, height: 10 })).rejects.toMatchObject({
      code: "ACTION_FAILED",
    })
  })
})

describe("a picture of a window", () => {
  const filled = (colour: string, place: string) => [
    ..."xterm -bw 0 -b 0 +sb".split(" "),
    ...["-bg", "-fg", "-cr"].flatMap((what) => [what, colour]),
    ...["-geometry", place, "-title", colour],
  ]
  const windowOf = (desk: Xvfb, title: string) =>
    until(async () => (await listWindows(desk.x, patience())).find((one) => one.title === title))

  test("shows the window even if another covers it", async () => {
    await using desk = await startXvfb({ size: "800x600" })
    desk.spawn(filled("#ff8000", "40x10+100+150"))
    const below = await windowOf(desk, "#ff8000")
    desk.spawn(filled("#0080ff", "20x5+150+180"))
    const above = await windowOf(desk, "#0080ff")
    const at = { x: above.frame.x + 20 - below.frame.x, y: above.frame.y + 20 - below.frame.y }
    const onScreen = async () =>
      (await look(await takeScreenshot(desk.x, below.frame, patience())))(at.x, at.y)
    await until(async () => (await onScreen()) === "0080ff")

    const picture = await takeWindow(desk.x, below.id, below.frame, patience())
    expect(picture).toMatchObject({
      width: below.frame.width,
      origin: { x: below.frame.x, y: below.frame.y },
    })
    const colour = await look(picture)
    const { width, height } = below.frame
    const points = [colour(at.x, at.y), colour(0, 0), colour(width - 1, height - 1)]
    expect(points).toEqual(["ff8000", "ff8000", "ff8000"])
    expect(await onScreen()).toBe("0080ff")
  })

  test("includes the part beyond the edge of the screen", async () => {
    await using desk = await startXvfb({ size: "800x600" })
    desk.spawn(filled("#ff8000", "40x10+100+150"))
    const { id } = await windowOf(desk, "#ff8000")
    await desk.run(["xdotool", "windowmove", "--sync", String(id), "-60", "150"])
    const { frame } = await windowOf(desk, "#ff8000")
    expect(frame.x).toBe(-60)
    const picture = await takeWindow(desk.x, id, frame, patience())
    expect(picture).toMatchObject({ width: frame.width, origin: { x: -60, y: 150 } })
    expect((await look(picture))(10, 10)).toBe("ff8000")
  })

  test("shows the screen if the server cannot keep the pixels of windows separately", async () => {
    await using desk = await startXvfb({ size: "800x600", args: ["-extension", "Composite"] })
    desk.spawn(filled("#ff8000", "40x10+100+150"))
    const below = await windowOf(desk, "#ff8000")
    desk.spawn(filled("#0080ff", "20x5+150+180"))
    await windowOf(desk, "#0080ff")
    const shot = async () => look(await takeWindow(desk.x, below.id, below.frame, patience()))
    await until(async () => (await shot())(70, 50) === "0080ff")
  })
})

describe("displays", () => {
  test("are the monitors that xrandr lists, the primary one first", async () => {
    await using desk = await startXvfb({ size: "1600x900" })
    await desk.run(["xrandr", "--setmonitor", "left", "800/200x900/200+0+0", "screen"])
    await desk.run(["xrandr", "--setmonitor", "*right", "800/200x600/150+800+0", "none"])
    expect(await listDisplays(desk.x, patience())).toEqual([
      { id: "right", bounds: { x: 800, y: 0, width: 800, height: 600 }, is_primary: true, scale: 1 },
      { id: "left", bounds: { x: 0, y: 0, width: 800, height: 900 }, is_primary: false, scale: 1 },
    ])
    expect(await desk.run(["xrandr", "--listactivemonitors"])).toContain("right")
  })

  test("have the scale from the X resources", async () => {
    await using desk = await startXvfb()
    expect(await listDisplays(desk.x, patience())).toMatchObject([
      { bounds: { x: 0, y: 0, width: 1280, height: 800 }, scale: 1 },
    ])
    await desk.run([
      "xprop",
      "-root",
      "-f",
      "RESOURCE_MANAGER",
      "8s",
      "-set",
      "RESOURCE_MANAGER",
      "Xcursor.size:\t24\nXft.dpi:\t144\n",
    ])
    expect((await listDisplays(desk.x, patience()))[0]?.scale).toBe(1.5)
  })

  test("are the whole screen if RANDR is missing", async () => {
    await using desk = await startXvfb({ args: ["-extension", "RANDR"] })
    expect(await listDisplays(desk.x, patience())).toEqual([
      { id: "screen", bounds: { x: 0, y: 0, width: 1280, height: 800 }, is_primary: true, scale: 1 },
    ])
  })
})
