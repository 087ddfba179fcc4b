import { commands } from "../../src/commands/index.ts"
import { FLOW, flagsOf, type SampleWords, samplesOf } from "../support/every-command.ts"

/** Lines for every command, on a desktop with one window of stubborn.py. */

/** Words of a command line. `$words` stand for values of the desktop, e.g. a ref. */
export type Line = readonly string[]

/** More lines than the samples: waits that do not end by themselves, and commands that the fake desk cannot run. */
const MORE: readonly string[] = [
  "snapshot --app $app --surface menu",
  "screenshot --window-id $window --annotate",
  "wait --element $button --predicate gone",
  "wait --window nowhere",
  "wait --text nowhere --app $app",
  "wait --menu",
  "wait --notification",
  "wait 100",
  "permissions --request",
]

/** The samples of all commands, and more. close-app comes last, since it ends the app. */
export async function everyLine(): Promise<readonly Line[]> {
  const samples = (await samplesOf(commands)).map(({ command, args }) => [command.name, ...flagsOf(args)])
  const lines = [...samples, ...MORE.map((line) => line.split(" "))]
  const isLast = ([name]: Line): boolean => name === "close-app"
  return [...lines.filter((line) => !isLast(line)), ...lines.filter(isLast)]
}

/** The values of the samples' words on that desktop, and the refs of the controls by their names. */
export function wordsOn(
  snapshot: { readonly tree: Node; readonly window: { readonly id: string } },
  directory: string,
): ReadonlyMap<string, string> {
  const refs = refsOf(snapshot.tree)
  const ref = (name: string): string => {
    const found = refs.get(name)
    if (found === undefined) throw new Error(`stubborn.py shows no ${name}`)
    return found
  }
  const words: SampleWords = {
    app: "stubborn",
    window: snapshot.window.id,
    title: "Stubborn",
    button: ref("Press"),
    field: ref("Text"),
    slider: ref("Scale"),
    checkbox: ref("Check"),
    checked: ref("Check"),
    collapsed: ref("Expander"),
    expanded: ref("Expander"),
    combobox: ref("Combo"),
    cell: ref("Cell"),
    menu: "Nowhere > Nothing",
    other: "xterm",
    desktop: "nowhere",
    trace: new URL("../fixtures/trace", import.meta.url).pathname,
    flow: FLOW,
    file: `${directory}/written`,
  }
  return new Map([...Object.entries(words), ...refs])
}

/** Refs of a snapshot's nodes by their names. */
export function refsOf(tree: Node, refs = new Map<string, string>()): ReadonlyMap<string, string> {
  if (tree.ref_id && tree.name) refs.set(tree.name, tree.ref_id)
  for (const child of tree.children ?? []) refsOf(child, refs)
  return refs
}

interface Node {
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Node[]
}

/** The line with the values of a desktop in place of its `$words`. */
export function filledLine(line: Line, words: ReadonlyMap<string, string>): string[] {
  return line.map((word) =>
    word.replaceAll(/\$(\w+)/g, (_, name: string) => {
      const found = words.get(name)
      if (found === undefined) throw new Error(`There is no ${name}`)
      return found
    }),
  )
}
