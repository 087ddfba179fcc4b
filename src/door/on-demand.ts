import type { Adapter, Closing, Env, Platform } from "../adapter.ts"
import type { RefStore } from "../command.ts"
import type { Numbering } from "../node.ts"

/** The desktop and the refs of one caller. Each is loaded and opened by the first command that needs it. */
export function onDemand({ desktop, ...place }: CallerSettings & { readonly desktop?: string }): OnDemand {
  const { env } = place
  let opened: Promise<Platform> | undefined
  const platform = (): Promise<Platform> => (opened ??= open(env, desktop))
  return {
    platform,
    places: async () => (await platform()).places(),
    refs: refsOnDemand(place),
    async close(how) {
      // The command that needed the desktop has already reported the failure.
      const platform = await opened?.catch(() => undefined)
      opened = undefined
      await platform?.close(how)
    },
  }
}

export interface CallerSettings {
  readonly env: Env
  readonly session?: string
  readonly numbering?: Numbering
}

interface OnDemand {
  platform(): Promise<Platform>
  /** Names of the desktop, by which viewers find it. */
  places(): Promise<readonly string[]>
  readonly refs: RefStore
  /** Closes the desktop if it is open; the next command that needs it opens it again. */
  close(how?: Closing): Promise<void>
}

async function open(env: Env, desktop: string | undefined): Promise<Platform> {
  const [{ openPlatform }, { stateRoot }] = await Promise.all([
    import("../platform.ts"),
    import("../private-files.ts"),
  ])
  return openPlatform({ env, root: stateRoot(env), desktop })
}

/** The refs of one session. Opened by the first command that needs them. */
export function refsOnDemand(place: CallerSettings): RefStore {
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
    notifications: async (listed) => (await refs()).notifications(listed),
  }
}

async function openRefs({ env, session, numbering }: CallerSettings): Promise<RefStore> {
  const [{ openRefStore }, { stateRoot }] = await Promise.all([
    import("../refs/store.ts"),
    import("../private-files.ts"),
  ])
  return openRefStore({ root: stateRoot(env), session, numbering })
}

/** An adapter that opens at the first method call. `close` closes it only if it was opened. */
export function adapterOnDemand(open: () => Promise<Adapter>): Adapter {
  let opened: Promise<Adapter> | undefined
  const adapter = (): Promise<Adapter> => (opened ??= open())
  const later =
    (name: Method) =>
    async (...args: never[]): Promise<unknown> => {
      // For a union of methods, TypeScript only knows that each takes its own arguments.
      const methods = (await adapter()) as Record<Method, (...args: never[]) => unknown>
      return methods[name](...args)
    }
  const close = async (): Promise<void> => (await opened?.catch(() => undefined))?.close()
  return { ...Object.fromEntries(METHODS.map((name) => [name, later(name)])), close } as Adapter
}

type Method = Exclude<keyof Adapter, "close">

/** A missing method is a type error. */
const METHODS = Object.keys({
  permissions: 0,
  diagnose: 0,
  apps: 0,
  windows: 0,
  displays: 0,
  surfaces: 0,
  popups: 0,
  watchPopups: 0,
  tree: 0,
  openedAmong: 0,
  processStart: 0,
  open: 0,
  popoverOpeners: 0,
  read: 0,
  tableAround: 0,
  grid: 0,
  interfaceFor: 0,
  text: 0,
  selectText: 0,
  caughtUp: 0,
  absence: 0,
  dialogOver: 0,
  hit: 0,
  doubt: 0,
  ownerAt: 0,
  perform: 0,
  keepFocus: 0,
  focused: 0,
  editorOver: 0,
  isEnterBlocked: 0,
  takeTurn: 0,
  input: 0,
  window: 0,
  launch: 0,
  quit: 0,
  clipboard: 0,
  screenshot: 0,
  watchScreen: 0,
  notifications: 0,
  unlistedNotifications: 0,
  notification: 0,
  desktops: 0,
  life: 0,
  watch: 0,
} satisfies Record<Method, 0>) as readonly Method[]
