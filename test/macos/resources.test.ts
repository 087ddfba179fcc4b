import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Deadline } from "../../src/deadline.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { appWith } from "./adapter-desk.ts"
import { ALL } from "./adapter-outline.ts"
import { startScene } from "./fake.ts"
import { onMac } from "./program.ts"

/** Resources that a server acquires and releases when it runs for days. */

const button = (AXTitle: string, more: object = {}) => ({
  AXRole: "AXButton",
  AXTitle,
  frame: [200, 200, 80, 24],
  ...more,
})

/** `AGENT_DESKTOP_COMMANDS=10000` for the long run. */
const COMMANDS = Number(process.env.AGENT_DESKTOP_COMMANDS ?? 60)

test(
  "commands in one process keep no elements, although every window has new ones",
  () =>
    onMac(appWith([button("Old", { id: "old" })]), async ({ mac, ok, ref }) => {
      const heaps: number[] = []
      const run = async (count: number) => {
        for (let i = 0; i < count; i += 3) {
          mac.apply({ do: "replace", node: "old", with: button(`New ${i}`, { id: "old" }) })
          await ok("snapshot", { app: "Demo" })
          await ok("get", { ref_id: await ref(`New ${i}`), property: "text" })
          await ok("list-windows")
          if (i % 300 > 0) continue
          Bun.gc(true)
          heaps.push(process.memoryUsage().heapUsed)
        }
      }
      // The first commands create the names of attributes, which are kept.
      await run(COMMANDS / 3)
      mac.mark()
      await run((COMMANDS * 2) / 3)
      expect(mac.report()).toMatchObject({ leaks: [], violations: [], pools: 0 })
      if (COMMANDS < 1000) return
      const mb = heaps.map((bytes) => Math.round(bytes / 2 ** 20))
      console.log(`${COMMANDS} commands: MB of heap ${mb.join(" ")}`)
      expect(mb.at(-1)! - mb[Math.floor(mb.length / 3)]!).toBeLessThan(5)
    }),
  900_000,
)

test("elements live until the last of the commands that run at the same time ends", async () => {
  const mac = startScene(appWith([button("Save")]))
  const platform = connectMacos({ env: { TMPDIR: mac.directory }, root: mac.directory })
  try {
    const [first, second] = [platform.adapter(Deadline.in(5000)), platform.adapter(Deadline.in(5000))]
    const [window] = await first.windows()
    const { root } = await second.tree({ kind: "surface", window: window!, surface: "window" }, ALL)
    await first.close()
    await first.close()
    expect((await second.read(root.children[0]!.handle))?.name).toBe("Save")
    await second.close()
    // A handle that a command kept beyond its end fails. It does not reach freed memory.
    expect(second.read(root.children[0]!.handle)).rejects.toThrow("has ended")
    expect(mac.report()).toMatchObject({ violations: [], pools: 0 })
  } finally {
    await platform.close()
    mac.close()
  }
})

test("a server switches a browser's screen reader mode off at its end, and a single command leaves it on", async () => {
  const path = join(temporaryForFile(), "Browser.app")
  mkdirSync(join(path, "Contents/Frameworks/Browser Framework.framework"), { recursive: true })
  const page = { AXRole: "AXWebArea", id: "page", children: [button("Web")], frame: [110, 120, 600, 400] }
  const scene = appWith([{ AXRole: "AXScrollArea", late: [page], frame: [110, 120, 600, 400] }], {
    path,
    AXEnhancedUserInterface: false,
    settable: ["AXEnhancedUserInterface"],
    on: { AXEnhancedUserInterface: [{ do: "reveal", node: "page" }] },
  })
  for (const forGood of [false, true]) {
    const mac = startScene(scene)
    const platform = connectMacos({ env: { TMPDIR: mac.directory }, root: mac.directory })
    try {
      const adapter = platform.adapter(Deadline.in(10_000))
      const [window] = await adapter.windows()
      await adapter.tree({ kind: "surface", window: window!, surface: "window" }, ALL)
      await adapter.close()
      await platform.close({ forGood })
      const written = mac.record("write").filter(({ attribute }) => attribute === "AXEnhancedUserInterface")
      expect(written.map(({ value }) => value)).toEqual(forGood ? [true, false] : [true])
      expect(mac.report()).toMatchObject({ violations: [], leaks: [], pools: 0 })
    } finally {
      await platform.close()
      mac.close()
    }
  }
})
