import type { InputPolicy } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { chooseByName } from "../match.ts"
import { hasTrait, withArticle } from "../node.ts"
import { type RefChoice, resolve, type Target } from "../refs/resolve.ts"
import { actOnRef, changing } from "./act.ts"
import { notSupported } from "./expect.ts"
import { isSelected, optionsOfList } from "./pick.ts"
import type { ActionResult } from "./result.ts"

type Choice = RefChoice & { readonly input?: InputPolicy; readonly changes?: boolean }

/** Selects several options of a list, one after the other. Finds all of them before it selects the first. */
export const selectSeveral = (
  ctx: Context,
  choice: Choice,
  values: readonly string[],
  only: boolean,
): Promise<ActionResult> =>
  changing(ctx, choice, async () => {
    const target = await resolve(ctx, choice)
    const names = await wholeNames(ctx, target, values)
    const results: ActionResult[] = []
    for (const value of names) {
      const action = { kind: "select", value, only: only && results.length === 0 } as const
      const result = await actOnRef(ctx, { ...choice, changes: false }, action).catch((error: unknown) => {
        throw results.length > 0 && error instanceof AppError ? after(error, names, results.length) : error
      })
      results.push(result)
    }
    return summary(results, await leftOut(ctx, target, names))
  })

/** The names of the options, each once. Throws if one is not there, or if the element takes only one. */
async function wholeNames(
  ctx: Context,
  target: Target,
  values: readonly string[],
): Promise<readonly string[]> {
  const { ref, seen } = target
  if (hasTrait(seen.role, "opensMenu"))
    throw new AppError(
      "ACTION_NOT_SUPPORTED",
      `${ref} is ${withArticle(seen.role)}, which takes one option`,
      {
        suggestion: `Select one of them: agent-desktop select ${ref} NAME`,
        disposition: NOTHING_DELIVERED,
      },
    )
  const { options, isWhole } = await optionsOfList(ctx, target)
  if (options.length === 0) throw notSupported(ref, seen, { kind: "select", value: values[0] ?? "" })
  const names = values.map((value) => {
    try {
      return chooseByName(options, value, ref).name ?? value
    } catch (error) {
      // An option that was not read may be there.
      if (!isWhole && error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return value
      throw error
    }
  })
  return [...new Set(names)]
}

/** Options that are not selected afterwards; undefined if that could not be read. */
async function leftOut(
  ctx: Context,
  target: Target,
  names: readonly string[],
): Promise<readonly string[] | undefined> {
  try {
    const { options } = await optionsOfList(ctx, target)
    const selected = new Set(options.filter(isSelected).map(({ name }) => name))
    return names.filter((name) => !selected.has(name))
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function summary(results: readonly ActionResult[], missing: readonly string[] | undefined): ActionResult {
  const last = results.at(-1)!
  const sent = results.filter(({ already }) => !already)
  const open = sent.find(({ disposition }) => disposition.delivery !== "delivered_verified")
  if (missing && missing.length > 0 && !open)
    throw new AppError(
      "ACTION_FAILED",
      `${last.ref_id} takes one option: the later ones replaced the earlier`,
      {
        suggestion: "Run 'snapshot' to see what is selected now, then 'select' the one you want",
        details: { kind: "selection", missing },
        disposition: { delivery: "delivered_unverified", retry: "safe" },
      },
    )
  return open ?? sent.at(-1) ?? last
}

function after(error: AppError, names: readonly string[], done: number): AppError {
  const selected = names.slice(0, done)
  return new AppError(error.code, `${error.message}; before that, ${done} of ${names.length} were selected`, {
    suggestion: error.suggestion,
    platformDetail: error.platformDetail,
    details: { ...error.details, selected },
    disposition: { delivery: "delivered_unverified", retry: "safe" },
  })
}
