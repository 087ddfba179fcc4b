import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { type RefChoice, resolve, type Target } from "./resolve.ts"

/**
 * Resolves a ref and reads more around its element. If the app removes an object meanwhile, this starts again: apps such
 * as LibreOffice replace the objects of cells that stay the same. `read` must not deliver anything.
 */
export async function readTarget<T>(
  ctx: Context,
  choice: RefChoice,
  read: (target: Target) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const target = await resolve(ctx, choice)
    try {
      return await read(target)
    } catch (error) {
      const wasRemoved = error instanceof AppError && error.details?.kind === "removed"
      if (!wasRemoved || tries === MOST_TRIES) throw error
    }
  }
}

const MOST_TRIES = 3
