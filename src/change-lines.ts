import type { ActionChanges } from "./changes.ts"
import type { Changed } from "./diff.ts"
import type { Node } from "./node.ts"
import { lineOf, outline, quoted } from "./outline.ts"

/** Differences as text: `+` for what is new, `-` for what is gone, `~` for what says something else now. */
export function changeLines(changes: ActionChanges): string {
  const lines = [
    ...(changes.added ?? []).map(({ path, ...node }) => `+ ${addedLines(node, path)}`),
    ...(changes.removed ?? []).map((node) => `- ${lineOf(node)}`),
    ...(changes.changed ?? []).map(
      ({ was, path, ...node }) => `~ ${lineOf(node)} ${wasWords(was)}${within(path)}`,
    ),
    ...(changes.opened ?? []).map((one) => `opened ${one.id} ${quoted(one.title)} ${quoted(one.app_name)}`),
    ...(changes.closed ?? []).map((one) => `closed ${one.id} ${quoted(one.title)} ${quoted(one.app_name)}`),
    ...(changes.surfaces ?? []).map(
      ({ type, id, title }) => `open ${[type, id, title && quoted(title)].filter(Boolean).join(" ")}`,
    ),
    ...(changes.settled === false ? ["still changing"] : []),
    ...(changes.complete === false
      ? [`incomplete${changes.reason ? `: ${quoted(changes.reason).slice(1, -1)}` : ""}`]
      : []),
  ]
  return lines.length ? `${lines.join("\n")}\n` : "no changes\n"
}

function addedLines(node: Node, path: readonly string[] | undefined): string {
  const [first, ...rest] = outline(node).trimEnd().split("\n")
  return [`${first}${within(path)}`, ...rest.map((line) => `  ${line}`)].join("\n")
}

const within = (path: readonly string[] | undefined): string =>
  path?.length ? ` in ${path.map(quoted).join(" > ")}` : ""

function wasWords({
  ref_id,
  role,
  name,
  value,
  description,
  states,
  children_count,
}: Changed["was"]): string {
  const words = [
    ref_id && `[${ref_id}]`,
    role,
    name !== undefined && quoted(name),
    states && (states.filter((state) => state !== "enabled").join(" ") || "without states"),
    value !== undefined && `= ${quoted(value)}`,
    description !== undefined && `(${quoted(description)})`,
    children_count !== undefined && `… ${children_count} children`,
  ]
  return `was ${words.filter(Boolean).join(" ")}`
}
