import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { AppError } from "../../src/errors.ts"
import { onDesk } from "./adapter-desk.ts"
import { ALL, outline } from "./adapter-outline.ts"
import { SCENES } from "./fake.ts"

for (const scene of readdirSync(SCENES)) {
  test(`every window and surface of ${scene} is read without violations`, () =>
    onDesk(
      scene.replace(/\.json$/, ""),
      async ({ adapter }) => {
        const windows = await adapter.windows()
        expect(windows.length).toBeGreaterThan(0)
        expect(windows.filter(({ is_focused }) => is_focused).length).toBeLessThanOrEqual(1)
        for (const window of windows.filter(({ accessible }) => accessible !== false)) {
          await unlessMute(adapter.tree({ kind: "surface", window, surface: "window" }, ALL))
        }
        for (const pid of new Set(windows.map((window) => window.pid)))
          await unlessMute(adapter.surfaces(pid))
      },
      { virtualClock: true },
    ))
}

/** Ignores errors of apps that do not answer or refuse: some scenes contain such apps. */
async function unlessMute(read: Promise<unknown>): Promise<void> {
  try {
    await read
  } catch (error) {
    if (!(error instanceof AppError) || !["APP_UNRESPONSIVE", "ACTION_FAILED"].includes(error.code))
      throw error
  }
}

test("a file in a list is named by its own field, and its row by its first text", () =>
  onDesk("finder", async ({ tree }) => {
    const lines = outline((await tree()).root).map((line) => line.trim())
    expect(lines).toContain('treeitem "Budget.numbers" collapsed')
    expect(lines).toContain('cell "Budget.numbers"')
    expect(lines).toContain('cell "Today at 10:12"')
    expect(lines).toContain('treeitem "Documents" selected')
  }))

test("the buttons of a window's frame have names", () =>
  onDesk("safari", async ({ tree }) => {
    const lines = outline((await tree()).root)
    expect(lines.slice(-3).toSorted()).toEqual([
      '  button "Close" enabled',
      '  button "Minimize" enabled',
      '  button "Zoom" enabled',
    ])
  }))

test("an app without accessibility is listed with the reason, and an error names an app that hangs", () =>
  onDesk("quirks", async ({ adapter }) => {
    const windows = await adapter.windows()
    const silent = windows.find(({ app_name }) => app_name === "Silent")
    expect(silent).toMatchObject({ accessible: false, reason: "the app lists no accessible windows" })
    const frozen = windows.find(({ app_name }) => app_name === "Frozen")
    if (!frozen) throw new Error("the frozen app is not listed")
    await expect(
      adapter.tree({ kind: "surface", window: frozen, surface: "window" }, ALL),
    ).rejects.toMatchObject({
      code: "APP_UNRESPONSIVE",
      message: "App 'Frozen' did not answer in time",
    })
  }))

test("notifications are listed, acted on and dismissed by identity, not by position", () =>
  onDesk("notifications", async ({ mac, adapter }) => {
    const [anna, calendar] = await adapter.notifications()
    if (!anna || !calendar) throw new Error("two notifications are shown")
    expect(anna).toMatchObject({
      index: 0,
      app_name: "Messages",
      title: "Anna",
      body: "See you at 10",
      actions: ["Open", "Close", "Reply"],
    })
    await adapter.notification(anna, { kind: "action", action: "Reply" })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["reply Anna"])
    await expect(adapter.notification(anna, { kind: "action", action: "Snooze" })).rejects.toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      details: { candidates: ["Open", "Close", "Reply"] },
    })
    await adapter.notification(anna, { kind: "dismiss" })
    expect((await adapter.notifications()).map(({ index, title }) => [index, title])).toEqual([
      [0, "Stand-up"],
    ])
    await expect(adapter.notification(anna, { kind: "dismiss" })).rejects.toMatchObject({
      code: "NOTIFICATION_NOT_FOUND",
    })
    await adapter.notification(calendar, { kind: "dismiss" })
    expect(mac.look("banner-1")).toEqual({})
  }))
