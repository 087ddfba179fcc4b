import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

/** Fails at the deadline: the program that writes to standard input may never close it. */
export async function readInTime(
  read: (end: AbortSignal) => Promise<string>,
  deadline: Deadline,
): Promise<string> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = new AbortController()
  const stop = (): void => {
    reject(inputNotEnded())
    end.abort()
  }
  const timer = setTimeout(stop, deadline.remaining)
  deadline.signal?.addEventListener("abort", stop, { once: true })
  try {
    return await Promise.race([read(end.signal), promise])
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", stop)
  }
}

/** More than any command takes. A program that never stops writing must not fill the memory. */
const MOST_BYTES = 64 * 1_048_576

/** All of standard input, or the part that came before the signal. */
export async function readStandardInput(end?: AbortSignal): Promise<string> {
  const reader = Bun.stdin.stream().getReader()
  const stop = (): void => void reader.cancel()
  end?.addEventListener("abort", stop, { once: true })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes += next.value.length
    if (bytes > MOST_BYTES) {
      await reader.cancel()
      throw tooMuchInput()
    }
    chunks.push(next.value)
  }
  end?.removeEventListener("abort", stop)
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const tooMuchInput = (): AppError =>
  new AppError("INVALID_ARGS", `Standard input is longer than ${MOST_BYTES} bytes`, {
    suggestion: "Check the program that writes to standard input",
    details: { kind: "stdin" },
    disposition: NOTHING_DELIVERED,
  })

const inputNotEnded = (): AppError =>
  new AppError("TIMEOUT", "Standard input was not closed in time", {
    suggestion: "Close standard input after the text, or pass the text as an argument",
    details: { kind: "stdin" },
    disposition: NOTHING_DELIVERED,
  })

export const readAlready = (): AppError =>
  new AppError("INVALID_ARGS", "Standard input has been read already", {
    suggestion: "Pass a secret as env:NAME",
    disposition: NOTHING_DELIVERED,
  })
