import { expect, setDefaultTimeout, test } from "bun:test"
import { compileProgram, MACHINE, onStage } from "./compiled.ts"

/** Refs in the compiled program over scenes: a ref leads to its element, or is stale. */

if (MACHINE !== "x64") setDefaultTimeout(1_800_000)

const program = compileProgram()

test("a ref from a sheet, a popover, an alert or the menu bar is acted on like any other", async () => {
  const surfaces = [
    ["sheet", "Save", "perform sheet-save AXPress applied"],
    ["focused", "Cancel", "perform sheet-cancel AXPress applied"],
    ["popover", "Apply", "perform popover-button AXPress applied"],
    ["alert", "OK", "perform alert-ok AXPress applied"],
  ] as const
  for (const [surface, target, line] of surfaces) {
    await onStage(program, "dialogs", async ({ mac, ask, ref }) => {
      // A sheet blocks everything else in its window.
      if (surface === "popover") mac.apply({ do: "remove", node: "sheet" })
      await ask("snapshot", "--app", "Editor", "--surface", surface)
      const { envelope, log } = await ask("click", ref(target, "button"))
      expect(envelope).toMatchObject({ ok: true, data: { method: "AXPress" } })
      expect(log).toContain(line)
      expect(log.filter((one) => one.startsWith("perform"))).toHaveLength(1)
    })
  }
  await onStage(program, "example-textedit", async ({ ask, ref }) => {
    await ask("snapshot", "--app", "TextEdit", "--surface", "menubar")
    const { envelope, log } = await ask("click", ref("File", "menuitem"))
    expect(envelope).toMatchObject({ ok: true, data: { method: "AXPress" } })
    expect(log.filter((one) => one.startsWith("perform"))).toHaveLength(1)
  })
})

/** Rows whose texts are direct children, or inside a cell. */
const rows = (names: readonly string[], inCells: boolean) => ({
  apps: [
    {
      pid: 700,
      name: "Lists",
      start: [1_700_000_000, 0],
      frontmost: true,
      windows: [
        {
          window: 701,
          AXTitle: "Things",
          frame: [0, 25, 600, 400],
          children: [
            {
              AXRole: "AXTable",
              frame: [0, 50, 600, 300],
              children: names.map((name, i) => rowWith(name, i, inCells)),
            },
          ],
        },
      ],
    },
  ],
})
const rowWith = (name: string, i: number, inCell: boolean) => {
  const parts = [
    { id: `text-${i}`, AXRole: "AXStaticText", AXValue: name, frame: [0, 50 + i * 30, 100, 20] },
    { id: `delete-${i}`, AXRole: "AXButton", AXTitle: "Delete", frame: [200, 50 + i * 30, 80, 20] },
  ]
  const children = inCell ? [{ AXRole: "AXCell", frame: [0, 50 + i * 30, 600, 30], children: parts }] : parts
  return { AXRole: "AXRow", frame: [0, 50 + i * 30, 600, 30], children }
}

for (const inCells of [true, false]) {
  for (const flags of [[], ["-i"]]) {
    test(`a ref leads to the row with the same text, and is stale if no row has it: texts in ${inCells ? "cells" : "the row"}, snapshot ${flags}`, () =>
      onStage(program, rows(["Alpha", "Beta"], inCells), async ({ ask, mac }) => {
        const { envelope } = await ask("snapshot", "--app", "Lists", ...flags)
        const map = JSON.stringify(envelope.data.tree)
        const ref = /"(@e\d+)","role":"button"/.exec(map)?.[1] ?? ""
        // The ref is valid while nothing changes.
        expect((await ask("hover", ref)).envelope).toMatchObject({ ok: true })
        mac.apply({ do: "set", node: "text-0", attribute: "AXValue", value: "Gamma" })
        const gone = await ask("click", ref)
        expect(gone.envelope.error?.code).toBe("STALE_REF")
        expect(gone.log).toEqual([])
        // The ref leads to the row with the same text, wherever that row is now.
        mac.apply({ do: "set", node: "text-1", attribute: "AXValue", value: "Alpha" })
        const moved = await ask("click", ref)
        expect(moved.envelope).toMatchObject({ ok: true })
        expect(JSON.stringify(moved.log)).toContain("delete-1")
      }))
  }
}

test("a missing window, a missing app, an unknown ref and a removed element are reported as such", () =>
  onStage(program, "example-finder", async ({ ask, mac }) => {
    expect((await ask("snapshot", "--window-id", "w-99999")).envelope.error).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "Window 'w-99999' not found",
    })
    expect((await ask("snapshot", "--app", "InvalidApp")).envelope.error).toMatchObject({
      code: "APP_NOT_FOUND",
      message: "No windows found for app 'InvalidApp'",
    })
    expect((await ask("click", "@e7")).envelope.error).toMatchObject({
      code: "STALE_REF",
      message: "@e7 not found in current RefMap",
      suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
    })
    await ask("snapshot", "--app", "Finder")
    mac.apply({ do: "remove", node: "back" })
    const gone = await ask("click", "@e1")
    expect(gone.envelope.error?.code).toBe("STALE_REF")
    expect(gone.log).toEqual([])
  }))
