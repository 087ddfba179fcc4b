import * as v from "valibot"
import { BUTTONS, INPUT_POLICIES } from "../action.ts"
import { AppError } from "../errors.ts"
import type { CliHints } from "./fields.ts"

/**
 * Arguments that several commands share, each described once. A trace hides every text without `traced`. Numbers, flags
 * and choices are always shown.
 */

export const flag = (description: string, hints: CliHints = {}) =>
  v.optional(v.pipe(v.boolean(), v.description(description), v.metadata({ cli: hints })), false)

export const text = (description: string, hints: CliHints = {}) =>
  v.pipe(v.string(), v.description(description), v.metadata({ cli: hints }))

export const optionalText = (description: string, hints: CliHints = {}) =>
  v.optional(text(description, hints))

export const whole = (description: string, min: number, max: number, hints: CliHints = {}) =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(min),
    v.maxValue(max),
    v.description(description),
    v.metadata({ cli: hints }),
  )

export const choice = <const C extends readonly string[]>(
  choices: C,
  description: string,
  hints: CliHints = {},
) =>
  v.pipe(
    v.picklist(choices),
    v.description(description),
    v.metadata({ cli: { traced: true, ...hints } satisfies CliHints }),
  )

/** Text to search for. It must not be empty: an empty text matches everything. */
export const words = (description: string, hints: CliHints = {}) =>
  v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty("must not be empty"),
      v.description(description),
      v.metadata({ cli: hints }),
    ),
  )

/** A ref, a description or `@focused`; look/description.ts has the grammar. */
const target = (description: string, hints: CliHints = {}) =>
  v.pipe(
    v.string(),
    v.nonEmpty("must be a ref such as @e3, or a description such as 'button \"Save\"'"),
    v.description(description),
    v.metadata({ cli: { value: "TARGET", traced: true, target: "found", ...hints } satisfies CliHints }),
  )

export const optionalTarget = (description: string, hints: CliHints = {}) =>
  v.optional(target(description, hints))

const ELEMENT = "Element: @e3, 'button \"Save\"' or @focused"
const TARGET_PLACE = { position: 0, aliases: ["ref"] } as const satisfies CliHints
const targetId = target(ELEMENT, TARGET_PLACE)

/** The same for a command that can take something else instead. */
export const optionalTargetId = optionalTarget(ELEMENT, TARGET_PLACE)

/** The same for a command that also works if no element of the focused window is known. */
export const targetOrFocus = target(ELEMENT, { ...TARGET_PLACE, target: "descriptions" })

export const snapshotId = optionalText("Take the ref from this snapshot instead of the newest", {
  value: "ID",
  traced: true,
})

// Uses the same words for both, so that an MCP server describes them once for all tools.
const APP = "App by name, or by bundle or desktop-file id"
const WINDOW = "Window by id, from list-windows"

export const app = optionalText(APP, {
  value: "NAME",
  traced: true,
})

export const windowId = optionalText(WINDOW, { value: "ID", traced: true })

/** The window to search for a description; without them, the focused one. */
export const scopeInput = {
  app: optionalText(APP, { value: "NAME", traced: true, narrows: true }),
  window_id: optionalText(WINDOW, { value: "ID", traced: true, narrows: true }),
}

export const inputPolicy = v.optional(
  choice(INPUT_POLICIES, "semantic: never synthesise input; physical: pointer and keyboard only"),
  "auto",
)

const SECRET = /^(env:[A-Za-z_][A-Za-z0-9_]*|stdin)$/

/** A secret in place of a text: every user of the machine can read command lines. */
export const secret = v.optional(
  v.pipe(
    v.string(),
    v.regex(SECRET, "must be env:NAME or stdin"),
    v.description("Instead, for a secure field: env:NAME or stdin, never shown"),
    v.metadata({ cli: { value: "env:NAME|stdin", stdin: "stdin" } satisfies CliHints }),
  ),
)

export const changes = flag("Also return the changes it caused, once the app is quiet")

const MODIFIER_LIST =
  /^(?:(?:cmd|command|meta|super|win|ctrl|control|alt|option|opt|shift)(?:[,+](?!$)|$))+$/i

/** Modifier keys beside a click or drag; keys.ts reads them. */
export const modifiers = v.optional(
  v.pipe(
    v.string(),
    v.regex(MODIFIER_LIST, "must be modifier keys such as ctrl,shift; there are cmd, ctrl, alt and shift"),
    v.description("Keys to hold down: ctrl,shift"),
    v.metadata({ cli: { value: "KEYS", traced: true } satisfies CliHints }),
  ),
)

export const targetInput = { ref_id: targetId, snapshot: snapshotId, ...scopeInput }
export const actInput = { ...targetInput, input: inputPolicy, changes }

const POINT = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/

const point = (description: string, hints: CliHints = {}) =>
  v.pipe(
    v.string(),
    v.regex(POINT, "must be X,Y in screen pixels, such as 100,250"),
    v.description(description),
    v.metadata({ cli: { value: "X,Y", traced: true, ...hints } satisfies CliHints }),
    v.transform((given) => {
      const [, x, y] = POINT.exec(given) ?? []
      return { x: Number(x), y: Number(y) }
    }),
  )

export const xy = point("Point of the screen, as X,Y", { position: 0 })
export const optionalXy = (description: string, hints: CliHints = {}) => v.optional(point(description, hints))

export const button = v.optional(choice(BUTTONS, "Mouse button"), "left")

export const durationMs = (description: string, fallback: number) =>
  v.optional(whole(description, 0, 60_000, { aliases: ["duration"], value: "MS" }), fallback)

/** Throws INVALID_ARGS unless the text is a size such as 1280x800. */
export function parseSize(text: string): { readonly width: number; readonly height: number } {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/i.exec(text) ?? []
  const size = { width: Number(width), height: Number(height) }
  if (size.width >= 320 && size.width <= 8192 && size.height >= 200 && size.height <= 8192) return size
  throw new AppError("INVALID_ARGS", `--size '${text}' must be WxH, from 320x200 to 8192x8192`, {
    suggestion: "agent-desktop desktop-start --size 1280x800",
  })
}

/** Throws INVALID_ARGS for a duration that is longer than the command may take. */
export function fitInto(timeoutMs: number, ms: number, flag: string): void {
  if (timeoutMs === 0 || ms <= timeoutMs) return
  throw new AppError("INVALID_ARGS", `${flag} ${ms} is longer than --timeout-ms ${timeoutMs}`, {
    suggestion: `Add --timeout-ms ${ms + 1000}`,
    details: { argument: "timeout_ms" },
  })
}

/** Throws INVALID_ARGS unless exactly one of these members is given. `least` 0 allows none. */
export function oneOf(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
  least: 0 | 1 = 1,
): void {
  const given = names.filter((name) => args[name] !== undefined && args[name] !== false)
  if (given.length <= 1 && given.length >= least) return
  const all = names.map(flagOf).join(", ")
  throw new AppError(
    "INVALID_ARGS",
    given.length > 1 ? `${given.map(flagOf).join(" and ")} exclude each other` : `One of ${all} is needed`,
    { details: { arguments: given.length > 1 ? given : names } },
  )
}

const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`
