import { DBusClosed, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { isStopped } from "../host/processes.ts"
import { type Atspi, existing, REGISTRY, type Ref, readRefs } from "./atspi.ts"
import { unlessRefused } from "./element.ts"

/** One application object of the accessibility bus. A process may have several. */
export interface A11yApp {
  readonly ref: Ref
  readonly pid: number
  /** Empty when it did not say. */
  readonly name: string
  /** false: it did not answer within its slice. */
  readonly responsive: boolean
  /** What its windows are asked for first, where that was asked on the way. */
  readonly begun?: {
    readonly toolkit: Promise<string | undefined>
    readonly children: Promise<readonly Ref[] | undefined>
  }
}

/** What one application may cost everybody else. */
export const SLICE_MS = 250

/** What the registry may cost: it serves everybody and does little. */
const REGISTRY_MS = 2000
/** Asking starts the registry where no application has yet. */
const LIST_APPS = method("org.a11y.atspi.Accessible.GetChildren", "", [], true)

/** Who is on the bus. */
export async function listA11yApps(atspi: Atspi): Promise<readonly A11yApp[]> {
  const apps = await Promise.all((await listRefs(atspi)).map((ref) => readApp(atspi, ref)))
  return apps.filter((app) => app !== undefined)
}

/** The applications of one process; the others are not asked anything. Their windows are about to be read. */
export async function findA11yApps(
  atspi: Atspi,
  process: Promise<number | undefined>,
): Promise<readonly A11yApp[]> {
  const refs = await listRefs(atspi)
  const [pid, ...pids] = await Promise.all([process, ...refs.map((ref) => pidOf(atspi, ref))])
  const own = refs.filter((_, i) => pid !== undefined && pids[i] === pid)
  const apps = await Promise.all(own.map((ref) => readApp(atspi, ref, pid)))
  return apps.filter((app) => app !== undefined)
}

async function listRefs(atspi: Atspi): Promise<readonly Ref[]> {
  const { deadline } = atspi
  const registry = atspi.within(deadline.slice(Math.min(REGISTRY_MS, deadline.remaining / 2)))
  const all = await registry.ask(REGISTRY, LIST_APPS, (reply) => readRefs(readAs(reply, "a(so)")))
  return all.filter((ref) => existing(ref) !== undefined)
}

async function readApp(atspi: Atspi, ref: Ref, known?: number): Promise<A11yApp | undefined> {
  const hasty = atspi.within(atspi.deadline.slice(SLICE_MS))
  // Of the application and of the bus at once; the bus knows the process even when it hangs.
  const naming = hasty.name(ref).catch(() => undefined)
  const begun =
    known === undefined
      ? undefined
      : { toolkit: unlessRefused(atspi.toolkit(ref)), children: unlessRefused(atspi.children(ref)) }
  // Whoever reads its windows hears of a failure; nobody may.
  for (const answer of [begun?.toolkit, begun?.children]) answer?.catch(() => {})
  const pid = known ?? (await pidOf(atspi, ref))
  if (pid === undefined) return undefined
  const name = await Promise.race([naming, ifStopped(pid)])
  return { ref, pid, name: name ?? "", responsive: name !== undefined, begun }
}

function pidOf(atspi: Atspi, { bus }: Ref): Promise<number | undefined> {
  return atspi.pid(bus).catch((error: unknown) => {
    // A read that failed is no absence.
    if (error instanceof DBusClosed || error instanceof DBusTimeout) throw error
    // It left the bus since the registry listed it.
    return undefined
  })
}

/** Does not wait for a process that cannot answer: resolves for a stopped one, and else never. */
function ifStopped(pid: number): Promise<undefined> {
  return isStopped(pid) ? Promise.resolve(undefined) : NEVER
}

const NEVER = new Promise<undefined>(() => {})
