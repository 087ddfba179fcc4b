import type { Adapter, Closing, Env, Platform } from "./adapter.ts"
import type { RefStore } from "./command.ts"
import type { Numbering } from "./node.ts"

/** The desktop and the refs of one caller. Each is loaded and opened by the first command that needs it. */
export function onDemand({ desktop, ...place }: Place & { readonly desktop?: string }): OnDemand {
  const { env } = place
  let opened: Promise<Platform> | undefined
  return {
    platform: () => (opened ??= open(env, desktop)),
    refs: refsOnDemand(place),
    async close(how) {
      // The command that needed the desktop has reported a failure to open it.
      const platform = await opened?.catch(() => undefined)
      opened = undefined
      await platform?.close(how)
    },
  }
}

export interface Place {
  readonly env: Env
  readonly session?: string
  readonly numbering?: Numbering
}

interface OnDemand {
  platform(): Promise<Platform>
  readonly refs: RefStore
  /** Closes the desktop if it is open; the next command that needs it opens it again. */
  close(how?: Closing): Promise<void>
}

async function open(env: Env, desktop: string | undefined): Promise<Platform> {
  const [{ openPlatform }, { stateRoot }] = await Promise.all([
    import("./platform.ts"),
    import("./private-files.ts"),
  ])
  return openPlatform({ env, root: stateRoot(env), desktop })
}

/** The refs of one session. Opened by the first command that needs them. */
export function refsOnDemand(place: Place): RefStore {
  let opened: Promise<RefStore> | undefined
  const refs = (): Promise<RefStore> => (opened ??= openRefs(place))
  return {
    numbering: place.numbering ?? "fresh",
    prepare: async () => (await refs()).prepare(),
    load: async (snapshotId) => (await refs()).load(snapshotId),
    number: async (entries, after) => (await refs()).number(entries, after),
    save: async (entries, options) => (await refs()).save(entries, options),
    tree: async (snapshotId) => (await refs()).tree(snapshotId),
    append: async (entries, snapshotId, reachedBy) => (await refs()).append(entries, snapshotId, reachedBy),
  }
}

async function openRefs({ env, session, numbering }: Place): Promise<RefStore> {
  const [{ openRefStore }, { stateRoot }] = await Promise.all([
    import("./refs/store.ts"),
    import("./private-files.ts"),
  ])
  return openRefStore({ root: stateRoot(env), session, numbering })
}

/** An adapter that is opened by the first call of a method. `close` closes it only if it was opened. */
export function adapterOnDemand(open: () => Promise<Adapter>): Adapter {
  let opened: Promise<Adapter> | undefined
  const adapter = (): Promise<Adapter> => (opened ??= open())
  return {
    permissions: async (request) => (await adapter()).permissions(request),
    diagnose: async (options) => (await adapter()).diagnose(options),
    apps: async () => (await adapter()).apps(),
    windows: async (only) => (await adapter()).windows(only),
    displays: async () => (await adapter()).displays(),
    surfaces: async (pid) => (await adapter()).surfaces(pid),
    popups: async (pid) => (await adapter()).popups(pid),
    tree: async (target, options) => (await adapter()).tree(target, options),
    processStart: async (pid) => (await adapter()).processStart(pid),
    open: async (entry, route, hint) => (await adapter()).open(entry, route, hint),
    read: async (handle) => (await adapter()).read(handle),
    tableAround: async (handle) => (await adapter()).tableAround(handle),
    grid: async (handle) => (await adapter()).grid(handle),
    text: async (handle) => (await adapter()).text(handle),
    selectText: async (handle, range) => (await adapter()).selectText(handle, range),
    caughtUp: async (window) => (await adapter()).caughtUp(window),
    absence: async (seen, entry) => (await adapter()).absence(seen, entry),
    dialogOver: async (entry, hint) => (await adapter()).dialogOver(entry, hint),
    hit: async (handle, point) => (await adapter()).hit(handle, point),
    doubt: async (handle) => (await adapter()).doubt(handle),
    ownerAt: async (point) => (await adapter()).ownerAt(point),
    perform: async (handle, action) => (await adapter()).perform(handle, action),
    keepFocus: async (handle) => (await adapter()).keepFocus(handle),
    focused: async (window) => (await adapter()).focused(window),
    takeTurn: async () => (await adapter()).takeTurn(),
    input: async (event) => (await adapter()).input(event),
    window: async (id, op) => (await adapter()).window(id, op),
    launch: async (app, args) => (await adapter()).launch(app, args),
    quit: async (app, force) => (await adapter()).quit(app, force),
    clipboard: async (op) => (await adapter()).clipboard(op),
    screenshot: async (target) => (await adapter()).screenshot(target),
    notifications: async () => (await adapter()).notifications(),
    unlistedNotifications: async () => (await adapter()).unlistedNotifications(),
    notification: async (target, op) => (await adapter()).notification(target, op),
    desktops: async (op) => (await adapter()).desktops(op),
    life: async (pid) => (await adapter()).life(pid),
    watch: async (pids, hint) => (await adapter()).watch(pids, hint),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}
