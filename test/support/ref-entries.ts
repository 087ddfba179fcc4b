import { EMPTY_MAP, type RefEntry, type RefMap } from "../../src/refmap.ts"
import { appendEntries } from "../../src/refs/append.ts"

/** An entry of a ref map, and maps of entries. */

export const save: RefEntry = {
  pid: 1234,
  role: "button",
  name: "Save",
  states: ["enabled"],
  bounds: { x: 100, y: 50, width: 80, height: 30 },
  bounds_hash: 7255865167679474841n,
  available_actions: ["Click"],
  source_app: "TextEdit",
}

export const mapOf = (...entries: RefEntry[]): RefMap => appendEntries(EMPTY_MAP, entries).map
