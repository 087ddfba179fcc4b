import type { TestDesktop } from "../test/support/desktop.ts"

/** The measurement of one fresh process from its start to its last byte. */
export interface Run {
  readonly ms: number
  readonly text: string
  /** The number of nodes that it read. */
  readonly nodes?: string
  /** Milliseconds by its own clock, from the window to the last node. */
  readonly inside?: number
  /** Peak memory. */
  readonly mb: number
  /** Milliseconds of CPU time, in the program and in the kernel. */
  readonly cpu: number
}

export async function run(desktop: TestDesktop, ...command: readonly string[]): Promise<Run> {
  const start = performance.now()
  const child = Bun.spawn([...command], { env: { ...desktop.env }, stdio: ["ignore", "pipe", "inherit"] })
  const decoder = new TextDecoder()
  let text = ""
  let ms = 0
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    ms = performance.now() - start
  }
  await child.exited
  const used = child.resourceUsage()
  const spent = { mb: (used?.maxRSS ?? 0) / 1e6, cpu: Number(used?.cpuTime.total ?? 0) / 1000 }
  if (text.startsWith("{")) {
    const { ok, data, error } = JSON.parse(text)
    if (!ok) throw new Error(`${command.join(" ")}: ${JSON.stringify(error)}`)
    return { ms, text, ...spent, ...(data.tree ? { nodes: String(countNodes(data.tree)) } : {}) }
  }
  const [nodes, inside] = text.trim().split(" ")
  return nodes ? { ms, text, ...spent, nodes, inside: Number(inside) } : { ms, text, ...spent }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}

interface Tree {
  readonly children?: readonly Tree[]
}

function countNodes(node: Tree): number {
  return (node.children ?? []).reduce((sum, child) => sum + countNodes(child), 1)
}
