import { DBusTimeout } from "../dbus/bus.ts"
import type { Atspi } from "./atspi.ts"
import { CachedSource, readCache } from "./cache.ts"
import type { Element } from "./element.ts"
import { LiveSource, type Source } from "./facts.ts"

/** The way to read an application's tree with the fewest questions; it differs by toolkit. */
export async function openSource(
  atspi: Atspi,
  { ref, place }: Element,
  allBounds: boolean,
  begun?: Promise<Cache>,
): Promise<Source> {
  const live = new LiveSource(atspi, place.toolkit, allBounds)
  const items = await (begun ?? beginCache(atspi, ref.bus, place.toolkit, place.app)).catch(unlessLate)
  // With the time that is left, if any: what is known of the window is better than nothing.
  if (items === LATE) return live
  if (place.toolkit === "GTK") {
    return items ? (await import("./gtk4.ts")).prepareGtk4(atspi, ref, live, items) : live
  }
  const cached = items ?? (place.toolkit === "Chromium" ? await wakeCache(atspi, ref.bus) : undefined)
  return cached ? new CachedSource(ref.bus, cached, live) : live
}

export type Cache = Awaited<ReturnType<typeof readCache>>

/**
 * Asks for the cache of an application whose toolkit keeps one. Qt's is always empty. LibreOffice's
 * has crashed the program. GTK 3 has one once somebody listened to its events.
 */
export async function beginCache(atspi: Atspi, bus: string, toolkit: string, app: string): Promise<Cache> {
  const keepsOne = toolkit === "GTK" || toolkit === "Chromium" || (toolkit === "gtk" && app !== "soffice")
  return keepsOne ? readCache(atspi, bus) : undefined
}

/** A bridge keeps a cache once somebody listens to events. */
async function wakeCache(atspi: Atspi, bus: string): ReturnType<typeof readCache> {
  const { register } = await import("./watch.ts")
  await register(atspi.bus, "window:create", atspi.deadline)
  const patience = atspi.deadline.slice(WAKE_MS)
  while (!patience.expired) {
    const items = await readCache(atspi, bus)
    if (items) return items
  }
  return undefined
}

const WAKE_MS = 300

const LATE = Symbol("late")

function unlessLate(error: unknown): typeof LATE {
  if (error instanceof DBusTimeout) return LATE
  throw error
}
