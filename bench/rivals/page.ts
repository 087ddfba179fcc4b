import { mkdirSync } from "node:fs"
import type { TestDesktop } from "../../test/support/desktop.ts"
import { until } from "../../test/support/until.ts"
import { chromium } from "../apps.ts"
import { median, table } from "../measure.ts"
import { cold, install, type Look, McpServer, type Target, type Tool, warm } from "./tools.ts"

/** One page in Chromium, for agent-desktop, agent-browser and Playwright's MCP server. */

const PACKAGES = ["agent-browser@0.41.1", "@playwright/mcp@0.0.83"]
const TEXT = "abcdefghijklmnopqrst"
const NO_EFFECT_MS = 3_000
const TITLE = "Compared page"

type PageTool = Pick<Tool, "name" | "look" | "close"> & {
  act(verb: "press" | "type", target: Target, text?: string): Promise<{ readonly isRefusal: boolean }>
}

interface Heard {
  readonly event: string
  readonly value: unknown
}

export async function comparePages(
  desktop: TestDesktop,
  rounds: number,
  say: (text: string) => void,
): Promise<void> {
  const folder = `${desktop.directory}/rivals`
  say(`npm install ${PACKAGES.join(" ")}`)
  install(folder, ...PACKAGES)
  const pages = new Pages()
  const profile = `${desktop.directory}/own-browser`
  mkdirSync(profile)
  desktop.spawnApp(chromium(profile, pages.address("desktop")))
  await pages.opened("desktop")
  const own = [cold(desktop), await warm(desktop)]
  for (const tool of own) await tool.open(TITLE)
  const tools: readonly (readonly [PageTool, string])[] = [
    ...own.map((tool) => [tool, "desktop"] as const),
    [await agentBrowser(desktop, folder, pages.address("agent-browser")), "agent-browser"],
    [await playwright(desktop, folder, pages.address("playwright")), "playwright"],
  ]
  for (const [, page] of tools) await pages.opened(page)

  const rows = tools.map(() => ({
    look: [] as number[],
    press: [] as number[],
    type: [] as number[],
    said: "",
  }))
  const below = tools.map(() => [] as string[])
  const hits = CHANGES.map(() => tools.map(() => [] as string[]))
  for (let round = -1; round < rounds; round++)
    for (const [at, [tool, page]] of tools.entries()) {
      say(`round ${round + 1}: ${tool.name}`)
      const timed = async <T>(list: number[], run: () => Promise<T>): Promise<T> => {
        const start = performance.now()
        const result = await run()
        if (round >= 0) list.push(performance.now() - start)
        return result
      }
      const row = rows[at]!
      await pages.command(page, "reset")
      const look = await timed(row.look, () => tool.look())
      row.said = `${look.targets.length} | ${look.bytes}`
      await timed(row.press, () => tool.act("press", named(look, "Reply")))
      await pages.heard(page, "press", "Reply")
      await timed(row.type, () => tool.act("type", named(look, "Name"), TEXT))
      await pages.heard(page, "text", TEXT)
      if (round < 0) continue
      below[at]!.push(look.targets.some(({ name }) => name === "Buy 55") ? "listed" : "not listed")
      for (const [index, change] of CHANGES.entries()) {
        await pages.command(page, "reset")
        const target = named(await tool.look(), "Send")
        pages.forget(page)
        await pages.command(page, change)
        const { isRefusal } = await tool.act("press", target)
        hits[index]![at]!.push(
          await pages.verdict(page, isRefusal, change === "nothing" || change === "insert"),
        )
      }
    }

  const ms = (values: readonly number[]) => median(values).toFixed(0)
  console.log(`${rounds} rounds, medians, ms\n`)
  console.log(
    table(
      ["tool", "look", "press", "type 20", "elements", "bytes of a look", "a button far below"],
      tools.map(([{ name }], at) => {
        const { look, press, type, said } = rows[at]!
        return [name, ms(look), ms(press), ms(type), said, counted(below[at]!)]
      }),
    ),
  )
  console.log(`\nThe page changes between the look and the press of "Send"\n`)
  console.log(
    table(
      ["change", ...tools.map(([{ name }]) => name)],
      CHANGES.map((change, index) => [change, ...hits[index]!.map(counted)]),
    ),
  )
  for (const [tool] of tools) await tool.close()
}

const CHANGES = ["nothing", "insert", "remove", "replace", "become"] as const

const counted = (all: readonly string[]): string =>
  [...Map.groupBy(all, (one) => one)].map(([one, same]) => `${one} ${same.length}`).join(", ")

function named({ targets }: Look, name: string): Target {
  const target = targets.find((one) => one.name === name)
  if (!target) throw new Error(`No '${name}' in: ${targets.map((one) => one.name).join(", ")}`)
  return target
}

/** Serves the page to each browser, collects its reports and sends it commands. */
class Pages {
  readonly #heard = new Map<string, Heard[]>()
  readonly #sockets = new Map<string, Bun.ServerWebSocket<string>>()
  readonly #sent = new Map<string, number>()
  readonly #server = Bun.serve<string>({
    port: 0,
    hostname: "127.0.0.1",
    routes: { "/": new Response(Bun.file(new URL("page.html", import.meta.url).pathname)) },
    fetch: (request, server) => {
      const data = new URL(request.url).searchParams.get("page")
      if (data && server.upgrade(request, { data })) return
      return new Response("", { status: 404 })
    },
    websocket: {
      open: (socket) => {
        this.#sockets.set(socket.data, socket)
      },
      // The page's own log() creates these events.
      message: (socket, text) => {
        this.#heardBy(socket.data).push(JSON.parse(String(text)))
      },
    },
  })

  constructor() {
    this.#server.unref()
  }

  address = (page: string): string => `${this.#server.url}?page=${page}`

  #heardBy(page: string): Heard[] {
    const list = this.#heard.get(page) ?? []
    this.#heard.set(page, list)
    return list
  }

  opened = (page: string): Promise<unknown> => this.heard(page, "opened", true)

  heard(page: string, event: string, value: unknown): Promise<unknown> {
    const isIt = (one: Heard) => one.event === event && one.value === value
    return until(() => this.#heardBy(page).some(isIt), 60_000)
  }

  async command(page: string, command: string): Promise<void> {
    const number = (this.#sent.get(page) ?? 0) + 1
    this.#sent.set(page, number)
    this.#sockets.get(page)?.send(command)
    await this.heard(page, "done", number)
  }

  forget(page: string): void {
    const list = this.#heardBy(page)
    list.splice(0, list.length, ...list.filter(({ event }) => event !== "press" && event !== "text"))
  }

  /** Judges a press of "Send" by what the page has reported. */
  async verdict(page: string, isRefusal: boolean, isThere: boolean): Promise<string> {
    const presses = () => this.#heardBy(page).filter(({ event }) => event === "press")
    await until(() => presses().length > 0, isRefusal || !isThere ? NO_EFFECT_MS / 3 : NO_EFFECT_MS).catch(
      () => 0,
    )
    const hit = presses().map(({ value }) => value)
    this.forget(page)
    if (hit.some((value) => value !== "Send")) return "wrong"
    if (hit.length > 0) return "right"
    return isRefusal ? "refused" : "no effect"
  }
}

const refsIn = (text: string): Target[] =>
  [...text.matchAll(/- (\w+) "((?:[^"\\]|\\.)*)"[^\n]*?\[ref=(\w+)\]/g)].map(([, role, name, ref]) => ({
    role: role!,
    name: name!,
    handle: ref!,
  }))

/** agent-browser: its native executable, one process per call, with its daemon and a browser. */
async function agentBrowser(desktop: TestDesktop, folder: string, url: string): Promise<PageTool> {
  const file = `${folder}/node_modules/agent-browser/bin/agent-browser-${process.platform}-${process.arch}`
  Bun.spawnSync(["chmod", "+x", file])
  const env = {
    ...desktop.env,
    AGENT_BROWSER_EXECUTABLE_PATH: "/usr/bin/chromium",
    ...(process.getuid?.() === 0 ? { AGENT_BROWSER_ARGS: "--no-sandbox" } : {}),
  }
  const run = async (...args: readonly string[]) => {
    const child = Bun.spawn([file, "--session", "bench", ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
    const text = await new Response(child.stdout).text()
    return { text, isRefusal: (await child.exited) !== 0 }
  }
  await run("open", url)
  return {
    name: "agent-browser",
    look: async () => {
      const { text } = await run("snapshot", "-i")
      return { targets: refsIn(text), bytes: Buffer.byteLength(text) }
    },
    act: (verb, { handle }, text) =>
      verb === "press" ? run("click", `@${handle}`) : run("fill", `@${handle}`, text ?? ""),
    close: async () => {
      await run("close")
    },
  }
}

async function playwright(desktop: TestDesktop, folder: string, url: string): Promise<PageTool> {
  const script = `${folder}/node_modules/@playwright/mcp/cli.js`
  const flags = ["--headless", "--isolated", "--executable-path", "/usr/bin/chromium"]
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : []
  const server = await McpServer.start(["node", script, ...flags, ...sandbox], desktop.env)
  await server.call("browser_navigate", { url })
  return {
    name: "Playwright MCP",
    look: async () => {
      const { text } = await server.call("browser_snapshot", {})
      return { targets: refsIn(text), bytes: Buffer.byteLength(text) }
    },
    act: (verb, { name, handle }, text) =>
      verb === "press"
        ? server.call("browser_click", { element: name, target: handle })
        : server.call("browser_type", { element: name, target: handle, text }),
    close: async () => {
      await server.call("browser_close", {})
      await server.close()
    },
  }
}
