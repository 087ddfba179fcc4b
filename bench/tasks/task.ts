import type { TestDesktop } from "../../test/support/desktop.ts"
import { until } from "../../test/support/until.ts"
import type { Way } from "./way.ts"

/** A task that users do every day, in a stock app. */
export interface Task {
  readonly app: string
  readonly name: string
  start(stage: Stage): Promise<void>
  /** With refs from looks, one step per call. */
  long(way: Way, stage: Stage): Promise<unknown>
  /** With descriptions and batches. */
  short(way: Way, stage: Stage): Promise<unknown>
  /** An outside look at the effect. */
  isDone(stage: Stage): Promise<boolean>
}

/** The place of one attempt: a desktop, its files, and the output of its apps. */
export class Stage implements AsyncDisposable {
  readonly desktop: TestDesktop
  /** A file that the task reads or writes. */
  readonly file: string
  readonly output: string
  /** Requests that the page has sent. */
  readonly requests: string[] = []
  /** True if rows are in another order than usual. */
  readonly isReversed: boolean
  #server: Bun.Server<unknown> | undefined

  constructor(desktop: TestDesktop, isReversed = false) {
    this.desktop = desktop
    this.isReversed = isReversed
    this.file = `${desktop.directory}/work.txt`
    this.output = `${desktop.directory}/output`
  }

  /** Starts an app and waits for a window whose title contains this. */
  async open(title: string, command: readonly string[]): Promise<void> {
    this.desktop.spawnApp(command)
    await this.opened(title)
  }

  /** Waits for a window that a call has opened. The wait is not counted: a model takes longer between two calls. */
  readonly opened = async (title: string): Promise<void> => {
    await until(async () => {
      const { json } = await this.desktop.run("list-windows")
      return json?.data?.windows.some((one: { title: string }) => one.title.includes(title))
    }, 60_000)
  }

  /** Waits for an element to show, such as a bar that slides in. The wait is not counted. */
  async shows(role: string, name: string): Promise<void> {
    await until(async () => {
      const { json } = await this.desktop.run("find", "--role", role, "--name", name, "--first")
      const ref = json?.data?.match?.ref_id
      return ref && (await this.desktop.run("is", ref, "visible")).json?.data?.result === true
    })
  }

  async clipboard(): Promise<string> {
    return (await this.desktop.run("clipboard-get")).json?.data?.text ?? ""
  }

  /** Serves a page that reports to /log. */
  serve(page: string): string {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname, searchParams } = new URL(request.url)
        if (pathname === "/log") this.requests.push(searchParams.toString())
        return new Response(page, { headers: { "content-type": "text/html" } })
      },
    })
    return `http://127.0.0.1:${this.#server.port}/`
  }

  readonly read = (path = this.file): Promise<string> =>
    Bun.file(path)
      .text()
      .catch(() => "")

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop(true)
  }
}
