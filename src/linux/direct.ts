import { Atspi, ROOT_PATH } from "./atspi.ts"
import { Bus, DBusClosed, DBusError, DBusTimeout, method, readAs } from "./dbus.ts"
import type { Element } from "./element.ts"

/**
 * Reads past the bus daemon, where the application listens itself: each question then wakes one process less,
 * which pays where there are many. `read` gets the usual way where there is no other.
 */
export async function directly<T>(
  atspi: Atspi,
  { ref, place }: Element,
  read: (atspi: Atspi) => Promise<T>,
): Promise<T> {
  const isWorth = place.toolkit === "Chromium" || place.app === "soffice"
  const connection = isWorth ? await openDirect(atspi, ref.bus) : undefined
  if (!connection) return read(atspi)
  try {
    return await read(new Atspi(atspi.bus, atspi.deadline, { name: ref.bus, connection }))
  } catch (error) {
    throw atspi.bus.failure ? error : ofApplication(error)
  } finally {
    connection.close()
  }
}

/** Who hung up, or said nothing, is the application; the bus is as it was. */
function ofApplication(error: unknown): unknown {
  if (error instanceof DBusClosed) return new DBusError("org.freedesktop.DBus.Error.NoReply", error.message)
  return error instanceof DBusTimeout ? new DBusTimeout(error.message) : error
}

async function openDirect(atspi: Atspi, app: string): Promise<Bus | undefined> {
  try {
    const address = await atspi.ask({ bus: app, path: ROOT_PATH }, GET_ADDRESS, (reply) =>
      readAs(reply, "s").string(),
    )
    return address === "" ? undefined : await Bus.open(address, atspi.deadline)
  } catch (error) {
    if (error instanceof DBusTimeout) throw error
    // It has no socket of its own, or one in a sandbox that we cannot reach.
    return undefined
  }
}

const GET_ADDRESS = method("org.a11y.atspi.Application.GetApplicationBusAddress")
