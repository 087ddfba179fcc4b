import type { SeenNode, TreeOptions } from "../../src/adapter.ts"

export const ALL: TreeOptions = {
  maxDepth: 10,
  bounds: "interactive",
  includeHidden: false,
  interactiveOnly: false,
}

/** The tree as indented lines: role, name, value and states. */
export function outline(node: SeenNode, indent = ""): string[] {
  const name = node.name === undefined ? "" : ` "${node.name}"`
  const value = node.value === undefined ? "" : ` = "${node.value}"`
  const states = node.states.length > 0 ? ` ${node.states.join(" ")}` : ""
  const line = `${indent}${node.role}${name}${value}${states}`
  return [line, ...node.children.flatMap((child) => outline(child, `${indent}  `))]
}
