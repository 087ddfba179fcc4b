import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { type Fixture, startFixture } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { dataOf, type Json } from "../support/json.ts"
import { until } from "../support/until.ts"
import { PROGRAM } from "./program.ts"

let desktop: TestDesktop
let apps: readonly Fixture[]

beforeAll(async () => {
  desktop = await openDesktop()
  apps = await Promise.all([startFixture(desktop, "gtk3"), startFixture(desktop, "gtk4")])
}, 60_000)
afterAll(() => desktop.close())

interface Served extends AsyncDisposable {
  readonly pid: number
  /** The data of a tool that must succeed. */
  ok(tool: string, args?: object): Promise<Json>
  /** The error of a tool that must fail. */
  error(tool: string, args?: object): Promise<Json>
}

/** A server as an MCP client starts it: a process of its own. */
async function serve(...args: readonly string[]): Promise<Served> {
  const transport = new StdioClientTransport({
    command: PROGRAM,
    args: [...args, "--format", "json", "mcp", "--tools", "all"],
    env: { ...desktop.env },
  })
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transport, { timeout: 60_000 })
  const call = (tool: string, given: object): Promise<Json> =>
    client.callTool({ name: `desktop_${tool}`, arguments: { ...given } }, { timeout: 60_000 })
  return {
    pid: transport.pid!,
    async ok(tool, given = {}) {
      const result = await call(tool, given)
      if (result.isError) throw new Error(`${tool}: ${result.content[0].text}`)
      return dataOf(result)
    },
    async error(tool, given = {}) {
      const result = await call(tool, given)
      if (!result.isError) throw new Error(`${tool} succeeded: ${result.content[0].text}`)
      return JSON.parse(result.content[0].text)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const refsIn = (node: Json): readonly Json[] => [
  ...(node.ref_id ? [node] : []),
  ...(node.children ?? []).flatMap(refsIn),
]

const refOf = (tree: Json, name: string): string => refsIn(tree).find((node) => node.name === name).ref_id

const presses = async (app: Fixture): Promise<number> =>
  (await app.events()).filter(({ event, name }) => event === "press" && name === "Press me").length

async function snapshotOf(server: Served, app: Fixture, flags: object = {}): Promise<Json> {
  const id = await until(async () => {
    const { windows } = await server.ok("list_windows")
    return windows.find(({ title }: Json) => title === app.title)?.id
  })
  return server.ok("snapshot", { window_id: id, ...flags })
}

const ROUNDS = 10

test("two servers side by side act on their own elements only", async () => {
  await using one = await serve()
  await using two = await serve()
  const servers = [one, two]
  const before = await Promise.all(apps.map(presses))
  for (let round = 1; round <= ROUNDS; round++) {
    // Both look before either acts: the later look must not change what the earlier refs mean.
    const refs: string[] = []
    for (const [i, server] of servers.entries())
      refs.push(refOf((await snapshotOf(server, apps[i]!)).tree, "Press me"))
    const results = await Promise.all(servers.map((server, i) => server.ok("click", { ref_id: refs[i] })))
    expect(results.map(({ action }) => action)).toEqual(["click", "click"])
    for (const [i, app] of apps.entries()) await until(async () => (await presses(app)) >= before[i]! + round)
  }
  expect(await Promise.all(apps.map(presses))).toEqual(before.map((count) => count + ROUNDS))
}, 120_000)

test("a server shares its refs only if both are given the same session", async () => {
  await using one = await serve("--session", "shared")
  await using two = await serve("--session", "shared")
  await using alone = await serve()
  const ref = refOf((await snapshotOf(one, apps[0]!)).tree, "Press me")
  const before = await presses(apps[0]!)
  await two.ok("click", { ref_id: ref })
  await until(async () => (await presses(apps[0]!)) === before + 1)
  expect(await alone.error("click", { ref_id: ref })).toMatchObject({
    code: "STALE_REF",
    message: `${ref} not found in current RefMap`,
  })
  expect((await one.ok("status")).session).toBe("shared")
  const { json } = await desktop.run("--session", "shared", "get", ref, "name")
  expect(json.data.value).toBe("Press me")
})

test("a server's own session is named in its status, and gone when the server has ended", async () => {
  const sessions = `${desktop.home}/sessions`
  let name = ""
  {
    await using server = await serve()
    await snapshotOf(server, apps[0]!)
    name = (await server.ok("status")).session
    expect(name).toMatch(new RegExp(`^mcp-${server.pid}-[a-z2-7]{8}$`))
    expect(readdirSync(sessions)).toContain(name)
  }
  await until(() => !existsSync(`${sessions}/${name}`))
})

test("a server never gives a number twice: menus, flags and other windows do not change what a ref means", async () => {
  await using server = await serve()
  const first = await snapshotOf(server, apps[0]!)
  const names = new Map(refsIn(first.tree).map(({ ref_id, role, name }: Json) => [ref_id, `${role} ${name}`]))
  for (const [app, flags] of [
    [apps[1]!, {}],
    [apps[0]!, { include_hidden: true }],
    [apps[0]!, { interactive_only: true, compact: true }],
    [apps[0]!, { skeleton: true }],
    [apps[0]!, {}],
  ] as const) {
    for (const { ref_id, role, name } of refsIn((await snapshotOf(server, app, flags)).tree)) {
      const known = names.get(ref_id)
      if (known !== undefined) expect(`${role} ${name}`).toBe(known)
      names.set(ref_id, `${role} ${name}`)
    }
  }
  const again = await snapshotOf(server, apps[0]!)
  expect(refsIn(again.tree).map(({ ref_id }: Json) => ref_id)).toEqual(
    refsIn(first.tree).map(({ ref_id }: Json) => ref_id),
  )
  // The other app was looked at last, and the ref still means this one.
  await snapshotOf(server, apps[1]!)
  const before = await Promise.all(apps.map(presses))
  await server.ok("click", { ref_id: refOf(first.tree, "Press me") })
  await until(async () => (await presses(apps[0]!)) === before[0]! + 1)
  expect(await presses(apps[1]!)).toBe(before[1]!)
})

test("with --refs fresh a server numbers every snapshot from @e1", async () => {
  await using server = await serve("--refs", "fresh")
  await snapshotOf(server, apps[0]!)
  const { tree } = await snapshotOf(server, apps[1]!)
  expect(refsIn(tree)[0].ref_id).toBe("@e1")
})
