import { describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi, refKey } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { describeElement, type FindFrame, openAddress, openPath } from "../../../src/linux/atspi/open.ts"
import { listA11yApps, SLICE_MS } from "../../../src/linux/atspi/registry.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import type { RefEntry } from "../../../src/refmap.ts"
import { within } from "../../support/pace.ts"
import { FakeApp, type FakeNode, startRegistry } from "./fake-app.ts"
import { bus, daemon, withBus } from "./walked.ts"

withBus()

const atspi = (ms = 10_000): Atspi => new Atspi(bus, Deadline.in(ms))

test("apps are listed with name and process; a silent one takes only its time slice, and one that left is omitted", async () => {
  using lively = await FakeApp.start(daemon.address, { role: "FRAME" }, { appName: "Lively" })
  using silent = await FakeApp.start(daemon.address, { role: "FRAME" })
  silent.bus.serve(() => undefined)
  const refs = [lively.ref("root"), silent.ref("root"), { bus: ":1.9999", path: "/gone" }]
  using _registry = await startRegistry(daemon.address, refs)
  const apps = await within(2 * SLICE_MS, () => listA11yApps(atspi(20_000)))
  expect(apps).toEqual([
    { ref: lively.ref("root"), pid: process.pid, name: "Lively", responsive: true },
    { ref: silent.ref("root"), pid: process.pid, name: "", responsive: false },
  ])
})

describe("an element", () => {
  const tree: FakeNode = {
    role: "FRAME",
    id: "window",
    children: [
      { role: "PANEL", id: "panel", children: [{ role: "PUSH_BUTTON", name: "Go", id: "go", children: [] }] },
      { role: "PUSH_BUTTON", id: "labelled", children: [{ role: "LABEL", name: "Inner" }] },
      { role: "PUSH_BUTTON", name: "Dead", id: "dead", states: ["DEFUNCT"] },
      { role: "PUSH_BUTTON", name: "Silent", id: "silent", silent: ["GetRole"] },
    ],
  }

  async function start(): Promise<
    { app: FakeApp; entry(id: string): RefEntry; frame: FindFrame } & Disposable
  > {
    const app = await FakeApp.start(daemon.address, tree)
    const place = {
      pid: process.pid,
      app: "fake",
      traits: TRAITS.gtk3,
      window: "w-7",
      shift: { x: 0, y: 0 },
    }
    return {
      app,
      entry: (id) => ({
        pid: process.pid,
        role: "button",
        states: [],
        available_actions: [],
        window_id: "w-7",
        address: refKey(app.ref(id)),
      }),
      frame: async () => new Element(app.ref("window"), place),
      [Symbol.dispose]: () => app[Symbol.dispose](),
    }
  }

  test("is found by its address and by its path, with the same description", async () => {
    using got = await start()
    const byAddress = await openAddress(atspi(), { ...got.entry("go"), path: [0, 0] }, got.frame)
    const byPath = await openPath(atspi(), { ...got.entry("go"), path: [0, 0] }, got.frame)
    expect(byAddress).toMatchObject({
      role: "button",
      name: "Go",
      address: refKey(got.app.ref("go")),
      index: 0,
    })
    expect({ ...byPath, handle: undefined }).toEqual({ ...byAddress, handle: undefined })
  })

  test("named by its content has the same name if it is read alone", async () => {
    using got = await start()
    expect(await openAddress(atspi(), got.entry("labelled"), got.frame)).toMatchObject({ name: "Inner" })
  })

  test("is reported as missing if its object, its process or its place is gone", async () => {
    using got = await start()
    expect(await openAddress(atspi(), got.entry("nothing"), got.frame)).toBeUndefined()
    expect(await openAddress(atspi(), got.entry("dead"), got.frame)).toBeUndefined()
    expect(await openAddress(atspi(), { ...got.entry("go"), pid: 1 }, got.frame)).toBeUndefined()
    expect(
      await openAddress(atspi(), { ...got.entry("go"), address: ":1.9999/x" }, got.frame),
    ).toBeUndefined()
    expect(await openAddress(atspi(), { ...got.entry("go"), address: "nonsense" }, got.frame)).toBeUndefined()
    expect(await openPath(atspi(), { ...got.entry("go"), path: [0, 5] }, got.frame)).toBeUndefined()
    expect(await openPath(atspi(), { ...got.entry("go"), path: [0, 0], pid: 1 }, got.frame)).toBeUndefined()
    expect(
      await openPath(atspi(), { ...got.entry("go"), path: [0, 0] }, async () => undefined),
    ).toBeUndefined()
  })

  test("that does not answer is not reported as missing", async () => {
    using got = await start()
    await expect(openAddress(atspi(300), got.entry("silent"), got.frame)).rejects.toThrow(
      "no answer to GetRole",
    )
  })

  test("is reported as missing once its application has ended", async () => {
    using got = await start()
    const seen = await openAddress(atspi(), got.entry("go"), got.frame)
    got.app.bus.close()
    expect(seen && (await describeElement(atspi(), Element.of(seen.handle)))).toBeUndefined()
  })
})
