import { decodePng, type Pixels } from "../../src/picture/png.ts"
import { PROGRAM, type TestDesktop } from "./desktop.ts"
import { until } from "./until.ts"

export interface View {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<number>
  end(): Promise<number>
}

/** Runs desktop-view: with "test" for the desktop of that name from outside of it, otherwise inside. */
export async function startView(desktop: TestDesktop, ...args: readonly string[]): Promise<View> {
  const { PATH = "", HOME = "", AGENT_DESKTOP_HOME = "" } = desktop.env
  const child = Bun.spawn([PROGRAM, "desktop-view", ...args], {
    // This process does not belong to the desktop: the desktop would end it.
    env: args.includes("test") ? { PATH, HOME, AGENT_DESKTOP_HOME } : { ...desktop.env },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const reader = child.stdout.getReader()
  let said = ""
  while (!said.includes("\n")) {
    const { value, done } = await reader.read()
    if (done) break
    said += new TextDecoder().decode(value)
  }
  const { data } = JSON.parse(said)
  const end = async (): Promise<number> => {
    child.kill("SIGTERM")
    return child.exited
  }
  return { url: data.url, pid: child.pid, exited: child.exited, end }
}

/** Collects every frame that a viewer gets. */
export interface Film extends AsyncDisposable {
  frames(): number
  /** Called with the whole screen after each frame. */
  play(look: (screen: Pixels, number: number) => void): void
  /** The whole screen after the last frame. */
  last(): Pixels
}

/** Follows a view as a client of its own. */
export async function film(url: string): Promise<Film> {
  const { origin } = new URL(url)
  const patches: Uint8Array[] = []
  let shown: Pixels | undefined
  const socket = new WebSocket(`${url.replace("http", "ws")}live`, { headers: { origin } } as never)
  socket.binaryType = "arraybuffer"
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") return
    const patch = new Uint8Array(data)
    patches.push(patch)
    shown = patched(shown, patch)
    socket.send("drawn")
  }
  await until(() => patches.length > 0)
  return {
    frames: () => patches.length,
    play(look) {
      let screen: Pixels | undefined
      for (const [number, patch] of patches.entries()) {
        screen = patched(screen, patch)
        look(screen, number)
      }
    },
    last: () => shown!,
    [Symbol.asyncDispose]: async () => socket.close(),
  }
}

/** The screen with a frame drawn into it; the first frame is the whole screen. */
function patched(screen: Pixels | undefined, patch: Uint8Array): Pixels {
  const part = decodePng(patch.subarray(8))
  if (!screen) return part
  const head = new DataView(patch.buffer)
  for (let row = 0; row < part.height; row++) {
    const to = ((head.getUint16(2) + row) * screen.width + head.getUint16(0)) * 4
    screen.bgrx.set(part.bgrx.subarray(row * part.width * 4, (row + 1) * part.width * 4), to)
  }
  return screen
}
