import { SCRIPTS, type Scripts } from "./scripts.ts"

/** The Mac for the checks: runs agent-desktop, AppleScript and other programs, and keeps a list of things to put back. */

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** All calls of other programs go through here, so that a test can stand in for the Mac. */
export interface Outside {
  /** Runs agent-desktop and returns what it printed. */
  ask(args: readonly string[]): Promise<Ran>
  script<Name extends keyof Scripts>(name: Name, args: Parameters<Scripts[Name]>): Promise<Ran>
  run(command: readonly string[], input?: string): Promise<Ran>
  pause(ms: number): Promise<void>
}

/** The user ended the run with ctrl+c or a signal. */
export class Interrupted extends Error {
  override readonly message = "interrupted"
}

/** The check is not possible on this Mac. This is not a failure. */
export class Skip extends Error {}

export interface Node {
  readonly role: string
  readonly ref_id?: string
  readonly name?: string
  readonly value?: string
  readonly states?: readonly string[]
  readonly bounds?: Rect
  readonly children?: readonly Node[]
}

interface Rect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Window {
  readonly id: string
  readonly title: string
  readonly pid: number
  readonly bounds?: Rect
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is checked member by member.
type Data = any

export interface Envelope {
  readonly ok: boolean
  readonly data?: Data
  readonly error?: { readonly code: string; readonly disposition?: { readonly delivery: string } }
}

export interface Check {
  /** The subject, a short word for the report. */
  readonly about: string
  /** A sentence about behaviour. */
  readonly title: string
  /** The things it opens or changes, and how they are put back. */
  readonly touches: string
  /** Returns a line for the report, or undefined. */
  run(mac: Mac): Promise<string | undefined>
  /** True if the checks after it cannot work when it fails. */
  readonly isVital?: boolean
}

export class Mac {
  readonly outside: Outside
  /** A folder for this run. No other window has its name. */
  readonly folder: string
  /** A word that occurs nowhere else on this Mac. */
  readonly nonce: string
  #undo: { readonly what: string; readonly action: () => Promise<unknown> }[] = []

  readonly #patienceMs: number

  constructor(outside: Outside, folder: string, nonce: string, patienceMs = 10_000) {
    this.outside = outside
    this.#patienceMs = patienceMs
    this.folder = folder
    this.nonce = nonce
  }

  async answer(...args: readonly string[]): Promise<Envelope> {
    const { out, err } = await this.outside.ask(args)
    if (!out.startsWith("{")) throw new Error(`${args.join(" ")} printed no JSON: ${out}${err}`)
    return JSON.parse(out)
  }

  /** Runs a command and returns its data. Throws the whole answer if it failed. */
  async desktop(...args: readonly string[]): Promise<Data> {
    const said = await this.answer(...args)
    if (!said.ok) throw new Error(`${args.join(" ")}: ${JSON.stringify(said)}`)
    return said.data
  }

  async script<Name extends keyof Scripts>(name: Name, ...args: Parameters<Scripts[Name]>): Promise<string> {
    const { code, out, err } = await this.outside.script(name, args)
    // -1743: the user did not allow it. -600 and -10814: there is no such app.
    if (/\(-1743\)|\(-10814\)/.test(err)) throw new Skip(`AppleScript may not do this: ${err.trim()}`)
    if (code !== 0) throw new Error(`the AppleScript '${name}' failed: ${err.trim() || out.trim()}`)
    return out.replace(/\n$/, "")
  }

  async run(command: readonly string[], input?: string): Promise<string> {
    const { code, out, err } = await this.outside.run(command, input)
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${out}${err}`)
    return out
  }

  /** Repeats an attempt until it does not throw, or the time is up. */
  async eventually<T>(attempt: () => Promise<T>): Promise<T> {
    const end = performance.now() + this.#patienceMs
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof Skip || error instanceof Interrupted || performance.now() > end) throw error
        await this.outside.pause(100)
      }
    }
  }

  /** Registers a step that puts something back. Call it before the change. */
  later(what: string, action: () => Promise<unknown>): void {
    this.#undo.push({ what, action })
  }

  /** Puts everything back, the last change first. Returns the steps that failed. */
  async putBack(): Promise<readonly string[]> {
    const failed: string[] = []
    for (const { what, action } of this.#undo.splice(0).reverse()) {
      try {
        await action()
      } catch (error) {
        failed.push(`${what}: ${error instanceof Error ? error.message : error}`)
      }
    }
    return failed
  }

  /** The nodes of a window, or of another surface of its app. */
  async nodes(...args: readonly string[]): Promise<readonly Node[]> {
    return flatten((await this.desktop("snapshot", "--max-depth", "50", ...args)).tree)
  }

  /** The same. Throws if the snapshot says that it left something out. */
  async allNodes(...args: readonly string[]): Promise<readonly Node[]> {
    const { tree, complete } = await this.desktop("snapshot", "--max-depth", "50", ...args)
    if (complete === false) throw new Error(`snapshot ${args.join(" ")} says complete: false`)
    return flatten(tree)
  }

  /** The window of an app whose title contains a text; without a text, the frontmost one. */
  window(app: string, title = ""): Promise<Window> {
    return this.eventually(async () => {
      const { windows } = await this.desktop("list-windows", "--app", app)
      const found: Window | undefined = windows.find((one: Window) => one.title.includes(title))
      if (!found) throw new Error(`${app} has no window '${title}' among ${windows.length}`)
      return found
    })
  }

  /** Registers that an app is quit afterwards, unless it runs already. Returns true if it runs already. */
  async borrow(app: string): Promise<boolean> {
    const runs = (await this.script("isRunning", app)) === "true"
    if (!runs) this.later(`quit ${app}`, () => this.script("quit", app))
    return runs
  }
}

/** Registers that windows or documents which do not exist yet are closed afterwards. */
export async function closeLater(mac: Mac, app: string): Promise<void> {
  const list = async () => (await mac.script("listOpen", app)).split("\n").filter(Boolean)
  const before = new Set((await mac.script("isRunning", app)) === "true" ? await list() : [])
  mac.later(`close the windows in ${app}`, async () => {
    if ((await mac.script("isRunning", app)) !== "true") return
    for (const one of await list()) if (!before.has(one)) await mac.script("closeOpen", app, one)
  })
}

export function flatten(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(flatten)]
}

export function refOf(node: Node | undefined, what: string): string {
  if (!node) throw new Error(`${what} was not found`)
  if (!node.ref_id) throw new Error(`${what} (${node.role}) has no ref`)
  return node.ref_id
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`)
}

/** Waits until an independent look differs from before. Says so if the answer claimed a verified effect. */
export async function changed(
  mac: Mac,
  look: () => Promise<string>,
  before: string,
  said: { readonly disposition?: { readonly delivery: string } },
  what: string,
): Promise<void> {
  await mac.eventually(async () => {
    if ((await look()) === before)
      throw new Error(`${what} did not change, and the answer says ${said.disposition?.delivery}`)
  })
}

/** The state of a run that may be interrupted. */
export interface Interruption {
  aborted: boolean
  /** Steps that put things back also run after an interruption. */
  puttingBack: boolean
  /** The program that runs now. */
  child?: { kill(signal: NodeJS.Signals): void }
}

/** Signals that a user sends. SIGTERM comes from the time limit of a command. */
const ENDING: ReadonlySet<string> = new Set(["SIGINT", "SIGHUP"])

export function realMac(binary: string, interruption: Interruption): Outside {
  const run = async (command: readonly string[], input?: string): Promise<Ran> => {
    if (interruption.aborted && !interruption.puttingBack) throw new Interrupted()
    const child = Bun.spawn([...command], {
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
      // In a session of its own, so that a second ctrl+c does not reach it.
      detached: interruption.puttingBack,
      // pbcopy and pbpaste choose their encoding by it.
      env: { ...process.env, LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" },
    })
    interruption.child = child
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    // A terminal sends the signal to the command as well, and the command may get it first.
    const isInterrupted = interruption.aborted || ENDING.has(String(child.signalCode))
    if (isInterrupted && !interruption.puttingBack) throw new Interrupted()
    return { code, out, err }
  }
  return {
    ask: (args) => run([binary, ...args]),
    // The table has one type of arguments per name, which the compiler cannot follow through a lookup.
    script: (name, args) =>
      run(["osascript", "-e", (SCRIPTS[name] as (...given: readonly unknown[]) => string)(...args)]),
    run,
    pause: async (ms) => {
      await Bun.sleep(ms)
      if (interruption.aborted && !interruption.puttingBack) throw new Interrupted()
    },
  }
}
