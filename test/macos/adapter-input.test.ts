import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Combo, Modifier } from "../../src/action.ts"
import type { InputEvent } from "../../src/adapter.ts"
import { Deadline } from "../../src/deadline.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import { appWith, type Desk, onDesk } from "./adapter-desk.ts"

const FIELD = [
  { id: "field", AXRole: "AXTextArea", AXTitle: "Text", AXValue: "", frame: [110, 120, 400, 200] },
]
const typing = (layout: string) => appWith(FIELD, { focused: "field" }, { keyboard: { layout } })

interface Posted {
  readonly type: number
  readonly key?: number
  readonly flags?: number
  readonly text?: string
  readonly x?: number
  readonly y?: number
  readonly button?: number
  readonly clicks?: number
  readonly dx?: number
  readonly dy?: number
}

const posted = ({ mac }: Desk): Posted[] => mac.record("post").map(({ event }) => event as Posted)

const combo = (key: string, ...modifiers: Modifier[]): Combo => ({ key, modifiers })
const press = (key: string, ...modifiers: Modifier[]): InputEvent => ({
  kind: "key",
  combo: combo(key, ...modifiers),
  phase: "press",
})

test("typed text arrives whole, in events of at most 20 units, with line ends as the return key", () =>
  onDesk(typing("us"), async (desk) => {
    const text = "Grüße 😀😀 an alle, auch die, die später kommen.\nZeile zwei: 名前 👩‍👩‍👧"
    await desk.adapter.input({ kind: "text", text })
    expect(desk.mac.look("field").AXValue).toBe(text)
    expect(posted(desk).filter(({ key }) => key === 36)).toHaveLength(2)
    for (const { text: part = "" } of posted(desk))
      expect([part.length <= 20, part.isWellFormed()]).toEqual([true, true])
  }))

test("cmd+? is the key with its shift on the layout of the user", () =>
  onDesk(typing("de"), async (desk) => {
    await desk.adapter.input(press("?", "cmd"))
    expect(posted(desk).map(({ key }) => key)).toEqual([55, 56, 27, 27, 56, 55])
  }))

for (const [layout, code] of [
  ["us", 6],
  ["de", 16],
  ["fr", 13],
] as const) {
  test(`cmd+z is the key that has z on the ${layout} layout`, () =>
    onDesk(typing(layout), async (desk) => {
      await desk.adapter.input(press("z", "cmd"))
      expect(posted(desk).map(({ key }) => key)).toEqual([55, code, code, 55])
      expect(
        posted(desk)
          .slice(1, 3)
          .map(({ flags = 0 }) => flags & 0x1e0000),
      ).toEqual([0x100000, 0x100000])
    }))
}

test("shortcuts with Latin letters work on a layout without them", () =>
  onDesk(typing("ru"), async (desk) => {
    await desk.adapter.input(press("s", "cmd"))
    expect(posted(desk).map(({ key }) => key)).toEqual([55, 1, 1, 55])
  }))

test("a character that needs shift is pressed with shift, and one without a key is sent as text", () =>
  onDesk(typing("us"), async (desk) => {
    await desk.adapter.input(press("?"))
    await desk.adapter.input(press("名"))
    expect(desk.mac.look("field").AXValue).toBe("?名")
    await expect(desk.adapter.input(press("名", "cmd"))).rejects.toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
    })
    expect(desk.mac.look("field").AXValue).toBe("?名")
  }))

test("named keys do what their names say", () =>
  onDesk(typing("us"), async (desk) => {
    await desk.adapter.input({ kind: "text", text: "abc" })
    await desk.adapter.input(press("left"))
    await desk.adapter.input(press("backspace"))
    await desk.adapter.input(press("end"))
    await desk.adapter.input(press("space"))
    expect(desk.mac.look("field").AXValue).toBe("ac ")
    await desk.adapter.input(press("a", "cmd"))
    await desk.adapter.input(press("forwarddelete"))
    expect(desk.mac.look("field").AXValue).toBe("")
  }))

test("a held key stays down until it is released", () =>
  onDesk(typing("us"), async (desk) => {
    await desk.adapter.input({ kind: "key", combo: combo("shift"), phase: "down" })
    expect(desk.mac.report().held).toEqual(["key 56"])
    await desk.adapter.input({ kind: "key", combo: combo("shift"), phase: "up" })
    await desk.adapter.input({ kind: "key", combo: combo("d", "cmd", "alt"), phase: "down" })
    expect(desk.mac.report().held.toSorted()).toEqual(["key 2", "key 55", "key 58"])
    await desk.adapter.input({ kind: "key", combo: combo("d", "cmd", "alt"), phase: "up" })
    expect(desk.mac.report().held).toEqual([])
  }))

test("a held modifier applies to the keys and clicks of later commands until it is released", () =>
  onDesk(typing("us"), async (desk) => {
    const hold = (phase: "down" | "up") => ({ kind: "key", combo: combo("shift"), phase }) as const
    const flags = () =>
      posted(desk)
        .slice(-2)
        .map(({ flags: all = 0 }) => all & 0x1e0000)
    // A second platform, as in another process: it shares only the state directory.
    const later = async (event: InputEvent) => {
      const { directory } = desk.mac
      const platform = connectMacos({ env: { TMPDIR: directory }, root: directory })
      const adapter = platform.adapter(Deadline.in(20_000))
      await adapter.input(event)
      await adapter.close()
      await platform.close()
    }
    const click = { kind: "click", at: { x: 150, y: 150 }, button: "left", count: 1 } as const
    await later(hold("down"))
    await later(press("right"))
    expect(flags()).toEqual([0x20000, 0x20000])
    await later(click)
    expect(flags()).toEqual([0x20000, 0x20000])
    await later(hold("up"))
    await later(click)
    expect(flags()).toEqual([0, 0])
  }))

test("a modifier that was held an hour ago changes nothing", () =>
  onDesk(typing("us"), async (desk) => {
    const at = Date.now() - 3_600_000
    for (const text of [JSON.stringify({ modifiers: ["cmd"], at }), "{", '{"modifiers":7,"at":"x"}']) {
      writeFileSync(join(desk.mac.directory, "held.json"), text, { mode: 0o600 })
      await desk.adapter.input(press("a"))
      expect(posted(desk).at(-1)?.flags).toBe(0)
    }
  }))

test("a double click is two clicks, numbered 1 and 2", () =>
  onDesk(appWith([{ AXRole: "AXButton", AXTitle: "Save", frame: [110, 120, 80, 24] }]), async (desk) => {
    await desk.adapter.input({ kind: "click", at: { x: 130, y: 130 }, button: "left", count: 2 })
    expect(posted(desk).map(({ type, clicks, x, y }) => [type, clicks, x, y])).toEqual([
      [5, 0, 130, 130],
      [1, 1, 130, 130],
      [2, 1, 130, 130],
      [1, 2, 130, 130],
      [2, 2, 130, 130],
    ])
    expect(desk.mac.world().cursor).toEqual([130, 130])
  }))

test("each button has its own events", () =>
  onDesk(appWith([]), async (desk) => {
    const at = { x: 10, y: 20 }
    await desk.adapter.input({ kind: "click", at, button: "right", count: 1 })
    await desk.adapter.input({ kind: "button", at, button: "middle", phase: "down" })
    expect(desk.mac.report().held).toEqual(["button 2"])
    await desk.adapter.input({ kind: "button", at, button: "middle", phase: "up" })
    expect(posted(desk).map(({ type, button }) => [type, button])).toEqual([
      [5, 0],
      [3, 1],
      [4, 1],
      [25, 2],
      [26, 2],
    ])
  }))

test("positive wheel steps scroll down and right at the point", () =>
  onDesk(appWith([]), async (desk) => {
    await desk.adapter.input({ kind: "wheel", at: { x: 300, y: 200 }, dx: 2, dy: 3 })
    expect(posted(desk).at(-1)).toMatchObject({ type: 22, dx: -2, dy: -3, x: 300, y: 200 })
  }))

test("a drag moves step by step, rests on its target, and releases there", () =>
  onDesk(appWith([]), async (desk) => {
    await desk.adapter.input({ kind: "drag", from: { x: 10, y: 10 }, to: { x: 90, y: 50 }, durationMs: 80 })
    const events = posted(desk)
    expect(events.slice(0, 2).map(({ type, x, y }) => [type, x, y])).toEqual([
      [5, 10, 10],
      [1, 10, 10],
    ])
    expect(events.at(-1)).toMatchObject({ type: 2, x: 90, y: 50 })
    const dragged = events.filter(({ type }) => type === 6)
    expect(dragged.length).toBeGreaterThan(5)
    expect(dragged.filter(({ x, y }) => x === 90 && y === 50).length).toBeGreaterThan(1)
  }))

test("an interrupted drag drops nothing and leaves no button down", () =>
  onDesk(appWith([]), async (desk) => {
    const stop = new AbortController()
    const drag = desk
      .within(20_000, stop.signal)
      .input({ kind: "drag", from: { x: 10, y: 10 }, to: { x: 900, y: 500 }, durationMs: 10_000 })
    stop.abort()
    await expect(drag).rejects.toMatchObject({ code: "TIMEOUT", details: { kind: "drag" } })
    expect(posted(desk).at(-1)).toMatchObject({ type: 2, x: 10, y: 10 })
    expect(desk.mac.report().held).toEqual([])
  }))

test("typing that runs out of time reports how many characters were typed", () =>
  onDesk(typing("us"), async (desk) => {
    const stop = new AbortController()
    stop.abort()
    await expect(desk.within(20_000, stop.signal).input({ kind: "text", text: "abc" })).rejects.toMatchObject(
      {
        code: "TIMEOUT",
        details: { kind: "typing", typed: 0 },
      },
    )
    expect(desk.mac.look("field").AXValue).toBe("")
  }))

test("input that macOS would drop silently fails with an error", () =>
  onDesk(appWith(FIELD, { focused: "field" }, { trust: { post: false } }), async (desk) => {
    for (const event of [
      press("a"),
      { kind: "text", text: "a" },
      { kind: "move", at: { x: 1, y: 1 } },
    ] as const) {
      await expect(desk.adapter.input(event)).rejects.toMatchObject({ code: "PERM_DENIED" })
    }
    expect(posted(desk)).toEqual([])
  }))

test("an app that passes keys on to another machine gets the keys of the layout, not an event with text", () =>
  onDesk(
    appWith(
      FIELD,
      { focused: "field", bundle_id: "com.apple.ScreenSharing", path: "/Applications/Screen Sharing.app" },
      { keyboard: { layout: "us" } },
    ),
    async (desk) => {
      const { handle } = await desk.node("textfield", "Text")
      await desk.adapter.input({ kind: "text", text: "bA名", target: { pid: 501, handle } })
      const codes = posted(desk).map(({ key }) => key)
      expect(codes).toEqual([11, 11, 56, 0, 0, 56, 0, 0])
      expect(desk.mac.look("field").AXValue).toBe("bA名")
    },
  ))
