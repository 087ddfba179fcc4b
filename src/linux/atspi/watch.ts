import { Deadline } from "../../deadline.ts"
import type { Appeared, Watch } from "../../watch.ts"
import { type Bus, DBusClosed, DBusError, type Message, method } from "../dbus/bus.ts"
import { Atspi, type Ref, refKey } from "./atspi.ts"

/** Events of apps. An event only means "look again": toolkits differ in the ones they send. */

const REGISTRY_PATH = "/org/a11y/atspi/registry"
const REGISTRY_BUS = "org.a11y.atspi.Registry"

const EVENTS = [
  "object:state-changed",
  "object:children-changed",
  "object:property-change",
  "object:text-changed",
  "object:selection-changed",
  "object:active-descendant-changed",
  "object:bounds-changed",
  "object:visible-data-changed",
  "window:",
  "document:",
]
const INTERFACES = ["Object", "Window", "Document"].map((name) => `org.a11y.atspi.Event.${name}`)

/** The watches that each connection serves: the registry knows connections only. */
const watches = new WeakMap<Bus, Served>()

interface Served {
  count: number
  readonly registered: Promise<unknown>
  /** Set after the last watch ended: deregisters unless another one starts soon. */
  leaving?: ReturnType<typeof setTimeout>
}

/**
 * `others` reports changes from another source until it is disposed of. undefined: it cannot. `onRegister` is called when
 * the connection begins to listen, of which every app learns.
 */
export async function watchEvents(
  bus: Bus,
  deadline: Deadline,
  pids: readonly number[] | undefined,
  {
    others,
    ignoresMoves,
    onRegister,
  }: {
    readonly others?: (changed: () => void) => Promise<Disposable | undefined>
    readonly ignoresMoves?: boolean
    readonly onRegister?: () => void
  } = {},
): Promise<Watch> {
  const senders = new Senders(bus, pids)
  let happened = false
  let wake: (() => void) | undefined
  let appeared: readonly Appeared[] = []
  const stop = bus.listen((signal) => {
    if (!signal.interface.startsWith("org.a11y.atspi.Event.") || senders.isForeign(signal)) return
    if (ignoresMoves && signal.member === "BoundsChanged") return
    note(bus, signal)
    const one = appearing(signal)
    if (one) appeared = [one, ...appeared.slice(0, MAX_APPEARED - 1)]
    changed()
  })
  const changed = (): void => {
    happened = true
    wake?.()
  }
  const beside = others?.(changed)
  let isRegistered = true
  try {
    await acquire(bus, deadline, onRegister)
  } catch (error) {
    // Without a registry no events come. A caller who waits looks again after a pause anyway.
    isRegistered = false
    if (error instanceof DBusClosed) {
      stop()
      await end(beside)
      throw error
    }
  }
  await beside
  return {
    async changed(maxMs) {
      if (!happened && maxMs > 0 && !bus.failure) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maxMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = undefined
      }
      const was = happened
      happened = false
      return was
    },
    appeared() {
      const all = appeared
      appeared = []
      return all
    },
    async close() {
      stop()
      wake?.()
      await end(beside)
      if (isRegistered) release(bus)
    },
  }
}

async function end(watch: Promise<Disposable | undefined> | undefined): Promise<void> {
  const opened = await watch
  opened?.[Symbol.dispose]()
}

/**
 * Objects that have reported that they show, newest first. Qt's context menus are in no tree, and known only by this
 * event.
 */
export function lastShown(bus: Bus): readonly Ref[] {
  return shown.get(bus) ?? []
}

/** The same for objects that have reported that they got the focus. The editors of cells are in no tree, either. */
export function lastFocused(bus: Bus): readonly Ref[] {
  return focused.get(bus) ?? []
}

const shown = new WeakMap<Bus, readonly Ref[]>()
const focused = new WeakMap<Bus, readonly Ref[]>()
const MAX_NOTED = 20

const NOTED: ReadonlyMap<string, WeakMap<Bus, readonly Ref[]>> = new Map([
  ["showing", shown],
  ["focused", focused],
])

function note(bus: Bus, { member, signature, body, sender, path }: Message): void {
  if (member !== "StateChanged" || !signature.startsWith("sii")) return
  const at = body.at
  const noted = NOTED.get(body.string())
  const isOn = body.i32() === 1
  body.at = at
  if (noted && isOn) noted.set(bus, [{ bus: sender, path }, ...(noted.get(bus) ?? [])].slice(0, MAX_NOTED))
}

/** Most events report other changes. A dialog that opens is among the last objects that a click makes appear. */
const MAX_APPEARED = 24

/** The object that an event reports as new, showing or active. */
function appearing({
  member,
  interface: of,
  signature,
  body,
  sender: bus,
  path,
}: Message): Appeared | undefined {
  if (of.endsWith(".Window")) {
    const isNew = member === "Create"
    return isNew || member === "Activate" ? { address: refKey({ bus, path }), isNew } : undefined
  }
  const isChild = member === "ChildrenChanged"
  if ((!isChild && member !== "StateChanged") || !signature.startsWith("siiv")) return undefined
  const at = body.at
  try {
    const kind = body.string()
    const isOn = body.i32() === 1
    if (!isChild) {
      const isNew = kind === "showing"
      return isOn && (isNew || kind === "active") ? { address: refKey({ bus, path }), isNew } : undefined
    }
    body.i32()
    if (kind !== "add" || body.signature() !== "(so)") return undefined
    body.align(8)
    return { address: refKey({ bus: body.string(), path: body.string() }), isNew: true }
  } finally {
    body.at = at
  }
}

async function acquire(bus: Bus, deadline: Deadline, onRegister?: () => void): Promise<void> {
  const known = watches.get(bus)
  const served = known ?? { count: 0, registered: registerAll(bus, deadline) }
  if (!known) onRegister?.()
  served.count++
  clearTimeout(served.leaving)
  watches.set(bus, served)
  try {
    await served.registered
  } catch (error) {
    served.count--
    if (watches.get(bus) === served) watches.delete(bus)
    throw error
  }
}

async function registerAll(bus: Bus, deadline: Deadline): Promise<void> {
  await Promise.all([
    ...INTERFACES.map((name) => bus.match(ruleOf(name), deadline)),
    ...EVENTS.map((event) => register(bus, event, deadline)),
  ])
}

/** Deregisters after a while: a process that ends need not, and one that continues often watches again at once. */
function release(bus: Bus): void {
  const served = watches.get(bus)
  if (!served || --served.count > 0) return
  served.leaving = setTimeout(() => leave(bus), LINGER_MS)
  served.leaving.unref()
}

const LINGER_MS = 300

function leave(bus: Bus): void {
  watches.delete(bus)
  if (bus.failure) return
  const deadline = Deadline.in(CLEAN_UP_MS)
  const calls = [
    ...INTERFACES.map((name) => bus.unmatch(ruleOf(name), deadline)),
    ...EVENTS.map((event) =>
      bus.call(
        method(`${REGISTRY_BUS}.DeregisterEvent`, "s", [event]),
        REGISTRY_BUS,
        REGISTRY_PATH,
        deadline,
      ),
    ),
  ]
  // Registrations that remain end with the connection.
  for (const call of calls) call.catch(() => {})
}

const CLEAN_UP_MS = 500

/**
 * Listens to an event of one app, or of all. RegisterEvent takes properties and an app since at-spi2-core 2.36, but not in
 * older versions and some rewrites.
 */
export async function register(bus: Bus, event: string, deadline: Deadline, app = ""): Promise<void> {
  const call = (signature: string, args: readonly (string | readonly string[])[]): Promise<Message> => {
    const called = method(`${REGISTRY_BUS}.RegisterEvent`, signature, args, true)
    return bus.call(called, REGISTRY_BUS, REGISTRY_PATH, deadline)
  }
  try {
    await call("sass", [event, [], app])
  } catch (error) {
    if (!(error instanceof DBusError)) throw error
    await call("s", [event])
  }
}

const ruleOf = (name: string): string => `type='signal',interface='${name}'`

/**
 * Decides whose events count. The pid of a sender is requested at its first event; until it is known, its events count.
 */
class Senders {
  readonly #bus: Bus
  readonly #pids: ReadonlySet<number> | undefined
  readonly #foreign = new Map<string, boolean>()

  constructor(bus: Bus, pids: readonly number[] | undefined) {
    this.#bus = bus
    this.#pids = pids && new Set(pids)
  }

  isForeign({ sender }: Message): boolean {
    if (!this.#pids) return false
    const known = this.#foreign.get(sender)
    if (known === undefined) this.#learn(sender, this.#pids)
    return known ?? false
  }

  #learn(sender: string, pids: ReadonlySet<number>): void {
    this.#foreign.set(sender, false)
    new Atspi(this.#bus, Deadline.in(CLEAN_UP_MS)).pid(sender).then(
      (pid) => this.#foreign.set(sender, !pids.has(pid)),
      // The sender left the bus: no more events come from it.
      () => {},
    )
  }
}
