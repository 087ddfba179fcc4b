import { expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { inflateSync } from "node:zlib"
import type { SeenApp } from "../../src/adapter.ts"
import { timed } from "../support/pace.ts"
import { appWith, onDesk } from "./adapter-desk.ts"
import { windowColour } from "./fake.ts"

const SAVE = { id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [110, 120, 80, 24] }

test("permissions are read without a dialog, and requested only with --request", () =>
  onDesk(
    appWith([], {}, { trust: { accessibility: false, screen: false, post: false } }),
    async ({ mac, adapter }) => {
      const seen = await adapter.permissions(false)
      expect(seen).toMatchObject({
        granted: false,
        accessibility: {
          state: "denied",
          suggestion: expect.stringContaining("Privacy & Security > Accessibility"),
        },
        screen_recording: {
          state: "denied",
          suggestion: expect.stringContaining("Privacy & Security > Screen Recording"),
        },
        input_events: { state: "denied" },
      })
      expect(mac.record("prompt")).toEqual([])
      await adapter.permissions(true)
      expect(
        mac
          .record("prompt")
          .map((line) => line.for)
          .toSorted(),
      ).toEqual(["accessibility", "post", "screen"])
    },
  ))

test("with all permissions granted there is no suggestion", () =>
  onDesk(appWith([]), async ({ adapter }) => {
    expect(await adapter.permissions(false)).toEqual({
      granted: true,
      accessibility: { state: "granted" },
      screen_recording: { state: "granted" },
      input_events: { state: "granted" },
    })
  }))

test("diagnose tries every link, and with --ffi every declared symbol", () =>
  onDesk(appWith([SAVE]), async ({ adapter }) => {
    const checks = await adapter.diagnose({ ffi: true })
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    expect(checks.map(({ name }) => name)).toContain("symbols of CoreFoundation")
    expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length)
    expect(checks.at(-1)).toMatchObject({ name: "the focused app answers", ok: true, detail: "Demo" })
    expect((await adapter.diagnose({ ffi: false })).some(({ name }) => name.startsWith("symbols"))).toBe(
      false,
    )
  }))

test("diagnose names the problem", () =>
  onDesk(appWith([SAVE], {}, { trust: { accessibility: false } }), async ({ adapter }) => {
    const wrong = (await adapter.diagnose({ ffi: false })).filter(({ ok }) => !ok)
    expect(wrong.map(({ name }) => name)).toEqual(["accessibility permission", "the focused app answers"])
    expect(wrong.every(({ suggestion }) => suggestion?.includes("System Settings"))).toBe(true)
  }))

test("diagnose says that the screen is locked, since input would go to the lock screen", () =>
  onDesk(appWith([SAVE], {}, { session: "locked" }), async ({ adapter }) => {
    const wrong = (await adapter.diagnose({ ffi: false })).filter(({ ok }) => !ok)
    expect(wrong).toEqual([
      {
        name: "graphical session",
        ok: false,
        detail: "the screen is locked: keys and clicks would go to the lock screen",
        suggestion: "Unlock the screen",
      },
    ])
  }))

test("regular apps and apps that show a window are listed with their bundle ids", () =>
  onDesk(
    {
      apps: [
        {
          pid: 501,
          name: "Demo",
          bundle_id: "com.example.Demo",
          path: "/Applications/Demo.app",
          frontmost: true,
          windows: [{ AXTitle: "Main", frame: [0, 0, 400, 300] }],
        },
        { pid: 502, name: "Idle", bundle_id: "com.example.Idle", windows: [] },
        { pid: 503, name: "Agent", bundle_id: "com.example.Agent", policy: "accessory", windows: [] },
      ],
    },
    async ({ adapter }) => {
      expect((await adapter.apps()).map(({ name, pid, bundle_id }) => [name, pid, bundle_id])).toEqual([
        ["Demo", 501, "com.example.Demo"],
        ["Idle", 502, "com.example.Idle"],
      ])
    },
  ))

test("displays have their bounds and scale", () =>
  onDesk(
    {
      displays: [
        { id: 1, bounds: [0, 0, 1440, 900], scale: 2 },
        { id: 7, bounds: [-1920, 100, 1920, 1080], scale: 1 },
      ],
      apps: [],
    },
    async ({ adapter }) => {
      expect(await adapter.displays()).toEqual([
        { id: "1", bounds: { x: 0, y: 0, width: 1440, height: 900 }, is_primary: true, scale: 2 },
        { id: "7", bounds: { x: -1920, y: 100, width: 1920, height: 1080 }, is_primary: false, scale: 1 },
      ])
    },
  ))

test("the clipboard can be set, read and cleared", () =>
  onDesk(appWith([]), async ({ mac, adapter }) => {
    await adapter.clipboard({ kind: "set", text: "Zwei\nZeilen 😀" })
    expect(mac.world().pasteboard).toEqual({ "public.utf8-plain-text": "Zwei\nZeilen 😀" })
    expect(await adapter.clipboard({ kind: "get" })).toBe("Zwei\nZeilen 😀")
    await adapter.clipboard({ kind: "clear" })
    expect(mac.world().pasteboard).toEqual({})
    expect(await adapter.clipboard({ kind: "get" })).toBe("")
  }))

test("reading a forbidden clipboard fails with an error", () =>
  onDesk(
    appWith([], {}, { pasteboard: { "public.utf8-plain-text": "x" }, pasteboard_access: 3 }),
    async ({ adapter }) => {
      await expect(adapter.clipboard({ kind: "get" })).rejects.toMatchObject({ code: "PERM_DENIED" })
    },
  ))

test("reading a clipboard whose owner hangs ends at the deadline", () =>
  onDesk(appWith([], {}, { tools: { pbpaste: { slow_ms: 60_000 } } }), async ({ within }) => {
    const { ms, slackMs } = await timed(() =>
      expect(within(500).clipboard({ kind: "get" })).rejects.toMatchObject({ code: "TIMEOUT" }),
    )
    expect(ms).toBeLessThan(500 + slackMs)
  }))

const pictures = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("agent-desktop-") && name.endsWith(".png"))

test("a screenshot of a window shows that window, and leaves no file behind", () =>
  onDesk(appWith([SAVE]), async ({ adapter, window }) => {
    const before = pictures()
    const { png, width, height, origin } = await adapter.screenshot({
      kind: "window",
      window: await window(),
    })
    expect(origin).toEqual({ x: 100, y: 100 })
    expect(width / height).toBeCloseTo(800 / 600, 1)
    expect(firstPixel(png)).toEqual([...windowColour(9001)])
    expect(pictures().filter((name) => !before.includes(name))).toEqual([])
  }))

test("a screenshot of a display has the display's origin, and a missing display is an error", () =>
  onDesk(
    appWith(
      [SAVE],
      {},
      {
        displays: [
          { id: 1, bounds: [0, 0, 1440, 900], scale: 1 },
          { id: 2, bounds: [1440, 0, 1024, 768], scale: 1 },
        ],
      },
    ),
    async ({ adapter }) => {
      expect(await adapter.screenshot({ kind: "screen", index: 1 })).toMatchObject({
        width: 1024,
        height: 768,
        origin: { x: 1440, y: 0 },
      })
      await expect(adapter.screenshot({ kind: "screen", index: 2 })).rejects.toMatchObject({
        code: "INVALID_ARGS",
      })
    },
  ))

test("a screenshot without a target shows the primary display", () =>
  onDesk(appWith([SAVE]), async ({ adapter }) => {
    const { width, height, origin } = await adapter.screenshot({ kind: "screen" })
    expect([width / height, origin]).toEqual([1440 / 900, { x: 0, y: 0 }])
  }))

test("without Screen Recording no screenshot is taken", () =>
  onDesk(appWith([SAVE], {}, { trust: { screen: false } }), async ({ mac, adapter, window }) => {
    await expect(adapter.screenshot({ kind: "window", window: await window() })).rejects.toMatchObject({
      code: "PERM_DENIED",
      suggestion:
        "Open System Settings > Privacy & Security > Screen Recording and add the program that 'agent-desktop permissions' names",
    })
    expect(mac.record("run")).toEqual([])
  }))

const INSTALLED = [
  {
    pid: 777,
    name: "Notes",
    bundle_id: "com.example.Notes",
    path: "/Applications/Notes.app",
    windows: [{ AXTitle: "Welcome", window: 71, frame: [0, 0, 400, 300] }],
  },
]

for (const name of ["Notes", "com.example.Notes", "/Applications/Notes.app"]) {
  test(`an app is started as ${name}`, () =>
    onDesk(appWith([], {}, { installed: INSTALLED }), async ({ mac, adapter }) => {
      const { pid, names, exited } = await adapter.launch(name, [])
      expect(pid).toBeGreaterThan(0)
      expect(names).toContain("Notes")
      expect(await exited).toBe(0)
      expect(mac.world().apps.find((app) => app.name === "Notes")).toMatchObject({ pid, running: true })
    }))
}

test("an app that is not installed is not found", () =>
  onDesk(appWith([]), async ({ adapter }) => {
    await expect(adapter.launch("Nowhere", [])).rejects.toMatchObject({
      code: "APP_NOT_FOUND",
      platformDetail: expect.stringContaining("Nowhere"),
    })
  }))

test("an app is asked to quit, or forced to", () =>
  onDesk(appWith([], {}, { installed: INSTALLED }), async ({ adapter }) => {
    const demo: SeenApp = { name: "Demo", pid: 501, aliases: [] }
    expect(await adapter.processStart(501)).toMatch(/^\d+\.\d+$/)
    expect(await adapter.quit(demo, false)).toEqual({ method: "terminate" })
    expect(await adapter.processStart(501)).toBeUndefined()
    await expect(adapter.quit(demo, true)).rejects.toMatchObject({ code: "APP_NOT_FOUND" })
    const { pid } = await adapter.launch("Notes", [])
    expect(await adapter.quit({ name: "Notes", pid, aliases: [] }, true)).toEqual({
      method: "forceTerminate",
    })
    expect(await adapter.processStart(pid)).toBeUndefined()
  }))

test("a watch reports a change, and only a change", () =>
  onDesk(appWith([SAVE]), async ({ mac, adapter }) => {
    const watch = await adapter.watch([501])
    expect(await watch.changed(50)).toBe(false)
    mac.apply({ do: "set", node: "save", attribute: "AXTitle", value: "Saved" })
    expect(await watch.changed(5000)).toBe(true)
    expect(await watch.changed(0)).toBe(false)
    await watch.close()
  }))

test("a watch without processes, or on an app that hangs, only waits", () =>
  onDesk(appWith([SAVE]), async ({ mac, adapter }) => {
    const blind = await adapter.watch()
    expect(await blind.changed(30)).toBe(false)
    await blind.close()
    mac.apply({ do: "hang", app: 501 })
    const { ms, slackMs } = await timed(async () => {
      const deaf = await adapter.watch([501])
      expect(await deaf.changed(30)).toBe(false)
      await deaf.close()
    })
    expect(ms).toBeLessThan(3000 + slackMs)
  }))

test("isolated desktops are not supported on macOS", () =>
  onDesk(appWith([]), async ({ adapter }) => {
    await expect(adapter.desktops({ kind: "list" })).rejects.toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
  }))

test("connecting opens no library before the first call", () =>
  onDesk(appWith([]), async ({ mac }) => {
    expect(existsSync(mac.directory)).toBe(true)
    expect(mac.report().calls.AXUIElementCreateSystemWide).toBeUndefined()
  }))

/** Red, green and blue of the top left pixel of an unfiltered PNG. */
function firstPixel(png: Uint8Array): number[] {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  const parts: Uint8Array[] = []
  for (let at = 8; at < png.length; at += 12 + view.getUint32(at)) {
    const type = String.fromCharCode(...png.subarray(at + 4, at + 8))
    if (type === "IDAT") parts.push(png.subarray(at + 8, at + 8 + view.getUint32(at)))
  }
  return [...inflateSync(Buffer.concat(parts)).subarray(1, 4)]
}
