import { temporary } from "../../support/temporary.ts"

export interface Daemon extends AsyncDisposable {
  readonly address: string
  readonly process: Bun.Subprocess
}

/** A private message bus that ends with the test. */
export async function startDaemon(kind: "path" | "abstract" = "path"): Promise<Daemon> {
  const place = temporary()
  const directory = place.path
  const listen = kind === "path" ? `unix:path=${directory}/bus` : `unix:abstract=${directory}/bus`
  const child = Bun.spawn(
    ["dbus-daemon", "--session", "--nofork", "--print-address=1", `--address=${listen}`],
    {
      stdout: "pipe",
      stderr: "ignore",
      stdin: "ignore",
    },
  )
  return {
    address: await firstLine(child.stdout),
    process: child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await child.exited
      place[Symbol.dispose]()
    },
  }
}

/** A socket server whose answers come from `speak`. */
export function startPeer(
  speak: Partial<Record<"open" | "data", (socket: Bun.Socket<undefined>, chunk: Buffer) => void>>,
): Disposable & { readonly address: string; readonly sockets: Set<Bun.Socket<undefined>> } {
  const place = temporary()
  const directory = place.path
  const sockets = new Set<Bun.Socket<undefined>>()
  const listener = Bun.listen<undefined>({
    unix: `${directory}/socket`,
    socket: {
      open(socket) {
        sockets.add(socket)
        speak.open?.(socket, Buffer.alloc(0))
      },
      data: (socket, chunk) => speak.data?.(socket, chunk),
      close: (socket) => void sockets.delete(socket),
      error: () => {},
    },
  })
  return {
    address: `unix:path=${directory}/socket`,
    sockets,
    [Symbol.dispose]() {
      listener.stop(true)
      place[Symbol.dispose]()
    },
  }
}

/** The first line that a program prints: the address of a bus that listens. */
export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ""
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk)
    const end = text.indexOf("\n")
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error("dbus-daemon ended without an address")
}
