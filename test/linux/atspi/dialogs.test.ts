import { expect, test } from "bun:test"
import { dialogOver } from "../../../src/linux/atspi/dialogs.ts"
import type { TopWindow } from "../../../src/linux/windowing/window.ts"

const window = (id: string, facts: Partial<TopWindow> = {}): TopWindow => ({
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
const dialog = (id: string, transientFor?: string): TopWindow => window(id, { modal: true, transientFor })

test.each<[what: string, own: string, windows: TopWindow[], blocker: string | undefined]>([
  ["no dialog", "w-1", [window("w-1"), window("w-2")], undefined],
  ["a modal dialog of the window", "w-1", [window("w-1"), dialog("w-2", "w-1")], "w-2"],
  [
    "a modeless dialog of the window",
    "w-1",
    [window("w-1"), window("w-2", { transientFor: "w-1" })],
    undefined,
  ],
  [
    "a modal dialog of another window",
    "w-1",
    [window("w-1"), window("w-3"), dialog("w-2", "w-3")],
    undefined,
  ],
  [
    "a modal dialog of a dialog of the window",
    "w-1",
    [window("w-1"), window("w-2", { transientFor: "w-1" }), dialog("w-3", "w-2")],
    "w-3",
  ],
  ["a modal dialog without a window of its own", "w-1", [window("w-1"), dialog("w-2")], "w-2"],
  ["the modal dialog itself", "w-2", [window("w-1"), dialog("w-2", "w-1")], undefined],
  [
    "a modal dialog that opened a modeless window",
    "w-3",
    [dialog("w-2"), window("w-3", { transientFor: "w-2" })],
    undefined,
  ],
  [
    "two modal dialogs of one window, for one of them",
    "w-2",
    [window("w-1"), dialog("w-2", "w-1"), dialog("w-3", "w-1")],
    undefined,
  ],
  ["two modal dialogs without a window", "w-2", [dialog("w-2"), dialog("w-3")], undefined],
  [
    "a minimised modal dialog",
    "w-1",
    [window("w-1"), { ...dialog("w-2", "w-1"), minimized: true }],
    undefined,
  ],
  [
    "windows that belong to each other in a circle",
    "w-1",
    [window("w-1"), dialog("w-2", "w-3"), dialog("w-3", "w-2")],
    undefined,
  ],
  ["a window that is gone", "w-9", [window("w-1"), dialog("w-2", "w-1")], undefined],
])("behind a modal dialog: %s", (_, own, windows, blocker) => {
  expect(dialogOver(own, windows)?.id).toBe(blocker)
})
