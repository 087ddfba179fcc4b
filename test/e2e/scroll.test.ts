import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Node } from "../../src/node.ts"
import { startFixture, TOOLKITS } from "../fixtures/fixture.ts"
import { nodesOf } from "../support/answers.ts"
import { CHROMIUM } from "../support/chromium.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(180_000)

/** One look at the window: the first element with this name. */
async function look(desktop: TestDesktop, title: string, name: string): Promise<Node | undefined> {
  const { json } = await desktop.run("list-windows")
  const id = json.data.windows.find((one: Json) => one.title.startsWith(title))?.id
  const seen = await desktop.run("snapshot", "--window-id", `${id}`, "--include-bounds", "--include-hidden")
  return seen.json.ok ? nodesOf(seen.json.data.tree).find((node) => node.name === name) : undefined
}

describe("the first look after a scroll shows the new view", () => {
  for (const toolkit of TOOLKITS)
    test(toolkit, async () => {
      await using desktop = await openDesktop()
      const app = await startFixture(desktop, toolkit)
      const row = (name: string) => look(desktop, app.title, name)
      const act = async (...args: readonly string[]): Promise<Json> =>
        (await desktop.run(...args, "--timeout-ms", "30000")).json

      const before = await until(() => row("Row 2"))
      const { ok, data } = await act("scroll", before.ref_id ?? "", "down", "2", "--input", "physical")
      const after = await row("Row 2")
      expect({ ok, data }).toMatchObject({
        ok: true,
        data: { method: "wheel", disposition: { delivery: "delivered_verified" } },
      })
      expect(data.doubt).toBeUndefined()
      // The fixture reports how far it has scrolled.
      const { y } = await app.seen("scroll", "Scroll area")
      expect(y).toBeGreaterThan(0)
      const moved = (before.bounds?.y ?? 0) - (after?.bounds?.y ?? 0)
      // GTK 3 and Qt report no position for elements that are scrolled out of view; a page may be scaled.
      if (after?.bounds && after.bounds.height > 0) expect(Math.abs(moved - y)).toBeLessThanOrEqual(2)

      const far = await until(() => row("Row 40"))
      expect(await act("scroll-to", far.ref_id ?? "")).toMatchObject({
        ok: true,
        data: { disposition: { delivery: "delivered_verified" } },
      })
      const shown = await row("Row 40")
      const { y: further } = await app.seen("scroll", "Scroll area")
      expect(further).toBeGreaterThan(y)
      expect(shown?.bounds?.y).toBeLessThan(1024)
    })

  test("a long page in Chromium, with smooth scrolling", async () => {
    await using desktop = await openDesktop()
    await using page = await openLongPage(desktop)
    const names = async (): Promise<string[]> => (await buttons(desktop)).map(({ name }) => name)
    await until(async () => (await names()).length > 10)
    for (const direction of ["down", "down", "up"]) {
      const [, , third] = await buttons(desktop)
      const was = page.top()
      // In a batch no time passes between the scroll and the look.
      const { json } = await desktop.run(
        "batch",
        JSON.stringify([
          { command: "scroll", args: { ref_id: third?.ref_id, direction, amount: 4, timeout_ms: 30_000 } },
          { command: "snapshot", args: { app: "chromium", interactive_only: true, timeout_ms: 30_000 } },
        ]),
        "--timeout-ms",
        "30000",
      )
      const [scrolled, look] = json.data.results
      expect(scrolled).toMatchObject({
        ok: true,
        data: { method: "wheel", disposition: { delivery: "delivered_verified" } },
      })
      const next = buttonsIn(look.data.tree).map(({ name }) => name)
      // The page itself says when it has come to rest.
      const top = await until(() => page.rest())
      expect(direction === "down" ? top > was : top < was).toBe(true)
      expect(next).toEqual(await names())
    }
  })

  test("a page that is at its start says that nothing moved", async () => {
    await using desktop = await openDesktop()
    const app = await startFixture(desktop, "web")
    const { ref_id } = await until(() => look(desktop, app.title, "Row 2"))
    const { json } = await desktop.run("scroll", ref_id ?? "", "up", "2", "--timeout-ms", "30000")
    expect(json).toMatchObject({
      ok: true,
      data: {
        disposition: { delivery: "delivered_unverified", retry: "unsafe" },
        doubt: expect.stringContaining("Nothing was seen to move"),
      },
    })
    expect((await app.events()).filter(({ event }) => event === "scroll")).toEqual([])
  })
})

/** The buttons of the long page that are in view. */
async function buttons(desktop: TestDesktop): Promise<{ ref_id: string; name: string }[]> {
  const { json } = await desktop.run("list-windows")
  const id = json.data.windows.find((one: Json) => one.title.startsWith("Long page"))?.id
  if (!id) return []
  const seen = await desktop.run("snapshot", "--window-id", id, "-i", "--timeout-ms", "30000")
  return seen.json.ok ? buttonsIn(seen.json.data.tree) : []
}

const buttonsIn = (tree: Node): { ref_id: string; name: string }[] =>
  nodesOf(tree).flatMap(({ ref_id, name }) => (ref_id && name?.startsWith("Buy ") ? [{ ref_id, name }] : []))

interface LongPage extends AsyncDisposable {
  /** How far it is scrolled. */
  top(): number
  /** The same, once it has stayed there for some time; undefined until then. */
  rest(): number | undefined
}

async function openLongPage(desktop: TestDesktop): Promise<LongPage> {
  let top = 0
  let at = performance.now()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response(LONG_PAGE, { headers: { "content-type": "text/html" } }),
      "/at/:top": ({ params }) => {
        top = Number(params.top)
        at = performance.now()
        return new Response()
      },
    },
    fetch: () => new Response("", { status: 404 }),
  })
  desktop.spawnApp([
    ...CHROMIUM,
    "--window-position=0,0",
    "--window-size=1000,800",
    `--user-data-dir=${desktop.directory}/long-page`,
    `--app=${server.url}`,
  ])
  return {
    top: () => top,
    rest: () => (performance.now() - at > REST_MS ? top : undefined),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const REST_MS = 1500

const LONG_PAGE = `<title>Long page</title><script>
for (let i = 1; i <= 90; i++) document.write("<p style='height: 30px'>Item " + i + " <button>Buy " + i + "</button></p>")
onscroll = () => fetch("/at/" + Math.round(scrollY))
</script>`
