import type { Node } from "../../src/node.ts"
import type { TestDesktop } from "./desktop.ts"
import type { Json } from "./json.ts"
import { until } from "./until.ts"

/** Runs commands on a desktop and returns their data. Fails if a command does. */
export const answersOf =
  (desktop: () => Pick<TestDesktop, "run">, timeoutMs = 20_000) =>
  async (...args: readonly string[]): Promise<Json> => {
    const { json, stdout } = await desktop().run(...args, "--timeout-ms", `${timeoutMs}`)
    if (!json?.ok) throw new Error(`${args.join(" ")}: ${stdout}`)
    return json.data
  }

/** Waits for a window with this text in its title and returns its id. */
export const windowTitled = (
  ok: (...args: readonly string[]) => Promise<Json>,
  title: string,
  maxMs: number,
): Promise<string> =>
  until(async () => {
    const { windows } = await ok("list-windows")
    return windows.find((one: { title: string }) => one.title.includes(title))?.id
  }, maxMs)

/** A node and everything inside, depth first. */
export const nodesOf = (tree: Node): Node[] => [tree, ...(tree.children ?? []).flatMap(nodesOf)]
