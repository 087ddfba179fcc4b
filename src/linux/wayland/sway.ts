import { existsSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { Rect } from "../../node.ts"
import { inTime } from "../../until.ts"

/** Sway's own protocol, over its own socket: the tree of windows, and commands. */
export class Sway {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** undefined: the session's compositor is not sway, or its socket is gone. */
  static find(env: Env): Sway | undefined {
    return env.SWAYSOCK && existsSync(env.SWAYSOCK) ? new Sway(env.SWAYSOCK) : undefined
  }

  async version(deadline: Deadline): Promise<string> {
    const answer = await this.#ask(GET_VERSION, "", deadline)
    const text: unknown = Object(answer).human_readable
    return typeof text === "string" ? text : ""
  }

  async views(deadline: Deadline): Promise<readonly SwayView[]> {
    const root = await this.#ask(GET_TREE, "", deadline)
    return viewsIn(asNode(root))
  }

  /** Runs a command. Throws if sway refuses it. */
  async run(command: string, deadline: Deadline): Promise<void> {
    const results = await this.#ask(RUN_COMMAND, command, deadline)
    const failed = Array.isArray(results) ? results.find((one) => one?.success !== true) : undefined
    if (!failed) return
    throw new AppError("ACTION_FAILED", "Sway refused the command", {
      platformDetail: String(failed.error ?? command),
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
  }

  /** Calls back when a window opens, closes, moves, changes its title or gets the focus. */
  async watch(changed: () => void, deadline: Deadline): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = await this.#connect((type) => {
      if (type === SUBSCRIBE) resolve()
      else changed()
    })
    socket.write(frame(SUBSCRIBE, '["window","workspace"]'))
    await within(promise, deadline)
    return { [Symbol.dispose]: () => socket.terminate() }
  }

  async #ask(type: number, payload: string, deadline: Deadline): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const socket = await this.#connect(
      (_, text) => resolve(text),
      () => reject(unreachable("it hung up")),
    )
    try {
      socket.write(frame(type, payload))
      return JSON.parse(await within(promise, deadline))
    } finally {
      socket.terminate()
    }
  }

  async #connect(
    heard: (type: number, text: string) => void,
    closed: () => void = () => {},
  ): Promise<Bun.Socket> {
    let rest = Buffer.alloc(0)
    return Bun.connect({
      unix: this.#path,
      socket: {
        data: (_, chunk) => {
          rest = Buffer.concat([rest, chunk])
          while (rest.length >= HEADER && rest.length >= HEADER + rest.readUInt32LE(6)) {
            const end = HEADER + rest.readUInt32LE(6)
            heard(rest.readUInt32LE(10), rest.toString("utf8", HEADER, end))
            rest = rest.subarray(end)
          }
        },
        close: closed,
      },
    }).catch((error: unknown) => {
      throw unreachable(String(error))
    })
  }
}

export interface SwayView {
  readonly id: number
  readonly title: string
  readonly pid: number
  readonly appId: string
  /** The id of its Xwayland window. */
  readonly xId?: number
  /** The content, without borders and title bar. */
  readonly content: Rect
  /** Including borders and title bar. */
  readonly frame: Rect
  readonly focused: boolean
  readonly visible: boolean
  readonly floating: boolean
  readonly fullscreen: boolean
}

interface SwayNode {
  readonly id: number
  readonly name: string | null
  readonly type: string
  readonly pid?: number
  readonly app_id?: string | null
  readonly window?: number | null
  readonly window_properties?: { readonly class?: string }
  readonly shell?: string
  readonly rect: Rect
  readonly window_rect: Rect
  readonly deco_rect: Rect
  readonly focused: boolean
  readonly visible?: boolean
  readonly fullscreen_mode?: number
  readonly focus: readonly number[]
  readonly nodes: readonly SwayNode[]
  readonly floating_nodes: readonly SwayNode[]
}

// Sway is trusted with its own format, as the X server is.
const asNode = (value: unknown): SwayNode => value as SwayNode

/** The windows, topmost first: full screen, then floating ones, then tiles. The last floating one is on top. */
function viewsIn(node: SwayNode, isFloating = false): readonly SwayView[] {
  if (node.pid !== undefined && node.nodes.length === 0 && node.floating_nodes.length === 0)
    return [viewOf(node, isFloating)]
  const floating = node.floating_nodes.toReversed().flatMap((one) => viewsIn(one, true))
  // The order of the focus: the current output and workspace first.
  const tiles = node.nodes
    .toSorted((a, b) => node.focus.indexOf(a.id) - node.focus.indexOf(b.id))
    .flatMap((one) => viewsIn(one, isFloating))
  const all = [...floating, ...tiles]
  return [...all.filter(({ fullscreen }) => fullscreen), ...all.filter(({ fullscreen }) => !fullscreen)]
}

function viewOf(node: SwayNode, floating: boolean): SwayView {
  const { rect, window_rect: inner, deco_rect: deco } = node
  return {
    id: node.id,
    title: node.name ?? "",
    pid: node.pid ?? 0,
    appId: node.app_id ?? node.window_properties?.class ?? "",
    xId: node.window ?? undefined,
    content: { x: rect.x + inner.x, y: rect.y + inner.y, width: inner.width, height: inner.height },
    frame: { x: rect.x, y: rect.y - deco.height, width: rect.width, height: rect.height + deco.height },
    focused: node.focused,
    visible: node.visible ?? true,
    floating: floating || node.type === "floating_con",
    fullscreen: (node.fullscreen_mode ?? 0) > 0,
  }
}

function frame(type: number, payload: string): Uint8Array {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(HEADER)
  head.write("i3-ipc")
  head.writeUInt32LE(body.length, 6)
  head.writeUInt32LE(type, 10)
  return Buffer.concat([head, body])
}

function within<T>(answer: Promise<T>, { remaining, signal }: Deadline): Promise<T> {
  const late = (): never => {
    throw new AppError("TIMEOUT", "Sway did not answer in time", { details: { kind: "compositor" } })
  }
  return inTime(answer, remaining, late, signal)
}

function unreachable(detail: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "Sway cannot be reached at SWAYSOCK", {
    suggestion: "Run inside the sway session; 'doctor' shows what is missing",
    platformDetail: detail,
  })
}

const HEADER = 14
const RUN_COMMAND = 0
const SUBSCRIBE = 2
const GET_TREE = 4
const GET_VERSION = 7
