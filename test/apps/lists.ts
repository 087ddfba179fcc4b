import { existsSync, readFileSync } from "node:fs"
import { parseDescription, type Wanted } from "../../src/look/description.ts"
import { type Dump, wordsIn } from "../e2e/expected.ts"
import type { Json } from "../support/json.ts"

/**
 * Lists of everything that the picture of an app's window shows, written by a person who looked at it. A line describes
 * one element as a target does; equal lines stand for several elements. Lines below "Not on the bus:" show in the
 * picture and are in no accessibility tree; the test proves that too.
 */
interface List {
  readonly seen: readonly string[]
  readonly missing: readonly string[]
}

/** undefined: it has not been written. */
export function listOf(key: string): List | undefined {
  const file = `${import.meta.dir}/${key}.txt`
  if (!existsSync(file)) return undefined
  const [seen = "", missing = ""] = readFileSync(file, "utf8").split(/^Not on the bus:.*$/m)
  return { seen: linesOf(seen), missing: linesOf(missing) }
}

const linesOf = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))

/** The lines for which the tree has no element, or too few. */
export function unseen(lines: readonly string[], nodes: readonly Json[]): readonly string[] {
  return [...Map.groupBy(lines, (line) => line)].flatMap(([line, equal]) => {
    const wanted = parseDescription(line)
    const count = nodes.filter((node) => isLike(node, wanted)).length
    return count >= equal.length ? [] : [`${count} of ${equal.length} in the snapshot: ${line}`]
  })
}

function isLike(node: Json, { role, name }: Wanted): boolean {
  if (role !== undefined && node.role !== role) return false
  if (name === undefined) return true
  const texts: readonly (string | undefined)[] = [node.name, node.value, node.description]
  return texts.includes(name) || (node.value?.split("\n").includes(name) ?? false)
}

/** The lines that pyatspi sees after all. */
export function onTheBus(lines: readonly string[], dump: Dump): readonly string[] {
  const words = wordsIn(dump)
  return lines
    .filter((line) => words.has(parseDescription(line).name ?? ""))
    .map((line) => `on the bus: ${line}`)
}
