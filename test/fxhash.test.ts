import { expect, test } from "bun:test"
import fc from "fast-check"
import { boundsHash } from "../src/fxhash.ts"

const rect = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })

test.each([
  [100, 50, 80, 30, 7255865167679474841n],
  [20, 80, 100, 32, 7872614788755772682n],
  [0, 25, 1440, 875, 2850068317233682654n],
  [-1280.5, 23.333, 640.25, 0.009, 7545309610287547918n],
  [0, 0, 0, 0, 0n],
])("the hash of %d, %d, %d, %d is %d", (x, y, width, height, hash) => {
  expect(boundsHash(rect(x, y, width, height))).toBe(hash)
})

test("a coordinate that is not a number counts as 0", () => {
  expect(boundsHash(rect(Number.NaN, 50, Number.NaN, 30))).toBe(boundsHash(rect(0, 50, 0, 30)))
  expect(boundsHash(rect(Number.NaN, Number.NaN, Number.NaN, Number.NaN))).toBe(0n)
})

test("a coordinate beyond 64 bits is clamped to the limit", () => {
  const largest = wordByWord([2n ** 63n - 1n, 0n, 0n, 0n])
  const smallest = wordByWord([-(2n ** 63n), 0n, 0n, 0n])
  expect(boundsHash(rect(Number.POSITIVE_INFINITY, 0, 0, 0))).toBe(largest)
  expect(boundsHash(rect(Number.MAX_VALUE, 0, 0, 0))).toBe(largest)
  expect(boundsHash(rect(2 ** 63 / 100, 0, 0, 0))).toBe(largest)
  expect(boundsHash(rect(Number.NEGATIVE_INFINITY, 0, 0, 0))).toBe(smallest)
  expect(boundsHash(rect(-Number.MAX_VALUE, 0, 0, 0))).toBe(smallest)
})

test("digits below a hundredth of a pixel are truncated towards zero", () => {
  expect(boundsHash(rect(100.001, 50.009, 80, 30))).toBe(boundsHash(rect(100, 50, 80, 30)))
  expect(boundsHash(rect(-100.001, -50.009, 80, 30))).toBe(boundsHash(rect(-100, -50, 80, 30)))
  expect(boundsHash(rect(-0.009, 0, 0, 0))).toBe(0n)
  expect(boundsHash(rect(100.01, 50, 80, 30))).not.toBe(boundsHash(rect(100, 50, 80, 30)))
})

test("the hash of a rectangle is the hash of its four numbers' words in order", () => {
  const length = fc.oneof(fc.double(), fc.double({ min: -10_000, max: 10_000 }), fc.integer())
  fc.assert(
    fc.property(length, length, length, length, (x, y, width, height) => {
      expect(boundsHash(rect(x, y, width, height))).toBe(wordByWord([x, y, width, height].map(toWord)))
    }),
  )
})

// Computes the same number in another way: two's complement words, a 128-bit product, high bits masked off.
function wordByWord(words: readonly bigint[]): bigint {
  const mask = (1n << 64n) - 1n
  let hash = 0n
  for (const word of words) hash = (((hash + (word & mask)) & mask) * 0xf1357aea2e62a9c5n) & mask
  const bits = hash.toString(2).padStart(64, "0")
  return BigInt(`0b${bits.slice(26)}${bits.slice(0, 26)}`)
}

function toWord(length: number): bigint {
  const whole = new BigInt64Array(1)
  const scaled = length * 100
  if (scaled >= 2 ** 63) return 2n ** 63n - 1n
  if (scaled < -(2 ** 63)) return -(2n ** 63n)
  whole[0] = Number.isNaN(scaled) ? 0n : BigInt(scaled < 0 ? Math.ceil(scaled) : Math.floor(scaled))
  return whole[0]
}
