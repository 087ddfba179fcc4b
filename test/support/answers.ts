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

/** Commands that must succeed or fail, by a function that runs any command and returns its envelope. */
export const demanding = (
  run: (name: string, args?: object) => Promise<Json>,
): Record<"ok" | "error", (name: string, args?: object) => Promise<Json>> => ({
  async ok(name, args) {
    const envelope = await run(name, args)
    if (!envelope.ok) throw new Error(`${name}: ${JSON.stringify(envelope.error)}`)
    return envelope.data
  },
  async error(name, args) {
    const envelope = await run(name, args)
    if (envelope.ok) throw new Error(`${name} succeeded: ${JSON.stringify(envelope.data)}`)
    return envelope.error
  },
})
