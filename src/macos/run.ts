import type { Deadline } from "../deadline.ts"

interface Finished {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: string
}

/** Runs a program of the system to its end; "late" when it had to be ended, "missing" when it is not there. */
export async function run(
  command: readonly string[],
  deadline: Deadline,
  env: Readonly<Record<string, string>> = {},
): Promise<Finished | "late" | "missing"> {
  const child = start(command, { ...process.env, ...env })
  if (!child) return "missing"
  const timer = setTimeout(() => child.kill("SIGKILL"), deadline.remaining)
  const cancel = () => child.kill("SIGKILL")
  deadline.signal?.addEventListener("abort", cancel)
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      child.stdout.bytes(),
      child.stderr.text(),
      child.exited,
    ])
    return child.signalCode ? "late" : { exitCode, stdout, stderr }
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", cancel)
  }
}

function start(command: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  try {
    return Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}
