import { DBusClosed, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { isStopped } from "../host/processes.ts"
import { type Atspi, existing, REGISTRY, type Ref, readRefs } from "./atspi.ts"
import { unlessRefused } from "./element.ts"

/** One app on the accessibility bus. A process may have several. */
export interface A11yApp {
  readonly ref: Ref
  readonly pid: number
  /** Empty: not reported. */
  readonly name: string
  /** false: it did not answer within its slice. */
  readonly responsive: boolean
  /** The first answers about its windows, if they have been asked for already. */
  readonly begun?: {
    readonly toolkit: Promise<string | undefined>
    readonly children: Promise<readonly Ref[] | undefined>
  }
}

/** The longest wait for one app among many. */
export const SLICE_MS = 250

/** The longest wait for the registry, which serves all clients and does little. */
const REGISTRY_MS = 2000
/** The question starts the registry if no app has started it. */
const LIST_APPS = method("org.a11y.atspi.Accessible.GetChildren", "", [], true)

/** The apps on the bus. */
export async function listA11yApps(atspi: Atspi): Promise<readonly A11yApp[]> {
  const apps = await Promise.all((await listAppRefs(atspi)).map((ref) => readApp(atspi, ref)))
  return apps.filter((app) => app !== undefined)
}

/** The apps of one process, whose windows are about to be read. Other apps are not asked anything. */
export async function findA11yApps(
  atspi: Atspi,
  process: Promise<number | undefined>,
): Promise<readonly A11yApp[]> {
  const refs = await listAppRefs(atspi)
  const [pid, ...pids] = await Promise.all([process, ...refs.map((ref) => pidOf(atspi, ref))])
  const own = refs.filter((_, i) => pid !== undefined && pids[i] === pid)
  const apps = await Promise.all(own.map((ref) => readApp(atspi, ref, pid)))
  return apps.filter((app) => app !== undefined)
}

export async function listAppRefs(atspi: Atspi): Promise<readonly Ref[]> {
  const { deadline } = atspi
  const registry = atspi.within(deadline.slice(Math.min(REGISTRY_MS, deadline.remaining / 2)))
  const all = await registry.ask(REGISTRY, LIST_APPS, (reply) => readRefs(readAs(reply, "a(so)")))
  return all.filter((ref) => existing(ref) !== undefined)
}

async function readApp(atspi: Atspi, ref: Ref, known?: number): Promise<A11yApp | undefined> {
  const hasty = atspi.within(atspi.deadline.slice(SLICE_MS))
  // Asks the app and the bus at once; the bus knows the process even if it hangs.
  const naming = hasty.name(ref).catch(() => undefined)
  const begun =
    known === undefined
      ? undefined
      : { toolkit: unlessRefused(atspi.toolkit(ref)), children: unlessRefused(atspi.children(ref)) }
  // Only a caller that reads the windows sees a failure.
  for (const answer of [begun?.toolkit, begun?.children]) answer?.catch(() => {})
  const pid = known ?? (await pidOf(atspi, ref))
  if (pid === undefined) return undefined
  const name = await Promise.race([naming, ifStopped(pid)])
  return { ref, pid, name: name ?? "", responsive: name !== undefined, begun }
}

function pidOf(atspi: Atspi, { bus }: Ref): Promise<number | undefined> {
  return atspi.pid(bus).catch((error: unknown) => {
    // A read that failed does not prove absence.
    if (error instanceof DBusClosed || error instanceof DBusTimeout) throw error
    // It left the bus since the registry listed it.
    return undefined
  })
}

/** Resolves for a stopped process, which cannot answer, and never for others. */
function ifStopped(pid: number): Promise<undefined> {
  return isStopped(pid) ? Promise.resolve(undefined) : NEVER
}

const NEVER = new Promise<undefined>(() => {})
