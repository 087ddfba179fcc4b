import { type Atspi, existing, REGISTRY, type Ref } from "./atspi.ts"
import { DBusClosed } from "./dbus.ts"

/** One application object of the accessibility bus. A process may have several. */
export interface A11yApp {
  readonly ref: Ref
  readonly pid: number
  readonly name: string
  readonly toolkit: string
  /** Its top-level objects, with undefined where it names none. */
  readonly children: readonly (Ref | undefined)[]
  /** false: it did not answer within its slice. */
  readonly responsive: boolean
}

/** What one application may cost everybody else. */
export const SLICE_MS = 250

/** Who is on the bus; `wanted` leaves out processes before anything is asked of them. */
export async function listA11yApps(
  atspi: Atspi,
  wanted: (pid: number) => boolean = () => true,
): Promise<readonly A11yApp[]> {
  const refs = (await atspi.children(REGISTRY)).map(existing).filter((ref) => ref !== undefined)
  const apps = await Promise.all(refs.map((ref) => readApp(atspi, ref, wanted)))
  return apps.filter((app) => app !== undefined)
}

async function readApp(
  atspi: Atspi,
  ref: Ref,
  wanted: (pid: number) => boolean,
): Promise<A11yApp | undefined> {
  const hasty = atspi.within(atspi.deadline.slice(SLICE_MS))
  // Of the bus and of the application at once: most applications are wanted.
  const asked = Promise.all([hasty.name(ref), hasty.toolkit(ref), hasty.children(ref)]).catch(
    (error: unknown) => error,
  )
  const pid = await atspi.pid(ref.bus).catch((error: unknown) => {
    if (error instanceof DBusClosed) throw error
    // It left the bus since the registry listed it.
    return undefined
  })
  if (pid === undefined || !wanted(pid)) return undefined
  const answer = await asked
  if (!Array.isArray(answer)) return { ref, pid, name: "", toolkit: "", children: [], responsive: false }
  const [name, toolkit, children] = answer
  return { ref, pid, name, toolkit, children: children.map(existing), responsive: true }
}
