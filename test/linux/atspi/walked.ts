import { afterAll, beforeAll } from "bun:test"
import type { SeenNode } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { LiveSource } from "../../../src/linux/atspi/facts.ts"
import { traitsOf } from "../../../src/linux/atspi/toolkits.ts"
import { walkTree } from "../../../src/linux/atspi/walk.ts"
import { Bus } from "../../../src/linux/dbus/bus.ts"
import { type Daemon, startDaemon } from "../dbus/daemon.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"

export let daemon: Daemon
export let bus: Bus

/** Opens a bus for the tests of the file that calls this. */
export function withBus(): void {
  beforeAll(async () => {
    daemon = await startDaemon()
    bus = await Bus.open(daemon.address, Deadline.in(10_000))
  })
  afterAll(async () => {
    bus.close()
    await daemon[Symbol.asyncDispose]()
  })
}

export const OPTIONS = {
  maxDepth: 10,
  bounds: "interactive",
  includeHidden: false,
  interactiveOnly: false,
} as const

export interface Read {
  readonly app: FakeApp
  readonly root: SeenNode
  readonly complete: boolean
}

/** The tree of a window with these children, read by the real walk over a real bus. */
export async function read(
  children: readonly FakeNode[],
  options: { toolkit?: string; app?: string; ms?: number; window?: Partial<FakeNode> } & Partial<
    Pick<
      Parameters<typeof walkTree>[3],
      "maxDepth" | "bounds" | "includeHidden" | "offscreen" | "interactiveOnly" | "skipsSheets"
    >
  > = {},
): Promise<Read & Disposable> {
  const { toolkit = "gtk", app: appName = "fake", ms = 10_000, window, ...rest } = options
  const app = await FakeApp.start(
    daemon.address,
    { role: "FRAME", name: "Window", id: "window", children, ...window },
    { toolkit },
  )
  const atspi = new Atspi(bus, Deadline.in(ms))
  const place = {
    pid: process.pid,
    app: "fake",
    traits: traitsOf(toolkit, appName),
    shift: { x: 100, y: 50 },
  }
  const source = new LiveSource(atspi, place, options.bounds === "all")
  const walked = await walkTree(atspi, source, new Element(app.ref("window"), place), { ...OPTIONS, ...rest })
  return { app, ...walked, [Symbol.dispose]: () => app[Symbol.dispose]() }
}

/** Formats a node as `role "name"` with its descendants. */
export function outline(node: SeenNode): unknown {
  const own = node.name === undefined ? node.role : `${node.role} ${node.name}`
  return node.children.length > 0 ? { [own]: node.children.map(outline) } : own
}

function _leafOf(node: SeenNode): SeenNode {
  const [first] = node.children
  return first ? _leafOf(first) : node
}

export function depthOf(node: SeenNode): number {
  return node.children.reduce((depth, child) => Math.max(depth, 1 + depthOf(child)), 0)
}

export function leafOf(node: SeenNode): SeenNode {
  const [first] = node.children
  return first ? leafOf(first) : node
}
