import { type Fitted, fitTree } from "./budget.ts"
import { success, toLine } from "./envelope.ts"
import { AppError } from "./errors.ts"
import type { Format } from "./globals.ts"
import type { Node } from "./node.ts"
import type { Observation } from "./observe.ts"
import { estimateTokens } from "./tokens.ts"

/** The part of a snapshot that can be printed, heading and all, for so many tokens; see budget.ts. */
export async function fitSnapshot(
  tree: Node,
  options: {
    readonly tokens: number
    readonly format: Format | undefined
    show(tree: Node, complete: boolean): Observation
    spell(index: number): string
  },
): Promise<Fitted> {
  const { tokens, show, spell } = options
  const print = options.format === "text" ? (await import("./text.ts")).toText : toLine
  const cost = (shown: Node): number => estimateTokens(print(success("snapshot", show(shown, false))))
  const fitted = fitTree(tree, { tokens, cost, spell })
  if (fitted) return fitted
  const { children: _, ...root } = tree
  const least = cost({ ...root, ref_id: spell(0), children_count: tree.children?.length ?? 0 })
  throw new AppError("INVALID_ARGS", `--budget ${tokens} is too small: the window alone takes ${least}`, {
    suggestion: `Pass --budget ${least * 2} or more${options.format === "text" ? "" : ", or --format text"}`,
    details: { argument: "budget", least },
  })
}
