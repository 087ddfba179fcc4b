import { DBusTimeout } from "../dbus/bus.ts"
import type { Atspi } from "./atspi.ts"
import { CachedSource, readCache } from "./cache.ts"
import type { Element } from "./element.ts"
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
  const cached =
    items ?? (traits.cache === "woken by listening" ? await wakeCache(atspi, ref.bus) : undefined)
  return cached ? new CachedSource(ref.bus, cached, live) : live
}

export type Cache = Awaited<ReturnType<typeof readCache>>

/** Asks for the cache of an app whose toolkit keeps one. */
export async function beginCache(atspi: Atspi, bus: string, traits: Traits): Promise<Cache> {
  return traits.cache ? readCache(atspi, bus) : undefined
}

/** Makes the app keep a cache, by listening to its events. */
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
