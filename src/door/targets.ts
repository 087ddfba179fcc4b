import type { Command, Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED, withDisposition } from "../errors.ts"
import { parseDescription } from "../look/description.ts"
import { FOCUSED, REF_SYNTAX } from "../refmap.ts"
import type { Field } from "../schema/fields.ts"
import { labelOf } from "../schema/usage-errors.ts"

/** Arguments that name elements other than by ref. They become refs before a command runs. */

type Args = Parameters<Command["handle"]>[0]

/** Throws INVALID_ARGS for a description that cannot be parsed, and for a flag without a use. */
export function checkTargets(fields: readonly Field[], args: Args): void {
  const described = describedIn(fields, args)
  for (const [field, text] of described) if (text !== FOCUSED) checkDescription(field, text)
  if (described.length === 0 && refsIn(fields, args).length === 0)
    throw new AppError(
      "INVALID_ARGS",
      "--app and --window-id say where an element is, but no element is named",
      {
        suggestion: "Leave them out, or name an element",
        details: { argument: fields.find(({ name, narrows }) => narrows && args[name] !== undefined)?.name },
      },
    )
  if (described.length > 0 && args.snapshot !== undefined)
    throw new AppError("INVALID_ARGS", "--snapshot goes with a ref, but this is a description", {
      suggestion: "Leave out --snapshot: a description is searched in what is visible now",
      details: { argument: "snapshot" },
    })
}

function checkDescription(field: Field, text: string): void {
  try {
    parseDescription(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, suggestion, details } = error
    throw new AppError(code, `${labelOf(field)}: ${message}`, {
      suggestion,
      details: { ...details, argument: field.name },
    })
  }
}

/**
 * Replaces descriptions with refs, and reports where the elements were found. A command that acts may scroll a list to
 * find them.
 */
export async function findTargets(
  fields: readonly Field[],
  args: Args,
  ctx: Context,
  mayScroll: boolean,
): Promise<{ readonly args: Args; readonly place: object }> {
  const { findTarget, requirePlace } = await import("../look/target.ts")
  const reveal =
    mayScroll && !ctx.readOnly ? (list: string, text: string) => showRow(ctx, list, text) : undefined
  const isNamed = args.app !== undefined || args.window_id !== undefined
  if (isNamed) for (const ref_id of refsIn(fields, args)) await requirePlace(ctx, { ...args, ref_id })
  let found: { readonly args: Args; readonly place: object } = { args, place: {} }
  for (const [{ name, target }, text] of describedIn(fields, args)) {
    if (target === "as given" || (target === "descriptions" && text === FOCUSED)) continue
    const { ref_id, window, unsearched } = await findTarget(ctx, text, args, reveal)
    found = {
      args: { ...found.args, [name]: ref_id },
      place: { ...found.place, ...(isNamed ? {} : { window }), ...(unsearched ? { unsearched } : {}) },
    }
  }
  return found
}

async function showRow(ctx: Context, list: string, text: string): Promise<"only" | "first" | undefined> {
  const [{ revealRow }, { resolve }] = await Promise.all([
    import("../act/until-row.ts"),
    import("../refs/resolve.ts"),
  ])
  try {
    return await revealRow(ctx, await resolve(ctx, { ref_id: list }), text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The list may have scrolled, but the command itself has delivered nothing.
    throw withDisposition(error, NOTHING_DELIVERED)
  }
}

function describedIn(fields: readonly Field[], args: Args): readonly (readonly [Field, string])[] {
  return fields.flatMap((field): [Field, string][] => {
    const given = field.target && args[field.name]
    return typeof given === "string" && !REF_SYNTAX.test(given) ? [[field, given]] : []
  })
}

function refsIn(fields: readonly Field[], args: Args): readonly string[] {
  return fields.flatMap((field): string[] => {
    const given = field.target && args[field.name]
    return typeof given === "string" && REF_SYNTAX.test(given) ? [given] : []
  })
}
