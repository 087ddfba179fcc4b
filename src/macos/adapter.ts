import type { Adapter, InputEvent, Seen, SeenTree, TreeOptions, TreeTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import type { RefEntry } from "../refmap.ts"
import { launchApp, listApps, quitApp } from "./apps.ts"
import { FRAME } from "./attributes.ts"
import { Ax } from "./ax.ts"
import { childAt } from "./children.ts"
import { useClipboard } from "./clipboard.ts"
import { Connection } from "./connection.ts"
import { diagnose } from "./diagnose.ts"
import { wakeWebContents } from "./electron.ts"
import { Failure } from "./failure.ts"
import { hitTest } from "./hit.ts"
import { pressKey, typeText } from "./keyboard.ts"
import { actOnNotification, listNotifications } from "./notifications.ts"
import { perform } from "./perform.ts"
import { readPermissions } from "./permissions.ts"
import { clickPointer, dragPointer, holdPointer, movePointer, turnWheel } from "./pointer.ts"
import { bundleOf, processStart } from "./processes.ts"
import { listDisplays } from "./screens.ts"
import { takeScreenshot } from "./screenshot.ts"
import { elementOf, readSeen } from "./seen.ts"
import { findSurface, listSurfaces, surfaceById } from "./surfaces.ts"
import { asElement, asText, type Element, frameOf } from "./value.ts"
import { walk } from "./walk.ts"
import { watchProcesses } from "./watch.ts"
import { operateWindow, windowNotFound } from "./window-ops.ts"
import { listWindows, showingProcesses, windowIdOf } from "./windows.ts"

/** The macOS desktop: the accessibility API for what apps show, Core Graphics for windows and input. */
export function connectMacos(options: PlatformOptions): Platform {
  const connection = new Connection()
  // Private, and not yet seen at work on every release: only on demand.
  const bulk = options.env.AGENT_DESKTOP_AX_BULK === "1"
  return {
    name: "macos",
    adapter: (deadline) => macosAdapter(new Ax(connection, deadline), bulk),
    close: async () => connection.close(),
  }
}

function macosAdapter(ax: Ax, bulk: boolean): Adapter {
  const { deadline } = ax
  return {
    permissions: async (request) => readPermissions(request),
    diagnose: async ({ ffi }) => diagnose(ax, ffi),
    apps: async () => listApps(showingProcesses(ax)),
    windows: async () => listWindows(ax),
    displays: async () => listDisplays(),
    surfaces: async (pid) => listSurfaces(ax, pid, listWindows(ax, pid)),
    tree: (target, treeOptions) => readTree(reading(ax), target, treeOptions, bulk),
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => (route === "path" ? openPath(ax, entry) : undefined),
    read: async (handle) => readSeen(ax, elementOf(handle)),
    hit: async (handle, point) => hitTest(ax, elementOf(handle), point),
    perform: (handle, action) => perform(ax, elementOf(handle), action),
    input: (event) => sendInput(event, deadline),
    window: (id, op) => operateWindow(ax, id, op),
    launch: (app, args) => launchApp(app, args, deadline),
    quit: async (app, force) => quitApp(app, force),
    clipboard: (op) => useClipboard(op, deadline),
    screenshot: (target) => takeScreenshot(target, deadline),
    notifications: () => listNotifications(ax),
    notification: (target, op) => actOnNotification(ax, target, op),
    desktops: async () => {
      throw new AppError("PLATFORM_NOT_SUPPORTED", "Isolated desktops are not available on macOS", {
        suggestion: "Use the desktop of the logged-in user, or run on Linux",
      })
    },
    watch: async (pids) => watchProcesses(ax, pids),
    close: async () => {},
  }
}

/** What is left after reading has to do for shaping, storing and printing. */
function reading(ax: Ax): Ax {
  const { remaining } = ax.deadline
  return ax.within(remaining - Math.min(200, remaining / 5))
}

async function readTree(ax: Ax, target: TreeTarget, options: TreeOptions, bulk: boolean): Promise<SeenTree> {
  if (target.kind === "element") return readSubtree(ax, elementOf(target.handle), options, bulk)
  const { window, surface } = target
  const found = findSurface(ax, window.pid, surface, window.id)
  if (!found) {
    if (surface === "window") throw windowNotFound(window.id)
    throw new AppError("ELEMENT_NOT_FOUND", `'${window.app_name}' shows no ${surface} now`, {
      suggestion: `Use 'list-surfaces --app ${JSON.stringify(window.app_name)}' to see what it shows`,
    })
  }
  if (surface !== "menu" && surface !== "menubar") await wakeWebContents(ax, window.pid, found.element)
  const { root, complete } = await walk(ax, found.element, { area: found.area, bulk }, options)
  const { id, title } = found
  // A menu has its name from the item that opened it.
  const name = root.name ?? (title || undefined)
  return { root: { ...root, name }, window: { id, title }, app: window.app_name, pid: window.pid, complete }
}

async function readSubtree(ax: Ax, element: Element, options: TreeOptions, bulk: boolean): Promise<SeenTree> {
  const pid = ax.pid(element)
  const top = asElement(ax.get(element, "AXTopLevelUIElement")) ?? asElement(ax.get(element, "AXWindow"))
  const window = top && ax.read(top, ["AXTitle", FRAME])
  const known = window instanceof Failure ? undefined : window
  const place = { area: known && frameOf(known), bulk }
  const { root, complete } = await walk(ax, element, place, options)
  return {
    root,
    complete,
    window: { id: (top && windowIdOf(ax, top)) ?? "", title: asText(known?.AXTitle) ?? "" },
    app: asText(ax.get(ax.connection.app(pid), "AXTitle")) ?? bundleOf(pid)?.name ?? "",
    pid,
  }
}

/** Down the stored child indexes, one call a level. AX has no address that another process could use. */
function openPath(ax: Ax, { pid, window_id, path }: RefEntry): Seen | undefined {
  if (!window_id || !path) return undefined
  let element = surfaceById(ax, pid, window_id)
  for (const index of path) {
    if (!element) return undefined
    element = childAt(ax, element, index)
  }
  return element && readSeen(ax, element, path.at(-1))
}

async function sendInput(event: InputEvent, deadline: Deadline): Promise<void> {
  switch (event.kind) {
    case "key":
      return pressKey(event.combo, event.phase)
    case "text":
      return typeText(event.text, deadline)
    case "move":
      return movePointer(event.at)
    case "click":
      return clickPointer(event.at, event.button, event.count)
    case "button":
      return holdPointer(event.at, event.button, event.phase)
    case "wheel":
      return turnWheel(event.at, event.dx, event.dy)
    case "drag":
      return dragPointer(event.from, event.to, event.durationMs, deadline)
    default:
      return event satisfies never
  }
}
