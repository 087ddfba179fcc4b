import { expect, test } from "bun:test"
import { within } from "../support/pace.ts"
import { appWith } from "./adapter-desk.ts"
import { onMac } from "./program.ts"

/** Other apps beside the wanted one, and apps that do not answer, or not yet. */

test("one app that refuses accessibility clients does not stop the work with others", () =>
  onMac(
    appWith(
      [],
      {},
      {
        apps: [
          ...appsOf(
            appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }]),
          ),
          {
            pid: 502,
            name: "Helper",
            bundle_id: "com.example.Helper",
            path: "/Applications/Helper.app",
            error: -25211,
            windows: [{ window: 9101, AXTitle: "Helper", frame: [950, 100, 300, 200] }],
          },
        ],
      },
    ),
    async ({ mac, ok, error, ref }) => {
      expect((await ok("list-windows")).windows.map(({ id }: { id: string }) => id)).toEqual([
        "w-9001",
        "w-9101",
      ])
      await ok("snapshot", { app: "Demo" })
      await ok("click", { ref_id: await ref("Save") })
      expect(mac.record("perform")).toHaveLength(1)
      await ok("press", { combo: "tab", app: "Demo" })
      expect(await error("snapshot", { app: "Helper" })).toMatchObject({
        code: "APP_UNRESPONSIVE",
        message: expect.stringContaining("Helper"),
        platform_detail: "AXError -25211: API disabled",
      })
      // The same answer means a missing permission if the permission is missing.
      mac.apply({ do: "grant", what: "accessibility", to: false })
      expect(await error("snapshot", { app: "Demo" })).toMatchObject({ code: "PERM_DENIED" })
    },
  ))

const appsOf = (scene: object): readonly object[] =>
  "apps" in scene && Array.isArray(scene.apps) ? scene.apps : []

/** The wanted app among apps that never answer. */
const amongHungApps = (): object => {
  const [demo] = appsOf(
    appWith(
      [
        { id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] },
        { id: "text", AXRole: "AXTextArea", AXTitle: "Text", frame: [200, 300, 200, 24] },
      ],
      { path: "/Applications/Demo.app" },
    ),
  )
  const hung = [1, 2, 3].map((n) => ({
    pid: 600 + n,
    name: `Hung ${n}`,
    hung: true,
    windows: [{ window: 9200 + n, AXTitle: `Hung ${n}`, frame: [50 * n, 50, 300, 200] }],
  }))
  return appWith([], {}, { apps: [demo, ...hung] })
}

/** Longest time that one hung app may cost, in microseconds. */
const ONE_APP = 250_000

test("only the app that was asked for is asked: three others that hang cost nothing", () =>
  onMac(amongHungApps(), async ({ mac, ok, ref }) => {
    const waited = async (command: string, args: object): Promise<number> => {
      const before = mac.report().slept_us
      await ok(command, args)
      return mac.report().slept_us - before
    }
    expect(await waited("snapshot", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", { app: "com.example.Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", { window_id: "w-9001" })).toBeLessThan(ONE_APP)
    expect(await waited("snapshot", {})).toBeLessThan(ONE_APP)
    expect(await waited("list-windows", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("list-surfaces", { app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("wait", { window: "Main", app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("click", { ref_id: await ref("Save"), input: "physical" })).toBeLessThan(ONE_APP)
    expect(await waited("type", { ref_id: await ref("Text"), text: "x", input: "physical" })).toBeLessThan(
      ONE_APP,
    )
    expect(await waited("press", { combo: "tab", app: "Demo" })).toBeLessThan(ONE_APP)
    expect(await waited("move-window", { window_id: "w-9001", x: 120, y: 120 })).toBeLessThan(ONE_APP)
    // A list of all windows has to ask every app, each once and for a short time.
    expect(await waited("list-windows", {})).toBeLessThan(1_100_000)
  }))

test("an app that has just started is waited for, and one that stays silent is named", () =>
  onMac(
    appWith([{ id: "save", AXRole: "AXButton", AXTitle: "Save", frame: [200, 200, 80, 24] }], {
      ready_ms: 2000,
    }),
    async ({ ok, error, ref }) => {
      // The time limit is too short to wait.
      const early = await error("snapshot", { app: "Demo", timeout_ms: 500 })
      expect(early).toMatchObject({ code: "APP_UNRESPONSIVE", details: { starting: true } })
      expect(early.suggestion).not.toContain("--force")
      expect(await ok("snapshot", { app: "Demo" })).toMatchObject({ ref_count: 1, complete: true })
      await ok("click", { ref_id: await ref("Save") })
    },
  ))

test("an app that has been running for long and answers nothing is not waited for", () =>
  onMac(appWith([], { ready_ms: 1e15, start: [1_700_000_000, 0] }), async ({ error }) => {
    const refused = await within(4000, () => error("snapshot", { app: "Demo", timeout_ms: 60_000 }))
    expect(refused).toMatchObject({ code: "APP_UNRESPONSIVE" })
  }))
