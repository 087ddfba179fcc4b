import type { Rect } from "./node.ts"

/** The fingerprint of a place on the screen, to a hundredth of a pixel: FxHash of rustc-hash 2.1.1. */
export function boundsHash(rect: Rect): bigint {
  const sum = [rect.x, rect.y, rect.width, rect.height].reduce(
    (hash, length) => BigInt.asUintN(64, (hash + hundredths(length)) * MULTIPLIER),
    0n,
  )
  return BigInt.asUintN(64, (sum << 26n) | (sum >> 38n))
}

const MULTIPLIER = 0xf1357aea2e62a9c5n
const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

// Like Rust's float to i64 conversion: rounds toward zero, NaN is 0, and large values end at the limits.
function hundredths(length: number): bigint {
  const scaled = Math.trunc(length * 100)
  if (Number.isNaN(scaled)) return 0n
  if (scaled >= 2 ** 63) return MAX
  if (scaled <= -(2 ** 63)) return MIN
  return BigInt(scaled)
}
