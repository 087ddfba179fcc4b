import { type Atspi, existing, REGISTRY, type Ref, readRefs } from "./atspi.ts"
import { DBusClosed, method, readAs } from "./dbus.ts"
import { isStopped } from "./stopped.ts"

/** One application object of the accessibility bus. A process may have several. */
export interface A11yApp {
  readonly ref: Ref
  readonly pid: number
  /** Empty when it did not say. */
  readonly name: string
  /** false: it did not answer within its slice. */
  readonly responsive: boolean
}

/** What one application may cost everybody else. */
export const SLICE_MS = 250

/** What the registry may cost: it serves everybody and does little. */
const REGISTRY_MS = 2000
/** Asking starts the registry where no application has yet. */
const LIST_APPS = method("org.a11y.atspi.Accessible.GetChildren", "", [], true)

/** Who is on the bus. */
export async function listA11yApps(atspi: Atspi): Promise<readonly A11yApp[]> {
  const registry = atspi.within(atspi.deadline.slice(REGISTRY_MS))
  const all = await registry.ask(REGISTRY, LIST_APPS, (reply) => readRefs(readAs(reply, "a(so)")))
  const refs = all.map(existing).filter((ref) => ref !== undefined)
  const apps = await Promise.all(refs.map((ref) => readApp(atspi, ref)))
  return apps.filter((app) => app !== undefined)
}

async function readApp(atspi: Atspi, ref: Ref): Promise<A11yApp | undefined> {
  const hasty = atspi.within(atspi.deadline.slice(SLICE_MS))
  // Of the application and of the bus at once; the bus knows the process even when it hangs.
  const naming = hasty.name(ref).catch(() => undefined)
  const pid = await atspi.pid(ref.bus).catch((error: unknown) => {
    if (error instanceof DBusClosed) throw error
    // It left the bus since the registry listed it.
    return undefined
  })
  if (pid === undefined) return undefined
  const name = await Promise.race([naming, ifStopped(pid)])
  return { ref, pid, name: name ?? "", responsive: name !== undefined }
}

/** Does not wait for a process that cannot answer: resolves for a stopped one, and else never. */
function ifStopped(pid: number): Promise<undefined> {
  return isStopped(pid) ? Promise.resolve(undefined) : NEVER
}

const NEVER = new Promise<undefined>(() => {})
