import type { TestDesktop } from "../../test/support/desktop.ts"
import { PROGRAM } from "../../test/support/desktop.ts"
import { until } from "../../test/support/until.ts"

/** The tools that bench/rivals.ts compares, behind one interface. */

export interface Target {
  readonly role: string
  readonly name: string
  /** The tool's own name for the element: a ref or a token. */
  readonly handle: string
}

export interface Look {
  readonly targets: readonly Target[]
  /** The size of the text for the model. */
  readonly bytes: number
}

export interface Answer {
  /** The tool said that it did not act. */
  readonly isRefusal: boolean
  readonly text: string
  /** Elements that the answer itself offers, such as those of an opened menu. */
  readonly targets: readonly Target[]
}

export type Verb = "press" | "type" | "set" | "tick" | "choose" | "context"

export interface Tool {
  readonly name: string
  /** Chooses the window for everything that follows. */
  open(title: string): Promise<void>
  /** With `all`, closed menus and elements out of view are listed too, if the tool knows the difference. */
  look(all?: boolean): Promise<Look>
  act(verb: Verb, target: Target, text?: string): Promise<Answer>
  /** The same with the window in front, for a tool that otherwise acts in the background. */
  readonly inFront?: Tool["act"]
  menu(path: readonly string[]): Promise<Answer>
  close(): Promise<void>
}

type Run = (command: string, args: Readonly<Record<string, unknown>>) => Promise<Answer>

/** agent-desktop, one process per call. */
export function cold(desktop: TestDesktop): Tool {
  return ours(
    "agent-desktop, cold",
    desktop,
    async (command, args) => {
      const flags = Object.entries(args).map(([name, value]) =>
        value === true ? `--${name.replaceAll("_", "-")}` : `--${name.replaceAll("_", "-")}=${value}`,
      )
      const child = Bun.spawn([PROGRAM, command, ...flags, "--format", "text"], {
        env: { ...desktop.env },
        stdio: ["ignore", "pipe", "pipe"],
      })
      const text = await new Response(child.stdout).text()
      return { isRefusal: (await child.exited) !== 0, text, targets: targetsIn(text) }
    },
    async () => {},
  )
}

/** agent-desktop as an MCP server. */
export async function warm(desktop: TestDesktop): Promise<Tool> {
  const server = await McpServer.start([PROGRAM, "mcp", "--tools", "all"], desktop.env)
  const run: Run = async (command, args) => {
    const { text, isRefusal } = await server.call(`desktop_${command.replaceAll("-", "_")}`, args)
    return { isRefusal, text, targets: targetsIn(text) }
  }
  return ours("agent-desktop, mcp", desktop, run, () => server.close())
}

const COMMANDS = {
  press: "click",
  type: "type",
  set: "set-value",
  tick: "check",
  choose: "select",
  context: "right-click",
} as const

function ours(name: string, desktop: TestDesktop, run: Run, close: () => Promise<void>): Tool {
  let window_id = ""
  return {
    name,
    open: async (title) => {
      window_id = await until(async () => {
        const { json } = await desktop.run("list-windows")
        const windows: readonly { id: string; title: string }[] = json?.data?.windows ?? []
        return windows.find((one) => one.title.includes(title))?.id
      }, 60_000)
    },
    look: async (all) => {
      const more = all ? { include_hidden: true } : {}
      const { text, targets, isRefusal } = await run("snapshot", {
        window_id,
        interactive_only: true,
        compact: true,
        ...more,
      })
      if (isRefusal) throw new Error(text)
      return { targets, bytes: Buffer.byteLength(text) }
    },
    act: (verb, { handle }, text) =>
      run(COMMANDS[verb], {
        ref_id: handle,
        ...(text === undefined ? {} : { [verb === "type" ? "text" : "value"]: text }),
      }),
    menu: (path) => run("menu", { path: path.join(" > "), window_id }),
    close,
  }
}

/** Elements with a ref in a text of agent-desktop. */
const targetsIn = (text: string): Target[] =>
  [...text.matchAll(/^ *(\w+)(?: ("(?:[^"\\]|\\.)*")\??)? \[(@e\d+)\]/gm)].map(([, role, name, ref]) => ({
    role: role!,
    name: name ? JSON.parse(name) : "",
    handle: ref!,
  }))

/** cua-driver's runtime in one Node process without a network. PACKAGE is its folder. */
export async function cua(desktop: TestDesktop, folder: string): Promise<Tool> {
  const server = new LineServer(
    ["unshare", "--net", "--map-current-user", "node", new URL("cua.mjs", import.meta.url).pathname, folder],
    { ...desktop.env, CUA_TELEMETRY_ENABLED: "false", CUA_DRIVER_RS_TELEMETRY_ENABLED: "false" },
  )
  let window: { pid: number; window_id: number }
  const run = async (tool: string, args: object) => {
    server.write([tool, args])
    return server.read()
  }
  const answer = async (tool: string, args: object): Promise<Answer> => {
    const { failed, isError, text, data } = await run(tool, { ...window, ...args })
    const said = failed ?? `${text} ${JSON.stringify(data)}`
    return { isRefusal: failed !== undefined || isError === true, text: said, targets: [] }
  }
  const look = async (): Promise<Look> => {
    const { failed, data, text } = await run("get_window_state", { ...window, include_screenshot: false })
    if (failed) throw new Error(failed)
    const elements: readonly { label?: string; role: string; element_token: string }[] = data.elements
    const targets = elements.map(({ label, role, element_token }) => ({
      role,
      name: label ?? "",
      handle: element_token,
    }))
    // The text has no tokens, so a client needs the elements as well. Only the text is counted.
    return { targets, bytes: Buffer.byteLength(text) }
  }
  const act =
    (delivery_mode: "background" | "foreground"): Tool["act"] =>
    async (verb, { handle: element_token }, text) => {
      if (verb === "set") return answer("set_value", { element_token, value: text })
      if (verb === "type") return answer("type_text", { element_token, text, delivery_mode })
      if (verb === "context") return answer("right_click", { element_token, delivery_mode })
      const pressed = await answer("click", { element_token, delivery_mode })
      if (verb !== "choose" || pressed.isRefusal) return pressed
      const option = (await look()).targets.findLast(({ name }) => name === text)
      return option ? answer("click", { element_token: option.handle, delivery_mode }) : pressed
    }
  return {
    name: "cua-driver",
    open: async (title) => {
      window = await until(async () => {
        const { data } = await run("list_windows", {})
        const found = data?.windows?.find((one: { title?: string }) => one.title?.includes(title))
        return found && { pid: found.pid, window_id: found.window_id }
      }, 60_000)
    },
    look,
    act: act("background"),
    inFront: act("foreground"),
    menu: (path) => answer("invoke_menu", { path }),
    close: () => server.close(),
  }
}

/** A program that answers lines of JSON with lines of JSON. */
class LineServer {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "ignore">
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ""

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = Bun.spawn([...command], {
      env: { ...env },
      cwd: env.HOME,
      stdio: ["pipe", "pipe", "ignore"],
    })
    this.#pieces = this.#child.stdout[Symbol.asyncIterator]()
  }

  write(message: unknown): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
    void this.#child.stdin.flush()
  }

  // biome-ignore lint/suspicious/noExplicitAny: each tool has answers of its own
  async read(): Promise<any> {
    for (;;) {
      const end = this.#rest.indexOf("\n")
      if (end >= 0) {
        const line = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 1)
        return JSON.parse(line)
      }
      const { value, done } = await this.#pieces.next()
      if (done) throw new Error("The tool has ended")
      this.#rest += this.#decoder.decode(value, { stream: true })
    }
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    this.#child.kill()
    await this.#child.exited
  }
}

/** An MCP server on stdin and stdout. */
export class McpServer {
  readonly #lines: LineServer
  #id = 0

  private constructor(lines: LineServer) {
    this.#lines = lines
  }

  static async start(command: readonly string[], env: Readonly<Record<string, string>>): Promise<McpServer> {
    const server = new McpServer(new LineServer(command, env))
    await server.#ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    })
    server.#lines.write({ jsonrpc: "2.0", method: "notifications/initialized" })
    return server
  }

  async call(name: string, args: object): Promise<{ readonly text: string; readonly isRefusal: boolean }> {
    const { content, isError = false } = await this.#ask("tools/call", { name, arguments: args })
    const text = content.map((part: { text?: string }) => part.text ?? "").join("\n")
    return { text, isRefusal: isError }
  }

  close = (): Promise<void> => this.#lines.close()

  async #ask(method: string, params: object) {
    const id = ++this.#id
    this.#lines.write({ jsonrpc: "2.0", id, method, params })
    for (;;) {
      const message = await this.#lines.read()
      if (message.id === id) return message.result
    }
  }
}

/** Installs packages of npm into a folder of their own. */
export function install(folder: string, ...packages: readonly string[]): void {
  const flags = ["--prefix", folder, "--no-audit", "--no-fund", "--no-update-notifier"]
  const { exitCode, stderr } = Bun.spawnSync(["npm", "install", ...flags, ...packages])
  if (exitCode !== 0) throw new Error(stderr.toString())
}
