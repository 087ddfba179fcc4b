import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { hierarchy } from "../../ffi/private.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, entriesOf, kindOf, newArray, newDictionary, newString } from "./cf.ts"
import { Failure } from "./failure.ts"
import { type Attributes, decode, type Element, type Value } from "./value.ts"

/** Option keys of AXUIElementCopyHierarchy, as the exported constants hold them. */
const ARRAY_ATTRIBUTES = "AXCHAA"
const RETURN_ERRORS = "AXCHRE"

/**
 * A whole subtree in one round trip, by a private function: element by element what the walk would
 * ask for. Nothing of it is needed: what is missing, incomplete or odd is left to the walk.
 */
export function prefetch(ax: Ax, root: Element, names: readonly string[]): ReadonlyMap<Element, Attributes> {
  const found = new Map<Element, Attributes>()
  const copy = hierarchy()?.AXUIElementCopyHierarchy
  if (!copy || ax.deadline.expired) return found
  const out = new BigUint64Array(1)
  using arrays = newArray([ax.connection.name("AXChildren")])
  using arrayKey = newString(ARRAY_ATTRIBUTES)
  using errorKey = newString(RETURN_ERRORS)
  using options = newDictionary([
    [arrayKey.ref, arrays.ref],
    [errorKey.ref, cfBoolean(true)],
  ])
  const code = copy(root.ref, ax.connection.names(names), options.ref, out)
  using result = new Owned(out[0]!)
  if (code !== 0 || kindOf(result.ref) !== "dictionary") return found
  for (const [key, value] of entriesOf(result.ref)) {
    if (kindOf(key) !== "element" || kindOf(value) !== "dictionary") continue
    const attributes = attributesOf(ax, value, names)
    if (attributes) found.set(ax.connection.intern(key), attributes)
  }
  return found
}

/** Each attribute is a dictionary of its value, count, error and whether it is incomplete. */
function attributesOf(ax: Ax, element: bigint, names: readonly string[]): Attributes | undefined {
  const cf = coreFoundation()
  const at = (dictionary: bigint, key: string) => cf.CFDictionaryGetValue(dictionary, ax.connection.name(key))
  const valueAt = (dictionary: bigint, key: string) =>
    decode(at(dictionary, key), (ref) => ax.connection.intern(ref))
  const values: Record<string, Value> = {}
  for (const name of names) {
    const wrapper = at(element, name)
    if (kindOf(wrapper) !== "dictionary" || valueAt(wrapper, "incmplt")) return undefined
    const error = valueAt(wrapper, "error")
    const value = valueAt(wrapper, "value")
    const count = valueAt(wrapper, "count")
    // A list that was shortened is no answer.
    if (typeof count === "number" && (!Array.isArray(value) || value.length !== count)) return undefined
    values[name] = typeof error === "number" ? new Failure(error) : (value ?? error)
  }
  return values
}
