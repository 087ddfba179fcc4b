import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** Elements behind a sheet or a modal window. A user cannot reach them; the accessibility API can. */

const button = (id: string, more: object = {}) => ({
  id,
  AXRole: "AXButton",
  AXTitle: id,
  frame: [240, 300, 80, 24],
  ...more,
})

const sheet = (id: string, window: number, children: readonly object[]) => ({
  id,
  AXRole: "AXSheet",
  window,
  frame: [200, 130, 500, 220],
  children,
})

const refusal = (ref: string, window: string) => ({
  code: "ACTION_FAILED",
  message: `Click action failed on ${ref}: it is behind the modal dialog in window ${window}`,
  suggestion: `Answer the dialog first: agent-desktop snapshot -i --window-id ${window}`,
  details: { kind: "not_actionable", reason: "behind a modal dialog", window_id: window },
  disposition: { delivery: "not_delivered", retry: "safe" },
})

async function clicked({ ok, mac, ref }: Program, name: string): Promise<void> {
  const before = mac.record("perform").length
  await ok("click", { ref_id: await ref(name) })
  expect(
    mac
      .record("perform")
      .slice(before)
      .map(({ node }) => node),
  ).toEqual([name])
}

test("an element behind a sheet is refused with the id of the window, and elements in the sheet are not", () =>
  onMac(
    appWith([
      button("Bold"),
      sheet("ask", 9002, [button("OK", { on: { AXPress: [{ do: "remove", node: "ask" }] } })]),
    ]),
    async (program) => {
      const { mac, ok, error, ref } = program
      await ok("snapshot", { app: "Demo" })
      const bold = await ref("Bold")
      for (const input of ["auto", "semantic", "physical"])
        expect(await error("click", { ref_id: bold, input })).toMatchObject(refusal(bold, "w-9001"))
      expect(mac.record("perform")).toEqual([])
      expect(mac.record("post")).toEqual([])
      expect(await ok("get", { ref_id: bold, property: "text" })).toMatchObject({ value: "Bold" })
      await clicked(program, "OK")
      await clicked(program, "Bold")
    },
  ))

test("a sheet of a sheet blocks the first one, even if another window has the focus", () =>
  onMac(
    appWith([], {
      windows: [
        {
          id: "other",
          window: 9005,
          AXTitle: "Other",
          frame: [850, 100, 400, 300],
          children: [button("Go", { frame: [860, 140, 80, 24] })],
        },
        {
          id: "main",
          window: 9001,
          AXTitle: "Main",
          frame: [100, 100, 700, 600],
          children: [
            button("Bold"),
            sheet("first", 9002, [button("Options"), sheet("second", 9003, [button("Done")])]),
          ],
        },
      ],
    }),
    async (program) => {
      const { ok, error, ref } = program
      await ok("snapshot", { window_id: "w-9001" })
      for (const name of ["Bold", "Options"]) {
        const hidden = await ref(name)
        expect(await error("click", { ref_id: hidden })).toMatchObject(refusal(hidden, "w-9001"))
      }
      await clicked(program, "Done")
      await ok("snapshot", { window_id: "w-9005" })
      await clicked(program, "Go")
    },
  ))

test("a modal window blocks all windows of its app, and no others; a panel that is not modal blocks nothing", () =>
  onMac(
    appWith([button("Bold")], {
      windows: [
        {
          id: "ask",
          window: 9007,
          layer: 8,
          AXTitle: "Ask",
          AXModal: true,
          AXSubrole: "AXDialog",
          frame: [300, 300, 300, 200],
          children: [button("Yes", { frame: [310, 350, 80, 24] })],
        },
        { id: "panel", window: 9006, AXTitle: "Panel", frame: [820, 100, 200, 300] },
        {
          id: "main",
          window: 9001,
          AXTitle: "Main",
          frame: [100, 100, 700, 600],
          children: [button("Bold")],
        },
      ],
    }),
    async (program) => {
      const { mac, ok, error, ref } = program
      await ok("snapshot", { window_id: "w-9001" })
      const bold = await ref("Bold")
      expect(await error("click", { ref_id: bold })).toMatchObject(refusal(bold, "w-9007"))
      await ok("snapshot", { window_id: "w-9007" })
      await clicked(program, "Yes")
      mac.apply({ do: "close", node: "ask" })
      await ok("snapshot", { window_id: "w-9001" })
      await clicked(program, "Bold")
    },
  ))

test("a window with nothing in front of it needs no question about dialogs", () =>
  onMac(appWith([button("Bold")]), async ({ mac, ok, ref }) => {
    await ok("snapshot", { app: "Demo" })
    mac.mark()
    await ok("click", { ref_id: await ref("Bold") })
    expect(mac.report().attributes.AXModal ?? 0).toBe(0)
  }))
