import type { Action, InputPolicy, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { hasTrait, type Role } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import { notSupported } from "./expect.ts"
import { discloseByKey, placesCaret, replaceText, typeText } from "./keyboard.ts"
import { pickOption } from "./pick.ts"
import { clickElement, disclosurePoint, turnWheel } from "./pointer.ts"

/**
 * Does the action with pointer and keyboard, as a user would. Before it sends anything it makes sure that the input
 * reaches the element; otherwise it throws, and nothing was delivered.
 */
export async function actPhysically(
  ctx: Context,
  target: Target,
  action: Action,
  policy: InputPolicy,
): Promise<Performed> {
  const { ref, seen } = target
  switch (action.kind) {
    case "click":
    case "toggle":
    case "check":
    case "uncheck":
      return clickElement(ctx, target, action)
    case "expand":
    case "collapse":
      if (seen.disclosure === "arrow keys") return discloseByKey(ctx, target, action)
      if (seen.disclosure) return clickElement(ctx, target, action, { pointOf: disclosurePoint })
      // A click in the middle of a row selects it.
      if (!OPENED_BY_CLICK.has(seen.role)) throw notSupported(ref, seen, action)
      return clickElement(ctx, target, action)
    case "double-click":
      return clickElement(ctx, target, action, { count: 2 })
    case "triple-click":
      return clickElement(ctx, target, action, { count: 3 })
    case "right-click":
      return clickElement(ctx, target, action, { button: "right" })
    case "focus":
      if (!placesCaret(seen)) throw notSupported(ref, seen, action)
      return clickElement(ctx, target, action)
    case "type":
      if (obeysKeys(seen)) throw notSupported(ref, seen, action)
      return typeText(ctx, target, action, action.text)
    case "clear":
      return replace(ctx, target, action, "")
    case "set-value":
      return replace(ctx, target, action, action.value)
    case "select":
      return pickOption(ctx, target, action, policy)
    case "scroll":
      return turnWheel(ctx, target, action)
    case "scroll-to":
      throw notSupported(ref, seen, action)
    default:
      return action satisfies never
  }
}

async function replace(ctx: Context, target: Target, action: Action, text: string): Promise<Performed> {
  const { seen } = target
  if (seen.date) {
    const { fillDate } = await import("./date.ts")
    return fillDate(ctx, target, action, seen.date, text)
  }
  if (action.kind === "set-value" && isStepped(seen)) {
    const { stepTo } = await import("./number-steps.ts")
    return stepTo(ctx, target, action, text)
  }
  if (seen.editedBy) {
    const { editInPlace } = await import("./edit-in-place.ts")
    return editInPlace(ctx, target, action, text)
  }
  if (!seen.isTypedOver) return replaceText(ctx, target, action, text)
  const { fillCell } = await import("./cells.ts")
  return fillCell(ctx, target, action, text)
}

/** True for a number that arrow keys change and that cannot be typed over. */
const isStepped = ({ role, actions }: Seen): boolean =>
  role === "slider" || (role === "incrementor" && actions?.includes("TypeText") === false)

/** Roles that a click in the middle expands or collapses. */
const OPENED_BY_CLICK: ReadonlySet<Role> = new Set([
  "button",
  "menubutton",
  "combobox",
  "menuitem",
  "link",
  "disclosure",
])

/** True if typed letters and spaces press, choose or move something. */
const obeysKeys = ({ role }: Seen): boolean => hasTrait(role, "pressable") || MOVED_BY_KEYS.has(role)

const MOVED_BY_KEYS: ReadonlySet<Role> = new Set(["tab", "slider", "colorwell", "dockitem"])
