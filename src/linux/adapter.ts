import type {
  Adapter,
  InputEvent,
  Platform,
  PlatformOptions,
  Seen,
  SeenApp,
  SeenTree,
  SeenWindow,
  TreeOptions,
  WindowOp,
} from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../errors.ts"
import { Turn } from "../turn.ts"
import { pause } from "../until.ts"
import type { Atspi } from "./atspi/atspi.ts"
import { Element } from "./atspi/element.ts"
import { readTree, type TreeRoot, translatingErrors } from "./atspi/read-tree.ts"
import type { Bus } from "./dbus/bus.ts"
import { processStart } from "./host/processes.ts"
import { Session } from "./host/session.ts"
import { SeenDesktop } from "./seen-desktop.ts"
import type { Owner, WindowSystem } from "./windowing/system.ts"
import { isPassing, isWindowId } from "./windowing/window.ts"

/** The Linux desktop: AT-SPI for the content of apps, a window system for windows and input. */
export async function connectLinux(options: PlatformOptions): Promise<Platform> {
  const { desktop, root, env } = options
  const desktops = desktop ? await import("./desktops/desktop.ts") : undefined
  // An isolated desktop is looked up when it is needed: `desktop-start` runs before the desktop is there.
  const session = new Session(() => (desktop && desktops?.desktopEnv(root, desktop, env)) || env)
  return {
    name: "linux",
    adapter: (deadline) => {
      session.renew()
      return linuxAdapter(session, options, deadline)
    },
    places: () => session.places,
    close: () => session.close(),
  }
}

function linuxAdapter(session: Session, options: PlatformOptions, deadline: Deadline): Adapter {
  const view = new SeenDesktop(session, deadline)
  const windowing = () => session.windowing(deadline)
  const hasInput = async () => session.hasWindows && (await windowing()).hasInput
  /** Throws if the screen shows another row in place of the element's. */
  const refuseMoved = async (atspi: Atspi, element: Element): Promise<void> => {
    const system = session.hasWindows ? await windowing() : undefined
    const look = system?.uncovered?.bind(system, element.origin.window ?? "")
    if (look) await (await import("./atspi/sorted-rows.ts")).refuseOtherRow(atspi, element, look)
  }
  const turn = new Turn(async () => (await windowing()).openLock(deadline), deadline)
  const readFrom = async (root: TreeRoot, treeOptions: TreeOptions): Promise<SeenTree> => {
    const atspi = await view.atspi()
    const tree = await readTree(atspi, root, treeOptions)
    const { traits, window = "" } = Element.of(tree.root.handle).origin
    const doubt = async () => {
      const [system, { rowsInDoubt }] = await Promise.all([windowing(), import("./atspi/sorted-rows.ts")])
      const look = system.uncovered?.bind(system, window)
      return look && rowsInDoubt(atspi, tree.root, look)
    }
    const mayBeOld = traits.cellsKeepTexts && session.hasWindows
    return { ...tree, reachedBy: session.hintFor(atspi.bus), ...(mayBeOld ? { doubt } : {}) }
  }
  // Modules that only some commands need are loaded by those: a click by ref loads neither windows nor input.
  return {
    permissions: async (request) => (await import("./diagnose.ts")).permissions(session, request, deadline),
    diagnose: async ({ gnomeExtension }) =>
      (await import("./diagnose.ts")).diagnose(session, deadline, gnomeExtension),
    apps: () => view.apps(),
    windows: (only) => view.windows(typeof only === "string" ? only : undefined),
    displays: async () => (await windowing()).displays(deadline),
    surfaces: async (pid) => {
      const { surfaceInfo } = await import("./atspi/surfaces.ts")
      return (await translatingErrors({ app: `pid ${pid}` }, view.surfaces(pid))).map(surfaceInfo)
    },
    popups: async (pid) => {
      const popups = await (await windowing()).popups(deadline)
      return popups?.filter((popup) => popup.pid === pid && !isPassing(popup)).length
    },
    watchPopups: async () => (await windowing()).watchPopups?.(deadline),
    tree: async (target, treeOptions) => readFrom(await view.rootOf(target), treeOptions),
    openedAmong: async (addresses, pid, treeOptions) => {
      const root = await translatingErrors({ app: `pid ${pid}` }, view.openedAmong(addresses, pid))
      if (typeof root !== "object") return root
      const tree = await readFrom(root, treeOptions)
      return root.frame ? { ...tree, rootPath: [] } : tree
    },
    processStart: async (pid) => processStart(pid),
    open: async (entry, route, hint) => {
      const { openAddress, openPath } = await import("./atspi/open.ts")
      const open = route === "address" ? openAddress : openPath
      const app = entry.source_app ?? `pid ${entry.pid}`
      return translatingErrors({ app }, open(await view.atspi(hint), entry, view.frameFor))
    },
    read: async (handle) => {
      const element = Element.of(handle)
      const { readAgain } = await import("./atspi/open.ts")
      return translatingErrors(element.origin, readAgain(await view.atspi(), element))
    },
    tableAround: async (handle) => {
      const element = Element.of(handle)
      const [atspi, { tableAround }] = await Promise.all([view.atspi(), import("./atspi/table.ts")])
      return translatingErrors(element.origin, tableAround(atspi, element))
    },
    grid: async (handle) => {
      const element = Element.of(handle)
      const [atspi, { openGrid }] = await Promise.all([view.atspi(), import("./atspi/table.ts")])
      return translatingErrors(element.origin, openGrid(atspi, element))
    },
    interfaceFor: async (what) => `org.a11y.atspi.${what === "table" ? "Table" : "EditableText"}`,
    text: async (handle) => {
      const element = Element.of(handle)
      const [atspi, { openText }] = await Promise.all([view.atspi(), import("./atspi/text.ts")])
      return translatingErrors(element.origin, openText(atspi, element))
    },
    selectText: async (handle, range) => {
      const [atspi, { selectText }] = await Promise.all([view.atspi(), import("./atspi/text.ts")])
      return selectText(atspi, Element.of(handle), range)
    },
    caughtUp: async ({ id, pid }, ofPage = false) => {
      // The next look needs time, too.
      const patience = deadline.sparing(LOOK_MS, 1 / 2)
      const hasRead =
        !isWindowId(id) || !session.hasWindows || (await (await windowing()).caughtUp(id, patience))
      return hasRead && ofPage ? (await import("./host/asleep.ts")).allAsleep(pid, patience) : hasRead
    },
    absence: async (seen, { page }) => {
      const element = Element.of(seen.handle)
      if (!page && !mayBeAbsent(seen, element)) return undefined
      const [atspi, { absenceOf }] = await Promise.all([view.atspi(), import("./atspi/absence.ts")])
      return translatingErrors(element.origin, absenceOf(atspi, element, seen, page))
    },
    dialogOver: (entry, hint) => view.dialogOver(entry, hint),
    hit: async (handle, point, care) => {
      const element = Element.of(handle)
      const top = await view.topmost(element, point)
      if (typeof top === "object") return { kind: "occluded", ...top }
      const [atspi, { hitElement, hitInPopup }] = await Promise.all([view.atspi(), import("./atspi/hit.ts")])
      const hit = top === "own" ? hitElement : hitInPopup
      return translatingErrors(element.origin, hit(atspi, element, point, care))
    },
    doubt: async (handle, byPointer) => {
      const element = Element.of(handle)
      if (!element.origin.traits.cellsKeepTexts) return undefined
      const [atspi, { doubtOf }] = await Promise.all([view.atspi(), import("./atspi/rows.ts")])
      // The pointer proves the row once it is there.
      if (!byPointer) await beforeActing(translatingErrors(element.origin, refuseMoved(atspi, element)))
      return translatingErrors(element.origin, doubtOf(atspi, element))
    },
    ownerAt: async (point) => (await (await windowing()).windowAt(point, deadline))?.pid,
    perform: async (handle, action, policy) => {
      // The keyboard focus decides where the keys of every command go.
      if (action.kind === "focus" && (await hasInput())) await turn.take()
      const [atspi, { perform }] = await Promise.all([view.atspi(), import("./atspi/perform.ts")])
      const canPoint = async () => policy === "auto" && (await hasInput())
      return perform(atspi, Element.of(handle), action, canPoint)
    },
    keepFocus: async (handle) => {
      if (await hasInput()) await turn.take()
      const element = Element.of(handle)
      const [atspi, { keepFocus }, isInFront] = await Promise.all([
        view.atspi(),
        import("./atspi/focus.ts"),
        view.hasKeys(element),
      ])
      return keepFocus(atspi, element, isInFront)
    },
    focused: (window) => view.focused(window),
    editorOver: async (cell) => {
      const element = Element.of(cell)
      const [atspi, { editorOver }] = await Promise.all([view.atspi(), import("./atspi/cell-editor.ts")])
      return translatingErrors(element.origin, editorOver(atspi, element))
    },
    popoverOpeners: (window) => view.popoverOpeners(window),
    isEnterBlocked: (window) => view.isEnterBlocked(window),
    takeTurn: () => turn.take(),
    input: async (event) => {
      await turn.take()
      refuseAstral(event)
      const system = await beforeActing(windowing())
      const approach = await beforeActing(approachToRow(system, view, event, deadline))
      const owner = ownerOf(event)
      const checked = await beforeActing(withFocusCheck(system, view, event, owner, deadline))
      return system.input(checked, deadline, owner, approach)
    },
    window: async (id, op) => {
      await turn.take()
      return operate(session, view, id, op, deadline)
    },
    launch: async (app, args) => {
      const { launchApp } = await import("./apps.ts")
      return beforeActing(launchApp(app, args, session.env, deadline))
    },
    quit: (app, force) => quit(session, view, app, force, deadline),
    clipboard: async (op) => (await beforeActing(windowing())).clipboard(op, deadline),
    screenshot: async (target) => (await windowing()).picture(target, deadline),
    watchScreen: async () => (await windowing()).watchScreen?.(deadline),
    notifications: async () =>
      (await import("./notifications/notifications.ts")).listNotifications(session, deadline),
    unlistedNotifications: async () =>
      (await import("./notifications/notifications.ts")).countUnlisted(session, deadline),
    notification: async (target, op) =>
      (await import("./notifications/notifications.ts")).operateNotification(session, target, op, deadline),
    desktops: async (op) => (await import("./desktops/desktop.ts")).operateDesktops(options, op, deadline),
    life: async (pid) => (await import("./host/exit-status.ts")).follow(pid, deadline),
    watch: async (pids, options = {}) => {
      const { watchEvents } = await import("./atspi/watch.ts")
      // Apps report changes of their content. The window system reports windows that open and close, even those of
      // silent apps.
      const windows = pids && !options.windows ? undefined : windowsOf(session, deadline)
      const bus = await session.a11y(deadline, options.hint)
      return translatingErrors(
        { app: "any" },
        watchEvents(bus, deadline, pids, {
          others: windows,
          ignoresMoves: options.ignoresMoves,
          onRegister: () => session.leaveAfter(keepClients(bus)),
        }),
      )
    },
    close: () => turn.release(),
  }
}

const LOOK_MS = 1000
const FOCUS_MS = 1000
const LOOK_AGAIN_MS = 20

/** Leaves a client with the apps that need one, so that they survive the end of this process. */
const keepClients = async (bus: Bus): Promise<void> =>
  (await import("./atspi/lasting-client.ts")).keepClients(bus)

/** undefined if there is no window system: the caller looks again after a pause anyway. */
const windowsOf =
  (session: Session, deadline: Deadline) =>
  async (changed: () => void): Promise<Disposable | undefined> => {
    try {
      return await (await session.windowing(deadline)).watch(changed, deadline)
    } catch {
      return undefined
    }
  }

/** False for most elements outside pages: they say that they show. */
const mayBeAbsent = ({ states }: Seen, { origin }: Element): boolean =>
  origin.traits.lacksShowing === true || states.includes("hidden") || states.includes("offscreen")

/** The process and window of the element that input is meant for; undefined if it has no target element. */
function ownerOf(event: InputEvent): Owner | undefined {
  if (event.kind === "button") return undefined
  if ((event.kind === "key" || event.kind === "text") && event.window) {
    const { pid, id } = event.window
    return { pid, window: id }
  }
  const target = event.kind === "drag" ? event.fromTarget : event.target
  return target && Element.of(target.handle).origin
}

/**
 * Keys go to the focused window. If the window system does not report the focus, the owner's app must report it right
 * before the keys.
 */
async function withFocusCheck(
  system: WindowSystem,
  view: SeenDesktop,
  event: InputEvent,
  owner: Owner | undefined,
  deadline: Deadline,
): Promise<InputEvent> {
  if (system.listsAll || !owner || (event.kind !== "key" && event.kind !== "text")) return event
  if ((await system.hasKeys(owner, deadline)) !== undefined) return event
  const isInFront = async () =>
    (await view.windows()).some(
      ({ id, pid, is_focused }) =>
        is_focused && (owner.window === undefined ? pid === owner.pid : id === owner.window),
    )
  if (event.kind === "key" && event.asSent) {
    const isThere = await isInFront()
    const focused = isThere ? undefined : (await view.windows()).find(({ is_focused }) => is_focused)
    const isOther = focused !== undefined && focused.pid !== owner.pid
    return { ...event, asSent: () => event.asSent?.(isThere, isOther) }
  }
  const prove = async (isQuiet?: boolean) => {
    if (!(await isInFront()))
      throw new AppError("ACTION_FAILED", "The app does not report that its window has the keyboard focus", {
        suggestion: "Click into the window or ask the user to, then retry; 'list-windows' shows the focus",
        details: { kind: "not_focused" },
        disposition: NOTHING_DELIVERED,
      })
    await event.prove?.(isQuiet)
  }
  return { ...event, prove }
}

/** Refuses text that a virtual keyboard could not enter unchanged. */
function refuseAstral(event: InputEvent): void {
  if (event.kind !== "text" || !event.target || !/[\u{10000}-\u{10ffff}]/u.test(event.text)) return
  const { origin } = Element.of(event.target.handle)
  if (!origin.isNative || !origin.traits.nativeKeysAreUtf16) return
  throw new AppError(
    "ACTION_FAILED",
    "This app takes no character above U+FFFF, such as an emoji, from keys",
    {
      suggestion: "Paste it instead: 'clipboard-set', then 'press ctrl+v'",
      disposition: NOTHING_DELIVERED,
    },
  )
}

/**
 * A way to a row that proves its texts, for toolkits whose rows may report old ones; see rows.ts.
 * undefined: the input is not meant for such a row.
 */
async function approachToRow(
  system: WindowSystem,
  view: SeenDesktop,
  event: InputEvent,
  deadline: Deadline,
): Promise<(() => Promise<void>) | undefined> {
  if (event.kind !== "click" && event.kind !== "drag") return undefined
  const [target, at] =
    event.kind === "drag" ? [event.fromTarget, event.from] : ([event.target, event.at] as const)
  const element = target && Element.of(target.handle)
  if (!element?.origin.traits.cellsKeepTexts) return undefined
  const [atspi, { proveRow, rowOf }] = await Promise.all([view.atspi(), import("./atspi/rows.ts")])
  const row = await translatingErrors(element.origin, rowOf(atspi, element))
  if (!row) return undefined
  const visit = () => system.visitRow(at, row.top, deadline)
  return () => beforeActing(translatingErrors(element.origin, proveRow(atspi, row, visit)))
}

/** Marks a failure as one before anything was done. */
async function beforeActing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

async function operate(
  session: Session,
  view: SeenDesktop,
  id: string,
  op: WindowOp,
  deadline: Deadline,
): Promise<SeenWindow> {
  if (!isWindowId(id)) throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
  await (await beforeActing(session.windowing(deadline))).operate(id, op, deadline)
  const look = async () => (await view.windows()).find((window) => window.id === id)
  // An app may report the focus of its window a moment later than the compositor.
  const patience = deadline.slice(FOCUS_MS)
  let after = await look()
  while (op.kind === "focus" && after?.is_focused === false && !patience.expired) {
    await pause(LOOK_AGAIN_MS, patience)
    after = await look()
  }
  if (after) return after
  throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' closed while it was operated on`, {
    suggestion: "Use 'list-windows' to see available windows",
  })
}

/** Asks the windows of the app to close, as a user would; without windows that can be asked, asks the process. */
async function quit(
  session: Session,
  view: SeenDesktop,
  app: SeenApp,
  force: boolean,
  deadline: Deadline,
): Promise<{ readonly method: string }> {
  const start = processStart(app.pid)
  const own = force ? [] : (await beforeActing(view.windows())).filter(({ pid }) => pid === app.pid)
  let method: string | undefined
  if (own.length > 0) {
    const system = await beforeActing(session.windowing(deadline))
    for (const { id } of own) method = (await system.requestClose(id, deadline)) ?? method
  }
  if (method !== undefined) return { method }
  const { quitProcess } = await import("./apps.ts")
  const isProved = await beforeActing(view.vouchesFor(app.pid))
  return beforeActing(Promise.try(quitProcess, app.pid, start ?? "", force, isProved))
}
