import { existsSync } from "node:fs"
import { temporary } from "../support/temporary.ts"
import { envelopeIn } from "../support/validated.ts"

export const PROGRAM = new URL("../../dist/agent-desktop", import.meta.url).pathname
if (!existsSync(PROGRAM)) throw new Error("The compiled program is missing: run 'bun run build' first")

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface Setting extends Disposable {
  readonly directory: string
  /** Runs the compiled program without a desktop, and with its own state directory. */
  run(
    args: readonly string[],
    options?: { env?: Record<string, string>; stdin?: string; cwd?: string },
  ): Promise<Ran>
}

export function nowhere(): Setting {
  const place = temporary()
  const directory = place.path
  return {
    directory,
    async run(args, { env = {}, stdin, cwd = directory } = {}) {
      const child = Bun.spawn([PROGRAM, ...args], {
        cwd,
        env: { PATH: process.env.PATH, HOME: directory, ...env },
        stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
        stdout: "pipe",
        stderr: "pipe",
      })
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      envelopeIn(stdout)
      return { exitCode: await child.exited, stdout, stderr }
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}
