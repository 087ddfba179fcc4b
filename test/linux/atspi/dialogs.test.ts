import { expect, test } from "bun:test"
import { dialogOver } from "../../../src/linux/atspi/dialogs.ts"
import type { XWindow } from "../../../src/linux/x11/windows.ts"

const window = (id: number, facts: Partial<XWindow> = {}): XWindow => ({
  id,
  title: `Window ${id}`,
  pid: 1,
  bounds: { x: 0, y: 0, width: 100, height: 100 },
  frame: { x: 0, y: 0, width: 100, height: 100 },
  focused: false,
  minimized: false,
  maximized: false,
  modal: false,
  types: ["normal"],
  ...facts,
})
const dialog = (id: number, transientFor?: number): XWindow => window(id, { modal: true, transientFor })

test.each<[what: string, own: number, windows: XWindow[], blocker: number | undefined]>([
  ["no dialog", 1, [window(1), window(2)], undefined],
  ["a modal dialog of the window", 1, [window(1), dialog(2, 1)], 2],
  ["a modeless dialog of the window", 1, [window(1), window(2, { transientFor: 1 })], undefined],
  ["a modal dialog of another window", 1, [window(1), window(3), dialog(2, 3)], undefined],
  [
    "a modal dialog of a dialog of the window",
    1,
    [window(1), window(2, { transientFor: 1 }), dialog(3, 2)],
    3,
  ],
  ["a modal dialog without a window of its own", 1, [window(1), dialog(2)], 2],
  ["the modal dialog itself", 2, [window(1), dialog(2, 1)], undefined],
  ["a modal dialog that opened a modeless window", 3, [dialog(2), window(3, { transientFor: 2 })], undefined],
  ["two modal dialogs of one window, for one of them", 2, [window(1), dialog(2, 1), dialog(3, 1)], undefined],
  ["two modal dialogs without a window", 2, [dialog(2), dialog(3)], undefined],
  ["a minimised modal dialog", 1, [window(1), { ...dialog(2, 1), minimized: true }], undefined],
  ["windows that belong to each other in a circle", 1, [window(1), dialog(2, 3), dialog(3, 2)], undefined],
  ["a window that is gone", 9, [window(1), dialog(2, 1)], undefined],
])("behind a modal dialog: %s", (_, own, windows, blocker) => {
  expect(dialogOver(own, windows)?.id).toBe(blocker)
})
