import type { Rect } from "./node.ts"

/** Platforms report NaN for what they do not know; JSON has no word for it. */
export function finiteRect({ x, y, width, height }: Rect): Rect {
  const finite = (length: number): number => (Number.isFinite(length) ? length : 0)
  return { x: finite(x), y: finite(y), width: finite(width), height: finite(height) }
}
