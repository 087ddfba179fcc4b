import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import { Bus, DBUS, DBUS_PATH, DBusTimeout, method, readAs } from "./dbus.ts"

const LAUNCHER = "org.a11y.Bus"
const LAUNCHER_PATH = "/org/a11y/bus"

/**
 * Brings up the accessibility bus of a session. Asking for its address starts it and names it on
 * the root window, where Qt 5 looks; Qt 6 and Chromium look at IsEnabled.
 */
export async function startAccessibility(session: string, deadline: Deadline): Promise<void> {
  try {
    await startRegistry(await startBus(session, deadline), deadline)
  } catch (error) {
    throw new AppError(
      error instanceof DBusTimeout ? "TIMEOUT" : "ACTION_FAILED",
      "The accessibility bus did not come up",
      { platformDetail: String(error), suggestion: "Run 'doctor' to see what this machine lacks" },
    )
  }
}

async function startBus(session: string, deadline: Deadline): Promise<string> {
  const bus = await Bus.open(session, deadline)
  try {
    const [address] = await Promise.all([
      bus.call(method("org.a11y.Bus.GetAddress", "", [], true), LAUNCHER, LAUNCHER_PATH, deadline),
      bus.call(ENABLE, LAUNCHER, LAUNCHER_PATH, deadline),
    ])
    return readAs(address, "s").string()
  } finally {
    bus.close()
  }
}

const ENABLE = method(
  "org.freedesktop.DBus.Properties.Set",
  "ssv",
  ["org.a11y.Status", "IsEnabled", { signature: "b", value: true }],
  true,
)

/** Otherwise the first application would, and until then there is nobody to ask which there are. */
async function startRegistry(address: string, deadline: Deadline): Promise<void> {
  const bus = await Bus.open(address, deadline)
  try {
    await bus.call(START_REGISTRY, DBUS, DBUS_PATH, deadline)
  } finally {
    bus.close()
  }
}

const START_REGISTRY = method(`${DBUS}.StartServiceByName`, "su", ["org.a11y.atspi.Registry", 0])
