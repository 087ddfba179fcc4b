import type { Action, KeptFocus, Performed } from "../../src/action.ts"
import type {
  Adapter,
  Handle,
  Hit,
  Seen,
  SeenApp,
  SeenNode,
  SeenTree,
  SeenWindow,
  TreeOptions,
  TreeTarget,
  WindowOp,
} from "../../src/adapter.ts"
import type { NoText, TextAccess } from "../../src/content/text.ts"
import type { Deadline } from "../../src/deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../src/errors.ts"
import type { Point } from "../../src/node.ts"
import type { RefEntry } from "../../src/refmap.ts"
import { isInteractive, isWrapper } from "../../src/tree.ts"
import type { Watch } from "../../src/watch.ts"
import { elementAt, input } from "./fake-input.ts"
import { deliver, takeFocus } from "./fake-reactions.ts"
import { type FakeApp, FakeElement, type FakeWindow, type World } from "./fake-world.ts"

/** An adapter over a scripted world, for one command. */
export function fakeAdapter(world: World, deadline: Deadline): Adapter {
  /** Wraps every native call with the deadline and with the world's faults. */
  const native = async <T>(method: string, work: () => T | Promise<T>): Promise<T> => {
    world.calls.push(method)
    const code = world.hangOf(method)
    if (code) await untilOver(deadline)
    if (code || deadline.expired) throw new AppError(code ?? "TIMEOUT", `${method} did not end in time`)
    const failure = world.failureOf(method)
    if (failure) throw failure
    return work()
  }
  return {
    permissions: () => native("permissions", () => world.permissions),
    diagnose: () => native("diagnose", () => [{ name: "world", ok: true }]),
    apps: () => native("apps", () => world.apps.filter((app) => app.start).map(seenApp)),
    windows: () => native("windows", () => world.windows.map((window) => seenWindow(world, window))),
    displays: () => native("displays", () => world.displays),
    surfaces: (pid) =>
      native("surfaces", () =>
        world.apps
          .filter((app) => app.pid === pid)
          .flatMap((app) => [...app.surfaces].map(([type, { id, title }]) => ({ type, id, title }))),
      ),
    popups: (pid) => native("popups", () => world.popups(pid)),
    watchPopups: async () => world.watchPopups(),
    openedAmong: async (addresses, _, options) => {
      const element = world.openedAmong(addresses)
      if (!element) return undefined
      const tree = readTree(world, { kind: "element", handle: handleOf(element) }, options)
      return world.windows.some(({ root }) => root === element) ? { ...tree, rootPath: [] } : tree
    },
    tree: (target, options) => native("tree", () => readTree(world, target, options)),
    processStart: (pid) => native("processStart", () => world.apps.find((app) => app.pid === pid)?.start),
    open: (entry, route) => native(`open ${route}`, () => open(world, entry, route)),
    read: (handle) =>
      native("read", () => {
        const element = inside(handle)
        return element.isGone ? undefined : seenOf(element)
      }),
    tableAround: (handle) =>
      native("tableAround", () => {
        for (let at: FakeElement | undefined = inside(handle); at; at = at.parent)
          if (["table", "outline", "list", "listbox", "grid"].includes(at.role)) return seenOf(at)
        return undefined
      }),
    interfaceFor: async (what) => `fake ${what}`,
    text: (handle) => native("text", () => textOf(inside(handle))),
    selectText: (handle, range) =>
      native("selectText", () => {
        const element = inside(handle)
        element.selection = range
        world.emit()
        return { method: "fake", delivery: "delivered_unverified" }
      }),
    grid: (handle) => native("grid", () => inside(handle).grid?.(inside(handle)) ?? { kind: "tree" }),
    caughtUp: () =>
      native("caughtUp", () => {
        world.onCaughtUp()
        return !world.isBusy
      }),
    absence: (seen) => native("absence", () => inside(seen.handle).absence),
    dialogOver: (entry) => native("dialogOver", () => world.dialogs.get(entry.window_id ?? "")),
    hit: (handle, point) => native("hit", () => hit(world, inside(handle), point)),
    doubt: async () => undefined,
    ownerAt: (point) => native("ownerAt", () => world.ownerAt(point)),
    perform: (handle, action) => native("perform", () => perform(inside(handle), action)),
    keepFocus: (handle) => native("keepFocus", () => keepFocus(world, inside(handle))),
    focused: (window) =>
      native("focused", () => {
        const root = world.windows.find(({ id }) => id === window.id)?.root
        const element = root?.all().find((one) => one.has("focused"))
        return element && seenOf(element)
      }),
    popoverOpeners: (window) =>
      native("popoverOpeners", () => {
        const root = world.windows.find(({ id }) => id === window.id)?.root
        return (root?.all() ?? []).filter((one) => one.opensPopover).map(({ address }) => address)
      }),
    editorOver: (cell) =>
      native("editorOver", () => {
        const editor = world.editorOver(inside(cell))
        return editor && seenOf(editor)
      }),
    isEnterBlocked: () => native("isEnterBlocked", () => world.isEnterBlocked),
    takeTurn: () => native("takeTurn", () => {}),
    input: (event) => native("input", () => input(world, event)),
    window: (id, op) => native("window", () => operate(world, id, op)),
    launch: (app, args) => native("launch", () => world.launch(app, args)),
    quit: (app, force) => native("quit", () => ({ method: world.quit(app, force) })),
    clipboard: (op) =>
      native("clipboard", () => {
        if (op.kind !== "get") world.clipboard = op.kind === "set" ? op.text : undefined
        return world.clipboard
      }),
    screenshot: (target) =>
      native("screenshot", () => {
        const { x, y, width, height } =
          target.kind === "window" ? target.window.bounds! : world.displays[target.index ?? 0]!.bounds
        const png = world.picture?.(width, height) ?? new Uint8Array([137, 80, 78, 71])
        return { png, width, height, origin: { x, y } }
      }),
    watchScreen: async () => undefined,
    notifications: () => native("notifications", () => [...world.notifications]),
    unlistedNotifications: async () => 0,
    notification: (target, op) =>
      native("notification", () => {
        const found = world.notifications.find((one) => one.id === target.id)
        if (!found) throw new AppError("NOTIFICATION_NOT_FOUND", `'${target.title}' is gone`)
        world.deliveries.push({ name: found.title, by: "semantic", kind: op.kind })
        world.notifications = world.notifications.filter((one) => one !== found)
      }),
    desktops: () => native("desktops", () => world.desktops),
    life: async (pid) => {
      const app = world.apps.find((one) => one.pid === pid)
      return { end: async () => (app?.start === undefined ? app?.ending : undefined), close: () => {} }
    },
    watch: () => native("watch", () => watch(world, deadline)),
    close: () => native("close", () => {}).catch(() => {}),
  }
}

/** Counts UTF-16 units, and has no attributes. */
function textOf(element: FakeElement): TextAccess | NoText {
  const { value } = element
  if (value === undefined) return { missing: "Text" }
  return {
    length: value.length,
    unit: "utf-16",
    read: async ({ start, end }) => value.slice(start, end),
    caret: async () => element.selection?.end ?? 0,
    selection: async () => {
      const { selection } = element
      return selection && selection.end > selection.start ? selection : undefined
    },
    runs: async ({ start, end }) => [{ start, end, bold: false }],
  }
}

/** A handle of the fake adapter is the element itself. */
function handleOf(element: FakeElement): Handle {
  // Handle has a phantom member that no value has, so only this function can make one.
  return element as unknown as Handle
}

function inside(handle: Handle): FakeElement {
  if (handle instanceof FakeElement) return handle
  throw new TypeError("a handle of another adapter")
}

async function untilOver(deadline: Deadline): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, deadline.remaining)
  const stop = (): void => resolve()
  deadline.signal?.addEventListener("abort", stop, { once: true })
  await promise
  clearTimeout(timer)
}

function seenApp(app: FakeApp): SeenApp {
  return { name: app.name, pid: app.pid, bundle_id: app.bundleId, aliases: app.aliases }
}

function seenWindow(world: World, window: FakeWindow): SeenWindow {
  const { accessible, cannotShow, reason, starting, isSplash, aliases } = window.facts
  return {
    id: window.id,
    title: window.title,
    app_name: window.app.name,
    pid: window.app.pid,
    bounds: window.bounds,
    is_focused: world.focused === window,
    aliases: [...window.app.aliases, ...(aliases ?? [])],
    minimized: window.minimized,
    accessible,
    cannotShow,
    reason,
    starting,
    isSplash,
  }
}

function seenOf(element: FakeElement): Seen {
  return {
    handle: handleOf(element),
    role: element.role,
    name: element.name,
    value: element.has("secure") ? undefined : element.value,
    description: element.description,
    hint: element.hint,
    states: [...element.states],
    bounds: element.bounds,
    clickPoint: element.clickPoint,
    disclosure: element.disclosure,
    actions: element.actions,
    address: element.world.hasAddresses ? element.address : undefined,
    identifier: element.identifier,
    isRecycled: element.isRecycled,
    tellsLate: element.tellsLate,
    isTypedOver: element.isTypedOver,
    editedBy: element.editedBy,
    valueLength: element.valueLength,
    index: element.parent?.children.indexOf(element),
  }
}

function readTree(world: World, target: TreeTarget, options: TreeOptions): SeenTree {
  const shown = target.kind === "surface" ? surfaceOf(world, target) : world.windowOf(inside(target.handle))
  const root = target.kind === "surface" ? shown?.root : above(inside(target.handle), target.above ?? 0)
  if (!root || !shown || root.isGone) throw new AppError("ELEMENT_NOT_FOUND", "There is no such surface")
  const budget = { left: world.nodeLimit, complete: true }
  const node = readNode(root, options, 0, budget) ?? seenNode(root, options, [])
  const { id, title, app } = shown
  return { root: node, window: { id, title }, app: app.name, pid: root.app.pid, complete: budget.complete }
}

function above(element: FakeElement, levels: number): FakeElement | undefined {
  let at: FakeElement | undefined = element
  for (let i = 0; i < levels; i++) at = at?.parent
  return at
}

function surfaceOf(world: World, target: Extract<TreeTarget, { kind: "surface" }>): FakeWindow | undefined {
  const window = world.windows.find((one) => one.id === target.window.id)
  if (!window) throw new AppError("WINDOW_NOT_FOUND", `Window '${target.window.id}' not found`)
  return target.surface === "window" ? window : window.app.surfaces.get(target.surface)
}

function readNode(
  element: FakeElement,
  options: TreeOptions,
  depth: number,
  budget: { left: number; complete: boolean },
): SeenNode | undefined {
  if (element.hidden && !options.includeHidden) return undefined
  if (budget.left <= 0) {
    budget.complete = false
    return undefined
  }
  budget.left -= 1
  const isSheet = element.role === "table" && (element.total ?? 0) > MOST_CELLS
  if (options.skipsSheets && isSheet) return seenNode(element, options, [])
  const below = depth + (isWrapper(element) ? 0 : 1)
  if (below > options.maxDepth) return seenNode(element, options, [])
  return seenNode(
    element,
    options,
    element.children.flatMap((child) => readNode(child, options, below, budget) ?? []),
  )
}

const MOST_CELLS = 100_000_000

function seenNode(element: FakeElement, options: TreeOptions, children: readonly SeenNode[]): SeenNode {
  const seen = seenOf(element)
  const wanted = isInteractive(seen)
  const shown = element.children.filter((child) => options.includeHidden || !child.hidden)
  return {
    ...seen,
    // The caller drops such nodes, so their values need not be read.
    ...(options.interactiveOnly && !wanted ? { value: undefined, description: undefined } : {}),
    bounds: wanted || options.bounds === "all" ? seen.bounds : undefined,
    children,
    ...(children.length < (element.total ?? shown.length)
      ? { children_count: element.total ?? shown.length }
      : {}),
  }
}

function open(world: World, entry: RefEntry, route: "address" | "path"): Seen | undefined {
  const alive = world.elements().filter((element) => element.app.pid === entry.pid)
  if (route === "address") {
    const found = alive.find((element) => element.address === entry.address)
    return found && seenOf(found)
  }
  let at = world.windows.find((window) => window.id === entry.window_id)?.root
  for (const index of entry.path ?? []) at = at?.children[index]
  return at && seenOf(at)
}

function hit(world: World, element: FakeElement, point: Point): Hit {
  if (!world.knowsHits) return { kind: "unknown" }
  const top = elementAt(world, point)
  if (top && element.all().includes(top)) return { kind: "hit" }
  const by = top ? `${top.role} '${top.name ?? ""}'` : "nothing"
  const isOtherApp = top !== undefined && top.app !== element.app
  return { kind: "occluded", by, isOtherApp, name: isOtherApp ? undefined : top?.name }
}

function perform(element: FakeElement, action: Action): Performed {
  const method = `fake:${action.kind}`
  const uncertain = { disposition: { delivery: "delivery_uncertain", retry: "unknown" } } as const
  switch (element.route) {
    case "already":
      return { method: "none", delivery: "not_delivered", already: true }
    case "absent":
      return { method: "none", delivery: "not_delivered" }
    case "refuses":
      throw new AppError("ACTION_NOT_SUPPORTED", "No such route", { disposition: NOTHING_DELIVERED })
    case "fails_unsent":
      throw new AppError("ACTION_FAILED", "Out of range", { disposition: NOTHING_DELIVERED })
    case "says_no":
    case "says_no_but_works":
      deliver(element, action, "semantic", element.route === "says_no_but_works")
      return { method, delivery: "delivery_uncertain", refusal: "Fake no" }
    case "works":
    case "works_verified":
    case "uncertain":
    case "lies":
    case "uncertain_lost": {
      deliver(element, action, "semantic", element.route !== "lies" && element.route !== "uncertain_lost")
      if (element.route === "works_verified") return { method, delivery: "delivered_verified" }
      const isSure = element.route === "works" || element.route === "lies"
      return { method, delivery: isSure ? "delivered_unverified" : "delivery_uncertain" }
    }
    case "errs_but_works":
    case "errs":
      deliver(element, action, "semantic", element.route === "errs_but_works")
      throw new AppError("ACTION_FAILED", "The app says no", { ...uncertain, platformDetail: "Fake -1" })
    case "errs_silently":
      deliver(element, action, "semantic", false)
      throw new AppError("APP_UNRESPONSIVE", "The app says nothing")
    case "crashes":
      deliver(element, action, "semantic", false)
      throw new Error("the wire broke")
    default:
      return element.route satisfies never
  }
}

function keepFocus(world: World, element: FakeElement): KeptFocus {
  const isInFront = world.focused !== undefined && world.focused === world.windowOf(element)
  if (element.route === "absent" || element.route === "refuses") return { kind: "no route", isInFront }
  takeFocus(element)
  return { kind: "asked", isInFront }
}

function operate(world: World, id: string, op: WindowOp): SeenWindow {
  const window = world.windows.find((one) => one.id === id)
  if (!window) throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' not found`)
  switch (op.kind) {
    case "focus":
      if (world.refusesFocus) break
      world.focused = window
      world.windows = [window, ...world.windows.filter((one) => one !== window)]
      window.onFocus()
      break
    case "minimize":
    case "maximize":
    case "restore":
      window.minimized = op.kind === "minimize"
      if (op.kind === "maximize") window.bounds = world.displays[0]!.bounds
      break
    case "move":
      window.bounds = { ...window.bounds, x: op.x, y: op.y }
      break
    case "resize":
      window.bounds = { ...window.bounds, width: op.width, height: op.height }
      break
    default:
      op satisfies never
  }
  world.emit()
  return seenWindow(world, window)
}

function watch(world: World, deadline: Deadline): Watch {
  let happened = false
  let wake: (() => void) | undefined
  const stop = world.listen(() => {
    happened = true
    wake?.()
  })
  return {
    async changed(maxMs) {
      world.runLater()
      if (!happened) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, Math.min(maxMs, deadline.remaining))
        await promise
        clearTimeout(timer)
      }
      const had = happened
      happened = false
      return had
    },
    appeared: () => world.appeared(),
    close: async () => stop(),
  }
}
