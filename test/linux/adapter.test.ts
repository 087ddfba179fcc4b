import { expect, test } from "bun:test"
import type { SeenNode } from "../../src/adapter.ts"
import { Deadline } from "../../src/deadline.ts"
import { connectLinux } from "../../src/linux/adapter.ts"
import { startFixture } from "../fixtures/fixture.ts"
import { openDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

const OPTIONS = { maxDepth: 40, bounds: "interactive", includeHidden: false, interactiveOnly: false } as const

const all = (node: SeenNode): SeenNode[] => [node, ...node.children.flatMap(all)]

test("with the bus hint of its tree, a ref's element is found, watched and clicked without the display", async () => {
  await using desktop = await openDesktop()
  const fixture = await startFixture(desktop, "gtk3")
  const seeing = await connectLinux({ env: desktop.env, root: desktop.home })
  const adapter = seeing.adapter(Deadline.in(20_000))
  const window = await until(async () => (await adapter.windows()).find(({ pid }) => pid === fixture.pid))
  const tree = await adapter.tree({ kind: "surface", window, surface: "window" }, OPTIONS)
  await seeing.close()
  const button = all(tree.root).find(({ name }) => name === "Press me")!
  expect(tree.reachedBy).toStartWith(`${desktop.display} `)

  const env = { ...desktop.env, DISPLAY: ":none", DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" }
  const acting = await connectLinux({ env, root: desktop.home })
  const other = acting.adapter(Deadline.in(20_000))
  const { role, name, states, actions = [], address } = button
  const entry = { pid: tree.pid, role, name, states, available_actions: actions, address }
  const hint = tree.reachedBy?.replace(desktop.display, ":none")
  await expect(other.open(entry, "address")).rejects.toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
  await (await other.watch([tree.pid], { hint })).close()
  const found = await other.open(entry, "address", hint)
  expect(found).toMatchObject({ role: "button", name: "Press me" })
  expect(await other.perform(found!.handle, { kind: "click" })).toMatchObject({ method: "atspi:click" })
  expect(await fixture.seen("press", "Press me")).toBeObject()
  await acting.close()
})
