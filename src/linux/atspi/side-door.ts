import type { Env } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import { ownCommand } from "../../own-process.ts"
import { inTime, pause } from "../../until.ts"
import { Bus, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { Atspi, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"

/** A direct connection to an app, past the bus, for one call that may open a dialog. */
export interface SideDoor {
  readonly bus: Bus
  /** Keys of the modal windows that the app showed before the call. */
  readonly modals: readonly string[]
}

/** The longest wait for an answer that an idle app gives at once. */
const PROMPT_MS = 250

/**
 * The app itself names the address, which may lead anywhere. The connection is used only if the object answers there
 * almost as soon as on the bus: a call into a silent connection would be lost.
 */
export async function openSideDoor(atspi: Atspi, ref: Ref): Promise<SideDoor | undefined> {
  const asked = atspi.call({ bus: ref.bus, path: ROOT_PATH }, GET_ADDRESS)
  const [reply, modals] = await Promise.all([asked, readModals(atspi, ref.bus)])
  const bus = await Bus.open(readAs(reply, "s").string(), atspi.deadline)
  const answer = bus.call(GET_ROLE, ref.bus, ref.path, atspi.deadline).then(
    (role) => role.signature === "u",
    () => false,
  )
  try {
    await atspi.role(ref)
    if (await inTime(answer, PROMPT_MS, () => false)) return { bus, modals }
  } catch (error) {
    // The object is gone. An open connection would keep this process alive.
    bus.close()
    throw error
  }
  bus.close()
  return undefined
}

/**
 * Leaves a side door after its call. If the call has opened a modal dialog, GTK 3 is busy with it until the dialog
 * closes, although it has answered. If the connection closed meanwhile, the next key press would make the app wait for
 * itself forever. So another process keeps the connection open until then.
 */
export async function leaveSideDoor(atspi: Atspi, { bus, modals }: SideDoor, app: string): Promise<void> {
  const isBusy = await opensMore(atspi.within(atspi.deadline.slice(PROMPT_MS)), app, modals).catch(
    (error: unknown) => error instanceof DBusTimeout,
  )
  if (isBusy) keepOpen(bus, { address: atspi.bus.address, app, modals })
  else bus.close()
}

interface KeptDoor {
  /** The address of the accessibility bus. */
  readonly address: string
  /** The name of the app on that bus. */
  readonly app: string
  readonly modals: readonly string[]
}

function keepOpen(bus: Bus, kept: KeptDoor): void {
  bus.handOver((socket) => {
    const env = { ...process.env, [KEPT]: JSON.stringify(kept) }
    Bun.spawn([...ownCommand("__keep-open")], {
      env,
      cwd: "/",
      stdio: ["ignore", "ignore", "ignore", socket],
      detached: true,
    }).unref()
  })
}

/** The process that keeps a side door open. It inherits the connection, and only stays alive. */
export async function keepSideDoor(env: Env): Promise<number> {
  const { address, app, modals }: KeptDoor = JSON.parse(env[KEPT] ?? "")
  const bus = await Bus.open(address, Deadline.in(SILENT_MS))
  try {
    for (;;) {
      const deadline = Deadline.in(SILENT_MS)
      if (!(await opensMore(new Atspi(bus, deadline), app, modals))) return 0
      await pause(LOOK_AGAIN_MS, deadline)
    }
  } catch {
    // The app or the bus has ended, or the app hangs.
    return 1
  } finally {
    bus.close()
  }
}

const KEPT = "AGENT_DESKTOP_KEPT_DOOR"
const SILENT_MS = 60_000
const LOOK_AGAIN_MS = 300

async function opensMore(atspi: Atspi, app: string, modals: readonly string[]): Promise<boolean> {
  return (await readModals(atspi, app)).some((key) => !modals.includes(key))
}

async function readModals(atspi: Atspi, app: string): Promise<readonly string[]> {
  const windows = await atspi.children({ bus: app, path: ROOT_PATH })
  const states = await Promise.all(windows.map((window) => atspi.states(window).catch(() => undefined)))
  return windows.flatMap((window, index) => {
    const state = states[index]
    const isModal = state !== undefined && has(state, STATE.MODAL) && has(state, STATE.SHOWING)
    return isModal ? [refKey(window)] : []
  })
}

const GET_ADDRESS = method("org.a11y.atspi.Application.GetApplicationBusAddress")
const GET_ROLE = method("org.a11y.atspi.Accessible.GetRole")
