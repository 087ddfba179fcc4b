import { Deadline } from "../../deadline.ts"
import type { Bus } from "../dbus/bus.ts"
import { Atspi } from "./atspi.ts"
import { listAppRefs } from "./registry.ts"
import { traitsOf } from "./toolkits.ts"

/**
 * Some apps crash if their last client leaves the accessibility bus while they handle a key, even one that the user has
 * pressed; see the trait `needsLastingClient`. A command is a client for a moment only. So it tells these apps of a client
 * that stays: the registry, which lives as long as the session.
 */
export function keepClient(bus: Bus, app: string): void {
  bus.emit(CONTROLLER_PATH, KEYSTROKE_LISTENER, "(s)", [[REGISTRY]], app)
}

/** Tells all such apps. A later command tells those that do not answer in time. */
export async function keepClients(bus: Bus): Promise<void> {
  const atspi = new Atspi(bus, Deadline.in(PATIENCE_MS))
  const tell = async (app: Awaited<ReturnType<typeof listAppRefs>>[number]): Promise<void> => {
    const toolkit = await atspi.toolkit(app)
    if (traitsOf(toolkit, "").needsLastingClient) keepClient(bus, app.bus)
  }
  await Promise.allSettled((await listAppRefs(atspi)).map(tell))
}

const PATIENCE_MS = 2000

// The bridge of the app adds the name to its clients, unless it is there already. It does not check who sent this.
const KEYSTROKE_LISTENER = "org.a11y.atspi.DeviceEventListener.KeystrokeListenerRegistered"
const CONTROLLER_PATH = "/org/a11y/atspi/registry/deviceeventcontroller"
// The bridge never takes this name off its list: it waits for a registry that has ended to come back.
const REGISTRY = "org.a11y.atspi.Registry"
