import { timingSafeEqual } from "node:crypto"
import { closeSync, rmSync } from "node:fs"
import type { Adapter } from "../adapter.ts"
import type { ViewAddress, ViewOptions } from "../command.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Rect } from "../node.ts"
import { openPrivateDirectory, writePrivateFile } from "../private-files.ts"
import { viewersDirectory } from "../viewers.ts"
import { Agents } from "./agents.ts"
import { LiveDesktop, merged } from "./live-desktop.ts"
import { page } from "./page.ts"

/** The parts of a door that a view uses. */
export interface Viewed {
  readonly desktop?: string
  readonly apps?: readonly string[]
  readonly signal?: AbortSignal
  platform(): Promise<{ adapter(deadline: Deadline): Adapter; places(): readonly string[] }>
}

export interface View extends ViewAddress {
  /** Resolves when the page is no longer served: the desktop has ended, or a signal came. */
  readonly ended: Promise<void>
}

/** Serves the page on loopback. Every request without the token in its address gets 404. */
export async function serveView(door: Viewed, options: ViewOptions): Promise<View> {
  if (door.apps)
    throw new AppError("POLICY_DENIED", "desktop-view shows every app, and only some are allowed here", {
      suggestion: "Ask the user to run it without AGENT_DESKTOP_APPS",
      details: { apps: door.apps },
    })
  // Unlike a command, a view lives long enough for compiled code to pay (see build.ts).
  Bun.unsafe.setJITPolicy(1)
  const platform = await door.platform()
  const stop = new AbortController()
  door.signal?.addEventListener("abort", () => stop.abort(), { once: true })
  const clients = new Set<Client>()
  const sendAll = (message: object): void => {
    for (const client of clients) client.send(message)
  }
  const live = new LiveDesktop(
    async (deadline) => platform.adapter(deadline),
    {
      pictureChanged: (areas) => {
        encoded.clear()
        for (const client of clients) client.draw(areas)
      },
      windowsChanged: () => {
        for (const client of clients) client.sendWindows(live)
      },
    },
    stop.signal,
  )
  const agents = new Agents(platform.places(), {
    entryChanged: (entry) => sendAll({ kind: "command", ...entry }),
    pauseChanged: () => sendAll({ kind: "pause", ...agents.pause }),
  })
  const encoded = new Map<string, Uint8Array>()
  const pngOf = (area: Rect): Uint8Array => {
    const key = `${area.x},${area.y},${area.width},${area.height}`
    const known = encoded.get(key) ?? patchOf(area, live.screen.png(area))
    encoded.set(key, known)
    return known
  }
  const { ended } = await live.start()
  const token = crypto
    .getRandomValues(new Uint8Array(32))
    .toBase64({ alphabet: "base64url", omitPadding: true })
  const hello = {
    kind: "hello",
    desktop: door.desktop,
    commands: agents.entries,
  }
  const server = openServer(options.port, token, {
    open: (socket) => {
      const client = new Client(socket, pngOf)
      socket.data.client = client
      clients.add(client)
      client.send({
        ...hello,
        commands: agents.entries,
        width: live.screen.width,
        height: live.screen.height,
      })
      client.send({ kind: "pause", ...agents.pause })
      client.sendWindows(live)
      client.draw([{ x: 0, y: 0, width: live.screen.width, height: live.screen.height }])
    },
    close: (socket) => void (socket.data.client && clients.delete(socket.data.client)),
    message: (socket, text) => {
      if (text === "drawn") socket.data.client?.drawn()
      else if (text === "pause" || text === "go") agents.setPaused(text === "pause")
    },
  })
  const url = `http://127.0.0.1:${server.port}/${token}/`
  try {
    agents.listen()
    if (options.open) openInBrowser(url)
  } catch (error) {
    stop.abort()
    await server.stop(true)
    throw error
  }
  const close = async (): Promise<void> => {
    agents.close()
    rmSync(openerPath(), { force: true })
    await server.stop(true)
  }
  return { url, desktop: door.desktop, ended: ended.finally(close) }
}

interface ClientData {
  client?: Client
}

type ViewSocket = Bun.ServerWebSocket<ClientData>

interface SocketEvents {
  open(socket: ViewSocket): void
  close(socket: ViewSocket): void
  message(socket: ViewSocket, text: string): void
}

function openServer(port: number, token: string, events: SocketEvents): Bun.Server<ClientData> {
  try {
    return Bun.serve<ClientData>({
      hostname: "127.0.0.1",
      port,
      maxRequestBodySize: 0,
      fetch: (request, server) => answer(request, server, token),
      error: () => nothing(),
      websocket: {
        maxPayloadLength: 64,
        // A page that stops reading is disconnected. The limit has room for a whole picture of a large screen.
        backpressureLimit: 64 * 1_048_576,
        closeOnBackpressureLimit: true,
        open: events.open,
        close: events.close,
        message: (socket, message) => events.message(socket, String(message)),
      },
    })
  } catch (error) {
    throw new AppError("ACTION_FAILED", `Cannot listen on port ${port}`, {
      suggestion: "Leave out --port, or name a free port above 1023",
      platformDetail: String(error),
    })
  }
}

function answer(request: Request, server: Bun.Server<ClientData>, token: string): Response | undefined {
  if (request.method !== "GET" || !isFromHere(request, server.port ?? 0)) return nothing()
  const [, given = "", rest, ...more] = new URL(request.url).pathname.split("/")
  if (!isEqual(given, token) || rest === undefined || more.length > 0) return nothing()
  if (rest === "") return page()
  if (rest !== "live" || request.headers.get("origin") === null) return nothing()
  return server.upgrade(request, { data: {} }) ? undefined : nothing()
}

/**
 * True if the request names this server, and comes from its own page or from no page. Otherwise a page of another origin
 * could fetch from here under a host name of its own that leads to this machine.
 */
function isFromHere({ headers }: Request, port: number): boolean {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`]
  const host = headers.get("host") ?? ""
  const origin = headers.get("origin")
  const site = headers.get("sec-fetch-site")
  if (!own.includes(host) || (origin !== null && origin !== `http://${host}`)) return false
  // A page of another origin may open this one as a document, but not embed it or fetch from it.
  return (
    site === null || site === "same-origin" || site === "none" || headers.get("sec-fetch-mode") === "navigate"
  )
}

const nothing = (): Response => new Response(null, { status: 404 })

/** Takes the same time for all texts of the same length. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** Eight bytes with the place, then the picture. */
function patchOf({ x, y, width, height }: Rect, png: Uint8Array): Uint8Array {
  const patch = new Uint8Array(8 + png.length)
  const view = new DataView(patch.buffer)
  for (const [i, value] of [x, y, width, height].entries()) view.setUint16(i * 2, value)
  patch.set(png, 8)
  return patch
}

/** A page in a browser. It gets the next picture after it has drawn the last one. */
class Client {
  readonly #socket: ViewSocket
  readonly #encode: (area: Rect) => Uint8Array
  #undrawn = 0
  #due: readonly Rect[] = []
  #sent = new Map<string, string>()
  #order = ""

  constructor(socket: ViewSocket, encode: (area: Rect) => Uint8Array) {
    this.#socket = socket
    this.#encode = encode
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  draw(areas: readonly Rect[]): void {
    this.#due = merged([...this.#due, ...areas])
    this.#flush()
  }

  drawn(): void {
    this.#undrawn = Math.max(0, this.#undrawn - 1)
    this.#flush()
  }

  /** Sends the windows that have changed since they were sent last. */
  sendWindows({ windows, screen }: LiveDesktop): void {
    const seen = new Set<string>()
    for (const { id, title, app_name, bounds, content } of windows) {
      seen.add(id)
      const { lines, note } = content
      const message = JSON.stringify({ kind: "window", id, title, app: app_name, bounds, lines, note })
      if (this.#sent.get(id) === message) continue
      this.#sent.set(id, message)
      this.#socket.send(message)
    }
    for (const id of this.#sent.keys()) if (!seen.has(id)) this.#sent.delete(id)
    const focused = windows.find(({ is_focused }) => is_focused)?.id
    const { width, height } = screen
    const order = JSON.stringify({ kind: "windows", ids: [...seen], focused, width, height })
    if (order === this.#order) return
    this.#order = order
    this.#socket.send(order)
  }

  #flush(): void {
    if (this.#undrawn > 0) return
    const due = this.#due
    this.#due = []
    for (const area of due) {
      this.#undrawn++
      this.#socket.sendBinary(this.#encode(area))
    }
  }
}

const openerPath = (): string => `${viewersDirectory()}/${process.pid}-open.html`

/**
 * Opens the page in the user's browser. A private file passes the address, because every user of the machine can read
 * command lines.
 */
function openInBrowser(url: string): void {
  closeSync(openPrivateDirectory(viewersDirectory(), "inner"))
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}">`
  rmSync(openerPath(), { force: true })
  writePrivateFile(openerPath(), new TextEncoder().encode(html))
  const program = process.platform === "darwin" ? "open" : "xdg-open"
  if (!Bun.which(program))
    throw new AppError("PLATFORM_NOT_SUPPORTED", `'${program}', which opens the browser, is not installed`, {
      suggestion: "Leave out --open, and open the address that is printed",
    })
  Bun.spawn([program, openerPath()], { stdio: ["ignore", "ignore", "ignore"] }).unref()
}
