import { DBusTimeout } from "../dbus/bus.ts"
import type { Atspi } from "./atspi.ts"
import { CachedSource, readCache } from "./cache.ts"
import { type Element, unlessRefused } from "./element.ts"
import { LiveSource, type Source } from "./facts.ts"
import type { Traits } from "./toolkits.ts"

/** Opens the source that needs the fewest questions to the app. */
export async function openSource(
  atspi: Atspi,
  { ref, origin }: Element,
  allBounds: boolean,
  begun?: Promise<Cache>,
): Promise<Source> {
  const { traits } = origin
  const live = new LiveSource(atspi, origin, allBounds)
  const items = await (begun ?? beginCache(atspi, ref.bus, traits)).catch(unlessLate)
  // The remaining time may suffice for a part of the window, which is better than nothing.
  if (items === LATE) return live
  if (traits.cache === "partial") {
    return items ? (await import("./gtk4.ts")).prepareGtk4(atspi, ref, live, items) : live
  }
  const cached = items ?? (traits.cache ? await wakeCache(atspi, ref.bus, traits) : undefined)
  return cached ? new CachedSource(ref.bus, cached, live) : live
}

export type Cache = Awaited<ReturnType<typeof readCache>>

/** Asks for the cache of an app whose toolkit keeps one. */
export async function beginCache(atspi: Atspi, bus: string, traits: Traits): Promise<Cache> {
  return traits.cache ? readCache(atspi, bus) : undefined
}

/**
 * Makes the app keep a cache, by listening to its events. The registry tells the app before it answers us, so an app that
 * makes its cache at once has it when it is asked next.
 */
async function wakeCache(atspi: Atspi, bus: string, { cache, needsLastingClient }: Traits): Promise<Cache> {
  const { register } = await import("./watch.ts")
  if (needsLastingClient) (await import("./lasting-client.ts")).keepClient(atspi.bus, bus)
  const listening = register(atspi.bus, "window:create", atspi.deadline, bus)
  // Without a registry the app does not learn of it. Its objects can still be read one by one.
  const isListening = await unlessRefused(listening.then(() => true))
  if (!isListening) return undefined
  if (cache !== "woken by listening") return readCache(atspi, bus)
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
