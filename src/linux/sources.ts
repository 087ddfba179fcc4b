import type { Atspi } from "./atspi.ts"
import { readCache } from "./cache.ts"
import { CachedSource } from "./cached.ts"
import type { Element } from "./element.ts"
import { LiveSource, type Source } from "./facts.ts"
import { prepareGtk4 } from "./gtk4.ts"
import { register } from "./watch.ts"

/** The way to read an application's tree with the fewest questions; it differs by toolkit. */
export async function openSource(atspi: Atspi, { ref, place }: Element, allBounds: boolean): Promise<Source> {
  const live = new LiveSource(atspi, place.toolkit, allBounds)
  if (place.toolkit === "GTK") return prepareGtk4(atspi, ref, live)
  if (place.toolkit === "Chromium") {
    const items = (await readCache(atspi, ref.bus)) ?? (await wakeCache(atspi, ref.bus))
    return items ? new CachedSource(ref.bus, items, live) : live
  }
  return live
}

/** A bridge keeps a cache once somebody listens to events. */
async function wakeCache(atspi: Atspi, bus: string): ReturnType<typeof readCache> {
  await register(atspi.bus, "window:create", atspi.deadline)
  const patience = atspi.deadline.slice(WAKE_MS)
  while (!patience.expired) {
    const items = await readCache(atspi, bus)
    if (items) return items
  }
  return undefined
}

const WAKE_MS = 300
