import { describe, expect, test } from "bun:test"
import { type Frame, matchFrames, shiftOf } from "../../../src/linux/atspi/frames.ts"
import { ROLE } from "../../../src/linux/atspi/roles.ts"
import { traitsOf } from "../../../src/linux/atspi/toolkits.ts"
import type { TopWindow } from "../../../src/linux/windowing/window.ts"
import type { Rect } from "../../../src/node.ts"

const RECT = { x: 100, y: 100, width: 400, height: 300 }

function topWindow(id: number, title: string, bounds: Rect = RECT, more: Partial<TopWindow> = {}): TopWindow {
  return {
    id: `w-${id}`,
    title,
    pid: 1,
    bounds,
    frame: bounds,
    focused: false,
    minimized: false,
    maximized: false,
    modal: false,
    types: ["normal"],
    ...more,
  }
}

function frame(
  name: string,
  extents: Rect | undefined = RECT,
  more: { toolkit?: string; pid?: number; role?: number } = {},
): Frame {
  const { toolkit = "gtk", pid = 1, role = ROLE.FRAME } = more
  return {
    app: { pid, name: "app", traits: traitsOf(toolkit, "app") },
    ref: { bus: ":1.1", path: `/${name}` },
    index: 0,
    role,
    states: 0,
    name,
    extents,
  }
}

const names = (matches: ReadonlyMap<string, Frame>): Record<string, string> =>
  Object.fromEntries([...matches].map(([id, one]) => [id, one.ref.path.slice(1)]))

const moved = (by: number): Rect => ({ ...RECT, x: RECT.x + by })

describe("a frame is matched with a window", () => {
  test("if process, title and bounds agree", () => {
    const windows = [topWindow(1, "A"), topWindow(2, "B", moved(500))]
    expect(names(matchFrames(windows, [frame("B", moved(500)), frame("A")]))).toEqual({
      "w-1": "A",
      "w-2": "B",
    })
  })

  test("if only the bounds distinguish two windows of the same title", () => {
    const windows = [topWindow(1, "Doc"), topWindow(2, "Doc", moved(500))]
    const [one, two] = [frame("Doc"), frame("Doc", moved(500))]
    const matches = matchFrames(windows, [two, one])
    expect(matches.get("w-1")).toBe(one)
    expect(matches.get("w-2")).toBe(two)
  })

  test("if it has no title but the same bounds", () => {
    expect(names(matchFrames([topWindow(1, "Titled")], [frame("", RECT)]))).toEqual({ "w-1": "" })
  })

  test("if the toolkit's extents exclude the shadow or include the decorations", () => {
    const shadow = { left: 26, right: 26, top: 23, bottom: 29 }
    const bare = { x: 126, y: 123, width: 348, height: 248 }
    const decorated = { x: 99, y: 80, width: 402, height: 321 }
    const windows = [
      topWindow(1, "", RECT, { gtkFrameExtents: shadow }),
      topWindow(2, "", moved(600), { frame: decorated }),
    ]
    expect(matchFrames(windows, [frame("", bare)]).size).toBe(1)
    expect(matchFrames(windows, [frame("", decorated)]).has("w-2")).toBe(true)
  })

  test("of another process only if that process has no window", () => {
    const sandboxed = [topWindow(1, "A", RECT, { pid: 77 })]
    expect(matchFrames(sandboxed, [frame("A")]).size).toBe(1)
    expect(matchFrames([topWindow(1, "A", RECT, { pid: undefined })], [frame("A")]).size).toBe(1)
    expect(matchFrames([topWindow(1, "A", moved(9), { pid: 77 })], [frame("A")]).size).toBe(0)
  })
})

describe("a frame is not matched", () => {
  test("if two windows cannot be distinguished", () => {
    const windows = [topWindow(1, "Doc"), topWindow(2, "Doc")]
    expect(matchFrames(windows, [frame("Doc"), frame("Doc")]).size).toBe(0)
    expect(matchFrames(windows, [frame("Doc")]).size).toBe(0)
  })

  test("if neither title nor bounds agree", () => {
    expect(matchFrames([topWindow(1, "A")], [frame("B", moved(700))]).size).toBe(0)
  })

  test("if it is a popup with its own window", () => {
    expect(matchFrames([topWindow(1, "A")], [frame("A", RECT, { role: ROLE.MENU })]).size).toBe(0)
  })
})

describe("window coordinates start", () => {
  test("inside the shadow if a GTK 4 window reports its width", () => {
    const window = topWindow(1, "A", RECT, { gtkFrameExtents: { left: 26, right: 26, top: 23, bottom: 29 } })
    expect(shiftOf(window, frame("A", RECT, { toolkit: "GTK" }))).toEqual({ x: 126, y: 123 })
  })

  test("half of the size difference inside if it does not", () => {
    const inner = { x: 0, y: 0, width: 390, height: 290 }
    expect(shiftOf(topWindow(1, "A"), frame("A", inner, { toolkit: "GTK" }))).toEqual({ x: 105, y: 105 })
  })

  test("at the screen's origin for other toolkits", () => {
    expect(shiftOf(topWindow(1, "A"), frame("A"))).toEqual({ x: 0, y: 0 })
  })
})
