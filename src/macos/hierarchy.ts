import { hierarchy } from "../../ffi/accessibility.ts"
import { coreFoundation } from "../../ffi/core-foundation.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, entriesOf, kindOf, newArray, newDictionary, newNumber } from "./cf.ts"
import { Failure } from "./failure.ts"
import { decode, type Element, type Value } from "./value.ts"

/** A list longer than this is left to the walk, which asks for the part that shows. */
const MOST_ITEMS = 256
const MOST_LEVELS = 100

/** One attribute of an element in a bulk answer: undefined where the answer is none, or cut short. */
export type Lookup = (name: string) => { readonly value: Value } | undefined

/**
 * Reads a whole subtree in one round trip, by a private function. `take` looks at one element after
 * another; what it does not ask for is never decoded. False when there is no such answer.
 */
export function readHierarchy(
  ax: Ax,
  root: Element,
  names: readonly string[],
  take: (element: Element, lookup: Lookup) => void,
): boolean {
  const bound = hierarchy()
  if (!bound || ax.deadline.expired) return false
  const { copy, keys } = bound
  const { connection } = ax
  using arrays = newArray([connection.name("AXChildren")])
  using mostItems = newNumber(MOST_ITEMS)
  using mostLevels = newNumber(MOST_LEVELS)
  using options = newDictionary([
    [keys.arrays, arrays.ref],
    [keys.errors, cfBoolean(true)],
    [keys.mostItems, mostItems.ref],
    [keys.mostLevels, mostLevels.ref],
  ])
  const get = coreFoundation().CFDictionaryGetValue
  const valueAt = (dictionary: bigint, key: bigint) =>
    decode(get(dictionary, key), (ref) => connection.intern(ref))
  const answered = ax.once(
    (out) => copy(root.ref, connection.names(names), options.ref, out),
    (result) => {
      for (const [key, attributes] of entriesOf(result)) {
        if (kindOf(key) !== "element" || kindOf(attributes) !== "dictionary") continue
        take(connection.intern(key), (name) => {
          // A dictionary of the attribute's value, count, error, and whether it is incomplete.
          const answer = get(attributes, connection.name(name))
          if (kindOf(answer) !== "dictionary" || valueAt(answer, keys.incomplete)) return undefined
          const value = valueAt(answer, keys.value)
          if (value !== undefined && !Array.isArray(value)) return { value }
          const count = valueAt(answer, keys.count)
          if (typeof count === "number" && value?.length !== count) return undefined
          const error = value ?? valueAt(answer, keys.error)
          return { value: typeof error === "number" ? new Failure(error) : error }
        })
      }
      return true
    },
  )
  return answered ?? false
}
