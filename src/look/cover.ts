import type { SeenNode } from "../adapter.ts"
import type { Node } from "../node.ts"
import type { Added, Changes } from "./diff.ts"

/**
 * Modal dialogs inside a window. While one is open, a web page, for example, hides everything else from accessibility
 * clients.
 */

/**
 * "covered": a modal dialog has opened, which hides the rest of some windows from clients. "uncovered": it has closed.
 */
export type Cover = "covered" | "uncovered"

export function coverOf(before: Node, after: SeenNode): Cover | undefined {
  const then = dialogsIn(before)
  const now = dialogsIn(after)
  if (now.some((one) => !then.includes(one))) return "covered"
  return then.some((one) => !now.includes(one)) ? "uncovered" : undefined
}

interface Dialogs extends Pick<Node, "role" | "name" | "states"> {
  readonly children?: readonly Dialogs[]
}

/** The dialogs inside a window, which may be a dialog itself. */
function dialogsIn(root: Dialogs): readonly string[] {
  return (root.children ?? []).flatMap((child) => [
    ...(isDialog(child) ? [`${child.role} ${child.name ?? ""}`] : []),
    ...dialogsIn(child),
  ])
}

/** Chromium reports a warning dialog as an alert. */
export const isDialog = ({ role, states }: Pick<Node, "role" | "states">): boolean =>
  role === "dialog" || role === "alertdialog" || (states?.includes("modal") ?? false)

/** Drops the elements that a dialog covers, which are not gone, and those that it no longer covers. */
export function withoutCover(changes: Changes, cover: Cover, isKnown: (ref: string) => boolean): Changes {
  const { added = [], removed = [], ...rest } = changes
  const listed = cover === "covered" ? removed.filter(isDialog) : removed
  const news = cover === "uncovered" ? added.flatMap((node) => newIn(node, isKnown)) : added
  return {
    ...(news.length ? { added: news } : {}),
    ...(listed.length ? { removed: listed } : {}),
    ...rest,
  }
}

/** The node itself, or only its new elements if it was there before the dialog. */
const newIn = (node: Added, isKnown: (ref: string) => boolean): readonly Added[] =>
  refsIn(node).some(isKnown) ? unknownIn(node, isKnown) : [node]

const unknownIn = (node: Node, isKnown: (ref: string) => boolean): readonly Node[] =>
  node.ref_id && !isKnown(node.ref_id)
    ? [node]
    : (node.children ?? []).flatMap((child) => unknownIn(child, isKnown))

const refsIn = (node: Node): readonly string[] => [
  ...(node.ref_id ? [node.ref_id] : []),
  ...(node.children ?? []).flatMap(refsIn),
]
