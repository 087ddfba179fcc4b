import { expect } from "bun:test"
import type { Adapter, SeenNode, SeenTree, SeenWindow, TreeOptions } from "../../src/adapter.ts"
import { Deadline } from "../../src/deadline.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import type { Surface } from "../../src/node.ts"
import { walk } from "../../src/tree.ts"
import { ALL } from "./adapter-outline.ts"
import { buildFake } from "./fake/build.ts"
import { type FakeMac, type StartOptions, startScene } from "./fake.ts"

// Compiled at import: it may take longer than the timeout of the first test.
buildFake()

export interface Desk {
  readonly mac: FakeMac
  readonly adapter: Adapter
  /** An adapter with an earlier deadline. */
  within(ms: number, signal?: AbortSignal): Adapter
  window(title?: string): Promise<SeenWindow>
  tree(options?: Partial<TreeOptions>, surface?: Surface): Promise<SeenTree>
  /** The windows and the tree of the first one, read by a new process that lacks the `hidden` exports. */
  elsewhere(
    hidden: readonly string[],
  ): Promise<{ readonly windows: readonly SeenWindow[]; readonly lines?: readonly string[] }>
  /** The first node of this role and, if given, this name. */
  node(role: string, name?: string): Promise<SeenNode>
}

/** Uses the adapter on a scene. Expects no leaks and no violations afterwards. */
export async function onDesk(
  scene: string | object,
  use: (desk: Desk) => Promise<void>,
  options: StartOptions = {},
): Promise<void> {
  const mac = startScene(scene, options)
  const platform = connectMacos({ env: { TMPDIR: mac.directory }, root: mac.directory })
  const adapter = turnByTurn(platform.adapter(Deadline.in(20_000)))
  // Elements live as long as a command runs.
  platform.adapter(Deadline.in(20_000))
  const window = async (title?: string) => {
    const found = (await adapter.windows()).find((one) => title === undefined || one.title === title)
    if (!found) throw new Error(`the scene shows no window ${title ?? ""}`)
    return found
  }
  const tree = async (given: Partial<TreeOptions> = {}, surface: Surface = "window") =>
    adapter.tree({ kind: "surface", window: await window(), surface }, { ...ALL, ...given })
  const node = async (role: string, name?: string) => {
    const { root } = await tree({ maxDepth: 50 })
    const found = [...walk(root)].find((place) => fits(place.node, role, name))
    if (!found) throw new Error(`there is no ${role} ${name ?? ""}`)
    return found.node
  }
  const elsewhere = async (hidden: readonly string[]) => {
    const command = [process.execPath, "--preload", here("preload.ts"), here("adapter-child.ts")]
    const run = await mac.run(command, { env: { LD_PRELOAD: "", FAKEMAC_HIDE: hidden.join() } })
    if (run.exitCode !== 0) throw new Error(run.stderr)
    expect(run.report).toMatchObject({ violations: [], leaks: [], pools: 0, held: [] })
    return JSON.parse(run.stdout)
  }
  const within = (ms: number, signal?: AbortSignal) => turnByTurn(platform.adapter(Deadline.in(ms, signal)))
  try {
    await use({ mac, adapter, within, window, tree, node, elsewhere })
    await platform.close()
    const { violations, leaks, pools, held } = mac.report()
    expect({ violations, leaks, pools, held }).toEqual({ violations: [], leaks: [], pools: 0, held: [] })
  } finally {
    await platform.close()
    mac.close()
  }
}

/** Releases the turn after each input, as separate commands would. */
function turnByTurn(adapter: Adapter): Adapter {
  return {
    ...adapter,
    input: (event) => adapter.input(event).finally(() => adapter.close()),
    window: (id, op) => adapter.window(id, op).finally(() => adapter.close()),
  }
}

const here = (name: string): string => new URL(name, import.meta.url).pathname

function fits(node: SeenNode, role: string, name: string | undefined): boolean {
  return node.role === role && (name === undefined || node.name === name)
}

/** A scene with one app that shows one window. */
export function appWith(children: readonly object[], more: object = {}, scene: object = {}): object {
  const window = { id: "main", window: 9001, AXTitle: "Main", frame: [100, 100, 800, 600], children }
  const app = {
    pid: 501,
    name: "Demo",
    bundle_id: "com.example.Demo",
    frontmost: true,
    windows: [window],
    ...more,
  }
  return { displays: [{ id: 1, bounds: [0, 0, 1440, 900], scale: 2 }], apps: [app], ...scene }
}
