import type { Item } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

/**
 * Throws for the first invalid item. `check` throws for an invalid item, and returns false for a command that runs
 * others.
 */
export async function validate(
  items: readonly Item[],
  check: (item: Item) => Promise<boolean>,
  at: (error: AppError, index: number) => AppError = atItem(items),
): Promise<void> {
  for (const [index, item] of items.entries()) {
    try {
      if (!(await check(item))) throw new AppError("INVALID_ARGS", `${item.command} cannot be an item`)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw at(error, index)
    }
  }
}

const atItem =
  (items: readonly Item[]) =>
  ({ code, message, suggestion, details }: AppError, index: number): AppError =>
    new AppError(code, `Item ${index} (${items[index]?.command}): ${message}`, {
      suggestion,
      details: { ...details, index },
    })

export function notStarted(name: string): AppError {
  return new AppError("TIMEOUT", `The batch's time was up before ${name} began`, {
    suggestion: "Run the remaining items in another batch, or pass a longer --timeout-ms",
    details: { kind: "not_started" },
    disposition: NOTHING_DELIVERED,
  })
}

export function interrupted(name: string, error: unknown): AppError {
  const { disposition, details } = error instanceof AppError ? error : {}
  return new AppError("TIMEOUT", `${name} was interrupted`, {
    suggestion: "Run 'snapshot' to see how far it got",
    // The line of a flow.
    details: { kind: "interrupted", ...(details?.line === undefined ? {} : { line: details.line }) },
    disposition,
  })
}
