import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

/** Fails at the deadline: the program that writes to standard input may never close it. */
export async function readInTime(text: Promise<string>, deadline: Deadline): Promise<string> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(inputNotEnded()), deadline.remaining)
  try {
    return await Promise.race([text, promise])
  } finally {
    clearTimeout(timer)
  }
}

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
