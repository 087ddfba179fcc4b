import type { TestDesktop } from "../../test/support/desktop.ts"

/** One way to do a task: its calls of the program, and what they cost. */
export class Way {
  calls = 0
  /** The bytes of all answers. */
  bytes = 0
  ms = 0
  readonly log: string[] = []
  readonly #desktop: TestDesktop
  #seen = ""

  constructor(desktop: TestDesktop) {
    this.#desktop = desktop
  }

  async call(...args: readonly string[]): Promise<string> {
    const start = performance.now()
    const { stdout, exitCode } = await this.#desktop.run(...args, "--format", "text")
    this.ms += performance.now() - start
    this.calls++
    this.bytes += stdout.length
    this.log.push(`$ ${args.join(" ")}\n${stdout.slice(0, 1500)}`)
    if (exitCode !== 0) throw new Error(`${args.join(" ")}: ${stdout.slice(0, 600)}`)
    return stdout
  }

  /** A look as an agent takes it: only elements to act on, in the short form. */
  async look(...args: readonly string[]): Promise<void> {
    this.#seen = await this.call("snapshot", "-i", "--compact", ...args)
  }

  /** Acts on an element of the last look. */
  on(verb: string, element: string, ...args: readonly string[]): Promise<string> {
    return this.call(verb, this.#ref(element), ...args)
  }

  /** Several commands in one call, each as a list of words of the command line. */
  batch(...items: readonly Item[]): Promise<string> {
    const commands = items.map(([command, args]) => ({ command, args }))
    return this.call("batch", JSON.stringify(commands), "--stop-on-error")
  }

  /** Returns the ref of `button "OK"` or `textfield nth 2`. In a row, a cell is only its name. */
  #ref(element: string): string {
    const [start = "", nth = "1"] = element.split(" nth ")
    const words = RegExp.escape(start.replace(/^cell (?=")/, ""))
    const found = [...this.#seen.matchAll(new RegExp(`(?<![\\w"])${words}[^[|\\n]*\\[(@e\\d+)\\]`, "g"))]
    const ref = found[Number(nth) - 1]?.[1]
    if (!ref) throw new Error(`No ${element} in\n${this.#seen}`)
    return ref
  }
}

export type Item = readonly [command: string, args: Readonly<Record<string, unknown>>]
