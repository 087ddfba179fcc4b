import { expect, test } from "bun:test"
import type { Seen } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { absenceOf } from "../../../src/linux/atspi/absence.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import type { Answer } from "../../../src/linux/dbus/bus.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"
import { bus, daemon, withBus } from "./walked.ts"

withBus()

const NOWHERE: Answer = { signature: "(so)", values: [["", "/org/a11y/atspi/null"]] }

/** A GTK 4 list view. Its hit test knows a row only after a client has asked the row for its parts. */
async function openList(isMapped: boolean) {
  let app: FakeApp | undefined
  const row = (id: string, y: number, height: number): FakeNode => ({
    role: "LIST_ITEM",
    id,
    extents: [0, y, height > 0 ? 100 : 0, height],
    children: [{ role: "LABEL", name: id }],
  })
  const list: FakeNode = {
    role: "LIST",
    id: "list",
    extents: [0, 0, 100, 80],
    // The middle, at 40, is between the second and the third row.
    children: [row("first", 2, 16), row("second", 22, 16), row("third", 42, 16), row("away", 0, 0)],
    answers: {
      get GetAccessibleAtPoint(): Answer {
        const isKnown = app?.asked("second").includes("GetChildren")
        return isMapped && isKnown
          ? { signature: "(so)", values: [[app!.name, app!.ref("second").path]] }
          : NOWHERE
      },
    },
  }
  app = await FakeApp.start(
    daemon.address,
    { role: "FRAME", name: "Window", id: "window", children: [list] },
    { toolkit: "GTK" },
  )
  return app
}

test.each([
  { isMapped: true, absence: undefined },
  { isMapped: false, absence: "not shown" },
] as const)(
  "a row out of view in a list whose middle is between two rows: %j",
  async ({ isMapped, absence }) => {
    using app = await openList(isMapped)
    const origin = { pid: process.pid, app: "fake", traits: TRAITS.gtk4, shift: { x: 0, y: 0 } }
    const parent = { ref: app.ref("list"), role: 31, states: 0, size: 4 }
    const element = new Element(app.ref("away"), origin, parent, 3)
    const seen = { role: "option", states: ["hidden"] } as unknown as Seen
    expect(await absenceOf(new Atspi(bus, Deadline.in(10_000)), element, seen, undefined)).toBe(absence)
  },
)
